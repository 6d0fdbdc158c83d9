package sharing

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/stat"
)

// Time slicing: applications take turns on the whole machine, as the contexts of
// several processes do on a GPU without MPS. At the end of a turn every SM is frozen,
// the contexts of its CTAs go to their owner's memory through the SM's own load/store
// unit and the crossbar, and when the last is stored the next application's come back
// the same way. An application without a kernel is passed over, and one alone keeps
// its turn. L1s and L1 TLBs are flushed; LLC, DRAM and the copy engines belong to all.

// Turn is a time for which an application had the SMs.
type Turn struct {
	Tenant int
	Start  uint64 // the last owner's contexts are stored
	Left   uint64 // the SMs were frozen for the next turn; Never: not yet
	CTAs   int    // taken off then
	Bytes  uint64 // of their contexts

	// The parts of the turn, in cycles summed over SMs. The rest of a turn is work.
	Save   uint64 // from the freeze until an SM's contexts are stored,
	Wait   uint64 // from then until all SMs' contexts are stored and the next turn begins
	Load   uint64 // contexts of the owner were on their way to an SM
	Idle   uint64 // no CTA of the owner was on an SM
	Refill uint64 // until an SM's L1 had fetched again the lines it held when the owner left; the SM works meanwhile
}

// TimeSlices is whose turn it is.
type TimeSlices struct {
	tenants  []*Tenant
	sms      []*sm.SM
	mover    *smMover
	contexts *ContextStore
	holdings *holdings
	meters   *timing.Meters
	clock    *timing.Clock

	quantum  uint64 // core cycles; 0: there are no turns
	holder   int
	next     int      // the application for which the SMs are being freed; -1: nobody
	loading  bool     // contexts of the holder may still be on their way
	end      uint64   // of the quantum, which counts from when they have been loaded
	asked    uint64   // cycle from which a holder without a kernel is idle: by then it may have launched the next
	moves    []SMMove // while SMs are being freed,
	changing int      // and how many are not free yet
	log      []Turn
	refill   refill
}

// refill notes how much of what a switch flushed the L1s have fetched again.
type refill struct {
	count *stat.Table // of the SMs
	lost  [][]uint64  // [tenant][SM] sectors the L1 held when the tenant left
	due   []uint64    // [SM] misses of the holder at which they are fetched; 0: they are
	left  int         // SMs with some due
	busy  uint64      // SM-cycles with CTAs of the holder before its turn
}

// refillStep is how often the refill is looked at, in core cycles.
const refillStep = 256

// begin prepares for time slicing with the given quantum; the first application
// has the first turn.
func (t *TimeSlices) begin(quantum uint64) error {
	for _, x := range t.tenants {
		if len(x.SMs) != len(t.sms) || x.Groups != nil {
			return fmt.Errorf("application %s takes turns on the whole machine: it needs all of its SMs and channels",
				x.Name)
		}
	}
	t.quantum, t.next, t.end, t.log = quantum, -1, quantum, []Turn{{Left: engine.Never}}
	t.refill.due = make([]uint64, len(t.sms))
	for range t.tenants {
		t.refill.lost = append(t.refill.lost, make([]uint64, len(t.sms)))
	}
	t.holdings.giveAll(0)
	return nil
}

// tick ends a turn when it is time and frees the SMs; it returns the next cycle
// with work.
func (t *TimeSlices) tick(now uint64) uint64 {
	switch {
	case t.quantum == 0:
		return engine.Never
	case t.next >= 0:
		t.free(now)
		return now + 1
	case t.loading:
		coming := uint64(0)
		for _, s := range t.sms {
			if s.Busy() {
				coming++
			}
		}
		if t.log[len(t.log)-1].Load += coming; coming > 0 {
			return now + 1
		}
		t.loading, t.end = false, now+t.quantum
		for i := range t.sms {
			t.contexts.Free(i)
		}
	}
	look := t.refill.tick(t, now)
	next := t.successor()
	if next < 0 {
		return look // a launch asks again
	}
	end := t.asked
	if len(t.tenants[t.holder].Kernels) > 0 {
		if now > t.end { // no other application had a kernel then, and the next quantum began
			t.end += (now - t.end + t.quantum - 1) / t.quantum * t.quantum
		}
		end = t.end
	}
	if now < end {
		return min(end, look)
	}
	t.finish(next, now)
	return now + 1
}

