// Package addrmap turns physical addresses into places: channel, LLC slice,
// bank, row. Three types matter. Map is the compiled map: Decode costs a few
// table look-ups and no branch on the kind of map. Loc is a place. SetIndex is
// the set-index function of one cache.
//
// A map has two parts. The address above bit `spread` is divided by the number
// of channels it is spread over (any number, 24 and 40 included): the remainder
// picks the channel, the quotient is stitched to the low bits again. All other
// fields, and the hash added to the remainder, are XORs of bits of that stitched
// address, a linear function over GF(2) held in byte tables. Where a page picks a
// group of channels (kind group), the stitched address is divided once more, and
// that remainder picks the channel in the group.
package addrmap

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/sheets"
)

// AddrBits is the width of a physical address. Bits above the map's own go to
// the high end of Row, so distinct addresses stay distinct.
const AddrBits = 46

// TenantShift is where a machine without translation puts the tenant's number in
// a physical address: 1 TB for each of 64 tenants.
const TenantShift = 40

// Loc is a place in the memory system.
type Loc struct {
	Row       uint32
	Col       uint16 // in blocks of Map.Block bytes
	Channel   uint16
	Slice     uint16 // LLC slice, counted over the whole machine: channel * slices per channel + slice in channel
	Rank      uint8
	BankGroup uint8
	Bank      uint8 // within its bank group
}

// Packed word: what the linear part gives for a stitched address.
const (
	colAt, colBits   = 0, 10
	bankAt, bankBits = 10, 4
	bgAt, bgBits     = 14, 3
	rankAt, rankBits = 17, 2
	subAt, subBits   = 19, 4
	chanAt, chanBits = 23, 9
	rowAt, rowBits   = 32, 32
)

// Map is one address map, immutable once built; it may be shared.
type Map struct {
	lin    *linear
	perm   *linear // brings scattered channel bits together; nil when they are
	chanOf []uint16
	spread uint   // bit at which the channel index sits
	below  uint64 // mask of the bits under it
	n      uint64 // channels (or groups) the address is divided over
	magic  uint64 // ceil(2^64/n), for the division
	shift  uint   // log2 n when n is a power of two
	within uint   // bits of the channel field that do not come from the remainder
	subs   uint16 // LLC slices per channel
	divide bool   // n is not a power of two
	lines  round  // of channels in a group, where a page picks the group alone

	lay   *layout
	drop  []span // channel and slice bits to squeeze out of the stitched address
	inv   [64]uint64
	bij   bool
	back  []int32 // channel -> remainder << within | other channel bits; -1: not in this map
	block uint64
}

// New compiles the map of a machine. Errors name the field of the sheet.
func New(s *sheets.Machine) (*Map, error) {
	var lay *layout
	var err error
	switch s.Map.Kind {
	case "gpgpusim":
		lay, err = gpgpusimLayout(s)
	case "bits":
		lay, err = bitsLayout(s)
	case "linear":
		lay, err = linearLayout(s)
	case "page":
		lay, err = pageLayout(s)
	case "group":
		lay, err = groupLayout(s)
	default:
		err = fmt.Errorf("kind %q: use gpgpusim, bits, linear, page or group", s.Map.Kind)
	}
	if err == nil {
		err = lay.finish()
	}
	if err != nil {
		return nil, fmt.Errorf("machine %s: map: %w", s.Name, err)
	}
	return lay.compile(), nil
}

// split divides an address into remainder and stitched address.
func (m *Map) split(addr uint64) (idx, y uint64) {
	if m.perm != nil {
		addr = m.perm.of(addr)
	}
	sp := m.spread & 63 // the masks tell the compiler that no shift exceeds the word
	hi, low := addr>>sp, addr&m.below
	if m.divide {
		q, _ := bits.Mul64(hi, m.magic)
		idx, y = hi-q*m.n, q<<sp|low
	} else {
		idx, y = hi&(m.n-1), hi>>(m.shift&63)<<sp|low
	}
	if m.lines.n > 1 {
		var c uint64
		c, y = m.lines.split(y)
		idx = idx*m.lines.n + c
	}
	return idx, y
}

// channel finishes the channel number from the remainder and the packed word.
func (m *Map) channel(idx, p uint64) uint16 {
	c := p >> chanAt & (1<<chanBits - 1)
	if m.divide || m.lines.n > 1 {
		return m.chanOf[idx<<(m.within&63)+c]
	}
	return m.chanOf[idx<<(m.within&63)^c]
}

// Decode gives the place of a physical address.
func (m *Map) Decode(addr uint64) Loc {
	idx, y := m.split(addr)
	p := m.lin.of(y)
	ch := m.channel(idx, p)
	return Loc{
		Row:       uint32(p >> rowAt),
		Col:       uint16(p >> colAt & (1<<colBits - 1)),
		Channel:   ch,
		Slice:     ch*m.subs + uint16(p>>subAt&(1<<subBits-1)),
		Rank:      uint8(p >> rankAt & (1<<rankBits - 1)),
		BankGroup: uint8(p >> bgAt & (1<<bgBits - 1)),
		Bank:      uint8(p >> bankAt & (1<<bankBits - 1)),
	}
}

