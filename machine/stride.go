package machine

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/partition"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/transfer"
)

// strides runs several cycles of one part of the machine before the next part, where results are
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
//   - the driver, which moves SMs, has work in its last cycle or none (mover.go).
//
// Strides end at multiples of their length whatever the cycle they begin in, so that
// those of a program with a data race do not depend on what idle skipping has skipped.
// Where one of these does not hold for the next cycles they run in lockstep.
type strides struct {
	tenants     []*partition.Tenant
	sms         *smArray
	fabric      *interconnect.Fabric
	dispatch    *partition.Dispatcher
	host        *transfer.HostLink
	firstError  *timing.FirstError
	clock       *timing.Clock
	wakeups     timing.Wakeups
	visitMemory func(i int) uint64 // runs a component of the memory side
	tickDriver  func(now uint64) uint64

	limits limits
	from   uint64 // the first cycle of the stride under way,
	end    uint64 // and the one after its last
	memory uint64 // the memory side has run, or runs, up to this cycle
	retry  uint64 // cycle before which no stride is tried

	crew       crew
	atOnce     bool    // the SMs may run at the same time
	visits     []visit // [SM]
	drove      uint64  // end of the last one in whose last cycle the driver had work
	firstFault uint64  // cycle of the first fault of a program,
	culprit    *sm.SM  // and where
}

// limits are the properties of the machine that strides rely on.
type limits struct {
	able    bool // the machine can take strides at all
	every   bool // all components are run in every cycle
	flits   int  // an SM can send in a cycle,
	burst   int  // and beyond that in its first
	longest int  // the first of strideLengths that the machine takes
}

// strideLengths are those that are tried, in cycles, the longest first. Each visit to an SM
// brings its warps from memory, where 80 SMs with all their registers lie, into the computer's
// caches, so that longer strides cost less per instruction (at 64 cycles a sixth less than at 32
// where all SMs compute). Machines take the longest where a request stays twice as long in the
// pipeline of an LLC slice, a choice. Short ones are for what has little left to do.
var strideLengths = [...]uint64{64, partition.MovePeriod, shortStride}

const shortStride = 8

// derive finds out whether the machine can take strides at all, and the bounds of their length.
func (l *strides) derive(g *GPU, o *Options) {
	s, f := g.Sheet, &g.fabric
	l.limits.every = o.Every
	l.firstFault, l.drove = engine.Never, engine.Never
	sector := f.SectorFlits()
	l.limits.flits = sector * s.LLC.Line / s.LLC.Sector
	if s.NoC.Kind == "local" { // the link takes a sector per cycle
		l.limits.burst, l.limits.flits = l.limits.flits, sector
	}
	if f.Pipeline <= 2*strideLengths[0]+1 {
		l.limits.longest = 1
	}
	long := strideLengths[l.limits.longest]
	// Networks of several hops, whose slices wait for each other, run in lockstep, and so do CPU cores.
	l.limits.able = !o.Lockstep && o.Quantum == 0 && !s.VM.Enabled && f.Pipeline > long+1 && !g.CPUs.used() &&
		!g.Partition.Shared() && f.Room(0) >= shortStride*l.limits.flits+l.limits.burst
	n := s.SM.Count
	l.sms.mail = mail{
		in: make([][]message, n), later: make([][]message, n), out: make([][]message, n),
		sent: make([][]outgoing, long),
	}
	l.visits, l.crew.run, l.crew.memory = make([]visit, n), l.runSM, l.runMemory
}

// forbid ends strides for good: a page that one SM asks for would be there for the others.
func (l *strides) forbid() { l.limits.able = false }

// StrideCycles is the cycles so far that were run in strides.
func (g *GPU) StrideCycles() uint64 { return g.clock.InStrides }

// next is the end of a stride that may begin in cycle now; now when none may.
func (l *strides) next(now, until uint64) uint64 {
	if !l.limits.able || now < l.retry {
		return now
	}
	for _, n := range strideLengths[l.longest(now):] {
		end := min(until, now-now%n+n)
		if l.wakeups.Front.Due(l.wakeups.Driver) >= end-1 && l.may(now, end, int(n)) {
			return end
		}
		l.retry = end
	}
	return now
}

// longest is the first of strideLengths to try for a stride that begins in cycle now. After a cycle in which the
// mover has looked at SMs it is the mover's period.
func (l *strides) longest(now uint64) int {
	if now == l.drove {
		return max(l.limits.longest, 1)
	}
	return l.limits.longest
}

