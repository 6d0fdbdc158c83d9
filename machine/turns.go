package machine

import (
	"fmt"

	"heddle/engine"
	"heddle/machine/sm"
)

// Time slicing: applications take turns on the whole machine, as the contexts of
// several processes do on a GPU without MPS. At the end of a turn every SM is frozen,
// the contexts of its CTAs go to their owner's memory through the SM's own load/store
// unit and the crossbar, and when the last is stored the next application's come back
// the same way. An application without a kernel is passed over, and one alone keeps
// its turn. L1s and L1 TLBs are flushed; LLC, DRAM and the copy engines belong to all.

// Turn is the time an application had the SMs.
type Turn struct {
	Tenant int
	Start  uint64 // the last owner's contexts are stored
	Left   uint64 // the SMs were frozen for the next turn; Never: not yet
	CTAs   int    // taken off then
	Bytes  uint64 // of their contexts
}

// turns is whose turn it is.
type turns struct {
	tenants  []*Tenant
	sms      []*sm.SM
	mover    *smMover
	contexts *contextStore
	dispatch *dispatcher
	meters   *meters
	pace     *pace

	quantum  uint64 // core cycles; 0: there are no turns
	holder   int
	next     int      // who the SMs are being freed for; -1: nobody
	loading  bool     // contexts of the holder may still be on their way
	end      uint64   // of the quantum, which counts from when they have been loaded
	asked    uint64   // cycle from which a holder without a kernel is idle: by then it may have launched the next
	moves    []SMMove // while SMs are being freed,
	changing int      // and how many are not free yet
	log      []Turn
}

// begin prepares for time slicing with the given quantum; the first application
// has the first turn.
func (t *turns) begin(quantum uint64) error {
	for _, x := range t.tenants {
		if len(x.SMs) != len(t.sms) || x.Groups != nil {
			return fmt.Errorf("application %s takes turns on the whole machine: it needs all of its SMs and channels",
				x.Name)
		}
	}
	t.quantum, t.next, t.end, t.log = quantum, -1, quantum, []Turn{{Left: engine.Never}}
	t.dispatch.giveAll(0)
	return nil
}

// tick ends a turn when it is time and frees the SMs; it returns the next cycle
// with work.
func (t *turns) tick(now uint64) uint64 {
	switch {
	case t.quantum == 0:
		return engine.Never
	case t.next >= 0:
		t.free(now)
		return now + 1
	case t.loading:
		for _, s := range t.sms {
			if s.Busy() {
				return now + 1
			}
		}
		t.loading, t.end = false, now+t.quantum
		for i := range t.sms {
			t.contexts.free(i)
		}
	}
	next := t.successor()
	if next < 0 {
		return engine.Never // a launch asks again
	}
	end := t.asked
	if len(t.tenants[t.holder].kernels) > 0 {
		if now > t.end { // nobody else had a kernel then, and the next quantum began
			t.end += (now - t.end + t.quantum - 1) / t.quantum * t.quantum
		}
		end = t.end
	}
	if now < end {
		return end
	}
	t.finish(next, now)
	return now + 1
}

// successor is the next application with a kernel, in turn after the holder; -1 when
// no other has one.
func (t *turns) successor() int {
	n := len(t.tenants)
	for i := 1; i < n; i++ {
		if k := (t.holder + i) % n; len(t.tenants[k].kernels) > 0 {
			return k
		}
	}
	return -1
}

// finish begins to free the SMs.
func (t *turns) finish(next int, now uint64) {
	t.next = next
	t.dispatch.giveAll(-1)
	last := &t.log[len(t.log)-1]
	last.Left = now
	t.moves = t.moves[:0]
	for i, s := range t.sms {
		t.moves = append(t.moves, SMMove{SM: i, From: t.holder, To: t.next, How: Idle, Start: now, deadline: now})
		last.CTAs += s.Resident()
	}
	t.changing = len(t.moves)
	t.meters.sms.add(now, 1)
	t.free(now)
}

// free takes the moves as far as they go; with the last the next turn begins.
func (t *turns) free(now uint64) {
	for i := range t.moves {
		m := &t.moves[i]
		if m.step == handed || !t.mover.advance(m, now) {
			continue
		}
		m.step = handed
		t.changing--
		t.mover.clear(m.SM)
		t.log[len(t.log)-1].Bytes += m.Bytes
	}
	if t.changing > 0 {
		return
	}
	t.meters.sms.add(now, -1)
	t.pace.progress = now
	t.holder, t.next, t.loading = t.next, -1, true
	t.log = append(t.log, Turn{Tenant: t.holder, Start: now, Left: engine.Never})
	t.dispatch.giveAll(t.holder)
	t.dispatch.offer(now + 1)
}

// Turns lists who had the SMs when, under time slicing.
func (g *GPU) Turns() []Turn { return g.turns.log }
