package machine

import (
	"sync/atomic"

	"heddle/engine"
	"heddle/isa"
	"heddle/machine/sm"
	"heddle/mem"
)

// A stride is a number of cycles which one part of the machine runs after the other: the
// memory side all of them, then each SM, then the request crossbar. The computer that
// simulates keeps one SM in its cache for a stride instead of touching 80 in every cycle.
// Results are the same to the bit, because within a stride
//
//   - the memory side needs nothing of the SMs: what they send stays in the pipeline of
//     an LLC slice for longer,
//   - an SM needs nothing of the request crossbar: its queue there has room for all that
//     the SM can send,
//   - SMs share nothing but the dispatcher, which serves them in the order of the cycles
//     in which they ask: no kernel's CTAs talk to each other (talks). If CTAs do not even
//     share memory (isa.Independent) a second core runs some of the SMs,
//   - no kernel ends, which its program would see: it waits for an answer that comes
//     later, or some SM, or its CTAs to come, have more instructions to issue than cycles.
//
// Strides end at multiples of their length whatever the cycle they begin in, so that
// those of a program with a data race do not depend on what idle skipping has skipped.
// Where one of these does not hold for the next cycles they run in lockstep.
type stride struct {
	possible bool   // on this machine
	on       bool   // in one
	from     uint64 // its first cycle,
	end      uint64 // and the one behind its last
	lockstep uint64 // cycle up to which there is none
	lead     uint64 // end of the stride that the memory side has already run
	flits    int    // that an SM can send in a cycle
	burst    int    // and beyond that in its first
	pipeline uint64 // cycles a request spends in an LLC slice's pipeline

	coming  [][]delivery             // by SM: answers from the memory side, which it writes
	arrived [][]delivery             // and those the SMs read
	sent    [mem.Lanes][][]departure // by core and cycle of the stride: requests
	due     []uint64                 // by SM: the next cycle with work
	asks    []uint64                 // by SM: the cycle in which it asks the dispatcher; Never
	failed  uint64                   // cycle of the first fault of a program,
	culprit *sm.SM                   // and where

	given atomic.Int64  // SMs given to a core
	lent  atomic.Uint64 // SMs the other core has run
	ahead bool          // the other core runs the memory side of the next stride,
	share bool          // and some of the SMs,
	early int           // this many before the memory side
}

// Lengths of strides in cycles. Longer ones gain no more (measured up to 100); short ones
// are for what has little left to do.
const (
	longStride  = 32
	shortStride = 8
)

// portions is how many steps there are between all SMs early and none: a choice, by which a
// new division is found in about as many strides.
const portions = 32

// delivery is an answer for an SM and the cycle it arrives in.
type delivery struct {
	at uint64
	h  int32
}

// departure is a request on its way into the request crossbar.
type departure struct {
	h           int32
	port, flits int16
}

// buildStrides finds out whether the machine can take strides at all.
func (g *GPU) buildStrides(o *Options) {
	z := &g.stride
	z.failed = engine.Never
	z.flits = max(g.reqFlits[0], g.reqFlits[1]) * g.Sheet.LLC.Line / g.Sheet.LLC.Sector
	if g.Sheet.NoC.Kind == "local" { // the link takes a sector per cycle
		z.burst, z.flits = z.flits, max(g.reqFlits[0], g.reqFlits[1])
	}
	z.pipeline = g.llcClock.Core(g.llcClock.Ticks(0) + uint64(g.Sheet.LLC.Latency))
	z.possible = !o.Lockstep && o.Quantum == 0 && g.mmu == nil && z.pipeline > longStride+1 && g.request.Room() >= shortStride*z.flits+z.burst
	for _, own := range g.dispatch.owners {
		z.possible = z.possible && len(own) < 2
	}
	z.arrived, z.coming = make([][]delivery, len(g.sm)), make([][]delivery, len(g.sm))
	z.due, z.asks = make([]uint64, len(g.sm)), make([]uint64, len(g.sm))
	for i := range z.sent {
		z.sent[i] = make([][]departure, longStride)
	}
}

// talks says that CTAs of a kernel may wait for each other or observe the order of
// their accesses: there are atomics on global memory, fences or volatile accesses.
func talks(c *isa.Code) bool {
	for i := range c.Instr {
		in := &c.Instr[i]
		if in.Space == isa.Shared {
			continue
		}
		switch in.Kind {
		case isa.Atomic, isa.Reduce, isa.Fence:
			return true
		case isa.Load, isa.Store:
			if in.Cache == isa.CacheVolatile {
				return true
			}
		}
	}
	return false
}

// strideEnd is the end of a stride that may begin in cycle now; now when none may.
func (g *GPU) strideEnd(now, until uint64) uint64 {
	z := &g.stride
	if !z.possible || now < z.lockstep {
		return now
	}
	for _, n := range [...]uint64{longStride, shortStride} {
		end := min(until, now-now%n+n)
		if g.mayStride(now, end, int(n)) {
			return end
		}
		z.lockstep = end
	}
	return now
}