// successor is the next application with a kernel, in turn after the holder; -1 when
// no other has one.
func (t *TimeSlices) successor() int {
	n := len(t.tenants)
	for i := 1; i < n; i++ {
		if k := (t.holder + i) % n; len(t.tenants[k].Kernels) > 0 {
			return k
		}
	}
	return -1
}

// finish begins to free the SMs.
func (t *TimeSlices) finish(next int, now uint64) {
	t.next = next
	t.holdings.giveAll(-1)
	last := &t.log[len(t.log)-1]
	last.Left = now
	t.closeTurn(last, now)
	t.moves = t.moves[:0]
	for i, s := range t.sms {
		t.moves = append(t.moves, SMMove{SM: i, From: t.holder, To: t.next, How: Idle, Start: now, deadline: now})
		last.CTAs += s.Resident()
	}
	t.changing = len(t.moves)
	t.meters.SMs.Add(now, 1)
	t.free(now)
}

// free carries the moves as far as possible. The next turn begins with the last of them.
func (t *TimeSlices) free(now uint64) {
	for i := range t.moves {
		m := &t.moves[i]
		if m.step == handed || !t.mover.advance(m, now) {
			continue
		}
		m.step, m.End = handed, now
		t.changing--
		t.refill.lost[t.holder][m.SM] = t.sms[m.SM].L1().Held()
		t.mover.clear(m.SM)
		t.log[len(t.log)-1].Bytes += m.Bytes
	}
	if t.changing > 0 {
		return
	}
	last := &t.log[len(t.log)-1]
	for i := range t.moves {
		last.Save += t.moves[i].End - last.Left
		last.Wait += now - t.moves[i].End
	}
	t.meters.SMs.Add(now, -1)
	t.clock.Progress = now
	t.holder, t.next, t.loading = t.next, -1, true
	t.log = append(t.log, Turn{Tenant: t.holder, Start: now, Left: engine.Never})
	t.refill.begin(t)
	t.holdings.giveAll(t.holder)
	t.holdings.offer(now + 1)
}

// closeTurn records the part of a turn, up to now, in which no work was done.
func (t *TimeSlices) closeTurn(x *Turn, now uint64) {
	for _, s := range t.sms {
		s.SyncCounters(now)
	}
	busy := t.refill.count.Sum(x.Tenant, sm.ActiveCycles) - t.refill.busy
	x.Idle = (now-x.Start)*uint64(len(t.sms)) - busy
	x.Refill += uint64(t.refill.left) * (now - x.Start)
}

// begin notes what the holder's L1s have to fetch again.
func (f *refill) begin(t *TimeSlices) {
	f.left, f.busy = 0, f.count.Sum(t.holder, sm.ActiveCycles)
	for i, lost := range f.lost[t.holder] {
		f.due[i] = 0
		if lost > 0 {
			f.due[i] = f.count.Row(i, t.holder)[sm.L1Misses] + lost
			f.left++
		}
	}
}

// tick notes the L1s that have fetched again what they had lost; it returns when to look again.
func (f *refill) tick(t *TimeSlices, now uint64) uint64 {
	if f.left == 0 {
		return engine.Never
	}
	x := &t.log[len(t.log)-1]
	for i, due := range f.due {
		if due > 0 && now%refillStep == 0 && f.count.Row(i, t.holder)[sm.L1Misses] >= due {
			f.due[i] = 0
			f.left--
			x.Refill += now - x.Start
		}
	}
	return now - now%refillStep + refillStep
}

// Log lists the owners of the SMs and their times, under time slicing; the last turn up to now.
func (t *TimeSlices) Log() []Turn {
	log := slices.Clone(t.log)
	if n := len(log); n > 0 && log[n-1].Left == engine.Never {
		t.closeTurn(&log[n-1], t.clock.Now)
	}
	return log
}

// Holder is whose turn it is.
func (t *TimeSlices) Holder() int { return t.holder }

// Loaded is the cycle from which the quantum of the present turn counts; false while contexts are being loaded.
func (t *TimeSlices) Loaded() (at uint64, ok bool) { return t.end - t.quantum, !t.loading }

// Switching says that SMs are being freed for the next turn.
func (t *TimeSlices) Switching() bool { return t.next >= 0 }
