package vm

import (
	"fmt"
	"strconv"

	"github.com/heddle-sim/heddle/sheets"
)

// View is what a placement policy sees when a page needs a frame: only the
// tenant's groups that have a free frame.
type View struct {
	Groups []int  // channel groups, ascending
	Pages  []int  // pages the tenant has in each of them
	Turn   int    // pages the tenant has placed so far
	Home   int    // group nearest to the SM that touched the page; -1: no SM did
	Draw   uint64 // pseudo-random, another one for each page
}

func (v *View) add(group, pages int) {
	v.Groups = append(v.Groups, group)
	v.Pages = append(v.Pages, pages)
}

// Place chooses a group: the result is an index into v.Groups, which is not empty.
type Place func(v *View) int

// PlaceByName finds a policy by its name in a machine sheet. The threshold is LAB's, from 0 to
// 1, and taken as the decimal number it is written as; the others have none.
func PlaceByName(name string, threshold float64) (Place, error) {
	switch name {
	case "", "round-robin":
		return placeRoundRobin, nil
	case "least":
		return placeLeast, nil
	case "least-random":
		return placeLeastRandom, nil
	case "first-touch":
		return placeFirstTouch, nil
	case "lab", "lab-lowest":
		t, err := ParseThreshold(strconv.FormatFloat(threshold, 'f', -1, 64))
		if err != nil {
			return nil, fmt.Errorf("vm.lab_threshold: %w", err)
		}
		if name == "lab" {
			return LAB(t, placeLeastNear), nil
		}
		return LABLowest(t), nil
	}
	return nil, fmt.Errorf("vm.placement %q: use round-robin, least, least-random, first-touch, lab, lab-lowest or "+
		"module", name)
}

// placement is how the pages of all tenants are dealt to channel groups.
type placement struct {
	first Place    // of a page's first frame
	again Place    // of a page that moves
	draw  []uint64 // [tenant] state of its pseudo-random choices
	seen  View
}

func newPlacement(s *sheets.Machine, f *Frames, tenants int) (p placement, err error) {
	p.first, p.again = PlaceModule(max(1, f.Pools()/max(1, s.NoC.Modules))), placeLeast
	if s.VM.Placement != "module" {
		if p.first, err = PlaceByName(s.VM.Placement, s.VM.LABThreshold); err != nil {
			return p, fmt.Errorf("machine %s: %w", s.Name, err)
		}
	}
	if s.VM.Placement == "least-random" {
		p.again = placeLeastRandom
	}
	for t := range tenants {
		p.draw = append(p.draw, mix(uint64(s.VM.PlacementSeed)<<8|uint64(t)))
	}
	return p, nil
}

// view is an empty view for the next choice, to which groups with room are added.
func (p *placement) view(tenant, turn, home int) *View {
	v := &p.seen
	p.draw[tenant] += golden
	v.Groups, v.Pages, v.Turn, v.Home, v.Draw = v.Groups[:0], v.Pages[:0], turn, home, mix(p.draw[tenant])
	return v
}

// golden is 2^64 over the golden ratio, the step of SplitMix64's states.
const golden = 0x9e3779b97f4a7c15

// mix is SplitMix64's output of a state (Steele, Lea, Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
