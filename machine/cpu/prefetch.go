package cpu

import (
	"github.com/heddle-sim/heddle/mem/tags"
)

// prefetcher chooses lines that may be needed soon: those behind the one that missed in
// the L1 (next-line), or where the load at this place of the program has gone in equal steps,
// where it will go (stride; Baer and Chen, 1991). They go into the L2, as long as half of its
// miss registers are left for what is asked for.
type prefetcher struct {
	stride  bool
	degree  int
	table   []stride // by a hash of the load's place
	mask    uint64
	brought []bool // by L2 line: prefetched and not needed so far
}

// stride is the history of the load at one place.
type stride struct {
	site  uint64
	last  uint64
	step  int64
	sure  uint8 // times in a row it went by step, up to 3
	known bool
}

func newPrefetcher(cfg *Config) prefetcher {
	p := prefetcher{stride: cfg.prefetch.Kind == "stride"}
	if cfg.prefetch.Kind == "none" || cfg.prefetch.Kind == "" {
		return p
	}
	p.degree = cfg.prefetch.Degree
	p.brought = make([]bool, cfg.l2.sets*cfg.l2.ways)
	if p.stride {
		p.table = make([]stride, cfg.prefetch.Table)
		p.mask = uint64(len(p.table) - 1)
	}
	return p
}

// forget notes that a place of the L2 has another line from now on.
func (p *prefetcher) forget(j int32) {
	if p.degree > 0 {
		p.brought[j] = false
	}
}

// learn is the step of the load at a site that missed at a line; 0 while that is not sure.
func (p *prefetcher) learn(site, line uint64) int64 {
	s := &p.table[(site^site>>16)&p.mask]
	if !s.known || s.site != site {
		*s = stride{site: site, last: line, known: true}
		return 0
	}
	step := int64(line - s.last)
	s.last = line
	switch {
	case step == 0:
		return 0
	case step == s.step:
		s.sure = min(s.sure+1, 3)
	default:
		s.step, s.sure = step, 0
	}
	if s.sure < 1 {
		return 0
	}
	return s.step
}

// prefetchFrom asks for lines that may follow one that missed in the L1 and lies at j of the L2.
// Stores, whose place is not known, train and cause nothing where strides are found by place.
func (c *Core) prefetchFrom(line, site uint64, j int32, now uint64) {
	k := &c.caches
	p := &k.prefetch
	if p.brought[j] {
		p.brought[j] = false
		c.row[PrefetchHits]++
	}
	step := int64(c.cfg.line)
	if p.stride {
		if site == 0 {
			return
		}
		if step = p.learn(site, line); step == 0 {
			return
		}
	}
	for range p.degree {
		next := line + uint64(step)
		if next>>pageBits != line>>pageBits { // the next page lies somewhere else
			return
		}
		line = next
		if k.l2.Find(line) != tags.None {
			continue
		}
		n := k.l2.Victim(line)
		if n == tags.None || 2*(k.m2.Pending()+1) > c.cfg.l2.mshrs || k.writing >= c.cfg.writeBacks {
			return
		}
		c.fetch(n, line, now)
		p.brought[n] = true
		c.row[Prefetches]++
	}
}
