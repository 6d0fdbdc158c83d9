// Package sim simulates a run: a Spec goes in, a Result comes out. It is the only place that wires machine, host
// programs, sharing modes and sources together.
package sim

import (
	"slices"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/machine/stride"
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
	// MostEpochs bounds the number of samples; 0: no bound. When it is reached, every two samples become one, and
	// epochs are twice as long from then on. It is even.
	MostEpochs int `json:"most_epochs,omitempty"`
	// Functional runs the programs without timing.
	Functional bool `json:"functional,omitempty"`
	// NoSkip visits every component in every cycle; results do not change.
	NoSkip bool `json:"-"`
	// Lockstep runs the machine cycle by cycle instead of in strides; results of programs without data races do not
	// change.
	Lockstep bool `json:"-"`
	// Cores are cores of the computer that the run may use beside its own while no other run does; nil: none. Results
	// do not depend on them.
	Cores *stride.Cores `json:"-"`
	// Touches counts which SMs touch each page, on a machine that translates.
	Touches bool `json:"touches,omitempty"`
	// Watchdog is the number of cycles without progress after which a run counts as stuck, or of warp instructions if
	// Functional; 0: the default of the machine, or of package emulate.
	Watchdog uint64 `json:"watchdog,omitempty"`
	// Timeline keeps kernel and ownership spans; Profile keeps stall cycles by PTX line.
	Timeline bool   `json:"-"`
	Profile  bool   `json:"-"`
	OutDir   string `json:"-"` // where scripts may save files
	// Holds is the number of bytes that the memory of each application may take on this computer; 0: 64 GB.
	Holds int64 `json:"-"`
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
	// Epoch is the period of the mode's policy in core cycles; 0: the policy's own. (Results keep its earlier name.)
	Epoch uint64 `json:"epoch,omitempty"`
	// Quantum is the length of a turn in core cycles, timeslice; 0: 2 ms.
	Quantum uint64 `json:"quantum,omitempty"`
	// Params are the parameters of the mode's policy (heddle inspect policies lists them).
	Params control.Params `json:"params,omitempty"`
	// Policies act beside the mode's policy, each with a period of its own.
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
	// AccessesOnly reduces its kernels to their accesses to global and local memory, fences and barriers (package
	// isa/accesses). Other instructions take no time, and nothing waits for a register. Its copies take no time,
	// either, and do not pass through the memory.
	AccessesOnly bool `json:"accesses_only,omitempty"`
	// QoS is the IPC target: thread instructions per core cycle with a kernel on the GPU. If QoSKernel is set, it is
	// the target of that kernel. QoSShare is the fraction of the IPC alone from which package lab computes QoS.
	QoS       float64 `json:"qos,omitempty"`
	QoSKernel string  `json:"qos_kernel,omitempty"`
	QoSShare  float64 `json:"qos_of_alone,omitempty"`
	// CPU is a program for CPU cores. It runs instead of Path.
	CPU *CPU `json:"cpu,omitempty"`
	// Exec is a compiled CUDA program and its arguments. It runs instead of Path, in the folder Path.
	Exec []string `json:"exec,omitempty"`
	// Program is an application written in Go. It runs instead of Path.
	Program host.Program `json:"-"`
}

// Compiled says whether a compiled program is among the applications. Heddle does not know which files it reads, so
// its results are not kept for another time.
func (s *Spec) Compiled() bool {
	return slices.ContainsFunc(s.Apps, func(a App) bool { return a.Exec != nil })
}

// Length bounds a run.
type Length struct {
	MaxCycles uint64 `json:"max_cycles,omitempty"` // 0: to the end
	// Budget makes the run exactly MaxCycles long with every application repeating.
	Budget bool `json:"budget,omitempty"`
	// Instructions, if set, is the number of thread instructions after which an application counts as done: the run
	// ends when all are done, and an application that ends before starts again. It is checked every countEvery
	// cycles.
	Instructions uint64 `json:"instructions,omitempty"`
	// Warmup is the core cycle from which on events count. It does not change when which application does what.
	Warmup uint64 `json:"warmup,omitempty"`
	// WarmupInstructions, when set, ends the warm-up by work instead: once every application has
	// executed this many thread instructions.
	WarmupInstructions uint64 `json:"warmup_instructions,omitempty"`
}

// Warms says whether the run has a warm-up.
func (l *Length) Warms() bool { return l.Warmup > 0 || l.WarmupInstructions > 0 }
