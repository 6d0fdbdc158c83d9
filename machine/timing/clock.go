// Package timing is what all parts of the machine share of a run: Clock, the cycle it has reached; Wakeups, when
// each component runs next; FirstError, why it stops; Meter, for how long something went on. It knows no part.
package timing

// Clock is how far the run has come.
type Clock struct {
	Now      uint64 // core cycle
	Progress uint64 // last cycle at which something useful was done (watchdog)
	Strode   uint64 // cycles of strides

	ReturnToHost bool // something has happened that those outside wait for
}
