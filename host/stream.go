package host

import (
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// Stream is a queue of operations that run in order.
type Stream struct {
	c      *Context
	id     int
	last   *Op  // the tail of the queue; nil when known to be done
	waited *Op  // the default-stream operation this stream already waits for
	apart  bool // does not synchronise with the default stream
}

// ID is the number of the stream; 0 is the default stream.
func (s *Stream) ID() int { return s.id }

// DefaultStream is stream 0; use it to copy asynchronously on the default stream.
func (c *Context) DefaultStream() *Stream { return c.streams[0] }

// NewStream makes a stream (one that synchronises with the default stream).
func (c *Context) NewStream() *Stream {
	s := &Stream{c: c, id: len(c.streams)}
	c.streams = append(c.streams, s)
	return s
}

// pending is the tail of the stream if it may still be running.
func (s *Stream) pending() *Op {
	if s.last != nil && s.last.Done {
		s.last = nil
	}
	return s.last
}

// enqueue puts op at the tail of s (nil: the default stream), after the operations that it must wait for by the rule
// of the legacy default stream.
func (c *Context) enqueue(s *Stream, op *Op) error {
	if c.dead != nil {
		return c.dead
	}
	if s == nil {
		s = c.streams[0]
	}
	if s.c != c {
		return errors.New("the stream belongs to another application")
	}
	if s.id == 0 {
		for _, other := range c.streams[1:] {
			if p := other.pending(); p != nil && !other.apart {
				if err := c.put(s, &Op{Kind: OpWait, Name: "default stream", After: p}); err != nil {
					return err
				}
			}
		}
	} else if p := c.streams[0].pending(); p != nil && s.waited != p && !s.apart {
		if err := c.put(s, &Op{Kind: OpWait, Name: "default stream", After: p}); err != nil {
			return err
		}
		s.waited = p
	}
	return c.put(s, op)
}

func (c *Context) put(s *Stream, op *Op) error {
	op.Stream = s.id
	if err := c.dev.Enqueue(op); err != nil {
		return c.fail(err)
	}
	s.last = op
	return nil
}

// wait lets time pass until op is done.
func (c *Context) wait(op *Op) error {
	if c.dead != nil {
		return c.dead
	}
	err := c.dev.Wait(op)
	c.flush()
	if err != nil {
		return c.fail(err)
	}
	return nil
}

// fail records the device's first error, and where the kernel at fault was launched.
func (c *Context) fail(err error) error {
	var fault *isa.Fault
	byName := errors.As(err, &fault)
	for _, l := range c.launches {
		if l.where != "" && (l.op.Err != nil || byName && !l.op.Done && l.op.Name == fault.Kernel) {
			err = fmt.Errorf("launch at %s: %w", l.where, err)
			break
		}
	}
	c.dead = err
	return err
}

// DeviceSynchronize waits for every stream (cudaDeviceSynchronize).
func (c *Context) DeviceSynchronize() error {
	if err := c.Finish(); err != nil {
		return err
	}
	if d, ok := c.dev.(Synchronizer); ok {
		if err := d.Synchronized(); err != nil {
			return c.fail(err)
		}
	}
	return nil
}

// Finish waits for every stream although the program did not ask for it: at its end, or before the host's own work.
func (c *Context) Finish() error {
	if c.dead != nil {
		return c.dead
	}
	for _, s := range c.streams {
		if err := s.Synchronize(); err != nil {
			return err
		}
	}
	c.launches, c.copies = c.launches[:0], c.copies[:0]
	c.flush()
	return nil
}

// Synchronize waits for everything enqueued on the stream.
func (s *Stream) Synchronize() error {
	if p := s.pending(); p != nil {
		if err := s.c.wait(p); err != nil {
			return err
		}
		s.last = nil
	}
	s.c.flush()
	return nil
}

// WaitFor makes later operations of the stream wait for the event; an event that
// was never recorded counts as complete, as in CUDA.
func (s *Stream) WaitFor(e *Event) error {
	if e.op == nil {
		return nil
	}
	return s.c.enqueue(s, &Op{Kind: OpWait, Name: "event", After: e.op})
}

// Event is a mark in a stream.
type Event struct {
	c  *Context
	op *Op // the latest record; nil before the first
}

// NewEvent makes an event that is not recorded yet.
func (c *Context) NewEvent() *Event { return &Event{c: c} }

// Record marks the tail of the stream (nil: the default stream).
func (e *Event) Record(s *Stream) error {
	op := &Op{Kind: OpEvent, Name: "event"}
	if err := e.c.enqueue(s, op); err != nil {
		return err
	}
	e.op = op
	return nil
}

// Synchronize waits until the stream reached the event.
func (e *Event) Synchronize() error {
	if e.op == nil || e.op.Done {
		return nil
	}
	return e.c.wait(e.op)
}

// Elapsed waits for both events and returns the simulated microseconds between
// them, never negative; 0 under functional execution.
func (e *Event) Elapsed(other *Event) (float64, error) {
	if e.op == nil || other.op == nil {
		return 0, errors.New("elapsed: the event was never recorded")
	}
	for _, x := range []*Event{e, other} {
		if err := x.Synchronize(); err != nil {
			return 0, err
		}
	}
	if e.c.opt.CoreMHz == 0 {
		return 0, nil
	}
	a, b := e.op.End, other.op.End
	return float64(max(a, b)-min(a, b)) / e.c.opt.CoreMHz, nil
}

// PrefetchAsync moves the pages of managed memory to the device or back, in stream
// order.
func (c *Context) PrefetchAsync(a *Array, toDevice bool, s *Stream) error {
	if err := a.usable(); err != nil {
		return err
	}
	r := a.b.r
	if r.Kind != mem.Managed {
		return fmt.Errorf("prefetch_async: %s is %s memory; only malloc_managed memory migrates", r.Name, r.Kind)
	}
	return c.enqueue(s, &Op{
		Kind: OpPrefetch, Name: "prefetch " + r.Name, Dst: r, DstOff: a.off, N: a.Size(),
		ToDevice: toDevice,
	})
}
