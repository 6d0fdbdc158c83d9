package vm

import (
	"cmp"
	"fmt"

	"github.com/heddle-sim/heddle/mem/placement"
	"github.com/heddle-sim/heddle/sheets"
)

// pageplacer is how the pages of all tenants are dealt to channel groups.
type pageplacer struct {
	first placement.Place // of a page's first frame
	again placement.Place // of a page that moves
	draw  []uint64        // [tenant] state of its pseudo-random choices
	seen  placement.View
}

func newPageplacer(s *sheets.Machine, f *Frames, tenants int) (p pageplacer, err error) {
	name := cmp.Or(s.VM.Placement, "round-robin")
	e, ok := placement.ByName(name)
	if !ok {
		return p, fmt.Errorf("machine %s: vm.placement is %q; it must be one of %v", s.Name, name, placement.Names())
	}
	m := placement.Machine{Groups: f.Pools(), Modules: s.NoC.Modules, Threshold: s.VM.LABThreshold}
	if p.first, err = e.Make(m); err != nil {
		return p, fmt.Errorf("machine %s: vm.placement %s needs %w", s.Name, name, err)
	}
	if p.again = e.Again; p.again == nil {
		p.again = placement.Least
	}
	for t := range tenants {
		p.draw = append(p.draw, mix(uint64(s.VM.PlacementSeed)<<8|uint64(t)))
	}
	return p, nil
}

// view is an empty view for the next choice, to which groups with room are added.
func (p *pageplacer) view(tenant, turn, near int) *placement.View {
	v := &p.seen
	p.draw[tenant] += golden
	v.Groups, v.Pages, v.Turn, v.Near, v.Draw = v.Groups[:0], v.Pages[:0], turn, near, mix(p.draw[tenant])
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
