package sm

import (
	"math/bits"

	"heddle/isa"
)

// Fits says whether one more CTA of k can become resident now.
func (s *SM) Fits(k *Kernel) bool {
	g := &k.Geo
	return s.resident < s.cfg.CTAs && bits.OnesCount64(s.freeW) >= g.Warps &&
		s.threads+g.Warps*isa.Lanes <= s.cfg.Threads &&
		s.regs+g.Warps*s.cfg.RegsPerWarp(g.Regs) <= s.cfg.Regs &&
		s.shared+g.SharedBytes <= s.cfg.Shared &&
		(k.Most == 0 || s.residentOf(k) < k.Most)
}

// Start makes CTA number cta of k resident; Fits must hold.
func (s *SM) Start(k *Kernel, cta int, now uint64) error {
	exec := k.Grid.Start(cta, isa.Place{SM: s.ID, WarpSlot: bits.TrailingZeros64(s.freeW)})
	b, err := s.occupy(k, now)
	if err != nil {
		return err
	}
	bl := &s.blocks[b]
	bl.exec = exec
	i := 0
	for m := bl.slots; m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		s.launched(w, now<<16|uint64(cta&0xff)<<8|uint64(i))
		s.begin(w, b, i, k, exec, now)
		s.plan(w, &s.warps[w], now+s.cfg.fetchLatency, now)
		i++
	}
	return nil
}

// launched puts warp slot w into the order of launches.
func (s *SM) launched(w int, age uint64) {
	s.age[w], s.older[w] = age, 0
	for v, a := range s.age {
		if a < age || a == age && v < w {
			s.older[w] |= 1 << v
			s.older[v] &^= 1 << w
		} else if v != w {
			s.older[v] |= 1 << w
		}
	}
}

// occupy reserves the resources of a CTA of k and returns its block; Fits must hold.
func (s *SM) occupy(k *Kernel, now uint64) (int, error) {
	s.wakeAt(now + 1)
	if s.resident == 0 && s.mshrs.Pending() == 0 {
		if err := s.carve(s.sharedFor(k)); err != nil {
			return 0, err
		}
	}
	stay := &s.stays[k.Tenant]
	if stay.ctas == 0 {
		stay.since = now
	}
	stay.ctas++
	b := 0
	for s.blocks[b].k != nil {
		b++
	}
	g := &k.Geo
	bl := &s.blocks[b]
	*bl = block{k: k, live: g.Warps, regs: g.Warps * s.cfg.RegsPerWarp(g.Regs), start: now}
	for range g.Warps {
		w := bits.TrailingZeros64(s.freeW)
		s.freeW &^= 1 << w
		bl.slots |= 1 << w
	}
	s.resident++
	s.threads += g.Warps * isa.Lanes
	s.regs += bl.regs
	s.shared += g.SharedBytes
	return b, nil
}

// sharedFor is the shared memory to set aside when the first CTA comes, one of k: what
// its kernel can use, or all there may be where CTAs of others follow, as the split
// between L1 and shared memory cannot change under resident CTAs.
func (s *SM) sharedFor(k *Kernel) int {
	if s.several {
		return s.cfg.Shared
	}
	per := s.cfg.Occupancy(&k.Geo)
	if k.Most > 0 {
		per = min(per, k.Most)
	}
	return per * k.Geo.SharedBytes
}

// vacate gives the resources of a block back.
func (s *SM) vacate(b *block, now uint64) {
	k := b.k
	s.freeW |= b.slots
	s.resident--
	s.threads -= k.Geo.Warps * isa.Lanes
	s.regs -= b.regs
	s.shared -= k.Geo.SharedBytes
	stay := &s.stays[k.Tenant]
	if stay.ctas--; stay.ctas == 0 {
		s.rows[k.Tenant][ActiveCycles] += now - stay.since
	}
	b.k, b.exec = nil, nil
}

// begin puts warp i of a CTA into slot w.
func (s *SM) begin(w, b, i int, k *Kernel, exec isa.CTA, now uint64) {
	wp := &s.warps[w]
	ready := wp.ready
	if cap(ready) < k.Code.NumRegs {
		ready = make([]uint32, k.Code.NumRegs)
	}
	ready = ready[:k.Code.NumRegs]
	clear(ready)
	k.lane[s.lane].Running++
	*wp = warp{
		code: k.Code, ready: ready, exec: exec, k: k, row: s.rows[k.Tenant],
		t0: now, since: now, pc: exec.PC(i), cta: int16(b), in: int16(i), state: running, buf: s.cfg.fetchWidth,
	}
}

// Occupancy is the number of CTAs of a launch an SM can hold (threads, CTA slots,
// registers, shared memory).
func (c *Config) Occupancy(g *isa.Geometry) int {
	n := min(c.CTAs, c.Warps/max(1, g.Warps))
	if r := g.Warps * c.RegsPerWarp(g.Regs); r > 0 {
		n = min(n, c.Regs/r)
	}
	if g.SharedBytes > 0 {
		n = min(n, c.Shared/g.SharedBytes)
	}
	return n
}

// exit takes a warp out of scheduling. It leaves the SM when its exit instruction
// has passed the pipeline: arm sees to that.
func (s *SM) exit(w int, now uint64) {
	wp := &s.warps[w]
	wp.k.lane[s.lane].Running--
	wp.state, wp.loads = finishing, wp.loads+1
	s.settle(&s.blocks[wp.cta], now)
	s.wake[w] = now + uint64(s.cfg.latency[isa.TimeOther]) + drain
	s.sleep(w, now)
}

// drain is what a warp needs after its last write-back to give up its slot: one
// cycle to be seen as done, one to free the CTA (measured: an empty CTA takes 10
// cycles from dispatch).
const drain = 2

// retire ends a warp that has exited once its memory traffic is over, and its CTA
// with the last one.
func (s *SM) retire(w int, now uint64) {
	wp := &s.warps[w]
	b := &s.blocks[wp.cta]
	if wp.loads > 0 || wp.stores > 0 {
		return
	}
	wp.state = free
	b.live--
	if b.live > 0 {
		return
	}
	k, exec, start := b.k, b.exec, b.start
	s.vacate(b, now)
	exec.Release()
	s.rows[k.Tenant][CTAsDone]++
	l := &k.lane[s.lane]
	l.Finished++
	l.CTACycles += now - start
	s.Done = append(s.Done, k)
}

// Resident is the number of CTAs on the SM.
func (s *SM) Resident() int { return s.resident }

func (s *SM) residentOf(k *Kernel) int {
	n := 0
	for i := range s.blocks {
		if s.blocks[i].k == k {
			n++
		}
	}
	return n
}

// Settle counts the active cycles up to now of an SM that is still busy.
func (s *SM) Settle(now uint64) {
	for t := range s.stays {
		if stay := &s.stays[t]; stay.ctas > 0 {
			s.rows[t][ActiveCycles] += now - stay.since
			stay.since = now
		}
	}
}
