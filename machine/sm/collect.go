package sm

import (
	"heddle/engine"
	"heddle/isa"
)

// Operand collectors that arithmetic shares with memory instructions
// (sm.collectors_shared, as on Volta's sub-cores in GPGPU-Sim).
//
// From issue to its unit an instruction passes three places of its scheduler: a
// latch of its class, a collector, and a latch before the unit. Memory instructions
// that find the load/store unit busy pile up there, one in either latch and the
// others in the collectors. While they hold every collector of a scheduler, its
// arithmetic waits in the first latches, and with it all younger arithmetic of the
// class on the SM: of a class the oldest asks first.
//
// Arithmetic itself holds a collector for one cycle, which costs nothing here.

// collecting is an arithmetic instruction that waits for a collector.
type collecting struct {
	in    *isa.Instr
	warp  int16
	sched uint8
}

// asking is the order in which classes ask for collectors; memory instructions ask
// after the first two.
var asking = [...]isa.Unit{isa.SP, isa.SFU, isa.TENSOR, isa.DP, isa.INT}

const beforeMemory = 2

// enqueue counts a memory instruction of warp w in before the load/store unit.
func (s *SM) enqueue(w int) {
	s.ldInsts++
	if !s.cfg.sharedCollectors {
		if s.ldInsts >= s.cfg.memQueue {
			s.noMem = ^uint64(0)
		}
		return
	}
	if w != noWarp {
		sc := &s.sched[w%len(s.sched)]
		if sc.mem++; sc.mem >= s.cfg.collectors+2 {
			s.noMem |= sc.mask
		}
	}
}

// dequeue notes that the load/store unit has taken a memory instruction of warp w.
func (s *SM) dequeue(w int, now uint64) {
	s.ldInsts--
	if !s.cfg.sharedCollectors {
		if s.noMem != 0 && s.ldInsts < s.cfg.memQueue {
			s.noMem = 0
			for i := range s.sched {
				s.sched[i].room = now
			}
		}
		return
	}
	if w == noWarp {
		return
	}
	sc := &s.sched[w%len(s.sched)]
	sc.mem--
	sc.took, s.collectDue = now, now // a collector may be free
	if s.noMem&sc.mask != 0 && sc.mem < s.cfg.collectors+2 {
		s.noMem &^= sc.mask
		sc.room = now
	}
}

// crowded says that an instruction of class u on scheduler sc has to wait for a collector.
func (s *SM) crowded(sc *scheduler, u isa.Unit) bool {
	return s.cfg.sharedCollectors && (sc.mem > s.cfg.collectors || len(s.waiting[u]) > 0)
}

// await puts an issued arithmetic instruction before the collectors.
func (s *SM) await(w int, wp *warp, in *isa.Instr, sched int) {
	s.waiting[in.Unit] = append(s.waiting[in.Unit], collecting{in, int16(w), uint8(sched)})
	s.full[in.Unit] |= s.sched[sched].mask
	s.waits++
	wp.loads++
	for _, r := range wp.regs(in.Reg, in.NDst) {
		wp.ready[r] = notReady
	}
}

// collectStage gives collectors to the instructions that wait for them. It has nothing
// to do before collectDue: one that came since waits behind others, or for memory
// instructions that hold every collector.
func (s *SM) collectStage(now uint64) {
	for i := range s.sched {
		sc := &s.sched[i]
		sc.spare = s.cfg.collectors - min(s.cfg.collectors, max(0, sc.mem-1))
		sc.late = sc.took == now && sc.spare == 0 // given up just now, and memory has not asked yet
	}
	s.collectDue = engine.Never
	for i, u := range asking {
		q := s.waiting[u]
		n := 0
		for ; n < len(q); n++ {
			sc := &s.sched[q[n].sched]
			if sc.spare > 0 {
				sc.spare--
			} else if i < beforeMemory && sc.late {
				sc.late = false
			} else {
				break
			}
			s.full[u] &^= sc.mask
			s.collected(&q[n], now)
			s.collectDue = now + 1 // the collector is free again
		}
		s.waits -= n
		s.waiting[u] = q[:copy(q, q[n:])]
	}
}

// collectAll starts all that wait.
func (s *SM) collectAll(now uint64) {
	for u, q := range s.waiting {
		for i := range q {
			s.collected(&q[i], now)
		}
		s.waiting[u], s.full[u] = q[:0], 0
	}
	s.waits = 0
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
