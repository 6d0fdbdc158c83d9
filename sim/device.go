package sim

import (
	"cmp"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/machine/residency"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// stream is one stream's queue; its head may be running.
type stream struct {
	ops    []*host.Op
	active bool
	kernel *sharing.Kernel
	// execution is that of its CPU program.
	execution *machine.Execution
	copy      *transfer.HostCopy   // of an active operation; nil: none
	pages     *residency.Migration // the same
}

// device is an application's view of the timed machine. Its methods run on the
// program's goroutine while the scheduler sleeps, and the reverse: the two hand
// over in yield.
type device struct {
	r       *run
	a       *app
	streams []*stream
	driver  stream // migrations for host accesses, in no program's stream
	waiting *host.Op
}

var _ host.Device = (*device)(nil)

// mostQueued is how many operations a stream holds; a program that has as many in it waits until the oldest is done, as
// a host does whose CUDA launch queue is full (1,024 launches, by measurement; NVIDIA documents no number).
const mostQueued = 1024

// Enqueue implements host.Device. It returns when the stream has room.
func (d *device) Enqueue(op *host.Op) error {
	d.a.present()
	if op.Kind == host.OpLaunch {
		g := op.Grid.Geometry()
		if err := d.r.col.limits.Holds(op.Grid.Code(), &g); err != nil {
			return err
		}
	}
	for len(d.streams) <= op.Stream {
		d.streams = append(d.streams, &stream{})
	}
	s := d.streams[op.Stream]
	if op.Kind == host.OpLaunch && d.a.spec.AccessesOnly {
		op.Grid = d.a.filter.Of(op.Grid)
	}
	for len(s.ops) >= mostQueued {
		if err := d.Wait(s.ops[0]); err != nil {
			return err
		}
	}
	s.ops = append(s.ops, op)
	return nil
}

// Wait implements host.Device.
func (d *device) Wait(op *host.Op) error {
	if op.Done {
		return nil
	}
	d.a.present()
	d.waiting = op
	d.a.yield()
	d.waiting = nil
	return d.a.broken
}

// options are those of the applications' contexts.
func (r *run) options() host.Options {
	o := host.Options{Ctx: r.ctx, Printf: int64(r.sheet.Host.Printf), Heap: int64(r.sheet.Host.Heap)}
	o.AllManaged = r.spec.Sharing.Memory.Unified.All
	o.ReadOnly, o.Unroll = r.sheet.SM.ReadOnlyLoads, r.sheet.SM.Ptxas
	o.Properties = propertiesOf(r.sheet)
	o.Properties.Timeless = r.gpu == nil
	if r.gpu != nil { // without time every interval is 0
		o.CoreMHz = r.sheet.Clock.Core
	}
	return o
}

// propertiesOf are the numbers of a machine that programs ask for.
func propertiesOf(m *sheets.Machine) host.Properties {
	d := &m.DRAM
	return host.Properties{
		Machine: m.Name, SMs: m.SM.Count, Threads: m.SM.Threads, CTAs: m.SM.CTAs, Registers: m.SM.Registers,
		Shared: m.SM.Shared, L2: d.Channels * m.LLC.SlicesPerChannel * m.LLC.Sets * m.LLC.Ways * m.LLC.Line,
		MemoryBytes: m.MemoryBytes(), CoreMHz: m.Clock.Core, MemoryMHz: m.Clock.DRAM,
		// Two beats of a burst in each command-clock cycle.
		MemoryBusBits: d.Channels * d.Access * 8 / (2 * max(1, d.T.BL)), Capability: cmp.Or(m.SM.Capability, 70),
	}
}

// space is an application's address space. Under unified memory managed regions begin at chunks
// of 2 MB of their own.
func (r *run) space() *mem.Space {
	s := mem.NewSpace(r.sheet.MemoryBytes())
	if r.spec.Holds > 0 {
		s.Hold(r.spec.Holds)
	}
	if r.spec.Sharing.Memory.Unified.On() {
		s.AlignManaged(uvm.ChunkSize)
	}
	return s
}

// Resident implements host.Resident: the blocks that the application's SMs hold at once.
func (d *device) Resident(g isa.Geometry) int {
	return d.r.col.limits.Occupancy(&g) * len(d.r.gpu.Tenants[d.a.id].SMs)
}

// Occupancy implements host.Occupant.
func (d *device) Occupancy(g isa.Geometry) int { return d.r.col.limits.Occupancy(&g) }

// Touch implements host.Device: pages of managed memory that are on the device
// come back over the link before the host sees them.
func (d *device) Touch(r *mem.Region, off, n int64, write bool) error {
	d.a.present()
	if d.r.gpu.Unified.On() {
		return d.toHost(r, off, n, write)
	}
	bytes := d.r.pages(d.a, r, off, n, false)
	if bytes == 0 {
		return nil
	}
	op := &host.Op{
		Kind: host.OpCopy, Name: "migrate " + r.Name + " to host", Src: r, Dst: &mem.Region{Kind: mem.Host},
		N: bytes,
	}
	d.driver.ops = append(d.driver.ops, op)
	return d.Wait(op)
}

// Synchronized implements host.Synchronizer: if the wait brings pages back to the host, the program waits for them.
func (d *device) Synchronized() error {
	d.a.present()
	pages := d.r.gpu.Unified.Synchronized(d.a.id)
	if pages == nil {
		return nil
	}
	op := &host.Op{Kind: host.OpPrefetch, Name: "write back", Start: d.r.gpu.Now()}
	d.driver.ops = append(d.driver.ops, op) // the driver has no other while the program waits
	d.driver.active, d.driver.pages = true, pages
	return d.Wait(op)
}

// Cycle implements host.Device.
func (d *device) Cycle() uint64 { return d.r.gpu.Now() }

// Allocated implements host.Allocator.
func (d *device) Allocated(r *mem.Region) error {
	d.a.present()
	return d.r.gpu.Map(d.a.id, r)
}

// Freed implements host.Allocator.
func (d *device) Freed(r *mem.Region) error {
	d.a.present()
	d.r.gpu.Unmap(d.a.id, r)
	return nil
}

// stream is stream i; the one past the last is the driver's own.
func (d *device) stream(i int) *stream {
	if i == len(d.streams) {
		return &d.driver
	}
	return d.streams[i]
}

// pump starts and completes stream operations as far as possible in this cycle, and says whether any was completed.
func (d *device) pump(now uint64) (changed bool, err error) {
	for again := true; again; {
		again = false
		for i := range len(d.streams) + 1 {
			s := d.stream(i)
			for len(s.ops) > 0 {
				done, err := d.advance(s, now)
				if err != nil {
					return changed, err
				}
				if !done {
					break
				}
				s.ops[0].Done, s.ops[0].End = true, now
				if x := s.execution; x != nil {
					d.r.col.executedOnCPU(d.a.id, x)
				}
				s.ops, s.active, s.kernel, s.execution, s.copy, s.pages = s.ops[1:], false, nil, nil, nil, nil
				changed, again = true, true
			}
		}
	}
	return changed, nil
}

// advance starts the head of s if it has not been, and says whether it is done.
func (d *device) advance(s *stream, now uint64) (bool, error) {
	op := s.ops[0]
	if !s.active {
		op.Start = now
		s.active = true
		switch op.Kind {
		case host.OpCopy:
			s.copy = d.r.copy(d.a, op)
			if !onHost(op.Dst) {
				d.r.gpu.HostWrites(d.a.id, op.Dst, op.DstOff, op.N)
			}
		case host.OpPrefetch:
			if s.pages = d.r.gpu.Unified.Migrate(d.a.id, op.Dst, op.DstOff, op.N, sideOf(op)); s.pages == nil {
				s.copy = d.r.prefetch(d.a, op)
			}
		}
	}
	if s.pages != nil && !s.pages.Done || s.copy != nil && !d.r.gpu.CopyEnded(s.copy) {
		return false, nil
	}
	switch op.Kind {
	case host.OpEvent:
		return true, nil
	case host.OpDelay:
		return now >= op.Start+uint64(op.N), nil
	case host.OpWait:
		if !op.After.Done {
			s.active = false
			return false, nil
		}
		return true, nil
	case host.OpLaunch:
		if s.kernel == nil {
			s.kernel = d.r.gpu.Launch(d.a.id, op.Stream, op.Name, op.Grid)
			d.r.ctl.happened(control.Launch)
			d.r.col.launched(d.a.id, s.kernel)
		}
		return s.kernel.Done, nil
	case host.OpExecute:
		if s.execution == nil {
			x, err := d.execute()
			if err != nil {
				return false, err
			}
			s.execution = x
			d.r.ctl.happened(control.Launch)
			d.r.col.executes(d.a.id)
		}
		return s.execution.Done, nil
	}
	if op.Apply != nil {
		op.Apply()
	}
	d.r.copied(d.a, op)
	return true, nil
}

// sideOf is where a prefetch wants pages.
func sideOf(op *host.Op) residency.Side {
	switch {
	case op.ToDevice:
		return residency.DeviceSide
	case op.Write:
		return residency.HostWritesSide
	}
	return residency.HostReadsSide
}

// next is the earliest cycle at which a transfer of the application may end.
func (d *device) next(now uint64) uint64 {
	n := engine.Never
	for i := range len(d.streams) + 1 {
		s := d.stream(i)
		if s.active && s.ops[0].Kind == host.OpDelay {
			n = min(n, max(now+1, s.ops[0].Start+uint64(s.ops[0].N)))
		}
		if s.pages == nil && s.copy == nil {
			continue
		}
		end := now + look // the machine reports an earlier end
		if s.copy != nil {
			if at := s.copy.End(); at > now && at != engine.Never {
				end = at
			}
		}
		n = min(n, end)
	}
	return n
}

// look is the greatest time, in core cycles, between two checks of the operations under way.
const look = 4_000

// blame marks the launches in flight with the error that stopped the machine.
func (d *device) blame(err error) {
	for _, s := range d.streams {
		if s.kernel != nil && !s.kernel.Done {
			s.ops[0].Err = err
		}
	}
}
