package machine

import (
	"runtime"
	"sync/atomic"

	"heddle/engine"
	"heddle/internal/invariants"
)

// The two sides of the machine can run at once, the SM side of a cycle on one core
// and the memory side of the next on another. What one hands the other lies at least
// a cycle ahead: a request that leaves an SM crosses the request crossbar first, and
// an answer that leaves the reply crossbar waits for the SMs' next cycle. So results
// are the same to the bit. (In strides, which take more cycles at once, the memory side
// is a stride ahead: stride.go.) That needs
//
//   - a request crossbar that takes a cycle at least and has the SMs' clock,
//   - a cycle in which no kernel can end (the program would see the memory side a
//     cycle further on than the SMs) and which is not the last before `until`,
//   - nothing that changes hands: the driver's hand-overs work on both sides.
//
// It pays when both sides have work: not for code that computes, whose memory side
// is idle.

// arrival is an answer for the SM or MMU at a port.
type arrival struct {
	port int
	h    int32
}

// busy is the number of requests in flight from which on two cores do more in a cycle
// than they wait for each other and for what the other's cache holds (measured: with
// 64 csr_gather and hist_smem lose a fifth; from 256 to 1024 the memory-bound kernels
// gain the same, and fewer others take part).
const busy = 1024

// overlaps says whether the sides may run at once in cycle now, and should.
func (g *GPU) overlaps(now, until uint64) bool {
	if now+2 > until || g.every || len(g.Repartitions) > 0 || g.changing() || len(g.evictor.leaving) > 0 || g.slab.Live() < busy || !g.second(1) {
		return false
	}
	for _, t := range g.Tenants {
		for _, k := range t.kernels {
			if k.next == k.Geo.CTAs && k.Away == 0 && k.Progress().Running == 0 {
				return false
			}
		}
	}
	return true
}

// second says that there is a second core with time for n cycles.
func (g *GPU) second(n int) bool {
	if g.other == nil || invariants.On {
		return false
	}
	if g.other.rest > 0 {
		g.other.rest -= n
		return false
	}
	return true
}

// overlap runs the SM side of cycle now and the memory side of the next.
func (g *GPU) overlap(now uint64) {
	g.Overlapped++
	g.slab.Reserve(g.perCycle)
	g.request.Part()
	g.apart = true
	g.other.begin(now, 0)
	g.agenda.front.Run(now, g.visit)
	more := g.other.wait()
	g.apart = false
	g.request.Join()
	g.ahead = now + 1
	if more {
		g.agenda.wakeRequest(now + 1)
	} else if at := g.request.NextArrival(); at != engine.Never {
		g.agenda.wakeRequest(max(at, now+1))
	}
	for _, a := range g.other.arrived {
		g.deliver(a.port, a.h, now+1)
	}
	g.other.arrived = g.other.arrived[:0]
}

// memorySide is the other core's part: of an overlap, or up to cycle end of a stride.
func (g *GPU) memorySide(now, end uint64) (more bool) {
	if end > 0 {
		g.strideOther(end)
		return false
	}
	g.request.Arrive(now)
	more = g.handOver(now)
	g.agenda.back.Run(now+1, g.visitMemory)
	return more
}

// otherCore is a goroutine that runs the memory side of cycles it is given. Both
// sides wait by looking, as a cycle is over in microseconds; between calls of Run
// there is no goroutine.
type otherCore struct {
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
func (o *otherCore) begin(now, end uint64) {
	o.now, o.end = now, end
	n := o.asked.Add(1)
	if !o.alive {
		o.alive = true
		go o.loop(n)
	}
}

// idle says that the work is done.
func (o *otherCore) idle() bool { return o.done.Load() == o.asked.Load() }

// wait returns what work returned. A core that lets itself be waited for longer than a
// cycle takes has other work, of another process perhaps, and is left to it for a while.
func (o *otherCore) wait() bool {
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
func (o *otherCore) waitFor(count *atomic.Uint64, n uint64) {
	for end := o.asked.Load(); count.Load() != n && o.done.Load() != end; o.spins++ {
		if o.spins > patience {
			runtime.Gosched()
		}
	}
	if o.done.Load() == o.asked.Load() && o.failed != nil {
		panic(o.failed)
	}
}

func (o *otherCore) loop(n uint64) {
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
func (o *otherCore) cycle() {
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
func (o *otherCore) stop() {
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
