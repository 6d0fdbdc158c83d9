package addrmap

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/sheets"
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

// pageLayout is the partition-aware map of NUBA (Figure 2): from the least significant bit, line
// offset, bank, column up to the page's end, channel, the rest of the column, row. As the channel
// lies above the page offset, whatever the page's size, the driver places a page by choosing its
// frame; any number of channels will do. The lowest bank bits pick the LLC slice, after the bank
// hash, so that both are randomised alike.
//
// The paper gives no positions. Banks are lowest so that a page of 4 KB, 32 lines, spreads over 16
// banks. With map.hash pae the channel is randomised, too, and frames no longer choose it.
func pageLayout(s *sheets.Machine) (*layout, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, err
	}
	d, page := &s.DRAM, s.VM.Page
	if !pow2(s.LLC.Line) || !pow2(d.RowBytes) || d.RowBytes < s.LLC.Line || !pow2(page) || page < s.LLC.Line {
		return nil, fmt.Errorf("kind %s needs llc.line (%d), dram.row_bytes (%d) and vm.page (%d) to be powers of "+
			"two, row and page at least a line", s.Map.Kind, s.LLC.Line, d.RowBytes, page)
	}
	l.offset, l.spread = uint(log2(s.LLC.Line)), uint(log2(page))
	at := l.offset // positions are of the stitched address: the channel is out of the way
	take := func(name string, n int) (f []uint64) {
		if err == nil && !pow2(max(1, n)) {
			err = fmt.Errorf("kind %s needs dram.%s (%d) to be a power of two", s.Map.Kind, name, n)
		}
		for range log2(max(1, n)) {
			f = append(f, 1<<at)
			at++
		}
		return f
	}
	l.bg, l.bank, l.rank = take("bank_groups", d.BankGroups), take("banks", d.Banks), take("ranks", d.Ranks)
	l.col = take("row_bytes", d.RowBytes/s.LLC.Line)
	for ; at < AddrBits; at++ {
		l.row = append(l.row, 1<<at)
	}
	if err == nil {
		err = l.takeSliceBits(nil, log2(max(1, s.LLC.SlicesPerChannel)))
	}
	l.rehash = hashRows
	return l, err
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
