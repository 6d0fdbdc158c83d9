package sm

import (
	"math/bits"

	"heddle/engine"
	"heddle/isa"
)

// issueStage lets every scheduler issue from its ready warps. They share the LD/ST
// unit, so the first to choose changes every cycle.
func (s *SM) issueStage(now uint64) {
	n := len(s.sched)
	i := int(now & s.cfg.schedMask)
	if s.cfg.schedMask == 0 {
		i = int(now % uint64(n))
	}
	for range n {
		if i++; i >= n {
			i = 0
		}
		sc := &s.sched[i]
		for range s.cfg.width {
			cand := s.issuable() & sc.mask
			for cand != 0 {
				w := s.cfg.pick(cand, sc.last, &s.older)
				if s.stale>>w&1 != 0 {
					s.redirect(w, now)
					cand &^= 1 << w
					continue
				}
				if s.issue(w, i, now) {
					sc.last = w
					break
				}
				cand &^= s.wants[s.unit[w]] &^ s.stale // what it needs is busy for all who need it
			}
			if cand == 0 {
				break
			}
		}
		if s.Err != nil {
			return
		}
	}
}

// issuable is the ready warps but for those whose next instruction finds no place
// between issue and its unit.
func (s *SM) issuable() uint64 {
	r := s.ready &^ (s.noMem&s.wants[isa.LDST] | s.halted)
	if s.waits > 0 {
		for u, full := range s.full {
			r &^= full & s.wants[u] &^ s.stale
		}
	}
	return r
}

// issue executes warp w's next instruction if its unit can take it; the LD/ST unit can.
func (s *SM) issue(w, sched int, now uint64) bool {
	wp := &s.warps[w]
	in := &wp.code.Instr[wp.pc]
	var u *unit
	if in.Unit != isa.LDST {
		if u = s.book(in.Unit, sched, now); u == nil {
			return false
		}
	}
	st := &s.tmp.step
	if err := wp.exec.Step(int(wp.in), now, st); err != nil {
		s.Err, s.ErrKernel = err, wp.k
		return true
	}
	s.ready &^= 1 << w
	s.count(w, wp, in, now)
	taken := st.Next != wp.pc+1
	late := taken && s.cfg.lateRedirect
	fetch := s.fetched(wp, taken && !late, now)
	wp.pc, wp.since = st.Next, now
	if u != nil && s.crowded(&s.sched[sched], in.Unit) {
		s.await(w, wp, in, sched, now)
	} else if u != nil {
		s.execute(wp, in, u, now)
	} else if st.Mask != 0 {
		s.memory(w, wp, in, now)
	}
	switch {
	case st.Next < 0:
		s.exit(w, now)
	case in.Kind == isa.Barrier && st.Mask != 0:
		s.arrive(w, wp, st, fetch, now)
	case in.Kind == isa.Fence && st.Mask != 0: // resumed when its own operation and all before it are done
		wp.state, s.wake[w] = fenced, engine.Never
	case s.cfg.atomicWait && st.Mask != 0 && isAtomic(in.Kind): // answer lets it go on
		wp.state, s.wake[w] = atomic, engine.Never
	case late:
		s.stale |= 1 << w
		s.planAt(w, fetch, now+1)
	default:
		s.plan(w, wp, fetch, now+1)
	}
	return true
}

func isAtomic(k isa.Kind) bool { return k == isa.Atomic || k == isa.Reduce }

// execute books unit u for an instruction that was issued at now.
func (s *SM) execute(wp *warp, in *isa.Instr, u *unit, now uint64) {
	start := max(now, u.free)
	u.free = start + uint64(s.cfg.interval[in.Timing])
	done := uint32(start-wp.t0) + s.cfg.latency[in.Timing]
	for _, r := range wp.regs(in.Reg, in.NDst) {
		wp.ready[r] = done
	}
}

// book finds a unit of class c that scheduler sched may use and that can take an
// instruction now; with more units than schedulers each scheduler has its own.
func (s *SM) book(c isa.Unit, sched int, now uint64) *unit {
	u := s.soonest(c, sched)
	if u.free > now+s.cfg.slack {
		return nil
	}
	return u
}

// soonest is the unit of class c free first among those scheduler sched may use.
func (s *SM) soonest(c isa.Unit, sched int) *unit {
	us := s.units[c]
	n := len(s.sched)
	if len(us) <= n {
		if sched >= len(us) {
			sched %= len(us)
		}
		return &us[sched]
	}
	best := &us[sched]
	for i := sched + n; i < len(us); i += n {
		if us[i].free < best.free {
			best = &us[i]
		}
	}
	return best
}

// count attributes the instruction and the cycles its warp waited for it.
func (s *SM) count(w int, wp *warp, in *isa.Instr, now uint64) {
	lanes := uint64(bits.OnesCount32(s.tmp.step.Mask))
	wp.row[WarpInsts]++
	wp.row[ThreadInsts] += lanes
	wp.row[ByTiming+int(in.Timing)] += lanes
	k := &wp.k.lane[s.lane]
	k.WarpInsts++
	k.ThreadInsts += lanes
	if wp.k.Prof == nil {
		return
	}
	p := &wp.k.Prof[wp.pc]
	p.Issues++
	ready := max(s.wake[w], wp.since+1)
	p.Stall[wp.cause] += ready - wp.since - 1
	if room := s.sched[s.cfg.schedOf[w]].room; in.Unit == isa.LDST && room > ready {
		p.Stall[Throttled] += room - ready
		ready = room
	}
	p.Stall[NotSelected] += now - min(now, ready)
}

