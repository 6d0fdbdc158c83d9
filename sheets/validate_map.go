package sheets

import "strings"

// addressMap checks the map against the geometry it must cover.
func (c *checker) addressMap(m *Machine) {
	a := &m.Map
	c.oneOf("map.kind", a.Kind, "gpgpusim", "bits", "linear")
	c.oneOf("map.hash", a.Hash, "none", "ipoly", "xor")
	if a.GroupBits != "" {
		c.oneOf("map.group_bits", a.GroupBits, "low", "high")
	}
	if a.Groups > 0 {
		c.want(m.DRAM.Channels%a.Groups == 0, "dram.channels = %d do not divide into map.groups = %d", m.DRAM.Channels, a.Groups)
	}
	switch a.Kind {
	case "gpgpusim":
		c.mapString(m)
	case "bits":
		c.mapBits(m)
	}
}

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
	c.want(1<<n['B'] == d.BankGroups*d.Banks*d.Ranks, "map.string has %d bank bits, but dram.ranks x dram.bank_groups x dram.banks is %d", n['B'], d.BankGroups*d.Banks*d.Ranks)
	c.want(1<<(n['C']+n['S']) == d.RowBytes, "map.string has %d column and burst bits, but dram.row_bytes is %d", n['C']+n['S'], d.RowBytes)
}

// mapBits checks that the lists name every address bit once and fit the geometry.
func (c *checker) mapBits(m *Machine) {
	a, d := &m.Map, &m.DRAM
	var seen [64]string
	total := 0
	for _, f := range []struct {
		name string
		bits []int
	}{{"offset", a.Offset}, {"channel", a.Channel}, {"stack", a.Stack}, {"bank_group", a.BankGroup}, {"bank", a.Bank}, {"column", a.Column}, {"row", a.Row}} {
		for _, b := range f.bits {
			if b < 0 || b > 47 {
				c.errorf("map.%s names bit %d; bits are 0 to 47", f.name, b)
				return
			}
			if seen[b] != "" {
				c.errorf("address bit %d is in both map.%s and map.%s", b, seen[b], f.name)
				return
			}
			seen[b] = f.name
			total++
		}
	}
	for b := range total {
		c.want(seen[b] != "", "address bit %d is in no field of the map; the fields must cover bits 0 to %d", b, total-1)
	}
	for _, b := range a.Slice {
		c.want(b >= 0 && b < total, "map.slice names bit %d, which is not an address bit", b)
	}
	c.want(1<<len(a.Channel)<<len(a.Stack) == d.Channels, "map.channel and map.stack have %d bits, but dram.channels is %d", len(a.Channel)+len(a.Stack), d.Channels)
	c.want(1<<len(a.Stack) == d.Stacks, "map.stack has %d bits, but dram.stacks is %d", len(a.Stack), d.Stacks)
	c.want(1<<len(a.BankGroup) == d.BankGroups, "map.bank_group has %d bits, but dram.bank_groups is %d", len(a.BankGroup), d.BankGroups)
	c.want(1<<len(a.Bank) == d.Banks*d.Ranks, "map.bank has %d bits, but dram.ranks x dram.banks is %d", len(a.Bank), d.Banks*d.Ranks)
	c.want(1<<len(a.Row) == d.Rows, "map.row has %d bits, but dram.rows is %d", len(a.Row), d.Rows)
	c.want(1<<(len(a.Offset)+len(a.Column)) == d.RowBytes, "map.offset and map.column have %d bits, but dram.row_bytes is %d", len(a.Offset)+len(a.Column), d.RowBytes)
	c.want(1<<len(a.Slice) == m.LLC.SlicesPerChannel, "map.slice has %d bits, but llc.slices_per_channel is %d", len(a.Slice), m.LLC.SlicesPerChannel)
}
