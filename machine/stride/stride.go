// Package stride runs several cycles of one part of the machine before the next part, and the SMs on several cores of
// the computer, where results are the same to the bit.
//
// A reader must know two types. Strides decides when there is a stride and runs it. SMs is the SMs of the machine with
// what they exchange with the rest of it. How several cores share the SMs is in crew.go.
package stride

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/sheets"
)

// Strides runs several cycles of one part of the machine before the next part, where results are
// the same to the bit: the memory side runs all cycles of a stride, then each SM, then the request
// crossbar. The computer that simulates keeps one SM in its cache for a stride instead of touching
// 80 in every cycle, and other cores of it run other SMs (crew.go). Nothing changes, because within a stride
//
//   - the memory side needs nothing of the SMs: what they send stays in the pipeline of
//     an LLC slice for longer,
//   - an SM needs nothing of the request crossbar: its queue there has room for all that
//     the SM can send,
//   - SMs share nothing but the dispatcher, which serves them in the order of the cycles
//     in which they ask: no kernel's CTAs talk to each other (hasInterCTASync), and what they
//     store to memory the others see when the stride ends,
//   - no kernel ends, which its program would see: it waits for an answer that comes
//     later, or some SM, or its CTAs to come, have more instructions to issue than cycles,
//     or a CTA of it lies in memory,
//   - the stage of moves has work in its last cycle or none: while an SM changes hands it has work in every cycle.
//
// Strides end at multiples of their length whatever the cycle they begin in, so that
// those of a program with a data race do not depend on what idle skipping has skipped.
// Where one of these does not hold for the next cycles they run in lockstep.
type Strides struct {
	Tenants     []*sharing.Tenant
	SMs         *SMs
	Fabric      *interconnect.Fabric
	Dispatch    *sharing.Dispatcher
	Host        *transfer.HostLink
	FirstError  *timing.FirstError
	Clock       *timing.Clock
	Wakeups     timing.Wakeups
	VisitMemory func(i int) uint64 // runs a component of the memory side
	TickMoves   func(now uint64) uint64

	limits limits
	from   uint64 // the first cycle of the stride under way,
	end    uint64 // and the one after its last
	memory uint64 // the memory side has run, or runs, up to this cycle
	retry  uint64 // cycle before which no stride is tried

	crew       crew
	atOnce     bool    // the SMs may run at the same time
	visits     []visit // [SM]
	firstFault uint64  // cycle of the first fault of a program,
	culprit    *sm.SM  // and where
}

// limits are the properties of the machine that strides rely on.
type limits struct {
	able    bool // the machine can take strides at all
	every   bool // all components are run in every cycle
	flits   int  // an SM can send in a cycle,
	burst   int  // and beyond that in its first
	longest int  // the first of lengths that the machine takes
}

// lengths are those that are tried, in cycles, the longest first. Each visit to an SM
// brings its warps from memory, where 80 SMs with all their registers lie, into the computer's
// caches, so that longer strides cost less per instruction (at 64 cycles a sixth less than at 32
// where all SMs compute). Machines take the longest where a request stays twice as long in the
// pipeline of an LLC slice, a choice. Short ones are for what has little left to do.
var lengths = [...]uint64{64, 32, shortest}

const shortest = 8

// Derive finds out whether a machine whose parts allow strides can take them, and the bounds of their length. With
// every, all components run in every cycle.
func (l *Strides) Derive(s *sheets.Machine, allowed, every bool) {
	f := l.Fabric
	l.limits.every = every
	l.firstFault = engine.Never
	sector := f.SectorFlits()
	l.limits.flits = sector * s.LLC.Line / s.LLC.Sector
	if s.NoC.Kind == "local" { // the link takes a sector per cycle
		l.limits.burst, l.limits.flits = l.limits.flits, sector
	}
	if f.Pipeline <= 2*lengths[0]+1 {
		l.limits.longest = 1
	}
	long := lengths[l.limits.longest]
	// Networks of several hops, whose slices wait for each other, run in lockstep.
	l.limits.able = allowed && !s.VM.Enabled && f.Pipeline > long+1 &&
		f.Room(0) >= shortest*l.limits.flits+l.limits.burst
	n := s.SM.Count
	l.SMs.mail = mail{
		in: make([][]message, n), later: make([][]message, n), out: make([][]message, n),
		sent: make([][]outgoing, long),
	}
	l.visits, l.crew.sms, l.crew.run, l.crew.memory = make([]visit, n), l.SMs.List, l.runSM, l.runMemory
}

// Forbid ends strides for good: a page that one SM asks for would be there for the others.
func (l *Strides) Forbid() { l.limits.able = false }

// Next is the end of a stride that may begin in cycle now; now when none may.
func (l *Strides) Next(now, until uint64) uint64 {
	if !l.limits.able || now < l.retry {
		return now
	}
	for _, n := range lengths[l.limits.longest:] {
		end := min(until, now-now%n+n)
		if l.Wakeups.Front.Due(l.Wakeups.Moves) >= end-1 && l.may(now, end, int(n)) {
			return end
		}
		l.retry = end
	}
	return now
}

