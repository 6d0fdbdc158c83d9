package machine

// pace is what the SM side changes in every cycle; it lies apart from what the memory
// side reads, which may be on another core.
type pace struct {
	_           [64]byte
	now         uint64
	progress    uint64 // last cycle at which something useful was done (watchdog)
	memoryCycle uint64 // cycle the memory side has already run; Never: none
	Overlapped  uint64 // cycles in which two cores had work
	Strode      uint64 // cycles of strides
	_           [64]byte
}
