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

// secondCore is a goroutine that runs the memory side of cycles it is given. Both
// sides wait by looking, as a cycle is over in microseconds; between calls of Run
// there is no goroutine.
type secondCore struct {
	work func(now, end uint64) (more bool)

	// Written by the one, read by the other.
	now   uint64
	end   uint64        // of a stride; 0: a cycle
	asked atomic.Uint64 // pieces of work begun
	quit  atomic.Bool
	alive bool

	rest, next int // cycles to do without it, now and the next time it is late
	spins      int // looks before it was done

	// Written by the other.
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
	if !o.alive {
		o.alive = true
		go o.loop(n)
	}
}

// idle says that the work is done.
func (o *secondCore) idle() bool { return o.done.Load() == o.asked.Load() }

// wait returns what work returned. A core that lets itself be waited for longer than a
// cycle takes has other work, of another process perhaps, and is left to it for a while.
func (o *secondCore) wait() bool {
	o.waitFor(&o.done, o.asked.Load())
	spins := o.spins
	o.spins = 0
	if spins > late*int(max(o.end, o.now+1)-o.now) {
		o.rest = max(o.next, minRest)
		o.next = min(2*o.rest, maxRest)
	} else {
		o.next = max(minRest, o.next-1)
	}
	return o.more
}

// waitFor returns when count is n or all work is done.
func (o *secondCore) waitFor(count *atomic.Uint64, n uint64) {
	for end := o.asked.Load(); count.Load() != n && o.done.Load() != end; o.spins++ {
		if o.spins > patience {
			runtime.Gosched()
		}
	}
	if o.done.Load() == o.asked.Load() && o.failed != nil {
		panic(o.failed)
	}
}

func (o *secondCore) loop(n uint64) {
	for ; ; n++ {
		for spins := 0; o.asked.Load() < n; spins++ {
			if o.quit.Load() {
				o.done.Store(n)
				return
			}
			if spins > patience {
				runtime.Gosched()
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

const (
	patience = 1000   // looks before a core offers its processor to others
	late     = 20_000 // looks per cycle, of ten to a hundred nanoseconds, that no cycle takes
	minRest  = 1 << 8
	maxRest  = 1 << 16 // cycles
)

// stop ends the goroutine, if there is one.
func (o *secondCore) stop() {
	if o == nil || !o.alive {
		return
	}
	n := o.asked.Load() + 1
	o.quit.Store(true)
	for o.done.Load() != n {
		runtime.Gosched()
	}
	o.quit.Store(false)
	o.asked.Store(n)
	o.alive = false
}
