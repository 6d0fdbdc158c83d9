package sm

import (
	"cmp"
	"math/bits"
	"slices"

	"heddle/engine"
	"heddle/isa"
)

// Operand collectors that arithmetic shares with memory instructions
// (sm.collectors_shared, as on Volta's sub-cores in GPGPU-Sim).
//
// From issue to its unit an instruction passes three places of its scheduler, one a
// cycle: a latch of its class, a collector, and a latch before the unit. The load/store
// unit takes the oldest instruction before it, and memory instructions that find it busy
// pile up behind: one in either latch and the others in the collectors. Of the
// collectors the first one that can goes on, so that a younger instruction may pass an
// older one that lies in a later collector. Of the first latches of a class the oldest is
// served, and while it finds no collector none of the class does, on the whole SM.
//
// Arithmetic itself holds a collector for one cycle, which costs nothing here: it is
// placed only while memory instructions leave it none.

// collecting is an arithmetic instruction that waits for a collector.
type collecting struct {
	in    *isa.Instr
	warp  int16
	sched uint8
}

// memPath is the way of a scheduler's memory instructions to the load/store unit, without
// the latch: places hold indices of SM.placed, or none.
type memPath struct {
	collectors []int16
	spare      int   // free ones
	lent       int   // of those, given to arithmetic in this cycle
	before     int16 // the unit
}

// latched is a memory instruction in its scheduler's latch.
type latched struct {
	place int16
	sched uint8
}

// memInstr is a memory instruction between issue and the load/store unit.
type memInstr struct {
	seq uint64   // order of issue
	acc []access // its parts
}

// asking is the order in which classes ask for collectors.
var asking = [...]isa.Unit{isa.SP, isa.SFU, isa.LDST, isa.TENSOR, isa.DP, isa.INT}

// buildPaths clears the places of memory instructions.
func (s *SM) buildPaths() {
	per := s.cfg.collectors + 2
	s.placed, s.latches = make([]memInstr, len(s.sched)*per), make([]latched, 0, len(s.sched))
	s.freePlaces = make([]int16, len(s.placed))
	all := make([]int16, len(s.sched)*s.cfg.collectors)
	for i := range s.placed {
		s.freePlaces[i] = int16(i)
	}
	for i := range s.sched {
		s.sched[i].collectors, all = all[:s.cfg.collectors:s.cfg.collectors], all[s.cfg.collectors:]
		s.sched[i].clear()
	}
}

func (l *memPath) clear() {
	l.spare, l.before = len(l.collectors), none
	for i := range l.collectors {
		l.collectors[i] = none
	}
}

// none marks a free place of a path.
const none = -1

// places is how many there are: an instruction is in each of them for a cycle at least.
const places = 3

// place puts an issued memory instruction of warp w, whose parts are acc, into its
// scheduler's latch.
func (s *SM) place(w int, acc []access, now uint64) {
	n := len(s.freePlaces) - 1
	p := s.freePlaces[n]
	s.freePlaces = s.freePlaces[:n]
	m := &s.placed[p]
	s.seq++
	m.seq, m.acc = s.seq, append(m.acc[:0], acc...)
	i := s.cfg.schedOf[w]
	s.latches = append(s.latches, latched{p, i})
	s.noMem |= s.sched[i].mask
	s.collectDue = min(s.collectDue, now+1)
}

// crowded says that an instruction of class u on scheduler sc may have to wait for a
// collector.
func (s *SM) crowded(sc *scheduler, u isa.Unit) bool {
	return s.cfg.sharedCollectors && (sc.spare == 0 || sc.spare == 1 && s.noMem&sc.mask != 0 || len(s.waiting[u]) > 0)
}

// await puts an issued arithmetic instruction before the collectors.
func (s *SM) await(w int, wp *warp, in *isa.Instr, sched int, now uint64) {
	s.waiting[in.Unit] = append(s.waiting[in.Unit], collecting{in, int16(w), uint8(sched)})
	s.full[in.Unit] |= s.sched[sched].mask
	s.waits++
	s.collectDue = min(s.collectDue, now+1)
	wp.loads++
	for _, r := range wp.regs(in.Reg, in.NDst) {
		wp.ready[r] = notReady
	}
}

