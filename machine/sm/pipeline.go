package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/isa"
)

func (p *pipeline) build(id int, cfg *Config, work *Scratch, rows []*[numCounters]uint64) {
	p.id, p.cfg, p.work = id, cfg, work
	p.sched = make([]scheduler, cfg.issue.schedulers)
	for w := range cfg.Warps {
		p.sched[w%cfg.issue.schedulers].mask |= 1 << w
	}
	p.units.build(&cfg.issue)
	p.collect.build(cfg, p.sched)
	p.ctas.build(cfg, rows)
	p.warps.build(&cfg.issue)
	p.writers.build(cfg.Warps)
}

// wakeStage makes warps ready whose time has come.
func (p *pipeline) wakeStage(now uint64) {
	for woken := p.warps.wakes.take(now); woken != 0; woken &= woken - 1 {
		p.arm(bits.TrailingZeros64(woken), now)
	}
}

// arm makes a sleeping warp ready if its time has come, or puts it back to sleep.
func (p *pipeline) arm(w int, now uint64) {
	ws := &p.warps
	switch at := ws.wake[w]; {
	case at <= now && ws.slot[w].state == finishing:
		ws.wake[w] = engine.Never
		ws.slot[w].loads--
		p.retire(w, now)
	case at <= now && ws.slot[w].state == asleep:
		ws.awake(w, now)
	case at <= now:
		ws.ready |= bit(w)
	case at != engine.Never:
		ws.sleep(w, now)
	}
}

// begin puts warp i of CTA b into slot w.
func (p *pipeline) begin(w, b, i int, k *Kernel, exec isa.CTA, now uint64) *warp {
	wp := &p.warps.slot[w]
	ready := wp.ready
	if cap(ready) < k.Code.NumRegs {
		ready = make([]uint32, k.Code.NumRegs)
	}
	ready = ready[:k.Code.NumRegs]
	clear(ready)
	progress := k.share(p.id)
	progress.Running++
	*wp = warp{
		code: k.Code, ready: ready, late: wp.late[:0], exec: exec, k: k, progress: progress, row: p.ctas.rows[k.Tenant],
		t0: now, since: now, place: start(k.Code, exec.PC(i)), cta: int16(b), in: int16(i), state: running,
		buf:     p.cfg.fetch.width,
		watched: k.Prof != nil || p.quotas != nil,
	}
	return wp
}

// loaded notes that a warp's memory instruction has been performed: what it brings is
// there from cycle at on.
func (p *pipeline) loaded(o *memOp, now uint64) {
	w := int(o.warp)
	wp := &p.warps.slot[w]
	wp.loads--
	wp.setReady(o.reg, o.ndst, uint32(o.at-wp.t0))
	switch wp.state {
	case running:
		if p.warps.wake[w] == engine.Never {
			p.warps.plan(w, wp, now, now)
			wp.cause = MemoryWait
		}
	case inAtomic:
		if isAtomic(o.kind) {
			wp.state = running
			p.warps.plan(w, wp, o.at-1, now) // what does not need the result issues a cycle before what does
			wp.cause = MemoryWait
		}
	case fenced:
		p.warps.unfence(w, now)
	case copying:
		p.warps.copied(w, o, now)
	case finishing:
		p.retire(w, now)
	}
}

// stored notes that a store packet of a writer has been acknowledged; true when something
// follows from it.
func (p *pipeline) stored(by int32, now uint64) bool {
	w := int(p.writers.list[by].slot)
	if w == noWarp {
		return p.settled(p.writers.acknowledge(by))
	}
	wp := &p.warps.slot[w]
	wp.stores--
	switch {
	case wp.stores > 0:
		return false
	case wp.state == fenced:
		p.warps.unfence(w, now)
	case wp.state == finishing:
		p.retire(w, now)
	default:
		return false
	}
	return true
}

// settled notes that a store of a warp that has left has been acknowledged; true when nothing but such stores of other
// SMs may still keep the kernel from its end.
func (p *pipeline) settled(k *Kernel) bool {
	l := k.share(p.id)
	if l.Posted--; l.Posted > 0 || !k.Closing {
		return false
	}
	p.settle = append(p.settle, k)
	return true
}

// exit takes a warp out of scheduling. It leaves the SM when its exit instruction
// has passed the pipeline: arm sees to that.
func (p *pipeline) exit(w int, now uint64) {
	wp := &p.warps.slot[w]
	wp.progress.Running--
	wp.state, wp.loads = finishing, wp.loads+1
	p.warps.openBarriers(&p.ctas.blocks[wp.cta], now)
	p.warps.wake[w] = now + uint64(p.cfg.issue.latency[isa.TimeOther]) + drain
	p.warps.sleep(w, now)
}

// drain is what a warp needs after its last write-back to give up its slot: one
// cycle to be seen as done, one to free the CTA (measured: an empty CTA takes 10
// cycles from dispatch).
const drain = 2

// retire ends a warp that has exited once its memory traffic is over, but for stores where the machine lets a warp
// leave before them, and its CTA with the last one.
func (p *pipeline) retire(w int, now uint64) {
	wp := &p.warps.slot[w]
	if wp.loads > 0 || wp.stores > 0 && !p.cfg.issue.earlyExit {
		return
	}
	if p.stays {
		p.staying |= bit(w)
		return
	}
	if wp.stores > 0 {
		wp.progress.Posted += int(wp.stores)
		p.writers.leave(w, wp.k, wp.stores)
	}
	wp.state = free
	b := &p.ctas.blocks[wp.cta]
	if b.live--; b.live > 0 {
		return
	}
	k, exec, start := b.k, b.exec, b.start
	p.ctas.vacate(b, now)
	p.holdBackAnew(now)
	p.ctas.rows[k.Tenant][CTAsDone]++
	l := k.share(p.id)
	l.Finished++
	l.CTACycles += now - start
	p.done, p.over = append(p.done, k), append(p.over, exec)
}