// may says whether the cycles up to end, n at most, may be a stride, and should.
func (l *strides) may(now, end uint64, n int) bool {
	if l.host.Tells(now) < end {
		return false
	}
	warps := 0
	for _, t := range l.tenants {
		for _, k := range t.Kernels {
			if k.InterCTASync || k.Ready > now && k.Ready < end {
				return false
			}
			warps += k.Geo.CTAs * k.Geo.Warps
		}
	}
	if warps < len(l.sms.list) { // few leave most cycles idle
		return false
	}
	if l.fabric.Room(now) < n*l.limits.flits+l.limits.burst {
		return false
	}
	for _, t := range l.tenants {
		for _, k := range t.Kernels {
			if k.Ready <= now && !l.outlasts(t, k, n) {
				return false
			}
		}
	}
	return true
}

// outlasts says that a kernel cannot end within n cycles.
func (l *strides) outlasts(t *partition.Tenant, k *partition.Kernel, n int) bool {
	if len(t.Kernels) == 1 && t.Account.Owed > l.clock.Now+uint64(n) { // it waits for an answer
		return true
	}
	if k.Next < k.Geo.CTAs && k.Code.AtLeast(0) > n {
		return true
	}
	if k.Away > 0 { // to come back takes longer than a request is in an LLC slice's pipeline
		return true
	}
	for _, i := range t.SMs {
		if s := l.sms.list[i]; !s.Busy() && s.Outlasts(&k.Kernel, n) { // what loads a context may be about to end
			return true
		}
	}
	return false
}

// run takes the machine to cycle end in a stride. While the SMs run, the memory side may run the next stride.
func (l *strides) run(end, until uint64) {
	l.from, l.end = l.clock.Now, end
	mail := &l.sms.mail
	mail.open = true
	l.atOnce = l.mayRunAtOnce()
	l.clock.InStrides += end - l.from
	if l.memory < end {
		l.memory = end
		l.runMemory()
	}
	l.memory = l.ahead(until)
	mail.ahead = l.memory > end
	l.wakeups.Front.Skip(l.from)
	l.runSMs()
	l.runRequests()
	l.runDriver()
	l.wakeups.Front.Skip(end)
	mail.open = false
	l.clock.Now = end
}

// runMemory runs the memory side up to its cycle.
func (l *strides) runMemory() {
	for at := l.wakeups.Back.Next(); at < l.memory; at = l.wakeups.Back.Next() {
		l.wakeups.Back.Run(at, l.visitMemory)
	}
	l.wakeups.Back.Skip(l.memory)
}

// ahead is the cycle up to which the memory side may run while the SMs run the stride: to the end of the next one, if
// it is certain now that there is a next one, and if nothing that is sent in the stride under way reaches the tags of a
// slice before. Otherwise it is the end of this stride.
func (l *strides) ahead(until uint64) uint64 {
	far := l.end + strideLengths[l.limits.longest]
	n := far - l.from
	if far > until || l.fabric.Pipeline <= n+1 || l.wakeups.Front.Due(l.wakeups.Driver) < far-1 ||
		l.host.Tells(l.from) != engine.Never || !l.may(l.from, far, int(n)) {
		return l.end
	}
	return far
}

// begun says that the memory side has run the next stride already. Then it takes place.
func (l *strides) begun() bool { return l.memory > l.clock.Now }

// mayRunAtOnce says whether the kernels that run now let several SMs run at the same time.
func (l *strides) mayRunAtOnce() bool {
	for _, t := range l.tenants {
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
func (l *strides) runRequests() {
	l.sms.mail.sort(l.from)
	at, copies := l.wakeups.Front.Take(l.wakeups.Request), l.wakeups.Front.Take(l.wakeups.MMU)
	for c := l.from; c < l.end; c++ {
		if copies <= c || l.limits.every {
			copies = l.host.Tick(c)
		}
		out := &l.sms.mail.sent[c-l.from]
		if len(*out) > 0 {
			for _, d := range *out {
				l.fabric.Put(int(d.port), d.h, c)
			}
			*out, at = (*out)[:0], c
		}
		if at <= c || l.limits.every {
			at = l.fabric.TickRequest(c)
		}
	}
	if at != engine.Never {
		l.wakeups.WakeRequest(at)
	}
	if copies != engine.Never {
		l.wakeups.WakeMMU(copies)
	}
}

// runDriver runs the driver in the last cycle of the stride, if it has work then: it is the last stage of a cycle, so
// that all parts have reached this cycle.
func (l *strides) runDriver() {
	last := l.end - 1
	if l.wakeups.Front.Due(l.wakeups.Driver) != last || l.firstError.Err != nil {
		return
	}
	l.wakeups.Front.Take(l.wakeups.Driver)
	l.drove = l.end
	if at := l.tickDriver(last); at != engine.Never {
		l.wakeups.WakeDriver(at)
	}
}
