package sim

import (
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa/scalar"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/machine/cpu"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/trace/champsim"
	models "github.com/heddle-sim/heddle/workload/cpu"
	"github.com/heddle-sim/heddle/workload/draw"
)

// CPU is a program for CPU cores: a trace or a model.
type CPU struct {
	Trace string `json:"trace,omitempty"` // file of a ChampSim trace
	// Format is the layout of the trace's records; "": recognised from its content.
	Format champsim.Format `json:"format,omitempty"`
	Model  string          `json:"model,omitempty"` // name of a shipped model
	// Copies of the program run on a core each, with separate memory; 0: 1.
	Copies int `json:"copies,omitempty"`
	// Instructions is the length of an execution, of each copy; 0: to the trace's end, or for a model
	// DefaultInstructions.
	Instructions uint64 `json:"instructions,omitempty"`
	// Divide makes a model's memory smaller by this factor, for machines with smaller caches; 0: 1.
	Divide int `json:"divide,omitempty"`
}

// DefaultInstructions is the length of a model's execution in instructions if none is given.
const DefaultInstructions = 10_000_000

// Check is an error if the fields do not fit together.
func (c *CPU) Check() error {
	switch {
	case (c.Trace == "") == (c.Model == ""):
		return errors.New("cpu needs either trace, the file of a ChampSim trace, or model, the name of a shipped " +
			"model")
	case c.Copies < 0:
		return fmt.Errorf("cpu.copies is %d: it must be at least 1", c.Copies)
	case c.Instructions >= 1<<50:
		return fmt.Errorf("cpu.instructions is %d: it can be at most %d", c.Instructions, uint64(1)<<50)
	case c.Divide < 0 || c.Divide > 1<<16:
		return fmt.Errorf("cpu.divide is %d: 1 to %d", c.Divide, 1<<16)
	case c.Format != "" && c.Model != "":
		return errors.New("cpu.format is for traces: a model has no records")
	case c.Divide > 1 && c.Model == "":
		return errors.New("cpu.divide is for models: the footprint of a trace is fixed")
	}
	if c.Model != "" {
		_, err := models.Load(c.Model)
		return err
	}
	if err := c.Format.Check(); err != nil {
		return fmt.Errorf("cpu.%w", err)
	}
	r, err := champsim.Open(c.Trace, c.Format)
	if err != nil {
		return err
	}
	return r.Close()
}

// cores is the number of cores that it needs.
func (c *CPU) cores() int { return max(1, c.Copies) }

// cpuProgram is a program of CPU cores as the program of an application: each execution is one
// operation.
type cpuProgram struct {
	app *app
}

// Name implements host.Program.
func (p *cpuProgram) Name() string { return p.app.spec.Name }

// Run implements host.Program.
func (p *cpuProgram) Run(*host.Context) error {
	op := &host.Op{Kind: host.OpExecute, Name: p.app.spec.Name}
	if err := p.app.dev.Enqueue(op); err != nil {
		return err
	}
	return p.app.dev.Wait(op)
}

// cpuSources are the programs of the application's cores, and the files to close.
func (a *app) cpuSources(seed uint64) (list []scalar.Source, err error) {
	c := a.spec.CPU
	own := fnv.New64a() // whatever the order of the applications
	fmt.Fprint(own, a.spec.Name)
	for i := range c.cores() {
		if c.Model != "" {
			m, err := models.Load(c.Model)
			if err != nil {
				return nil, err
			}
			list = append(list, m.Divided(max(1, c.Divide)).Program(draw.Key(seed, own.Sum64(), uint64(i))))
			continue
		}
		r, err := champsim.Open(c.Trace, c.Format)
		if err != nil {
			return nil, errors.Join(err, a.closeSources())
		}
		a.traces = append(a.traces, r)
		list = append(list, r)
	}
	return list, nil
}