// may says whether the cycles up to end, n at most, may be a stride, and should.
func (l *Strides) may(now, end uint64, n int) bool {
	if l.Host.Tells(now) < end {
		return false
	}
	warps := 0
	for _, t := range l.Tenants {
		for _, k := range t.Kernels {
			if k.InterCTASync || k.Ready > now && k.Ready < end {
				return false
			}
			warps += k.Geo.CTAs * k.Geo.Warps
		}
	}
	if warps < len(l.SMs.List) { // few leave most cycles idle
		return false
	}
	if l.Fabric.Room(now) < n*l.limits.flits+l.limits.burst {
		return false
	}
	for _, t := range l.Tenants {
		for _, k := range t.Kernels {
			if k.Ready <= now && !l.outlasts(t, k, n) {
				return false
			}
		}
	}
	return true
}

// outlasts says that a kernel cannot end within n cycles.
func (l *Strides) outlasts(t *sharing.Tenant, k *sharing.Kernel, n int) bool {
	if len(t.Kernels) == 1 && t.Account.Owed > l.Clock.Now+uint64(n) { // it waits for an answer
		return true
	}
	if k.Next < k.Geo.CTAs && k.Code.AtLeast(0) > n {
		return true
	}
	if k.Away > 0 { // to come back takes longer than a request is in an LLC slice's pipeline
		return true
	}
	for _, i := range t.SMs {
		if s := l.SMs.List[i]; !s.Busy() && s.Outlasts(&k.Kernel, n) { // what loads a context may be about to end
			return true
		}
	}
	return false
}

// Run takes the machine to cycle end in a stride. While the SMs run, the memory side may run the next stride.
func (l *Strides) Run(end, until uint64) {
	l.from, l.end = l.Clock.Now, end
	mail := &l.SMs.mail
	mail.open = true
	l.atOnce = l.mayRunAtOnce()
	l.Clock.InStrides += end - l.from
	if l.memory < end {
		l.memory = end
		l.runMemory()
	}
	l.memory = l.ahead(until)
	mail.ahead = l.memory > end
	l.Wakeups.Front.Skip(l.from)
	l.runSMs()
	l.runRequests()
	l.runMoves()
	l.Wakeups.Front.Skip(end)
	mail.open = false
	l.Clock.Now = end
}

// runMemory runs the memory side up to its cycle.
func (l *Strides) runMemory() {
	for at := l.Wakeups.Back.Next(); at < l.memory; at = l.Wakeups.Back.Next() {
		l.Wakeups.Back.Run(at, l.VisitMemory)
	}
	l.Wakeups.Back.Skip(l.memory)
}

// ahead is the cycle up to which the memory side may run while the SMs run the stride: to the end of the next one, if
// it is certain now that there is a next one, and if nothing that is sent in the stride under way reaches the tags of a
// slice before. Otherwise it is the end of this stride.
func (l *Strides) ahead(until uint64) uint64 {
	far := l.end + lengths[l.limits.longest]
	n := far - l.from
	if far > until || l.Fabric.Pipeline <= n+1 || l.Wakeups.Front.Due(l.Wakeups.Moves) < far-1 ||
		l.Host.Tells(l.from) != engine.Never || !l.may(l.from, far, int(n)) {
		return l.end
	}
	return far
}

// Begun is the end of the next stride, if the memory side has run it already. Then it takes place.
func (l *Strides) Begun() (end uint64, yes bool) { return l.memory, l.memory > l.Clock.Now }

// mayRunAtOnce says whether the kernels that run now let several SMs run at the same time.
func (l *Strides) mayRunAtOnce() bool {
	for _, t := range l.Tenants {
		for _, k := range t.Kernels {
			if !k.AtOnce {
				return false
			}
		}
	}
	return l.crew.cores != nil
}

// runRequests runs the request crossbar, and before it the link to the host, whose lines go to
// slices, too. The link has the place of the MMU, which machines that take strides do not have.
func (l *Strides) runRequests() {
	l.SMs.mail.sort(l.from)
	at, link := l.Wakeups.Front.Take(l.Wakeups.Request), l.Wakeups.Front.Take(l.Wakeups.MMU)
	for c := l.from; c < l.end; c++ {
		if link <= c || l.limits.every {
			link = l.Host.Tick(c)
		}
		out := &l.SMs.mail.sent[c-l.from]
		if len(*out) > 0 {
			for _, d := range *out {
				l.Fabric.Put(int(d.port), d.h, c)
			}
			*out, at = (*out)[:0], c
		}
		if at <= c || l.limits.every {
			at = l.Fabric.TickRequest(c)
		}
	}
	if at != engine.Never {
		l.Wakeups.WakeRequest(at)
	}
	if link != engine.Never {
		l.Wakeups.WakeMMU(link)
	}
}

// runMoves runs the stage of moves in the last cycle of the stride, if it has work then: it is the last stage of a
// cycle, so that all parts have reached this cycle.
func (l *Strides) runMoves() {
	last := l.end - 1
	if l.Wakeups.Front.Due(l.Wakeups.Moves) != last || l.FirstError.Err != nil {
		return
	}
	l.Wakeups.Front.Take(l.Wakeups.Moves)
	if at := l.TickMoves(last); at != engine.Never {
		l.Wakeups.WakeMoves(at)
	}
}
