package sm

import (
	"math/bits"
	"sync/atomic"

	"github.com/heddle-sim/heddle/isa"
)

// scheduler picks the warps of some slots.
type scheduler struct {
	mask uint64 // the slots
	last int    // the one it issued from last
}

// issueStage lets every scheduler issue from its warps, of which those in r are issuable. They
// share the load/store unit l, so the first to choose changes every cycle.
func (p *pipeline) issueStage(l *loadStore, r uint64, now uint64) {
	cfg := &p.cfg.issue
	n := len(p.sched)
	i := int((now + cfg.turn) & cfg.schedMask)
	if cfg.schedMask == 0 {
		i = int((now + cfg.turn) % uint64(n))
	}
	for range n {
		sc := &p.sched[i]
		// What one scheduler does holds up warps of another by a quota and a full load/store queue alone.
		cand := r & sc.mask &^ p.warps.halted &^ (p.collect.throttled & p.warps.wants[isa.LDST])
		for width := cfg.width; cand != 0; cand = p.issuable() & sc.mask {
			for cand != 0 {
				w := cfg.pick(cand, sc.last, &p.warps.older)
				if p.warps.stale&bit(w) != 0 {
					p.redirect(w, now)
					cand &^= bit(w)
					continue
				}
				if p.issue(l, w, i, now) {
					sc.last = w
					break
				}
				cand &^= p.warps.wants[p.warps.unit[w]] &^ p.warps.stale // its unit is busy for all warps that need it
			}
			if width--; cand == 0 || width == 0 {
				break
			}
		}
		if p.fault != nil {
			return
		}
		if i++; i >= n {
			i = 0
		}
	}
}

// issuable is the ready warps but for those that are halted or whose next instruction finds
// no place between issue and its unit.
func (p *pipeline) issuable() uint64 {
	return p.roomFor(p.warps.ready &^ p.warps.halted)
}

// roomFor is those of some ready warps whose next instruction finds a place.
func (p *pipeline) roomFor(r uint64) uint64 {
	ws, c := &p.warps, &p.collect
	r &^= c.throttled & ws.wants[isa.LDST]
	if c.waitingCount > 0 {
		for m := c.askingClasses &^ asks[isa.LDST]; m != 0; m &= m - 1 {
			u := asking[bits.TrailingZeros8(m)&7]
			r &^= c.full[u] & ws.wants[u] &^ ws.stale
		}
	}
	return r
}

// issue executes warp w's next instruction if its unit can take it; the LD/ST unit can.
func (p *pipeline) issue(l *loadStore, w, sched int, now uint64) bool {
	wp := &p.warps.slot[w&63]
	in := &wp.code.Instr[wp.pc]
	var u *unit
	texture := false
	if in.Unit == isa.LDST {
		texture = in.Cache.Textured() && p.cfg.texture.rate > 0
	} else {
		if u = p.units.soonest(in.Unit, sched); u.free > now+p.cfg.issue.slack {
			return false
		}
	}
	st := &p.work.step
	if !p.step(wp, in, now) || texture && !p.gather(wp, in, now) {
		return true
	}
	p.warps.ready &^= bit(w)
	if p.count(w, wp, in, now); wp.rest > 0 {
		p.part(w, wp, in, u, now)
		return true
	}
	taken := st.Next != wp.pc+1
	late := taken && p.cfg.issue.lateRedirect
	fetch := p.front.fetched(&p.cfg.fetch, wp, taken && !late, now)
	wp.pc, wp.since = st.Next, now
	if u != nil && p.collect.crowded(sched, in.Unit, u, now) {
		p.await(w, wp, in, sched, now)
	} else if u != nil {
		p.execute(wp, in, u, now+p.cfg.collect.late[in.Reads.Most(p.cfg.collect.banks)])
	} else if st.Mask != 0 {
		l.issue(p, w, wp, in, now)
	}
	switch {
	case st.Next < 0:
		p.exit(w, now)
	case in.Kind == isa.Barrier && st.Mask != 0:
		p.warps.arrive(w, &p.ctas.blocks[wp.cta], st, fetch, now)
	case in.Kind == isa.Sleep && st.Mask != 0 && st.Nanos > 0:
		p.warps.doze(w, max(fetch, now+p.cfg.issue.cycles(st.Nanos)), now)
	case in.Kind == isa.Fence && st.Mask != 0 && !p.cfg.ldst.free(in.Scope):
		// resumed when its own operation and all before it are done
		wp.fence = uint32(now-wp.t0) + p.cfg.ldst.fence[in.Scope]
		p.warps.stop(w, fenced)
	case in.Kind == isa.Commit && st.Mask != 0:
		wp.copies.group++
		p.warps.plan(w, wp, fetch, now+1)
	case in.Kind == isa.Await && st.Mask != 0 && l.ops.await(w, &wp.copies, in.Groups):
		p.warps.stop(w, copying)
	case p.cfg.issue.atomicWait && st.Mask != 0 && isAtomic(in.Kind): // loaded lets it go on
		p.warps.stop(w, inAtomic)
	case late:
		p.warps.stale |= bit(w)
		p.warps.planAt(w, fetch, now+1)
	default:
		p.warps.plan(w, wp, fetch, now+1)
	}
	return true
}

