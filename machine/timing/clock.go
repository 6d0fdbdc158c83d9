// Package timing is the part of a run that all parts of the machine share: Clock, the current cycle; Wakeups, when
// each component runs next; FirstError, why the run stops; Meter, for how long something goes on. It imports none of
// the parts.
package timing

// Clock is the current time of a run.
type Clock struct {
	Now       uint64 // core cycle
	Progress  uint64 // last cycle with progress, for the watchdog
	InStrides uint64 // cycles that were run in strides

	ReturnToHost bool // an event has happened for which the caller of Run waits
}
