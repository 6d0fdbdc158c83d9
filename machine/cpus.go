package machine

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/cpu"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/stat"
)

// CPUs are the CPU cores of the machine. They have another clock than the SMs. Their ports into the fabric are
// numbered after those of the SMs.
type CPUs struct {
	tenants    []*sharing.Tenant
	fabric     *interconnect.Fabric
	host       *transfer.HostLink
	firstError *timing.FirstError
	clock      *timing.Clock
	wakeups    timing.Wakeups

	list       []*cpu.Core
	coreClock  engine.Clock
	port       int          // of the first
	frames     []cpu.Frames // by tenant
	owner      []int        // by core: the tenant that has it, -1: none
	reached    []int64      // by core: what it had done when it was run last
	executions []*Execution // under way
	table      *stat.Table
}

// Execution is one pass through a program, from its first instruction to its last, on all cores of its tenant.
type Execution struct {
	Tenant     mem.TenantID
	Start, End uint64 // core cycles of the machine
	Done       bool
	number     uint64 // of the tenant's executions, from 1
}

// Execute begins a tenant's next execution, with a program for each of its cores: all of them, or none once the cores
// run. The execution is done when each core has finished its program. A core that finishes early continues with the
// next execution, unless there is only one.
func (a *CPUs) Execute(tenant int, programs []cpu.Program) (*Execution, error) {
	t, now := a.tenants[tenant], a.clock.Now
	x := &Execution{Tenant: mem.TenantID(tenant), Start: now, number: t.Executed + 1}
	if len(programs) > 0 {
		if len(programs) != len(t.Cores) {
			return nil, fmt.Errorf("application %s: %d programs for %d CPU cores", t.Name, len(programs), len(t.Cores))
		}
		for i, c := range t.Cores {
			core := a.list[c]
			core.Tick(a.at(now))
			if err := core.Start(programs[i], x.Tenant, &a.frames[tenant]); err != nil {
				return nil, fmt.Errorf("application %s: %w", t.Name, err)
			}
			a.wakeups.WakeCPU(c, a.coreClock.Core(core.Due()))
		}
	}
	a.host.BeginsWork(now)
	t.Begins(now)
	t.Executes++
	a.executions = append(a.executions, x)
	t.Useful, a.clock.Progress = now, now
	a.through(now) // all may have been before it was asked for
	return x, nil
}

// at is the CPU cycle up to which cores have been run before a cycle of the machine.
func (a *CPUs) at(now uint64) uint64 {
	if now == 0 {
		return 0
	}
	return a.coreClock.Ticks(now - 1)
}

// tick advances core i to core cycle now of the machine.
func (a *CPUs) tick(i int, now uint64) uint64 {
	c := a.list[i]
	before := c.Executions()
	c.Tick(a.coreClock.Ticks(now))
	h, out := c.Out()
	if out && a.fabric.Inject(a.port+i, h, now) {
		c.Sent()
		_, out = c.Out()
	}
	if n := c.Reached(); n != a.reached[i] {
		a.reached[i] = n
		a.clock.Progress = now
		a.tenants[a.owner[i]].Useful = now
	}
	if err := c.Err(); err != nil {
		a.firstError.Note(&BadProgram{Core: i, App: a.tenants[a.owner[i]].Name, Err: err})
		return engine.Never
	}
	if c.Executions() != before {
		a.through(now)
	}
	if out {
		return now + 1
	}
	return a.coreClock.Core(c.Due())
}

// BadProgram is the error of a program that a core cannot continue: its trace is damaged, or there is no memory left
// for it.
type BadProgram struct {
	Core int
	App  string
	Err  error
}

func (b *BadProgram) Error() string {
	return fmt.Sprintf("application %s, CPU core %d: %v", b.App, b.Core, b.Err)
}

// Unwrap is the cause.
func (b *BadProgram) Unwrap() error { return b.Err }

// through ends the executions of which all cores have finished the program.
func (a *CPUs) through(now uint64) {
	left := a.executions[:0]
	for _, x := range a.executions {
		t := a.tenants[x.Tenant]
		done := true
		for _, c := range t.Cores {
			done = done && a.list[c].Executions() >= x.number
		}
		if !done {
			left = append(left, x)
			continue
		}
		x.Done, x.End, a.clock.ReturnToHost = true, now, true
		t.Executed = x.number
		t.Executes--
		t.Ends(now)
	}
	a.executions = left
}

// corePort is where answers for a core come.
type corePort struct {
	cpus *CPUs
	core int
}

// Deliver hands an answer to the core. It is there at the first edge of its clock that is not before
// this cycle of the machine.
func (p corePort) Deliver(h int32, now uint64) {
	a := p.cpus
	a.list[p.core].Deliver(h, max(a.coreClock.Ticks(now), a.at(now)+1))
	a.wakeups.WakeCPU(p.core, a.coreClock.Core(a.list[p.core].Due()))
}