// collectStage moves what has collected its operands to the units and gives collectors
// to what waits for them. It has nothing to do before collectDue.
func (s *SM) collectStage(now uint64) {
	s.collectDue = engine.Never
	for m := s.holding &^ s.before; m != 0; m &= m - 1 {
		s.sendOn(bits.TrailingZeros64(m))
		s.collectDue = now + 1
	}
	if s.waits == 0 {
		s.collectMemory(now)
		return
	}
	for _, u := range asking {
		if u == isa.LDST {
			s.collectMemory(now)
		} else if len(s.waiting[u]) > 0 {
			s.collect(u, now)
		}
	}
	for i := range s.sched {
		s.sched[i].lent = 0
	}
}

// sendOn moves a memory instruction of scheduler i from its collector before the
// load/store unit.
func (s *SM) sendOn(i int) {
	l := &s.sched[i].memPath
	k := 0
	for l.collectors[k] == none {
		k++
	}
	l.before, l.collectors[k] = l.collectors[k], none
	s.before |= 1 << i
	if l.spare++; l.spare == len(l.collectors) {
		s.holding &^= 1 << i
	}
}

// collectMemory gives memory instructions collectors, the oldest first.
func (s *SM) collectMemory(now uint64) {
	n := 0
	for ; n < len(s.latches); n++ {
		i := s.latches[n].sched
		sc := &s.sched[i]
		if sc.spare == sc.lent {
			break
		}
		k := 0
		for sc.collectors[k] != none {
			k++
		}
		sc.collectors[k] = s.latches[n].place
		sc.spare--
		s.holding |= 1 << i
		s.noMem &^= sc.mask
		sc.room = now
		s.collectDue = now + 1
	}
	s.latches = s.latches[:copy(s.latches, s.latches[n:])]
}

// collect gives collectors to arithmetic of class u.
func (s *SM) collect(u isa.Unit, now uint64) {
	q := s.waiting[u]
	n := 0
	for ; n < len(q); n++ {
		sc := &s.sched[q[n].sched]
		if sc.spare == sc.lent {
			break
		}
		sc.lent++
		s.full[u] &^= sc.mask
		s.collected(&q[n], now)
		s.collectDue = now + 1 // the collector is free again
	}
	s.waits -= n
	s.waiting[u] = q[:copy(q, q[n:])]
}

// takeMemory gives the load/store unit, which has nothing else to do in the next cycle,
// the oldest memory instruction before it.
func (s *SM) takeMemory(now uint64) {
	first := bits.TrailingZeros64(s.before)
	for m := s.before & (s.before - 1); m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); s.placed[s.sched[i].before].seq < s.placed[s.sched[first].before].seq {
			first = i
		}
	}
	s.pushMemory(s.sched[first].before, now+1)
	s.before &^= 1 << first
	s.collectDue = now
}

func (s *SM) pushMemory(p int16, at uint64) {
	for _, a := range s.placed[p].acc {
		a.at = at
		s.ldq.Push(a)
	}
	s.freePlaces = append(s.freePlaces, p)
}

// collectAll starts all that wait, and gives the load/store unit all it will get.
func (s *SM) collectAll(now uint64) {
	for u, q := range s.waiting {
		for i := range q {
			s.collected(&q[i], now)
		}
		s.waiting[u], s.full[u] = q[:0], 0
	}
	s.waits = 0
	if !s.cfg.sharedCollectors {
		return
	}
	var all []int16
	for i := range s.sched {
		l := &s.sched[i].memPath
		if s.before>>i&1 != 0 {
			all = append(all, l.before)
		}
		for _, p := range l.collectors {
			if p != none {
				all = append(all, p)
			}
		}
		l.clear()
	}
	for _, l := range s.latches {
		all = append(all, l.place)
	}
	slices.SortFunc(all, func(a, b int16) int { return cmp.Compare(s.placed[a].seq, s.placed[b].seq) })
	for _, p := range all {
		s.pushMemory(p, now)
	}
	s.latches, s.holding, s.before, s.noMem = s.latches[:0], 0, 0, 0
}

// collected starts an instruction that has got its collector: the cycle after issue
// where none waits.
func (s *SM) collected(c *collecting, now uint64) {
	w := int(c.warp)
	wp := &s.warps[w]
	s.execute(wp, c.in, s.soonest(c.in.Unit, int(c.sched)), now-1)
	wp.loads--
	switch wp.state {
	case running:
		if s.wake[w] == engine.Never {
			s.plan(w, wp, now, now)
		}
	case fenced:
		s.unfence(w, now)
	case finishing:
		s.retire(w, now)
	}
}
