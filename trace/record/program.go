package record

import (
	"errors"
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// Program is a host program that issues the operations of a recording again.
type Program struct {
	path   string
	app    string
	device string
	loops  [isa.LoopsUnrolled + 1]string // a kernel that has them
}

// Load reads the recording at path, so that a damaged one is refused before a run begins. Errors are *host.Error,
// because the file is the user's.
func Load(path string) (*Program, error) {
	r, err := Open(path)
	if err != nil {
		return nil, &host.Error{Err: err}
	}
	p := &Program{path: path, app: r.App()}
	for i := range r.x.regions {
		if g := &r.x.regions[i]; g.kind == mem.Device && !g.given && p.device == "" {
			p.device = g.name
		}
	}
	for _, c := range r.x.codes {
		p.loops[c.Loops] = c.Kernel
	}
	return p, r.Close()
}

// Kernel is the name of a recorded kernel with such loops; "": there is none.
func (p *Program) Kernel(l isa.Loops) string { return p.loops[l] }

// DeviceMemory is the name of the first allocation in device memory; "": there is none.
func (p *Program) DeviceMemory() string { return p.device }

// Name is the name of the recorded application.
func (p *Program) Name() string { return p.app }

// Run implements host.Program.
func (p *Program) Run(c *host.Context) (err error) {
	rec, err := Open(p.path)
	if err != nil {
		return &host.Error{Err: err}
	}
	defer func() { err = errors.Join(err, rec.Close()) }()
	return replay(rec, c)
}

// replay issues everything a recording holds and waits for it.
func replay(rec *Recording, c *host.Context) error {
	r := &replayer{rec: rec, c: c, dev: c.Device(), regions: make([]*mem.Region, len(rec.x.regions))}
	if a, ok := r.dev.(host.Allocator); ok {
		r.alloc = a
	}
	for i := range rec.x.ops {
		if err := c.Err(); err != nil {
			return err
		}
		if err := r.do(&rec.x.ops[i]); err != nil {
			return err
		}
	}
	for _, o := range r.ops { // the machine must not touch the file after it is closed
		if !o.Done {
			if err := r.dev.Wait(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// replayer is one run of a Program.
type replayer struct {
	rec     *Recording
	c       *host.Context
	dev     host.Device
	alloc   host.Allocator // nil: the device does not want to know
	regions []*mem.Region
	ops     []*host.Op // by number
}

// do issues one call.
func (r *replayer) do(o *op) error {
	if o.kind.enqueues() {
		return r.enqueue(o)
	}
	switch o.kind {
	case opAlloc:
		return r.allocate(o.a)
	case opFree:
		reg := r.regions[o.a]
		if reg == nil {
			return r.damaged("region %d is freed before it is allocated", o.a)
		}
		if r.alloc != nil {
			if err := r.alloc.Freed(reg); err != nil {
				return err
			}
		}
		r.regions[o.a] = nil
		return r.c.Space().Free(reg.Base)
	case opSync:
		return r.dev.Wait(r.ops[o.a])
	case opWaited:
		if s, ok := r.dev.(host.Synchronizer); ok {
			return s.Synchronized()
		}
		return nil
	case opQoS:
		return r.dev.SetQoS(o.name, math.Float64frombits(uint64(o.n)))
	}
	reg, err := r.region(o.a)
	if err != nil {
		return err
	}
	if o.kind == opTouch {
		return r.dev.Touch(reg, o.y, o.n, o.flag)
	}
	return r.dev.Advise(reg, host.Advice(o.n))
}

func (r *replayer) damaged(format string, args ...any) error {
	return &host.Error{Err: fmt.Errorf("%s: the recording is damaged: %s", r.rec.path, fmt.Sprintf(format, args...))}
}

// allocate gives a region its addresses, which must be those of the recording. It
// has no bytes.
func (r *replayer) allocate(n int32) error {
	x := &r.rec.x.regions[n]
	if r.regions[n] != nil {
		return r.damaged("region %d is allocated twice", n)
	}
	reg, err := r.c.Space().Reserve(x.bytes, x.kind, x.name)
	if err != nil {
		return &host.Error{Err: fmt.Errorf("%s: %s: %w", r.rec.path, x.name, err)}
	}
	if reg.Base != x.base {
		return r.damaged("%s was at 0x%x and is now at 0x%x", x.name, x.base, reg.Base)
	}
	reg.Registered, reg.ReadOnly = x.registered, x.readOnly
	r.regions[n] = reg
	if r.alloc != nil {
		return r.alloc.Allocated(reg)
	}
	return nil
}

// region is one that is allocated, or the host's own.
func (r *replayer) region(n int32) (*mem.Region, error) {
	if r.regions[n] == nil {
		x := &r.rec.x.regions[n]
		if !x.given {
			return nil, r.damaged("region %d is used while it is not allocated", n)
		}
		r.regions[n] = &mem.Region{Kind: x.kind, Name: x.name, Base: x.base}
	}
	return r.regions[n], nil
}

// enqueue puts an operation into its stream.
func (r *replayer) enqueue(o *op) (err error) {
	p := &host.Op{Stream: int(o.stream), Name: o.name}
	switch o.kind {
	case opLaunch:
		p.Kind, p.Grid = host.OpLaunch, r.rec.Grid(int(o.a))
	case opCopy:
		p.Kind, p.Initial, p.DstOff, p.SrcOff, p.N = host.OpCopy, o.flag, o.y, o.x, o.n
		p.Apply = func() {} // there are no bytes
		if p.Src, err = r.region(o.b); err != nil {
			return err
		}
		p.Dst, err = r.region(o.a)
	case opEvent:
		p.Kind = host.OpEvent
	case opWaitFor:
		p.Kind, p.After = host.OpWait, &host.Op{Done: true}
		if o.a >= 0 {
			p.After = r.ops[o.a]
		}
	case opPrefetch:
		p.Kind, p.ToDevice, p.DstOff, p.N = host.OpPrefetch, o.flag, o.y, o.n
		p.Dst, err = r.region(o.a)
	}
	if err != nil {
		return err
	}
	r.ops = append(r.ops, p)
	return r.dev.Enqueue(p)
}