// closeSources closes the traces of the application.
func (a *app) closeSources() (all error) {
	for _, t := range a.traces {
		all = errors.Join(all, t.Close())
	}
	a.traces = nil
	return all
}

// execute begins an execution on the application's cores. If the application may be started again, a core begins the
// next execution before all copies have finished this one.
func (d *device) execute() (*machine.Execution, error) {
	a, r := d.a, d.r
	var programs []cpu.Program
	if !a.running {
		list, err := a.cpuSources(r.spec.Seed)
		if err != nil {
			return nil, err
		}
		n := a.spec.CPU.Instructions
		if n == 0 && a.spec.CPU.Model != "" {
			n = DefaultInstructions
		}
		l := &r.spec.Length
		again := a.spec.Repeat || l.Budget || l.Instructions > 0
		for _, s := range list {
			programs = append(programs, cpu.Program{Source: s, Insts: n, Once: !again})
		}
		a.running = again
	}
	return r.gpu.CPUs.Execute(a.id, programs)
}

// KernelApps are the applications that run kernels and divide the SMs; the others run on CPU cores.
func KernelApps(apps []App) (n int) {
	for i := range apps {
		if apps[i].CPU == nil {
			n++
		}
	}
	return n
}

// CheckCPU is an error if the machine cannot run the applications' CPU programs.
func CheckCPU(m *sheets.Machine, apps []App) error {
	need := 0
	for i := range apps {
		a := &apps[i]
		if a.CPU == nil {
			continue
		}
		need += a.CPU.cores()
		switch {
		case m.CPU.Cores == 0:
			return &Lacks{Path: "cpu.cores", Msg: fmt.Sprintf("application %s runs on CPU cores, but machine %s has "+
				"none (cpu.cores): use machine hydrogen", a.Name, m.Name)}
		case need > m.CPU.Cores:
			return &Lacks{Path: "cpu.cores", Msg: fmt.Sprintf("application %s: with its %d copies the "+
				"applications need "+
				"%d CPU cores; machine %s has %d (cpu.cores)", a.Name, a.CPU.cores(), need, m.Name, m.CPU.Cores)}
		case a.QoS > 0 || a.QoSShare > 0:
			return fmt.Errorf("application %s: qos is for kernels, but it runs on CPU cores", a.Name)
		}
	}
	return nil
}

// TenantCPU is the work of an application on CPU cores in its window.
type TenantCPU struct {
	Cores  int     `json:"cores"`
	Insts  uint64  `json:"cpu_insts"`
	Cycles float64 `json:"window_cpu_cycles"` // of the CPU clock
	IPC    float64 `json:"ipc"`               // instructions of all its cores per cycle of the CPU clock
	// Per 1000 instructions: loads and stores that missed in the L1s, and lines that missed in the L2s.
	L1MPKI float64 `json:"l1_mpki"`
	L2MPKI float64 `json:"l2_mpki"`
}

// Insts is the number of a tenant's instructions: of threads, and of CPU cores.
func (t *Tenant) Insts() uint64 {
	if t.CPU == nil {
		return t.ThreadInsts
	}
	return t.ThreadInsts + t.CPU.Insts
}

// cpuOf is a tenant's part on CPU cores; nil: it has none.
func (r *run) cpuOf(i int, t *Tenant, count func(name string) uint64) *TenantCPU {
	cores := len(r.gpu.Tenants[i].Cores)
	if cores == 0 {
		return nil
	}
	c := &TenantCPU{
		Cores: cores, Insts: count(cpuInsts), Cycles: float64(t.Cycles) * r.sheet.CPU.Clock / r.sheet.Clock.Core,
	}
	c.IPC = ratio(float64(c.Insts), c.Cycles)
	kilo := float64(c.Insts) / 1000
	c.L1MPKI, c.L2MPKI = ratio(float64(count(cpuL1Misses)), kilo), ratio(float64(count(cpuL2Misses)), kilo)
	return c
}
