package sheets

import "strings"

// addressMap checks the map against the geometry it must cover.
func (c *checker) addressMap(m *Machine) {
	a := &m.Map
	c.oneOf("map.kind", a.Kind, "gpgpusim", "bits", "linear", "page", "group")
	if c.oneOf("map.hash", a.Hash, "none", "ipoly", "xor", "pae"); a.Hash == "pae" {
		c.want(a.listed(), "map.hash pae needs map.kind bits, page or group, not %s", a.Kind)
	}
	if a.BankHash != "" {
		c.oneOf("map.bank_hash", a.BankHash, "none", "xor", "ipoly", "pae")
		c.want(a.BankHash == "none" || a.listed(), "map.bank_hash %s needs map.kind bits, page or group, not %s",
			a.BankHash, a.Kind)
	}
	if a.GroupBits != "" {
		c.oneOf("map.group_bits", a.GroupBits, "low", "high")
	}
	if a.Groups > 0 {
		c.want(m.DRAM.Channels%a.Groups == 0, "dram.channels = %d do not divide into map.groups = %d", m.DRAM.Channels,
			a.Groups)
	}
	switch a.Kind {
	case "gpgpusim":
		c.mapString(m)
	case "bits":
		c.mapBits(m, "map", "dram", a)
	case "group":
		c.want(a.Groups > 1, "map.kind group needs map.groups, at least two, not %d", a.Groups)
		c.want(!m.DRAM.Migrates(), "dram.migration is %s, but map.kind group does not keep the lines of a page in "+
			"their stacks", m.DRAM.Migration)
	}
	c.want(!a.GroupAbovePage || a.Kind == "bits", "map.group_above_page needs map.kind bits, not %s", a.Kind)
	if m.Conventional.Given() {
		b := m.Conventional.Map(a.Groups)
		c.mapBits(m, "map_conventional", "dram", &b)
	}
}

// listed says that the map names its bank and row bits apart, so that either can be hashed.
func (a *Map) listed() bool { return a.Kind == "bits" || a.Kind == "page" || a.Kind == "group" }

// mapString checks a dramid@ string: the field sizes must match the geometry.
func (c *checker) mapString(m *Machine) {
	_, rest, ok := strings.Cut(m.Map.String, ";")
	if !ok || !strings.HasPrefix(m.Map.String, "dramid@") {
		c.errorf("map.string is %q; it must look like dramid@8;0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS", m.Map.String)
		return
	}
	n := map[rune]int{}
	for _, r := range strings.ToUpper(rest) {
		if !strings.ContainsRune("0.RBCSD", r) {
			c.errorf("map.string has %q; the letters are R, B, C, S, D, 0 and dots", r)
			return
		}
		n[r]++
	}
	if n['R']+n['B']+n['C']+n['S'] > 48 {
		c.errorf("map.string names more than 48 address bits")
		return
	}
	d := &m.DRAM
	c.want(1<<n['R'] == d.Rows, "map.string has %d row bits, but dram.rows is %d", n['R'], d.Rows)
	c.want(1<<n['B'] == d.BankGroups*d.Banks*d.Ranks,
		"map.string has %d bank bits, but dram.ranks x dram.bank_groups x dram.banks is %d", n['B'],
		d.BankGroups*d.Banks*d.Ranks)
	c.want(1<<(n['C']+n['S']) == d.RowBytes, "map.string has %d column and burst bits, but dram.row_bytes is %d",
		n['C']+n['S'], d.RowBytes)
}

// mapBits checks that the lists name every address bit once and fit the
// geometry; section is the one of the sheet that holds them, device that of the geometry.
func (c *checker) mapBits(m *Machine, section, device string, a *Map) {
	d := &m.DRAM
	var seen [64]string
	total := 0
	for _, f := range []struct {
		name string
		bits []int
	}{
		{"offset", a.Offset},
		{"channel", a.Channel},
		{"stack", a.Stack},
		{"rank", a.Rank},
		{"bank_group", a.BankGroup},
		{"bank", a.Bank},
		{"column", a.Column},
		{"row", a.Row},
	} {
		for _, b := range f.bits {
			if b < 0 || b > 47 {
				c.errorf("%s.%s names bit %d; bits are 0 to 47", section, f.name, b)
				return
			}
			if seen[b] != "" {
				c.errorf("address bit %d is in both %s.%s and %s.%s", b, section, seen[b], section, f.name)
				return
			}
			seen[b] = f.name
			total++
		}
	}
	for b := range total {
		c.want(seen[b] != "", "address bit %d is in no field of %s; its fields must cover bits 0 to %d", b, section,
			total-1)
	}
	c.sliceBits(section, a, &seen, total)
	c.want(1<<len(a.Channel)<<len(a.Stack) == d.Channels,
		"%s.channel and %s.stack have %d bits, but %s.channels is %d", section, section, len(a.Channel)+len(a.Stack),
		device, d.Channels)
	c.want(1<<len(a.Stack) == d.Stacks, "%s.stack has %d bits, but %s.stacks is %d", section,
		len(a.Stack), device, d.Stacks)
	c.want(1<<len(a.BankGroup) == d.BankGroups, "%s.bank_group has %d bits, but %s.bank_groups is %d", section,
		len(a.BankGroup), device, d.BankGroups)
	c.want(1<<len(a.Bank) == d.Banks, "%s.bank has %d bits, but %s.banks is %d", section,
		len(a.Bank), device, d.Banks)
	c.want(1<<len(a.Rank) == d.Ranks, "%s.rank has %d bits, but %s.ranks is %d", section,
		len(a.Rank), device, d.Ranks)
	c.want(1<<len(a.Row) == d.Rows, "%s.row has %d bits, but %s.rows is %d", section,
		len(a.Row), device, d.Rows)
	c.want(1<<(len(a.Offset)+len(a.Column)) == d.RowBytes,
		"%s.offset and %s.column have %d bits, but %s.row_bytes is %d", section, section, len(a.Offset)+len(a.Column),
		device, d.RowBytes)
	c.want(1<<len(a.Slice) == m.LLC.SlicesPerChannel, "%s.slice has %d bits, but llc.slices_per_channel is %d", section,
		len(a.Slice), m.LLC.SlicesPerChannel)
}

// sliceBits checks the bits that choose a slice in its channel; seen is the list each address bit is in.
func (c *checker) sliceBits(section string, a *Map, seen *[64]string, total int) {
	for _, b := range a.Slice {
		if b < 0 || b >= total {
			c.errorf("%s.slice names bit %d, which is not an address bit", section, b)
			continue
		}
		f := seen[b]
		c.want(f != "offset" && f != "channel" && f != "stack", "%s.slice names bit %d, which is in %s.%s; take bits "+
			"of a bank, column or row", section, b, section, f)
	}
}
