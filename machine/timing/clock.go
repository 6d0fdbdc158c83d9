// Package timing is what all parts of the machine share of a run: Clock, the cycle it has reached; Wakeups, when
// each component runs next; FirstError, why it stops; Meter, for how long something went on. It knows no part.
package timing

// Clock is how far the run has come. The SM side changes it in every cycle; it lies apart from what the memory
// side reads, which may be on another core.
type Clock struct {
	_           [64]byte
	Now         uint64 // core cycle
	Progress    uint64 // last cycle at which something useful was done (watchdog)
	MemoryCycle uint64 // cycle the memory side has already run; Never: none
	Overlapped  uint64 // cycles in which two cores had work
	Strode      uint64 // cycles of strides
	_           [64]byte
}