// mayStride says whether the cycles up to end, n at most, may be a stride, and should.
func (g *GPU) mayStride(now, end uint64, n int) bool {
	if g.agenda.front.Due(g.agenda.driver) < end || g.agenda.front.Due(g.agenda.mmu) < end || len(g.Repartitions) > 0 || g.changing() {
		return false
	}
	warps := 0
	for _, t := range g.Tenants {
		for _, k := range t.kernels {
			if k.talks || k.ready > now && k.ready < end {
				return false
			}
			warps += k.Geo.CTAs * k.Geo.Warps
		}
	}
	if warps < len(g.sm) || g.request.Room() < n*g.stride.flits+g.stride.burst { // few warps leave most cycles idle
		return false
	}
	for _, t := range g.Tenants {
		for _, k := range t.kernels {
			if k.ready <= now && !g.outlasts(t, k, n) {
				return false
			}
		}
	}
	return true
}

// outlasts says that a kernel cannot end within n cycles.
func (g *GPU) outlasts(t *Tenant, k *Kernel, n int) bool {
	if len(t.kernels) == 1 && t.owed > g.now+uint64(n) { // it waits for an answer
		return true
	}
	if k.next < k.Geo.CTAs && k.Code.AtLeast(0) > n {
		return true
	}
	for _, i := range t.SMs {
		if g.sm[i].Outlasts(&k.Kernel, n) {
			return true
		}
	}
	return false
}

// take takes the machine to cycle end in a stride. With a second core that one
// runs the memory side of the next stride meanwhile, where it is certain that there is one,
// and SMs, where CTAs are independent.
func (g *GPU) take(end, until uint64) {
	z, now := &g.stride, g.now
	z.on, z.from, z.end = true, now, end
	g.Strode += end - now
	if z.lead < end {
		g.strideMemory(end)
	}
	z.arrived, z.coming = z.coming, z.arrived
	for _, s := range g.slice {
		s.Part()
	}
	next := end + longStride
	two := g.second(longStride)
	z.ahead = two && g.slab.Live() >= busy && next <= until && z.pipeline > 2*longStride+1 && g.mayStride(now, next, 2*longStride)
	z.share = two && g.independent()
	switch {
	case z.ahead:
		g.Overlapped += longStride
		z.lead = next
	case z.share:
		g.Overlapped += end - now
	}
	g.agenda.front.Skip(now)
	g.strideSMs(next)
	g.strideRequests()
	g.agenda.front.Skip(end)
	if z.ahead || z.share {
		idle := g.other.idle()
		g.other.wait()
		if z.ahead && z.share {
			z.balance(len(g.sm), idle)
		}
	}
	for i, s := range g.slice {
		if s.Join() {
			g.agenda.wakeSlice(i, end)
		}
	}
	if g.verdict.err != nil { // as far as with two cores
		g.strideMemory(next)
		g.ahead = end
	}
	z.on = false
	g.now = end
}

// independent says that SMs may run at once.
func (g *GPU) independent() bool {
	if g.profile { // of a kernel, which all SMs count in
		return false
	}
	for _, t := range g.Tenants {
		for _, k := range t.kernels {
			if !k.alone {
				return false
			}
		}
	}
	return true
}

// strideOther is the other core's part of a stride: the memory side up to cycle lead, SMs,
// or both.
func (g *GPU) strideOther(lead uint64) {
	z, n := &g.stride, 0
	if z.ahead {
		if z.share {
			n = g.strideLane(1, 0, z.early)
		}
		g.strideMemory(lead)
	}
	if z.share {
		g.strideLane(1, n, len(g.sm))
	}
}

// balance divides the next stride anew: one of the cores has waited for the other at the end
// of this one. Beside the first core's dispatcher and request crossbar, which come when all
// SMs have run, the other can only run the memory side; so it leaves that for later the
// more SMs it is to have. Which core runs what decides how long it takes, no result.
func (z *stride) balance(sms int, idle bool) {
	portion := max(1, sms/portions)
	if idle {
		z.early = min(z.early+portion, sms)
	} else {
		z.early = max(z.early-portion, 0)
	}
}

// strideMemory runs the memory side up to cycle end.
func (g *GPU) strideMemory(end uint64) {
	for _, s := range g.slice {
		s.Lead(true)
	}
	for at := g.agenda.back.Next(); at < end; at = g.agenda.back.Next() {
		g.agenda.back.Run(at, g.visitMemory)
	}
	g.agenda.back.Skip(end)
	for _, s := range g.slice {
		s.Lead(false)
	}
}

// strideRequests runs the request crossbar.
func (g *GPU) strideRequests() {
	z := &g.stride
	at := g.agenda.front.Take(g.agenda.request)
	for c := z.from; c < z.end; c++ {
		n := 0
		for lane := range z.sent {
			out := &z.sent[lane][c-z.from]
			if len(*out) == 0 {
				continue
			}
			t := g.nocClock.Ticks(c)
			n += len(*out)
			for _, d := range *out {
				r := &g.slab.R[d.h]
				g.sent(r, c)
				g.request.Push(t, int(d.port), int(r.Slice), int(d.flits), d.h, r.Tenant)
			}
			*out = (*out)[:0]
		}
		if n > 0 || at <= c || g.every {
			at = g.tickRequest(c)
		}
	}
	if at != engine.Never {
		g.agenda.wakeRequest(at)
	}
}

// arrives keeps an answer for the SM at a port of the reply crossbar.
func (z *stride) arrives(port int, h int32, now uint64) {
	z.coming[port] = append(z.coming[port], delivery{now, h})
}

// departs keeps a request, which a core has made, for the request crossbar.
func (z *stride) departs(lane, port int, h int32, flits int, now uint64) {
	out := &z.sent[lane][now-z.from]
	*out = append(*out, departure{h, int16(port), int16(flits)})
}
