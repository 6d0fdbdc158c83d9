// Package sim is the facade: a Spec goes in, a Result comes out. It is the only
// place that wires machine, host programs, sharing modes and sources together.
package sim

import (
	"slices"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/host"
)

// Spec is one simulation, complete: the same Spec gives the same Result bits.
// It is the resolved form of a run file; paths are absolute or relative to Dir.
type Spec struct {
	Machine string            `json:"machine"` // sheet name or path
	Set     map[string]string `json:"set,omitempty"`
	Sharing Sharing           `json:"sharing"`
	Apps    []App             `json:"apps"`
	Length  Length            `json:"length"`
	Epoch   uint64            `json:"epoch"` // cycles per epoch sample; 0: no epochs
	Seed    uint64            `json:"seed"`
	// MostEpochs bounds the samples: when there are as many, every two become one and
	// epochs are twice as long from then on; 0: no bound. It is even.
	MostEpochs int `json:"most_epochs,omitempty"`
	// Functional runs the programs without timing.
	Functional bool `json:"functional,omitempty"`
	// NoSkip visits every component every cycle; results must not change.
	NoSkip bool `json:"-"`
	// Lockstep runs the machine cycle by cycle instead of in strides; results of programs without data races
	// must not change.
	Lockstep bool `json:"-"`
	// Touches counts which SMs touch each page; the machine translates.
	Touches bool `json:"touches,omitempty"`
	// Watchdog is the number of cycles without progress that counts as stuck, of warp instructions when
	// Functional; 0: the machine's default, or emulate's.
	Watchdog uint64 `json:"watchdog,omitempty"`
	// Timeline keeps kernel and ownership spans; Profile keeps stall cycles by PTX line.
	Timeline bool   `json:"-"`
	Profile  bool   `json:"-"`
	OutDir   string `json:"-"` // where scripts may save files
	// Record is the file to record the run in (package trace/record); "": none. There
	// is one application and it runs once.
	Record string `json:"-"`
}

// Sharing says how applications share the machine.
type Sharing struct {
	// Mode is the name of one of Modes; "": mps, or alone for one application.
	Mode     string   `json:"mode"`
	Name     string   `json:"name,omitempty"`     // label in reports
	SMs      []int    `json:"sms,omitempty"`      // per application, mps and slices
	Groups   []int    `json:"groups,omitempty"`   // channel groups per application, slices
	Profiles []string `json:"profiles,omitempty"` // per application, mig
	// Epoch is the period of the mode's policy in core cycles; 0: the policy's own.
	Epoch uint64 `json:"epoch,omitempty"`
	// Quantum is the length of a turn in core cycles, timeslice; 0: 2 ms.
	Quantum uint64 `json:"quantum,omitempty"`
	// Params are the parameters of the mode's policy (heddle inspect policies lists them).
	Params control.Params `json:"params,omitempty"`
	// Policies govern beside that of the mode, each with a period of its own.
	Policies []Governor `json:"policies,omitempty"`
	Memory   Memory     `json:"memory"`
}

// App is one application.
type App struct {
	Name   string            `json:"name"`
	Path   string            `json:"path"` // folder with app.star, or a recording
	Args   map[string]string `json:"args,omitempty"`
	Arrive uint64            `json:"arrive,omitempty"` // core cycle
	Repeat bool              `json:"repeat,omitempty"` // start again until the slowest application ends
	// AccessesOnly leaves of its kernels the accesses to global and local memory, fences and barriers (package
	// isa/accesses): the others take no time, and nothing waits for a register. Nor do its copies take time or
	// pass through the memory.
	AccessesOnly bool `json:"accesses_only,omitempty"`
	// QoS is the IPC target, thread instructions per core cycle with a kernel on the GPU; of
	// QoSKernel where that is named. QoSShare is what it is resolved from: a fraction of the
	// IPC alone (package lab does that).
	QoS       float64 `json:"qos,omitempty"`
	QoSKernel string  `json:"qos_kernel,omitempty"`
	QoSShare  float64 `json:"qos_of_alone,omitempty"`
	// CPU runs instead of Path: a program for CPU cores.
	CPU *CPU `json:"cpu,omitempty"`
	// Exec runs instead of what Path is: a compiled CUDA program and its arguments, in the folder Path.
	Exec []string `json:"exec,omitempty"`
	// Program runs instead of Path: an application written in Go.
	Program host.Program `json:"-"`
}

// Compiled says whether a compiled program is among the applications: nobody knows what it reads, so that its results
// are not kept for another time.
func (s *Spec) Compiled() bool {
	return slices.ContainsFunc(s.Apps, func(a App) bool { return a.Exec != nil })
}

// Length bounds a run.
type Length struct {
	MaxCycles uint64 `json:"max_cycles,omitempty"` // 0: to the end
	// Budget makes the run exactly MaxCycles long with every application repeating.
	Budget bool `json:"budget,omitempty"`
	// Instructions, when set, is the number of thread instructions after which an
	// application counts as done: the run ends when all are, and who ends before starts
	// again. It is looked at every countEvery cycles.
	Instructions uint64 `json:"instructions,omitempty"`
	// Warmup is the core cycle from which on what happens counts; who does what when does
	// not depend on it.
	Warmup uint64 `json:"warmup,omitempty"`
	// WarmupInstructions, when set, ends the warm-up by work instead: once every application has
	// executed this many thread instructions.
	WarmupInstructions uint64 `json:"warmup_instructions,omitempty"`
}

// Warms says whether the run has a warm-up.
func (l *Length) Warms() bool { return l.Warmup > 0 || l.WarmupInstructions > 0 }
