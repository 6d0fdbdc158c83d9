package machine

import (
	"sync/atomic"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
)

// lookahead runs parts of the machine ahead of others, where results are the same to the
// bit: in strides of several cycles, or with the two sides at once on two cores.
type lookahead struct {
	tenants     []*Tenant
	slices      []*cache.Slice
	sms         *smArray
	fabric      *fabric
	dispatch    *dispatcher
	groups      *handover
	mover       *smMover
	contexts    *contextStore
	driver      *vm.Driver // nil where addresses are not translated
	unified     *unified
	host        *hostLink
	firstError  *timing.FirstError
	clock       *timing.Clock
	wakeups     timing.Wakeups
	visit       func(i int) uint64 // runs a component of the SM side
	visitMemory func(i int) uint64 // and one of the memory side
	tickDriver  func(now uint64) uint64

	limits      limits
	core        *secondCore // nil: there is one core
	second      secondPart
	stride      stride
	overlapping bool   // the two sides run at once, the memory side a cycle ahead
	retry       uint64 // cycle before which no stride is tried
	memoryEnd   uint64 // end of the stride that the memory side has already run
}

// limits are what lookahead may rely on; they do not change but for strides.
type limits struct {
	strides   bool // the machine can take strides at all
	every     bool // all components are run in every cycle
	profile   bool // warps count stall cycles in their kernel, which SMs share
	flits     int  // an SM can send in a cycle,
	burst     int  // and beyond that in its first
	perCycle  int  // requests the SM side makes in a cycle at most,
	perStride int  // and in a stride
	longest   int  // the first of strideLengths that the machine takes
}

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
//     in which they ask: no kernel's CTAs talk to each other (hasInterCTASync). If CTAs do not even
//     share memory (isa.Independent) a second core runs some of the SMs,
//   - no kernel ends, which its program would see: it waits for an answer that comes
//     later, or some SM, or its CTAs to come, have more instructions to issue than cycles,
//     or a CTA of it lies in memory,
//   - the driver, which moves SMs, has work in its last cycle or none (mover.go).
//
// Strides end at multiples of their length whatever the cycle they begin in, so that
// those of a program with a data race do not depend on what idle skipping has skipped.
// Where one of these does not hold for the next cycles they run in lockstep.
type stride struct {
	running bool   // a stride is under way
	from    uint64 // its first cycle,
	end     uint64 // and the one behind its last

	coming     [][]delivery             // [SM] answers from the memory side, which it writes
	arrived    [][]delivery             // [SM] answers that the SMs read
	sent       [mem.Lanes][][]departure // [core][cycle of the stride] requests
	due        []uint64                 // [SM] the next cycle with work
	asks       []uint64                 // [SM] the cycle in which it asks the dispatcher; Never
	drove      uint64                   // end of the last one in whose last cycle the driver had work
	firstFault uint64                   // cycle of the first fault of a program,
	culprit    *sm.SM                   // and where
}

// secondPart is what the second core does in a stride.
type secondPart struct {
	memory bool          // the memory side of the next stride,
	sms    bool          // SMs of this one,
	head   int           // and so many of them before the memory side
	begun  atomic.Int64  // SMs that either core has begun to run
	ended  atomic.Uint64 // SMs that the second core has run
}

// strideLengths are those that are tried, in cycles, the longest first. Each visit to an SM
// brings its warps from memory, where 80 SMs with all their registers lie, into the computer's
// caches, so that longer strides cost less per instruction (at 64 cycles a sixth less than at 32
// where all SMs compute). The longest is for machines whose second core can still be one ahead
// of it, which is asked with one core, too, so that results of programs with a data race do not
// depend on the cores. Short ones are for what has little left to do.
var strideLengths = [...]uint64{64, movePeriod, shortStride}

const shortStride = 8

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

// derive finds out whether the machine can take strides at all, and what bounds them.
func (l *lookahead) derive(g *GPU, o *Options) {
	z, s, f := &l.stride, g.Sheet, &g.fabric
	l.limits.every, l.limits.profile = o.Every, o.Profile
	z.firstFault, z.drove = engine.Never, engine.Never
	sector := max(int(f.lengths.read[1]), int(f.lengths.write[1]))
	l.limits.flits = sector * s.LLC.Line / s.LLC.Sector
	if s.NoC.Kind == "local" { // the link takes a sector per cycle
		l.limits.burst, l.limits.flits = l.limits.flits, sector
	}
	if f.pipeline <= 2*strideLengths[0]+1 {
		l.limits.longest = 1
	}
	long := strideLengths[l.limits.longest]
	// Networks of several hops, whose slices wait for each other, run in lockstep, and on one core.
	crossbar := f.request.Crossbar
	if f.interSlice.entry != nil {
		crossbar = nil
	}
	l.limits.strides = !o.Lockstep && o.Quantum == 0 && !s.VM.Enabled && f.pipeline > long+1 &&
		crossbar != nil && crossbar.Room(0) >= shortStride*l.limits.flits+l.limits.burst
	for _, own := range g.dispatch.owners {
		l.limits.strides = l.limits.strides && len(own) < 2
	}
	cores := g.CPUs.used() // they run beside the SMs, in lockstep
	l.limits.strides = l.limits.strides && !cores
	n := s.SM.Count
	z.arrived, z.coming = make([][]delivery, n), make([][]delivery, n)
	z.due, z.asks = make([]uint64, n), make([]uint64, n)
	for i := range z.sent {
		z.sent[i] = make([][]departure, long)
	}
	if o.Cores > 1 && !cores && crossbar != nil && f.nocClock == engine.NewClock(1, 1) && s.NoC.Latency >= 1 {
		l.core = &secondCore{work: l.secondCycle, trial: newTrial(o.Clock)}
		l.limits.perStride = n * (max(1, s.L1D.MissQueue) + int(long))
		l.limits.perCycle = n*max(1, s.L1D.MissQueue) + 2*s.VM.Walkers
	}
}

// TwoCores says that the simulation uses two cores where it can: it was asked to, and the
// second one is free.
func (g *GPU) TwoCores() bool { return g.lookahead.core != nil && !g.lookahead.core.trial.alone }

// TwoCoreCycles is the cycles so far in which two cores had work.
func (g *GPU) TwoCoreCycles() uint64 { return g.clock.Overlapped }

// StrideCycles is the cycles so far that were run in strides.
func (g *GPU) StrideCycles() uint64 { return g.clock.Strode }

// keep keeps an answer that overtakes the SM side by a cycle.
func (l *lookahead) keep(port int, h int32) {
	l.core.arrived = append(l.core.arrived, arrival{port, h})
}