// fetched is the cycle at which the warp's next instruction can be in its buffer: an
// exhausted one costs a fetch, and one flushed behind a branch a cycle more to decode.
func (s *SM) fetched(wp *warp, flush bool, now uint64) uint64 {
	if !flush && wp.buf > 1 {
		wp.buf--
		return now + 1
	}
	wp.buf = s.cfg.fetchWidth
	at := now + s.cfg.fetchLatency + s.fetchTurn(now)
	if flush {
		at++
	}
	return at
}

// redirect lets a warp that has branched fetch from the branch's target. With
// Config.lateRedirect the front end goes on behind every branch, and that the buffer
// holds what does not follow is seen when the scheduler comes to the warp.
func (s *SM) redirect(w int, now uint64) {
	wp := &s.warps[w]
	s.stale &^= 1 << w
	s.ready &^= 1 << w
	wp.buf = 0
	s.plan(w, wp, s.fetched(wp, false, now), now+1)
}

// fetchTurn is how many cycles a fetch asked for now waits for the others: the
// front end takes fetchRate warps per cycle, the last of which is decoded in the next.
func (s *SM) fetchTurn(now uint64) uint64 {
	done := (now - s.fetchAt) * s.cfg.fetchRate
	s.fetchQueue -= min(s.fetchQueue, done)
	s.fetchAt = now
	s.fetchQueue++
	if s.fetchQueue < s.cfg.fetchRate { // a division costs more than all the rest here
		return 0
	}
	return s.fetchQueue / s.cfg.fetchRate
}

// plan finds out when the warp's next instruction can issue: when it has been
// fetched and every register it reads or writes is ready. The warp may issue from
// cycle now on: a caller in the issue stage, where this cycle is over for the
// warp, passes the next one.
func (s *SM) plan(w int, wp *warp, fetch, now uint64) {
	in := &wp.code.Instr[wp.pc]
	var t uint32
	for _, r := range wp.regs(in.Reg, in.NReg) {
		t = max(t, wp.ready[r])
	}
	if t == notReady {
		wp.cause, s.wake[w] = MemoryWait, engine.Never
		return
	}
	at := wp.t0 + uint64(t)
	if u := in.Unit; s.unit[w] != u {
		s.wants[s.unit[w]] &^= 1 << w
		s.wants[u] |= 1 << w
		s.unit[w] = u
	}
	wp.cause = Dependency
	if fetch >= at {
		at, wp.cause = fetch, Fetch
	}
	s.planAt(w, at, now)
}

// planAt makes the warp ready in cycle at.
func (s *SM) planAt(w int, at, now uint64) {
	s.wake[w] = at
	if at <= now {
		s.ready |= 1 << w
		return
	}
	s.sleep(w, now)
}

// resume plans a warp that something outside the schedulers had stopped.
func (s *SM) resume(w int, cause Cause, now uint64) {
	wp := &s.warps[w]
	wp.state = running
	s.plan(w, wp, now+1, now)
	if wp.cause != MemoryWait {
		wp.cause = cause
	}
}

// arrive puts the warp at its barrier and opens it if it was the last.
func (s *SM) arrive(w int, wp *warp, st *isa.Step, fetch, now uint64) {
	wp.row[Barriers]++
	b := &s.blocks[wp.cta]
	bar := &b.bar[st.Bar&15]
	bar.expect = int(st.Expect)
	bar.threads += s.threadsOf(wp)
	bar.arrived++
	if st.Arrive { // bar.arrive does not wait
		s.plan(w, wp, fetch, now+1)
	} else {
		wp.state, s.wake[w] = barred, engine.Never
		bar.slots |= 1 << w
	}
	s.settle(b, now)
}

// threadsOf is the number of threads of a warp, the last one of a CTA may be partial.
func (s *SM) threadsOf(wp *warp) int {
	return min(isa.Lanes, wp.k.Geo.Threads-int(wp.in)*isa.Lanes)
}

// settle opens every barrier that has all it waits for: the threads it was told
// to expect, or every warp of the CTA; hardware counts exited warps as arrived.
func (s *SM) settle(b *block, now uint64) {
	for i := range b.bar {
		bar := &b.bar[i]
		if bar.arrived == 0 {
			continue
		}
		if bar.expect > 0 && bar.threads >= bar.expect || bar.expect == 0 && bar.arrived >= b.live-s.finishing(b) {
			s.open(bar, now)
		}
	}
}

func (s *SM) finishing(b *block) int {
	n := 0
	for m := b.slots; m != 0; m &= m - 1 {
		if s.warps[bits.TrailingZeros64(m)].state == finishing {
			n++
		}
	}
	return n
}

func (s *SM) open(bar *barrier, now uint64) {
	for m := bar.slots; m != 0; m &= m - 1 {
		s.resume(bits.TrailingZeros64(m), AtBarrier, now)
	}
	*bar = barrier{}
}
