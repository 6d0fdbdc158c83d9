package addrmap

import (
	"fmt"
	"math/bits"
	"slices"
)

// span is a run of bits.
type span struct{ at, width uint }

// layout is a map before compilation. Each output bit is a mask over the
// stitched address (channel-index bits already taken out); its value is the
// parity of the masked bits.
type layout struct {
	channels int   // of the machine
	groups   int   // of the machine; channel c is in group c mod groups
	owned    []int // groups this map uses, in order
	perGroup int   // channels per group chosen by the remainder; the rest by within, or one after the other (lines)
	lines    round // of channels in a group; none: n is 0

	spread                                uint
	col, bank, bg, rank, sub, within, row []uint64
	hash                                  []uint64 // added to the remainder
	slice                                 []uint   // stitched-address bits that name the slice, to squeeze out
	offset                                uint     // block offset bits
	taken                                 uint64   // address bits that choose the group
	perm, unperm                          [64]uint64
	permuted                              bool
	// recomputes hash (and slice hash) for a new number of channels
	rehash                       func(*layout) error
	plainSub, plainBank, plainBG []uint64 // before any hash
	hashKind, bankHash           string
}

// modulus is the number of values of the remainder.
func (l *layout) modulus() int { return len(l.owned) * l.perGroup }

// index is the position of a group among the owned ones.
func (l *layout) index(group int) int {
	i := slices.Index(l.owned, group)
	if i < 0 {
		panic(fmt.Sprintf("addrmap: channel group %d is not owned by this map", group))
	}
	return i
}

// finish gives every unclaimed bit to the row and checks the widths.
func (l *layout) finish() error {
	l.plainSub, l.plainBank, l.plainBG = l.sub, l.bank, l.bg
	var claimed uint64 = 1<<l.offset - 1
	for _, f := range [][]uint64{l.col, l.bank, l.bg, l.rank, l.sub, l.within, l.row} {
		for _, m := range f {
			claimed |= m
		}
	}
	// A map restricted to one channel leaves all AddrBits in the stitched address.
	for b := range AddrBits {
		if claimed>>b&1 == 0 {
			l.row = append(l.row, 1<<b)
		}
	}
	for _, f := range []struct {
		name string
		bits []uint64
		most int
	}{
		{"column", l.col, colBits},
		{"bank", l.bank, bankBits},
		{"bank_group", l.bg, bgBits},
		{"rank", l.rank, rankBits},
		{"slice", l.sub, subBits},
		{"row (with the bits above the map)", l.row, rowBits},
	} {
		if len(f.bits) > f.most {
			return fmt.Errorf("%s has %d bits, at most %d can be held", f.name, len(f.bits), f.most)
		}
	}
	if l.channels > 256 {
		return fmt.Errorf("%d channels: at most 256", l.channels)
	}
	return l.rehash(l)
}

// compile makes the tables. The layout must be finished.
func (l *layout) compile() *Map {
	n := l.modulus()
	m := &Map{
		spread: l.spread, below: 1<<l.spread - 1, n: uint64(n), within: uint(len(l.within)),
		subs:   uint16(1 << len(l.sub)),
		divide: !pow2(n), shift: uint(log2(n)), lay: l, block: 1 << l.offset, lines: l.lines,
	}
	if l.lines.n > 1 { // the hash stands where the bits of the channel do
		m.within = uint(len(l.hash))
	}
	if m.divide {
		m.magic = ^uint64(0)/m.n + 1
	}
	mask := l.masks(true)
	col := columns(&mask)
	// Bits just above AddrBits belong to no map; folding them keeps callers that
	// number tenants up there from seeing false row hits.
	col[AddrBits], col[AddrBits+1] = col[TenantShift], col[TenantShift+1]
	m.lin = newLinear(&col)
	mask = l.masks(false)
	col = columns(&mask)
	// With n > 1 the top log2(n) bits of the stitched address stay zero, but a map
	// that inverts on all of them inverts on those that occur.
	m.inv, m.bij = invert(&col, (1<<AddrBits-1)&^(1<<l.offset-1))
	if l.permuted {
		m.perm = newLinear(&l.perm)
	}
	m.channelTables()
	m.drop = runs(append(positions(l.within), l.slice...))
	return m
}

// masks places the fields in the packed word.
func (l *layout) masks(withHash bool) (mask [64]uint64) {
	copy(mask[colAt:], l.col)
	copy(mask[bankAt:], l.bank)
	copy(mask[bgAt:], l.bg)
	copy(mask[rankAt:], l.rank)
	copy(mask[subAt:], l.sub)
	copy(mask[chanAt:], l.within)
	copy(mask[rowAt:], l.row)
	if withHash {
		copy(mask[chanAt+len(l.within):rowAt], l.hash)
	}
	return mask
}

// channelTables maps (remainder + hash, other bits) to channel numbers and back.
func (m *Map) channelTables() {
	l, w := m.lay, m.within
	k := len(l.owned)
	m.back = make([]int32, l.channels)
	for i := range m.back {
		m.back[i] = -1
	}
	if n := int(l.lines.n); n > 1 {
		m.chanOf = make([]uint16, k*n<<w)
		for key := range m.chanOf {
			at, hash := key>>w, key&(1<<w-1)
			ch := l.owned[at/n] + l.groups*((at+hash)%n)
			m.chanOf[key] = uint16(ch)
		}
		for at := range k * n {
			m.back[l.owned[at/n]+l.groups*(at%n)] = int32(at)
		}
		return
	}
	m.chanOf = make([]uint16, (int(m.n)+1<<len(l.hash))<<w)
	for key := range m.chanOf {
		idx, in := key>>w%int(m.n), key&(1<<w-1)
		ch := l.owned[idx%k] + l.groups*(idx/k+l.perGroup*in)
		m.chanOf[key] = uint16(ch)
		m.back[ch] = int32(idx<<w | in)
	}
}

// runs groups bit positions into spans, highest first, ready to be squeezed out.
func runs(pos []uint) (out []span) {
	pos = slices.Clone(pos)
	slices.Sort(pos)
	for i := len(pos) - 1; i >= 0; i-- {
		if n := len(out); n > 0 && out[n-1].at == pos[i]+1 {
			out[n-1].at, out[n-1].width = pos[i], out[n-1].width+1
			continue
		}
		out = append(out, span{pos[i], 1})
	}
	return out
}

// squeeze moves bit p down by the number of taken bits below it.
func squeeze(p uint, taken uint64) uint { return p - uint(bits.OnesCount64(taken&(1<<p-1))) }

// Restrict is the map of a tenant that owns only the given channel groups: the
// map a machine with that many groups would have, its channels being the owned
// ones. The address bits that no longer choose a channel go to the row, so
// distinct addresses stay distinct.
func (m *Map) Restrict(groups []int) (*Map, error) {
	if len(groups) == 0 {
		return nil, fmt.Errorf("a tenant must own at least one channel group")
	}
	own := slices.Clone(groups)
	slices.Sort(own)
	for i, g := range own {
		if g < 0 || g >= m.lay.groups {
			return nil, fmt.Errorf("channel group %d: the machine has groups 0 to %d", g, m.lay.groups-1)
		}
		if i > 0 && own[i-1] == g {
			return nil, fmt.Errorf("channel group %d is given twice", g)
		}
	}
	if slices.Equal(own, m.lay.owned) {
		return m, nil
	}
	l := *m.lay
	l.owned, l.permuted = own, false
	l.sub, l.bank, l.bg, l.hash = l.plainSub, l.plainBank, l.plainBG, nil
	if err := l.rehash(&l); err != nil {
		return nil, err
	}
	return l.compile(), nil
}
