package machine

import (
	"runtime"
	"sync/atomic"
)

// arrival is an answer for the SM or MMU at a port.
type arrival struct {
	port int
	h    int32
}

// secondCore is a goroutine that runs the pieces of work it is given: the memory side of
// a cycle, or a part of a stride. Both cores wait by looking, as a piece is over in
// microseconds; who looks for long in vain ends, and between calls of Run there is no
// goroutine.
type secondCore struct {
	work  func(now, end uint64) (more bool)
	trial trial

	// Written by the first core, read by the second.
	now     uint64
	end     uint64        // of a stride; 0: a cycle
	asked   atomic.Uint64 // pieces of work begun
	quit    atomic.Bool
	present atomic.Bool // there is a goroutine; written by both

	// Written by the second.
	_       [64]byte
	done    atomic.Uint64 // pieces of work finished
	more    bool
	failed  any       // what work panicked with
	arrived []arrival // answers for the SM side's next cycle
	_       [64]byte
}

// begin has the memory side run beside cycle now, or from there to the end of a stride.
func (o *secondCore) begin(now, end uint64) {
	o.now, o.end = now, end
	n := o.asked.Add(1)
	if o.present.CompareAndSwap(false, true) {
		go o.loop(n)
	}
}

// idle says that the work is done.
func (o *secondCore) idle() bool { return o.done.Load() == o.asked.Load() }

// wait returns what work returned.
func (o *secondCore) wait() bool {
	o.waitFor(&o.done, o.asked.Load())
	return o.more
}

// waitFor returns when count is n or all work is done.
func (o *secondCore) waitFor(count *atomic.Uint64, n uint64) {
	end := o.asked.Load()
	for looks := 0; count.Load() != n && o.done.Load() != end; looks++ {
		if looks > spinsBeforeYield {
			runtime.Gosched()
		}
	}
	if o.done.Load() == o.asked.Load() && o.failed != nil {
		panic(o.failed)
	}
}

// loop does the work from piece n on, until it is told to quit or nobody asks.
func (o *secondCore) loop(n uint64) {
	for ; ; n++ {
		for looks := 0; o.asked.Load() < n; looks++ {
			if o.quit.Load() {
				o.present.Store(false)
				return
			}
			if looks > spinsBeforeYield {
				runtime.Gosched()
			}
			if looks > spinsBeforeEnd {
				o.present.Store(false)
				// Who has asked meanwhile may not have seen that: one of the two goes on.
				if o.asked.Load() < n || !o.present.CompareAndSwap(false, true) {
					return
				}
			}
		}
		o.cycle()
		o.done.Store(n)
	}
}

// cycle does the work and keeps a panic for wait, whose caller knows what to do.
func (o *secondCore) cycle() {
	defer func() { o.failed = recover() }()
	o.more = o.work(o.now, o.end)
}

// Looks, of a few nanoseconds, and of a hundred when the processor is offered to others.
const (
	spinsBeforeYield = 1000   // before a core offers it
	spinsBeforeEnd   = 20_000 // before the second core's goroutine ends, about 2 ms
)

// stop ends the goroutine, if there is one.
func (o *secondCore) stop() {
	if o == nil {
		return
	}
	o.quit.Store(true)
	for o.present.Load() {
		runtime.Gosched()
	}
	o.quit.Store(false)
}