// step executes the instruction at a warp's place, and describes it in the workspace's step; false after a fault.
func (p *pipeline) step(wp *warp, in *isa.Instr, now uint64) bool {
	var err error
	st := &p.work.step
	if wp.code.Source != nil {
		err = p.follow(wp, in, now)
	} else if wp.ahead > 0 {
		wp.ahead--
		st.Mask, st.Next = wp.mask, wp.pc+1
	} else if err = wp.exec.Step(int(wp.in), now, st); st.Ahead > 0 {
		wp.ahead, wp.mask, st.Ahead = st.Ahead, st.Mask, 0
	}
	if err != nil {
		p.fault, p.faulty = err, wp.k
	}
	return err == nil
}

func isAtomic(k isa.Kind) bool { return k == isa.Atomic || k == isa.Reduce }

// execute reserves unit u for an instruction that was issued at now, and does not wait between.
func (p *pipeline) execute(wp *warp, in *isa.Instr, u *unit, now uint64) {
	start := max(now, u.free)
	if slot := p.cfg.collect.slot[in.Timing]; slot != 0 {
		start = u.slot(start, slot)
	}
	latency, interval := p.cfg.issue.times(in)
	u.free, u.taken = start+uint64(interval), start+2+p.cfg.collect.pass
	wp.setReady(in.Reg, in.NDst, uint32(start-wp.t0)+latency)
}

// count attributes the instruction.
func (p *pipeline) count(w int, wp *warp, in *isa.Instr, now uint64) {
	lanes := uint64(bits.OnesCount32(p.work.step.Mask))
	wp.row[WarpInsts]++
	wp.row[ThreadInsts] += lanes
	wp.row[ByTiming+int(p.cfg.issue.counted[in.Timing])] += lanes
	k := wp.progress
	k.WarpInsts++
	k.ThreadInsts += lanes
	p.waited(&k.Stall, w, wp, in, now)
	if wp.watched {
		p.watch(w, wp, in, lanes, now)
	}
}

// waited adds the cycles that a warp waited for its instruction, by cause.
func (p *pipeline) waited(stall *[NumCauses]uint64, w int, wp *warp, in *isa.Instr, now uint64) {
	ready := max(p.warps.wake[w], wp.since+1)
	stall[wp.cause] += ready - wp.since - 1
	if room := p.collect.path[p.cfg.issue.schedOf[w]].room; in.Unit == isa.LDST && room > ready {
		stall[Throttled] += room - ready
		ready = room
	}
	stall[NotSelected] += now - min(now, ready)
}

// watch charges the instruction to its tenant's quota and records it, with the cycles its
// warp waited for it, in the profile, where there are such.
func (p *pipeline) watch(w int, wp *warp, in *isa.Instr, lanes, now uint64) {
	if p.quotas != nil {
		p.charge(wp.k.Tenant, lanes, now)
	}
	if wp.k.Prof == nil {
		return
	}
	pc := &wp.k.Prof[wp.pc] // of all SMs, which may run at the same time
	atomic.AddUint64(&pc.Issues, 1)
	var stall [NumCauses]uint64
	p.waited(&stall, w, wp, in, now)
	for cause, n := range stall {
		if n > 0 {
			atomic.AddUint64(&pc.Stall[cause], n)
		}
	}
}
