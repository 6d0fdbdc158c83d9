package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
)

// block is a resident CTA.
type block struct {
	k     *Kernel
	exec  isa.CTA
	slots uint64 // its warp slots
	live  int    // warps not yet retired
	regs  int
	start uint64 // cycle at which it became resident here
	bar   [16]barrier
}

type barrier struct {
	expect  int    // threads; 0: all warps of the CTA
	threads int    // of the warps that have arrived
	arrived int    // warps, those of bar.arrive included
	slots   uint64 // warps that wait
	taken   uint64 // cycle by which it has taken note of all that have arrived
}

// resident is the warp slots of a resident CTA, none for a free entry.
func (b *block) resident() uint64 {
	if b.k == nil {
		return 0
	}
	return b.slots
}

// residencyInterval is how many CTAs of a tenant are resident, and since when any is.
type residencyInterval struct {
	ctas  int
	since uint64
}

// residency is the CTAs on an SM and what they take of it.
type residency struct {
	cfg  *Config
	rows []*[numCounters]uint64 // counters by tenant

	blocks   []block
	free     uint64 // warp slots
	resident int    // CTAs
	// Threads, registers and bytes of shared memory in use.
	threads, regs, shared int

	leaving     int                 // block that is being evicted; -1: none
	several     bool                // CTAs of several applications may be resident at once
	residencies []residencyInterval // per tenant
	shares      shares              // of the SM's time
}

// shares is since when the same tenants have had CTAs on an SM, and up to when those
// cycles have been divided among them.
type shares struct{ since, divided uint64 }

func (c *residency) build(cfg *Config, rows []*[numCounters]uint64) {
	c.cfg, c.rows, c.leaving = cfg, rows, -1
	c.blocks, c.residencies = make([]block, cfg.CTAs), make([]residencyInterval, len(rows))
	c.free = 1<<cfg.Warps - 1
	if cfg.Warps == 64 {
		c.free = ^uint64(0)
	}
}

// fits says whether one more CTA of k can become resident now.
func (c *residency) fits(k *Kernel) bool {
	g := &k.Geo
	return c.resident < c.cfg.CTAs && bits.OnesCount64(c.free) >= g.Warps &&
		c.threads+g.Warps*isa.Lanes <= c.cfg.Threads &&
		c.regs+g.Warps*c.cfg.RegsPerWarp(g.Regs) <= c.cfg.Regs &&
		c.shared+g.SharedBytes <= c.cfg.Shared &&
		(k.Most == 0 || c.of(k) < k.Most)
}

// of is how many CTAs of k are resident.
func (c *residency) of(k *Kernel) int {
	n := 0
	for i := range c.blocks {
		if c.blocks[i].k == k {
			n++
		}
	}
	return n
}

// occupy reserves the resources of a CTA of k, which fits, and returns its block.
func (c *residency) occupy(k *Kernel, now uint64) int {
	residency := &c.residencies[k.Tenant]
	if residency.ctas == 0 {
		c.divide(now)
		c.shares = shares{now, now}
		residency.since = now
	}
	residency.ctas++
	b := 0
	for c.blocks[b].k != nil {
		b++
	}
	g := &k.Geo
	bl := &c.blocks[b]
	*bl = block{k: k, live: g.Warps, regs: g.Warps * c.cfg.RegsPerWarp(g.Regs), start: now}
	for range g.Warps {
		w := bits.TrailingZeros64(c.free)
		c.free &^= 1 << w
		bl.slots |= 1 << w
	}
	c.resident++
	c.rows[k.Tenant][ResidentCTAs]++
	c.threads += g.Warps * isa.Lanes
	c.regs += bl.regs
	c.shared += g.SharedBytes
	return b
}

// vacate gives the resources of a block back.
func (c *residency) vacate(b *block, now uint64) {
	k := b.k
	c.free |= b.slots
	c.resident--
	c.rows[k.Tenant][ResidentCTAs]--
	c.threads -= k.Geo.Warps * isa.Lanes
	c.regs -= b.regs
	c.shared -= k.Geo.SharedBytes
	residency := &c.residencies[k.Tenant]
	if residency.ctas == 1 {
		c.divide(now)
		c.shares = shares{now, now}
		c.rows[k.Tenant][ActiveCycles] += now - residency.since
	}
	residency.ctas--
	b.k, b.exec = nil, nil
}

