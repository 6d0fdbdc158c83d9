package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// Functional is the device without time: every operation happens when it is
// enqueued. Like the timed device it reports a kernel's error at the next Wait.
type Functional struct {
	// Limit bounds the warp instructions of the whole program; 0: none.
	Limit uint64
	// Idle is the number of warp instructions without progress after which a kernel counts as hung; 0:
	// emulate.DefaultIdle.
	Idle uint64
	// Kernels lists the launches that completed.
	Kernels []KernelCount

	ctx  context.Context
	used uint64 // warp instructions so far
	err  error  // the first error; nothing runs after it
}

// KernelCount is what one completed launch executed.
type KernelCount struct {
	Name   string
	Stream int
	CTAs   int
	emulate.Counts
}

// NewFunctional makes a device whose kernels stop, with ErrStopped, soon after ctx
// is cancelled.
func NewFunctional(ctx context.Context, limit uint64) *Functional {
	return &Functional{ctx: ctx, Limit: limit}
}

// Enqueue executes op, unless an earlier one failed.
func (f *Functional) Enqueue(op *Op) error {
	if f.err != nil {
		return nil
	}
	if f.ctx.Err() != nil {
		f.err = ErrStopped
		return nil
	}
	switch op.Kind {
	case OpLaunch:
		if f.err = f.run(op); f.err != nil {
			op.Err = f.err
			return nil
		}
	case OpCopy:
		op.Apply()
	}
	op.Done = true
	return nil
}

func (f *Functional) run(op *Op) error {
	left := uint64(0)
	if f.Limit > 0 {
		if f.used >= f.Limit {
			return &Deadlock{fmt.Sprintf("the program reached its limit of %d warp instructions before kernel %s",
				f.Limit, op.Name)}
		}
		left = f.Limit - f.used
	}
	limits := emulate.Limits{Insts: left, Idle: f.Idle, Together: op.Shape.Workspace != 0}
	n, err := emulate.RunWithin(&interruptible{Grid: op.Grid, ctx: f.ctx}, limits)
	var fault *isa.Fault
	switch {
	case errors.Is(err, ErrStopped) || errors.As(err, &fault):
		return err
	case err != nil: // a barrier that cannot complete, or the limit of instructions
		return &Deadlock{err.Error()}
	}
	f.used += n.WarpInsts
	f.Kernels = append(f.Kernels, KernelCount{
		Name: op.Name, Stream: op.Stream, CTAs: op.Grid.Geometry().CTAs,
		Counts: n,
	})
	return nil
}

// Wait returns the error of the first operation that failed, if the caller waits for it or for a later one.
func (f *Functional) Wait(op *Op) error {
	if op.Done {
		return nil
	}
	return f.err
}

// Resident is the number of blocks that execute at once.
func (f *Functional) Resident(g isa.Geometry) int { return emulate.Resident(g) }

// Touch does nothing: there are no pages to move.
func (f *Functional) Touch(*mem.Region, int64, int64, bool) error { return f.err }

// Advise does nothing.
func (f *Functional) Advise(*mem.Region, Advice) error { return nil }

// SetQoS does nothing.
func (f *Functional) SetQoS(string, float64) error { return nil }

// Cycle is always 0.
func (f *Functional) Cycle() uint64 { return 0 }

// interruptible looks at a context every pollSteps warp instructions of a CTA and
// at the start of each CTA.
type interruptible struct {
	isa.Grid
	ctx context.Context
}

const pollSteps = 1 << 14

func (g *interruptible) Start(cta int, at isa.Place) isa.CTA {
	return &interruptibleCTA{CTA: g.Grid.Start(cta, at), ctx: g.ctx}
}

type interruptibleCTA struct {
	isa.CTA
	ctx   context.Context
	steps uint
}

func (c *interruptibleCTA) Step(w int, now uint64, s *isa.Step) error {
	if c.steps%pollSteps == 0 && c.ctx.Err() != nil {
		return ErrStopped
	}
	c.steps++
	return c.CTA.Step(w, now, s)
}
