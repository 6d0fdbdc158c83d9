package cpu

// perCycle is ticks in a cycle: every width up to 8, and most others up to 16, divides it.
const perCycle = 1680

// unknown is the time of an operation that waits for memory.
const unknown = int64(1) << 62

// cycleOf is the first cycle that does not begin before a tick.
func cycleOf(tick int64) uint64 { return uint64((tick + perCycle - 1) / perCycle) }

// bend is a delay in the line of retirement: from its instruction on, instruction x retires at tick
// offset + x*pace, up to the next bend.
type bend struct{ index, offset int64 }

// retirement has the times at which instructions retire, as far as they are known.
type retirement struct {
	pace    int64
	offset  int64  // of the newest bend
	bends   []bend // a ring of a power of two places, by the number of the bend
	last    int    // number of the newest bend
	counted int    // of the bend that holds for the instructions counted last
	reached int    // of the newest bend that has left the window
}

func newRetirement(pace int64) retirement {
	return retirement{pace: pace, bends: make([]bend, 64)} // bend 0: nothing has been held up
}

func (r *retirement) at(n int) *bend { return &r.bends[n&(len(r.bends)-1)] }

// hold notes that an instruction does not retire before a tick; later notes are of later
// instructions or the same.
func (r *retirement) hold(index, tick int64) {
	offset := tick - index*r.pace
	if offset <= r.offset {
		return
	}
	r.offset = offset
	if b := r.at(r.last); b.index == index {
		b.offset = offset
		return
	}
	if r.last+1-min(r.counted, r.reached) == len(r.bends) {
		r.grow()
	}
	r.last++
	*r.at(r.last) = bend{index, offset}
}

func (r *retirement) grow() {
	old := r.bends
	r.bends = make([]bend, 2*len(old))
	for n := min(r.counted, r.reached); n <= r.last; n++ {
		*r.at(n) = old[n&(len(old)-1)]
	}
}

// count is the number of instructions that have retired by a tick, among those whose time is known (up to instruction
// known). Ticks must not decrease from call to call.
func (r *retirement) count(tick, known int64) int64 {
	for r.counted < r.last {
		n := r.at(r.counted + 1)
		if n.index > known || n.offset+n.index*r.pace > tick { // more operations of it may hold it up further
			known = min(known, n.index-1)
			break
		}
		r.counted++
	}
	b := r.at(r.counted)
	return max(0, min(known, (tick-b.offset)/r.pace))
}

// tick is when an instruction retires that has not been counted and whose time is known.
func (r *retirement) tick(index int64) int64 {
	n := r.counted
	for n < r.last && r.at(n+1).index <= index {
		n++
	}
	return r.at(n).offset + index*r.pace
}

// newest is the time at which an instruction after all bends retires.
func (r *retirement) newest(index int64) int64 { return r.offset + index*r.pace }