// divide counts the cycles up to now for the tenants with CTAs on the SM, evenly and in whole cycles; the first ones
// take the remainder. It may be asked at any time: the shares depend only on when tenants came and went.
func (c *residency) divide(now uint64) {
	n := uint64(0)
	for t := range c.residencies {
		n += uint64(min(1, c.residencies[t].ctas))
	}
	after, before := now-c.shares.since, c.shares.divided-c.shares.since
	i := uint64(0)
	for t := range c.residencies {
		if c.residencies[t].ctas > 0 {
			c.rows[t][ActiveShareCycles] += (after+n-1-i)/n - (before+n-1-i)/n
			i++
		}
	}
	c.shares.divided = now
}

// evicted is the warp slots of the CTA that leaves, if one does.
func (c *residency) evicted() uint64 {
	if c.leaving < 0 {
		return 0
	}
	return c.blocks[c.leaving].slots
}

// sharedFor is the shared memory to set aside when the first CTA comes, one of k: what
// its kernel can use, or all there may be where CTAs of others follow, as the split
// between L1 and shared memory cannot change under resident CTAs.
func (c *residency) sharedFor(k *Kernel) int {
	if c.several {
		return c.cfg.Shared
	}
	per := c.cfg.Occupancy(&k.Geo)
	if k.Most > 0 {
		per = min(per, k.Most)
	}
	return per * k.Geo.SharedBytes
}

// Fits says whether one more CTA of k can become resident now.
func (s *SM) Fits(k *Kernel) bool { return s.pipe.ctas.fits(k) }

// Start makes CTA number cta of k resident; Fits must hold.
func (s *SM) Start(k *Kernel, cta int, now uint64) error {
	p := &s.pipe
	exec := k.Grid.Start(cta, isa.Place{
		SM: s.ID, WarpSlot: bits.TrailingZeros64(p.ctas.free), KHz: s.cfg.issue.kHz,
	})
	b, err := s.occupy(k, now)
	if err != nil {
		return err
	}
	bl := &p.ctas.blocks[b]
	bl.exec = exec
	i := 0
	for m := bl.slots; m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		p.warps.launched(w, now<<16|uint64(cta&0xff)<<8|uint64(i))
		wp := p.begin(w, b, i, k, exec, now)
		set := s.cfg.issue.setup + s.cfg.issue.setupWarp*uint64(i)>>8
		p.warps.plan(w, wp, now+s.cfg.fetch.latency+set, now)
		if k.Local != nil {
			k.Local.start(s.lsu.slot(w))
		}
		i++
	}
	return nil
}

// occupy makes room for a CTA of k, which fits, and returns its block. The first one
// settles what of the memory it has in common with shared memory is L1.
func (s *SM) occupy(k *Kernel, now uint64) (int, error) {
	s.wakeAt(now + 1)
	if s.pipe.ctas.resident == 0 && s.lsu.l1.mshrs.Pending() == 0 {
		if err := s.lsu.l1.carve(&s.cfg.l1, s.pipe.ctas.sharedFor(k)); err != nil {
			return 0, err
		}
	}
	b := s.pipe.ctas.occupy(k, now)
	s.pipe.holdBackAnew(now)
	return b, nil
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

// Resident is the number of CTAs on the SM.
func (s *SM) Resident() int { return s.pipe.ctas.resident }

// SyncCounters brings the counters of a busy SM up to cycle now: active cycles, and idle warps.
func (s *SM) SyncCounters(now uint64) {
	s.pipe.settleQuotas(now)
	s.pipe.ctas.divide(now)
	for t := range s.pipe.ctas.residencies {
		if residency := &s.pipe.ctas.residencies[t]; residency.ctas > 0 {
			s.pipe.ctas.rows[t][ActiveCycles] += now - residency.since
			residency.since = now
		}
	}
}

// EachCTA visits the resident CTAs: kernel and the cycle it became resident here.
func (s *SM) EachCTA(visit func(k *Kernel, since uint64)) {
	for i := range s.pipe.ctas.blocks {
		if b := &s.pipe.ctas.blocks[i]; b.k != nil {
			visit(b.k, b.start)
		}
	}
}
