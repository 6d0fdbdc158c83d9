package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/isa"
)

// ErrStopped ends a program whose run was interrupted or reached its length.
var ErrStopped = errors.New("interrupted")

// Error is a mistake of the host program or of what it read, with the position
// in the host program. It also wraps errors of the device (a kernel's *isa.Fault,
// ErrStopped, a deadlock), so use errors.As or Classify to tell them apart.
type Error struct {
	Pos string // "app.star:12"; empty when unknown
	Err error
}

func (e *Error) Error() string {
	if e.Pos == "" {
		return e.Err.Error()
	}
	return e.Pos + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// CheckError ends a program that ran to its end while checks failed.
type CheckError struct {
	Failed, Total int
	First         Check // the first one that failed
}

func (e *CheckError) Error() string {
	return fmt.Sprintf("%d of %d checks failed; the first: %s: %s", e.Failed, e.Total, e.First.What, e.First.Msg)
}

// Deadlock is a program or machine that can make no progress any more. Devices return it from Wait;
// Msg says which part waits for which other part.
type Deadlock struct{ Msg string }

func (e *Deadlock) Error() string { return e.Msg }

// Class is the class of an error, as the command line's exit status needs it.
type Class uint8

const (
	OK          Class = iota
	CheckFailed       // a check() of the program failed: exit status 1
	BadInput          // script, PTX, files, arguments, kernel faults: 2
	Stuck             // deadlock: 3
	Internal          // anything else: 3
	Stopped           // interrupted: 130
)

// Classify tells what an error returned by Program.Run means.
func Classify(err error) Class {
	var check *CheckError
	var dead *Deadlock
	var fault *isa.Fault
	var input *Error
	switch {
	case err == nil:
		return OK
	case errors.Is(err, ErrStopped) || errors.Is(err, context.Canceled):
		return Stopped
	case errors.As(err, &dead):
		return Stuck
	case errors.As(err, &check):
		return CheckFailed
	case errors.As(err, &fault) || errors.As(err, &input):
		return BadInput
	}
	return Internal
}
