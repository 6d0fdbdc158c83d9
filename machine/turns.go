package machine

import (
	"fmt"

	"heddle/engine"
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
	quantum uint64 // core cycles; 0: there are no turns
	holder  int
	next    int      // who the SMs are being freed for; -1: nobody
	loading bool     // contexts of the holder may still be on their way
	end     uint64   // of the quantum, which counts from when they have been loaded
	asked   uint64   // cycle from which a holder whose last kernel has ended is idle: by then it may have launched the next
	moves   []SMMove // while SMs are being freed
	log     []Turn
}

// takeTurns prepares for time slicing with the given quantum; the first application
// has the first turn.
func (g *GPU) takeTurns(quantum uint64) error {
	n := g.Sheet.SM.Count
	for _, t := range g.Tenants {
		if len(t.SMs) != n || t.Groups != nil {
			return fmt.Errorf("application %s takes turns on the whole machine: it needs all of its SMs and channels", t.Name)
		}
	}
	g.turns = turns{quantum: quantum, next: -1, end: quantum, log: []Turn{{Left: engine.Never}}}
	g.giveSMs(0)
	return nil
}

func (g *GPU) giveSMs(tenant int) {
	for i := range g.dispatch.owners {
		g.dispatch.owners[i] = g.dispatch.owners[i][:0]
		if tenant >= 0 {
			g.dispatch.owners[i] = append(g.dispatch.owners[i], tenant)
		}
	}
}

// tickTurns ends a turn when it is time and frees the SMs; it returns the next cycle
// with work.
func (g *GPU) tickTurns(now uint64) uint64 {
	t := &g.turns
	switch {
	case t.quantum == 0:
		return engine.Never
	case t.next >= 0:
		g.freeSMs(now)
		return now + 1
	case t.loading:
		for _, s := range g.sm {
			if s.Busy() {
				return now + 1
			}
		}
		t.loading, t.end = false, now+t.quantum
		for i := range g.sm {
			g.freeImages(i)
		}
	}
	next := g.successor()
	if next < 0 {
		return engine.Never // a launch asks again
	}
	end := t.asked
	if len(g.Tenants[t.holder].kernels) > 0 {
		if now > t.end { // nobody else had a kernel then, and the next quantum began
			t.end += (now - t.end + t.quantum - 1) / t.quantum * t.quantum
		}
		end = t.end
	}
	if now < end {
		return end
	}
	g.endTurn(next, now)
	return now + 1
}

// successor is the next application with a kernel, in turn after the holder; -1 when
// no other has one.
func (g *GPU) successor() int {
	n := len(g.Tenants)
	for i := 1; i < n; i++ {
		if k := (g.turns.holder + i) % n; len(g.Tenants[k].kernels) > 0 {
			return k
		}
	}
	return -1
}

// endTurn begins to free the SMs.
func (g *GPU) endTurn(next int, now uint64) {
	t := &g.turns
	t.next = next
	g.giveSMs(-1)
	last := &t.log[len(t.log)-1]
	last.Left = now
	t.moves = t.moves[:0]
	for i, s := range g.sm {
		t.moves = append(t.moves, SMMove{SM: i, From: t.holder, To: t.next, How: Idle, Start: now, deadline: now})
		last.CTAs += s.Resident()
	}
	g.changing = len(t.moves)
	g.smsMeter.add(now, 1)
	g.freeSMs(now)
}

// freeSMs takes the moves as far as they go; with the last the next turn begins.
func (g *GPU) freeSMs(now uint64) {
	t := &g.turns
	for i := range t.moves {
		m := &t.moves[i]
		if m.step == handed || !g.advanceSM(m, now) {
			continue
		}
		m.step = handed
		g.changing--
		g.clearSM(m.SM)
		t.log[len(t.log)-1].Bytes += m.Bytes
	}
	if g.changing > 0 {
		return
	}
	g.smsMeter.add(now, -1)
	g.progress = now
	t.holder, t.next, t.loading = t.next, -1, true
	t.log = append(t.log, Turn{Tenant: t.holder, Start: now, Left: engine.Never})
	g.giveSMs(t.holder)
	g.offer(now + 1)
}

// Turns lists who had the SMs when, under time slicing.
func (g *GPU) Turns() []Turn { return g.turns.log }
