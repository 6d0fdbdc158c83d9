package hybrid

// LRU is no partitioning: every miss fills the least recently used way, whichever class owns its data. Hydrogen is
// measured against it (section V: "the baseline follows Figure 1 without any partitioning").
type LRU struct{ all uint16 }

// NewLRU is for sets of a number of ways.
func NewLRU(ways int) *LRU { return &LRU{uint16(1<<ways - 1)} }

// Owners implements Policy: all ways are shared.
func (p *LRU) Owners(uint64) Owners { return Owners{Of: [numClasses]uint16{p.all, p.all}} }

// Hit implements Policy.
func (p *LRU) Hit(*View, int) (Action, int) { return Keep, 0 }

// Miss implements Policy.
func (p *LRU) Miss(v *View) Choice { return v.fill(p.all) }
