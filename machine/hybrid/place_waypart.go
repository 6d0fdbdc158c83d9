package hybrid

import "fmt"

// WayPart is static way partitioning (Hydrogen, section V): the first ways of each set are
// for data of the CPU, three of four by default, and the others for the GPU's. As ways lie in
// channels (Figure 3a), the GPU is left with their bandwidth, too. Anybody may hit anywhere.
// Hardware: none.
type WayPart struct{ owners Owners }

// NewWayPart is for sets of so many ways, of which the CPU has so many.
func NewWayPart(s Shape, cpu int) (*WayPart, error) {
	if cpu < 1 || cpu >= s.Ways {
		return nil, fmt.Errorf("way partitioning of %d ways: the CPU has 1 to %d, not %d", s.Ways, s.Ways-1, cpu)
	}
	p := &WayPart{}
	p.owners.Of[CPU] = uint16(1<<cpu - 1)
	p.owners.Of[GPU] = uint16(1<<s.Ways-1) &^ p.owners.Of[CPU]
	p.owners.Dedicated = p.owners.Of[CPU]
	return p, nil
}

// Owners implements Policy.
func (p *WayPart) Owners(uint64) Owners { return p.owners }

// Hit implements Policy.
func (p *WayPart) Hit(*View, int) (Action, int) { return Keep, 0 }

// Miss implements Policy.
func (p *WayPart) Miss(v *View) Choice { return v.fill(p.owners.Of[v.Class]) }
