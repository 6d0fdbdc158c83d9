package addrmap

import (
	"fmt"
	"slices"

	"heddle/sheets"
)

// forPage is the map for a page size: itself, unless it asks for the channel group
// to be chosen by the page (map.group_above_page) and the page reaches above the
// lowest channel bit. Then the channel bits lie just above the page offset and all
// other bits close up in their order. Figure 8 of the UGPU paper with 2 MB pages:
// channel [23:21], and bits 12 to 20 hold what 15 to 23 held. Stack and bank-group
// bits stay where they are, so that a page still spreads over all of them.
func forPage(mp *sheets.Map, page int) *sheets.Map {
	if !mp.GroupAbovePage || page <= 0 || len(mp.Channel) == 0 {
		return mp
	}
	offset := log2(page)
	if slices.Min(mp.Channel) >= offset {
		return mp
	}
	var taken uint64
	for _, b := range mp.Channel {
		if b < 0 || b >= AddrBits {
			return mp // disjoint says what is wrong
		}
		taken |= 1 << b
	}
	move := func(list []int) (out []int) {
		for _, b := range list {
			to := int(squeeze(uint(max(b, 0)), taken))
			if to >= offset {
				to += len(mp.Channel)
			}
			out = append(out, to)
		}
		return out
	}
	up := *mp
	up.Offset, up.Stack, up.Rank, up.BankGroup, up.Bank = move(mp.Offset), move(mp.Stack), move(mp.Rank),
		move(mp.BankGroup), move(mp.Bank)
	up.Column, up.Row, up.Slice = move(mp.Column), move(mp.Row), move(mp.Slice)
	order := slices.Clone(mp.Channel)
	slices.Sort(order)
	up.Channel = nil
	for _, b := range mp.Channel {
		up.Channel = append(up.Channel, offset+slices.Index(order, b))
	}
	return &up
}

// Conventional compiles the machine's map without PageMove's customised one: a page
// spans all channels of a slice, which is the full map restricted to the slice's
// groups (Map.Restrict). It is the sheet's map_conventional; a sheet without one
// gives its own map if that spreads pages over channels already, else an error.
func Conventional(s *sheets.Machine) (*Map, error) {
	if s.Conventional.Given() {
		c := *s
		c.Map = s.Conventional.Map(s.Map.Groups)
		m, err := New(&c)
		if err != nil {
			return nil, fmt.Errorf("map_conventional: %w", err)
		}
		return m, nil
	}
	m, err := New(s)
	if err != nil {
		return nil, err
	}
	if s.VM.Page > 0 && m.Channels() > 1 && m.PageInGroup(s.VM.Page) {
		return nil, fmt.Errorf("machine %s has no conventional address map: its own keeps each page in one channel "+
			"group; give map_conventional in the sheet", s.Name)
	}
	return m, nil
}
