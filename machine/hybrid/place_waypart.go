package hybrid

import (
	"fmt"
	"slices"
)

// WayPart is static way partitioning (Hydrogen, section V): of each set the ways in the first
// channels are for data of the CPU, three of four by default, and the others for the GPU's. As
// ways lie in channels (Figure 3a), the GPU is left with their bandwidth, too. Both classes may hit anywhere.
// Hardware: none.
type WayPart struct {
	owners []Owners // by set, over and over: with fewer ways than channels sets lie in different ones
}

// NewWayPart gives the CPU cpu ways of each set.
func NewWayPart(s Shape, cpu int) (*WayPart, error) {
	if cpu < 1 || cpu >= s.Ways {
		return nil, fmt.Errorf("way partitioning of %d ways: the CPU has 1 to %d, not %d", s.Ways, s.Ways-1, cpu)
	}
	sets := 1
	if s.Ways < s.Channels {
		sets = s.Channels
	}
	p := &WayPart{owners: make([]Owners, sets)}
	shared := make([]bool, s.Channels) // with ways of the GPU
	for set := range p.owners {
		ways := make([]int, s.Ways)
		for w := range ways {
			ways[w] = w
		}
		in := func(way int) int { return s.Channel(uint64(set), way) }
		slices.SortStableFunc(ways, func(a, b int) int { return in(a) - in(b) })
		for i, w := range ways {
			if i < cpu {
				p.owners[set].Of[CPU] |= 1 << w
				continue
			}
			p.owners[set].Of[GPU] |= 1 << w
			shared[in(w)] = true
		}
	}
	for set := range p.owners {
		o := &p.owners[set]
		for w := range s.Ways {
			if !shared[s.Channel(uint64(set), w)] {
				o.Dedicated |= 1 << w
			}
		}
	}
	return p, nil
}

// Owners implements Policy.
func (p *WayPart) Owners(set uint64) Owners { return p.owners[set%uint64(len(p.owners))] }

// Hit implements Policy.
func (p *WayPart) Hit(*View, int) (Action, int) { return Keep, 0 }

// Miss implements Policy.
func (p *WayPart) Miss(v *View) Choice { return v.fill(v.Owners.Of[v.Class]) }