// Channel is the channel of an address.
func (m *Map) Channel(addr uint64) int {
	idx, y := m.split(addr)
	return int(m.channel(idx, m.lin.of(y)))
}

// Slice is the LLC slice of an address, counted over the machine.
func (m *Map) Slice(addr uint64) int {
	idx, y := m.split(addr)
	p := m.lin.of(y)
	return int(m.channel(idx, p)*m.subs + uint16(p>>subAt&(1<<subBits-1)))
}

// Local is the address as the LLC slice sees it: without the bits that chose the
// channel and the slice, so that the sets of a slice are used evenly. Two
// addresses of one slice never share a local address (for invertible maps).
func (m *Map) Local(addr uint64) uint64 {
	_, y := m.split(addr)
	for _, d := range m.drop {
		low := uint64(1)<<d.at - 1
		y = y&low | y>>d.width&^low
	}
	return y
}

// Encode is the first address of the block at a place. It fails when the map is
// not invertible or has no such place.
func (m *Map) Encode(l Loc) (uint64, error) {
	if !m.bij {
		return 0, fmt.Errorf("address map: several addresses share a place, so it cannot be inverted")
	}
	if int(l.Channel) >= len(m.back) || m.back[l.Channel] < 0 {
		return 0, fmt.Errorf("address map: channel %d is not in this map", l.Channel)
	}
	key := uint64(m.back[l.Channel])
	in := uint(len(m.lay.within))
	p := uint64(l.Row)<<rowAt | uint64(l.Col)<<colAt | uint64(l.Bank)<<bankAt | uint64(l.BankGroup)<<bgAt |
		uint64(l.Rank)<<rankAt | uint64(l.Slice-l.Channel*m.subs)<<subAt | key&(1<<in-1)<<chanAt
	y := applyColumns(&m.inv, p)
	addr := m.join(key>>in, y)
	if addr>>AddrBits != 0 || m.Decode(addr) != l {
		return 0, fmt.Errorf("address map: there is no place %+v", l)
	}
	return addr, nil
}

// join undoes split; idx is the remainder after the hash was added.
func (m *Map) join(idx, y uint64) uint64 {
	h := m.lin.of(y) >> chanAt & (1<<chanBits - 1) >> len(m.lay.within)
	switch n := m.lines.n; {
	case n > 1:
		y = m.lines.join((idx%n+n-h%n)%n, y)
		idx /= n
	case m.divide:
		idx = (idx + m.n - h%m.n) % m.n
	default:
		idx ^= h
	}
	return m.stitch(idx, y)
}

// stitch puts a remainder back into the address.
func (m *Map) stitch(idx, y uint64) uint64 {
	hi, low := y>>m.spread, y&(1<<m.spread-1)
	addr := (hi*m.n+idx)<<m.spread | low
	if m.perm != nil {
		addr = applyColumns(&m.lay.unperm, addr)
	}
	return addr
}

// Invertible says that no two blocks share a place.
func (m *Map) Invertible() bool { return m.bij }

// Block is the number of bytes that share a Loc.
func (m *Map) Block() uint64 { return m.block }

// Channels is the number of channels of the machine; not all need belong to this map.
func (m *Map) Channels() int { return m.lay.channels }

// Slices is the number of LLC slices of the machine.
func (m *Map) Slices() int { return m.lay.channels * int(m.subs) }

// Groups is the number of channel groups of the machine.
func (m *Map) Groups() int { return m.lay.groups }

// GroupOf is the channel group a channel belongs to.
func (m *Map) GroupOf(channel int) int { return channel % m.lay.groups }

// PageInGroup says that all bytes of a page lie in one channel group, so that
// choosing a frame chooses the group.
func (m *Map) PageInGroup(page int) bool {
	pb := uint(log2(page))
	if m.perm != nil || m.spread < pb {
		return false
	}
	if m.lines.n > 1 { // its hash picks a channel of the group
		return true
	}
	for _, mask := range m.lay.hash {
		if mask&(1<<pb-1) != 0 {
			return false
		}
	}
	return true
}

// KeepsStacks says that a line of a page lies in the same memory stack wherever the page is, if the page lies in a
// group that has as many channels of each stack.
func (m *Map) KeepsStacks() bool { return m.lines.n <= 1 }

// PageAddr is the physical address of the i-th page of a channel group. Pages of
// all groups together tile the address space once. It holds when PageInGroup.
func (m *Map) PageAddr(group int, i uint64, page int) uint64 {
	if m.lines.n > 1 {
		return m.stitch(uint64(m.lay.index(group)), i*uint64(page))
	}
	per := uint64(m.lay.perGroup) // channels of the group the remainder chooses among
	y := i / per * uint64(page)
	idx := uint64(m.lay.index(group)) + i%per*uint64(len(m.lay.owned))
	return m.join(idx, y)
}
