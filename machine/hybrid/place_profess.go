package hybrid

// ProFess is Knyaginin, Papaefstathiou and Stenstrom, "ProFess: A Probabilistic Hybrid Main
// Memory Management Framework for High Performance and Fairness", HPCA 2018, as Hydrogen
// compares with it: in cache mode, on sets of several ways, with the CPU and the GPU as its
// programs. MDM (mdm.go) weighs what the block of a miss can expect against the way of which
// least is expected; RSM (rsm.go) forbids or furthers what takes a way from the other class.
// Hardware: two bits per block in the remap table, six per block in its cache, registers.
//
// Readings. A migration must gain as many hits as it costs extra accesses of the slow tier,
// over what a hit saves: 3 for a clean victim and 7 for a dirty one with blocks of 256 bytes.
// Until the first statistics are in, every miss migrates. One set in 64 is each class's own.
type ProFess struct {
	mdm   mdm
	rsm   rsm
	table *table
	units int // of a block
	lru   bool
	all   uint16
}

// NewProFess is for a memory; with lru it takes the least recently used way whatever the
// blocks can expect (section VI-A of Hydrogen).
func NewProFess(c *Config, lru bool) *ProFess {
	l := newLayout(c)
	return &ProFess{
		mdm: newMDM(l.sets, uint64(l.spots-l.ways)), units: l.units, lru: lru, all: uint16(1<<l.ways - 1),
	}
}

// reads implements tableReader.
func (p *ProFess) reads(t *table, _ *transfers) { p.table = t }

// leaves implements watcher.
func (p *ProFess) leaves(first, n uint64) { p.mdm.leaves(first, n) }

// Owners implements Policy: all ways are shared, except in the sets of one class.
func (p *ProFess) Owners(set uint64) Owners {
	o := Owners{Of: [numClasses]uint16{p.all, p.all}}
	if c, ok := private(set); ok {
		o.Of[1-c] = 0
	}
	return o
}

// Hit implements Policy.
func (p *ProFess) Hit(v *View, _ int) (Action, int) {
	p.see(v, true)
	return Keep, 0
}

// see counts a request.
func (p *ProFess) see(v *View, hit bool) {
	if v.Again || v.Write {
		return
	}
	p.mdm.access(v.Set, p.index(v), v.Class)
	p.rsm.request(v.Set, v.Class, hit)
}

func (p *ProFess) index(v *View) uint32 { return v.Block / uint32(p.table.sets) }

// Miss implements Policy.
func (p *ProFess) Miss(v *View) Choice {
	p.see(v, false)
	c := v.fill(v.Owners.Of[v.Class])
	if c.Way < 0 || v.Valid>>c.Way&1 == 0 {
		return c
	}
	if !p.lru && p.mdm.known {
		c.Way = p.least(v)
	}
	_, victim, _ := p.table.resident(place{c.Set, uint16(c.Way)})
	owner := p.mdm.owner(v.Set, victim)
	switch p.rsm.advise(v.Class, owner) {
	case forbid:
		return Choice{Way: Bypass}
	case decide:
		if !p.worth(v, victim, c.Way, true) {
			return Choice{Way: Bypass}
		}
	case vacant:
		if !p.worth(v, victim, c.Way, false) {
			return Choice{Way: Bypass}
		}
	}
	p.rsm.swap(v.Class, owner)
	return c
}

// least is the way whose block has the fewest expected accesses, the least recently used one of several.
func (p *ProFess) least(v *View) (way int) {
	way, fewest := -1, 0.0
	for rest := v.Owners.Of[v.Class] &^ v.Busy; rest != 0; {
		w := v.order.least(rest, v.ways)
		rest &^= 1 << w
		_, index, _ := p.table.resident(place{uint32(v.Set), uint16(w)})
		if r := p.mdm.remaining(v.Set, index, true); way < 0 || r < fewest {
			way, fewest = w, r
		}
	}
	return way
}

// worth says whether the block of a miss gains more accesses than its migration costs.
func (p *ProFess) worth(v *View, victim uint32, way int, occupied bool) bool {
	if p.lru || !p.mdm.known {
		return true
	}
	gain := p.mdm.remaining(v.Set, p.index(v), false)
	if occupied {
		gain -= p.mdm.remaining(v.Set, victim, true)
	}
	cost := p.units - 1
	if v.Dirties(way) {
		cost += p.units
	}
	return gain >= float64(cost)
}
