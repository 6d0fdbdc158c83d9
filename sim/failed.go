package sim

import (
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/machine/vm"
)

// How a run fails.

// Unfit is the error of a run whose input turned out to be wrong while it ran: a trace that is cut off, a target for
// a kernel that was never launched. Its counts are no result.
type Unfit struct{ Err error }

func (u *Unfit) Error() string { return u.Err.Error() }

// Unwrap is the cause.
func (u *Unfit) Unwrap() error { return u.Err }

// Unfinished says that a run reached its limit of cycles before its applications ended.
type Unfinished struct{ Cycles uint64 }

func (u *Unfinished) Error() string {
	return fmt.Sprintf("not finished after %d cycles, the limit given with --max-cycles or length.cycles", u.Cycles)
}

// failed turns the machine's error into the run's.
func (r *run) failed(err error) error {
	var dead *machine.Deadlock
	if errors.As(err, &dead) {
		return &Deadlock{Msg: dead.Error()}
	}
	if errors.Is(err, vm.ErrNoFrame) {
		m := r.sheet
		err = fmt.Errorf("%w: the machine has dram.capacity = %d bytes, with dram.rows = %d: raise them, or allocate "+
			"less", err, m.DRAM.Capacity, m.DRAM.Rows)
		return &host.Error{Err: &Unfit{err}}
	}
	var bad *machine.BadProgram
	if errors.As(err, &bad) {
		return &host.Error{Err: &Unfit{err}}
	}
	var fault *isa.Fault
	if errors.As(err, &fault) {
		if t := r.gpu.Faulted(); t >= 0 && t < len(r.apps) {
			a := r.apps[t]
			a.dev.blame(err)
			a.stop(err)
			if a.err != nil {
				return r.blamed(a) // the program's own wrapping: where it launched and waited
			}
		}
	}
	return err
}

// blamed is an application's error, with its name where there are others.
func (r *run) blamed(a *app) error {
	if len(r.apps) == 1 {
		return a.err
	}
	return fmt.Errorf("%s: %w", a.spec.Name, a.err)
}