// syncCounters brings the counters of all cores up to a cycle that has not run.
func (a *CPUs) syncCounters(now uint64) {
	for _, c := range a.list {
		c.Tick(a.at(now))
		c.SyncCounters()
	}
}

// waits has a line per core of a tenant whose execution has not ended.
func (a *CPUs) waits(tenant int) (lines []string) {
	for _, x := range a.executions {
		if int(x.Tenant) != tenant {
			continue
		}
		for _, i := range a.tenants[tenant].Cores {
			c := a.list[i]
			lines = append(lines, fmt.Sprintf("%s: CPU core %d: at instruction %d, %d requests in flight",
				a.tenants[tenant].Name, i, c.Reached(), c.InFlight()))
		}
	}
	return lines
}

// used says that some application has CPU cores.
func (a *CPUs) used() bool {
	return slices.ContainsFunc(a.owner, func(tenant int) bool { return tenant >= 0 })
}

// Instructions is the number of instructions that a tenant's cores have retired so far.
func (a *CPUs) Instructions(tenant int) uint64 {
	if a.table == nil {
		return 0
	}
	a.syncCounters(a.clock.Now)
	return a.table.Sum(tenant, cpu.Insts)
}

// gpuMemory is the part of a tenant's addresses for the allocations of its kernels. The memory of its CPU programs
// has the addresses above.
const gpuMemory = 1 << 38

// cpus makes the CPU cores, if the machine has any.
func (b *builder) cpus() error {
	g, s := b.gpu, b.sheet
	a := &g.CPUs
	a.port = s.SM.Count
	if s.CPU.Cores == 0 {
		return nil
	}
	a.coreClock = engine.NewClock(engine.KHz(s.CPU.Clock), engine.KHz(s.Clock.Core))
	a.table = b.table("cpu", cpu.Counters(), s.CPU.Cores)
	a.reached, a.owner = make([]int64, s.CPU.Cores), make([]int, s.CPU.Cores)
	cfg := cpu.Derive(s)
	for i := range s.CPU.Cores {
		c, err := cpu.New(i, cfg, g.fabric.Slab, a.table, mem.Port(a.port+i))
		if err != nil {
			return err
		}
		a.list, a.owner[i] = append(a.list, c), -1
	}
	for i, t := range g.Tenants {
		a.frames = append(a.frames, b.cpuMemory(i))
		for _, c := range t.Cores {
			a.owner[c] = i
		}
	}
	return nil
}

// cpuMemory is the memory of a tenant's cores: pages of the machine, or, on a machine that does not translate,
// addresses above those that kernels allocate.
func (b *builder) cpuMemory(tenant int) cpu.Frames {
	g := b.gpu
	next, id := uint64(gpuMemory), mem.TenantID(tenant)
	if tables := g.translation.Tables; tables != nil {
		bits := tables.PageBits()
		return cpu.Frames{Bytes: 1 << bits, Take: func() (uint64, error) {
			if err := tables.Reserve(id, next, 1<<bits); err != nil {
				return 0, err
			}
			ppn, err := tables.MapPage(id, next>>bits, -1)
			if err != nil {
				return 0, fmt.Errorf("CPU programs of application %s have touched %d MiB, and no memory is left for "+
					"more: a larger dram.capacity, fewer copies or a model with divide fits (%w)",
					g.Tenants[tenant].Name, (next-gpuMemory)>>20, err)
			}
			next += 1 << bits
			return ppn << bits, nil
		}}
	}
	const piece = 2 << 20
	most := gpuMemory + uint64(g.Sheet.DRAM.Capacity)
	return cpu.Frames{Bytes: piece, Take: func() (uint64, error) {
		if next += piece; next > most {
			return 0, fmt.Errorf("CPU programs of application %s touch more than the %d bytes of memory there are",
				g.Tenants[tenant].Name, g.Sheet.DRAM.Capacity)
		}
		return vm.Identity(id, next-piece), nil
	}}
}

// admitCores checks that the machine has the CPU cores that the tenants name.
func (b *builder) admitCores() error {
	taken := make([]string, b.sheet.CPU.Cores)
	for _, t := range b.gpu.Tenants {
		for _, c := range t.Cores {
			if c < 0 || c >= len(taken) {
				return fmt.Errorf("application %s: CPU core %d does not exist, the machine has %d", t.Name, c,
					len(taken))
			}
			if taken[c] != "" {
				return fmt.Errorf("applications %s and %s: both have CPU core %d", taken[c], t.Name, c)
			}
			taken[c] = t.Name
		}
	}
	return nil
}
