package record

import (
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// device records what a host program asks of the device beneath.
//
// The program must not see how far the device beneath has come, or the recorded
// calls would depend on its timing: a functional device is done at once, and the
// program would never wait. So the device beneath gets copies of the operations,
// and the program sees an operation done only once it has waited for it or for a
// later one of the stream. Waiting for what is done takes no time.
type device struct {
	w       *Writer
	inner   host.Device
	regions map[*mem.Region]int32
	ops     map[*host.Op]*shadow // pending ones, and all events: these can be waited for again
	streams [][]*shadow          // pending operations by stream, in order
	n       int32                // operations enqueued
}

// shadow ties an operation of the program to its copy.
type shadow struct {
	id           int32
	outer, inner *host.Op
}

var (
	_ host.Device       = (*device)(nil)
	_ host.Allocator    = (*device)(nil)
	_ host.Synchronizer = (*device)(nil)
)

// Device wraps inner so that every call is recorded. A recording holds one run of one program, so it is called once.
func (w *Writer) Device(inner host.Device) host.Device {
	w.dev = &device{w: w, inner: inner, regions: map[*mem.Region]int32{}, ops: map[*host.Op]*shadow{}}
	return w.dev
}

// settle notes what may have changed since a region was allocated.
func (d *device) settle(r *mem.Region) {
	d.w.x.regions[d.regions[r]].registered = r.Registered
}

func (d *device) add(o op) { d.w.x.ops = append(d.w.x.ops, o) }

// region is the number of a region.
func (d *device) region(r *mem.Region, given bool) int32 {
	n, ok := d.regions[r]
	if !ok {
		n = int32(len(d.w.x.regions))
		d.regions[r] = n
		d.w.x.regions = append(d.w.x.regions, region{
			name: r.Name, kind: r.Kind, base: r.Base, bytes: r.Len(),
			registered: r.Registered, readOnly: r.ReadOnly, given: given,
		})
	}
	return n
}

// Allocated implements host.Allocator.
func (d *device) Allocated(r *mem.Region) error {
	d.add(op{kind: opAlloc, a: d.region(r, false)})
	if a, ok := d.inner.(host.Allocator); ok {
		return a.Allocated(r)
	}
	return nil
}

// Freed implements host.Allocator.
func (d *device) Freed(r *mem.Region) error {
	d.add(op{kind: opFree, a: d.region(r, true)})
	d.settle(r)
	delete(d.regions, r)
	if a, ok := d.inner.(host.Allocator); ok {
		return a.Freed(r)
	}
	return nil
}

// Enqueue implements host.Device.
func (d *device) Enqueue(o *host.Op) error {
	if o.Kind == host.OpDelay { // of a program that polls: a recording has its waits
		return d.inner.Enqueue(o)
	}
	inner := *o
	rec := op{stream: int32(o.Stream), name: o.Name, y: o.DstOff, x: o.SrcOff, n: o.N}
	switch o.Kind {
	case host.OpLaunch:
		g, err := d.w.Grid(o.Name, o.Grid)
		if err != nil {
			return err
		}
		inner.Grid = g
		rec.kind, rec.a = opLaunch, int32(len(d.w.x.launches)-1)
	case host.OpCopy:
		rec.kind, rec.flag, rec.a, rec.b = opCopy, o.Initial, d.region(o.Dst, true), d.region(o.Src, true)
	case host.OpEvent:
		rec.kind = opEvent
	case host.OpWait:
		rec.kind, rec.a = opWaitFor, -1
		if s := d.ops[o.After]; s != nil {
			rec.a, inner.After = s.id, s.inner
		}
	case host.OpPrefetch:
		rec.kind, rec.flag, rec.a = opPrefetch, o.ToDevice, d.region(o.Dst, true)
	default:
		return fmt.Errorf("recording: operation %q of kind %d cannot be recorded", o.Name, o.Kind)
	}
	if o.Stream >= 1<<16 {
		return fmt.Errorf("recording: %d streams; at most 65536 can be recorded", o.Stream+1)
	}
	d.add(rec)
	s := &shadow{id: d.n, outer: o, inner: &inner}
	d.n++
	d.ops[o] = s
	for len(d.streams) <= o.Stream {
		d.streams = append(d.streams, nil)
	}
	d.streams[o.Stream] = append(d.streams[o.Stream], s)
	return d.inner.Enqueue(&inner)
}

// Wait implements host.Device.
func (d *device) Wait(o *host.Op) error {
	s := d.ops[o]
	if s == nil {
		if o.Done {
			return nil
		}
		if o.Kind == host.OpDelay {
			return d.inner.Wait(o)
		}
		return fmt.Errorf("recording: the program waits for %q, which it did not enqueue", o.Name)
	}
	d.add(op{kind: opSync, a: s.id})
	if err := d.inner.Wait(s.inner); err != nil {
		for _, q := range d.streams {
			for _, p := range q {
				p.outer.Err = p.inner.Err
				if p.inner.Done {
					p.done()
				}
			}
		}
		return err
	}
	q := d.streams[o.Stream]
	for len(q) > 0 && q[0].id <= s.id {
		q[0].done()
		if q[0].outer.Kind != host.OpEvent {
			delete(d.ops, q[0].outer)
		}
		q = q[1:]
	}
	d.streams[o.Stream] = q
	return nil
}

// Synchronized implements host.Synchronizer.
func (d *device) Synchronized() error {
	d.add(op{kind: opWaited})
	if s, ok := d.inner.(host.Synchronizer); ok {
		return s.Synchronized()
	}
	return nil
}

// done lets the program see that the operation is.
func (s *shadow) done() {
	s.outer.Done, s.outer.Start, s.outer.End, s.outer.Err = true, s.inner.Start, s.inner.End, s.inner.Err
}

// Touch implements host.Device.
func (d *device) Touch(r *mem.Region, off, n int64, write bool) error {
	d.add(op{kind: opTouch, flag: write, a: d.region(r, true), y: off, n: n})
	return d.inner.Touch(r, off, n, write)
}

// Advise implements host.Device.
func (d *device) Advise(r *mem.Region, a host.Advice) error {
	d.add(op{kind: opAdvise, a: d.region(r, true), n: int64(a)})
	return d.inner.Advise(r, a)
}

// SetQoS implements host.Device.
func (d *device) SetQoS(kernel string, ipc float64) error {
	d.add(op{kind: opQoS, name: kernel, n: int64(math.Float64bits(ipc))})
	return d.inner.SetQoS(kernel, ipc)
}

// Cycle implements host.Device.
func (d *device) Cycle() uint64 { return d.inner.Cycle() }

// Resident implements host.Resident.
func (d *device) Resident(g isa.Geometry) int {
	if r, ok := d.inner.(host.Resident); ok {
		return r.Resident(g)
	}
	return 0
}
