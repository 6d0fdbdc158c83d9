package probe

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/heddle-sim/heddle/machine/dram"
)

// Address fields, in the order of a device's hierarchy.
const (
	fRank = iota
	fSid
	fGroup
	fBank
	fRow
	fCol
	fChannel
	numFields
	maxFields = 8 // a power of two: indices below it need no check
)

// piece is a run of address bits that belongs to a field.
type piece struct {
	field int
	shift uint // of the run within the address
	mask  uint64
	at    uint // of the run within the field
}

// Mapper turns byte addresses into a channel and a place within it.
type Mapper struct {
	Name   string
	pieces []piece
	width  [numFields]int
	xor    bool   // MOP4CLXOR
	groups int    // bank groups per stack identifier
	divide uint64 // number of channels when it is no power of two: they take turns by access
	offset uint   // bits of an access
}

// NewMapper builds a mapping by name for a device of several channels.
//
// RoBaRaCoCh, ChRaBaRoCo and MOP4CLXOR are Ramulator 2's: the channel always sits
// right above the access offset; then, from the least significant bit,
//
//	RoBaRaCoCh  column, rank, [stack,] bank group, bank, row
//	ChRaBaRoCo  column, row, bank, bank group, [stack,] rank
//	MOP4CLXOR   2 column bits, rank, [stack,] bank group, bank, other column bits, row; every field
//	            but the column is then XORed with successive column bits
//
// Any other name lists the fields Ro, Ba, Bg, Ra, Co, Ch (and Si for devices with
// stack identifiers) from the most to the least significant, each once.
func NewMapper(name string, d *dram.Config, channels int) (*Mapper, error) {
	m := &Mapper{Name: name, groups: d.Groups}
	if channels > 1 && channels&(channels-1) != 0 {
		if name != "RoBaRaCoCh" && name != "ChRaBaRoCo" && name != "MOP4CLXOR" && !strings.HasSuffix(name, "Ch") {
			return nil, fmt.Errorf("mapper %s: %d channels, no power of two, must be the lowest field", name, channels)
		}
		m.divide, channels = uint64(channels), 1
	}
	sizes := [numFields]int{d.Ranks, d.Sids, d.Groups, d.Banks, d.Rows, d.Columns, channels}
	what := [numFields]string{"ranks", "stack identifiers", "bank groups", "banks", "rows", "columns", "channels"}
	for f, n := range sizes {
		if n < 1 || n&(n-1) != 0 {
			return nil, fmt.Errorf("mapper %s: %d %s; address mapping needs powers of two", name, n, what[f])
		}
		m.width[f] = bits.Len(uint(n)) - 1
	}
	if d.Access&(d.Access-1) != 0 {
		return nil, fmt.Errorf("mapper %s: accesses of %d bytes; address mapping needs powers of two", name, d.Access)
	}
	order, err := m.order(name)
	if err != nil {
		return nil, err
	}
	m.offset = uint(bits.Len(uint(d.Access)) - 1)
	shift := m.offset
	var used [numFields]int
	for _, p := range order {
		w := p.at // bits wanted; 0: the rest of the field
		if w == 0 {
			w = uint(m.width[p.field] - used[p.field])
		}
		if w == 0 || shift >= 64 {
			continue // nothing, or above every address
		}
		m.pieces = append(m.pieces, piece{field: p.field, shift: shift, mask: 1<<w - 1, at: uint(used[p.field])})
		used[p.field] += int(w)
		shift += w
	}
	return m, nil
}

// order lists the fields from the least significant bit; at is a number of bits
// or 0 for all that remain.
func (m *Mapper) order(name string) ([]piece, error) {
	list := func(fields ...int) []piece {
		var p []piece
		for _, f := range fields {
			p = append(p, piece{field: f})
		}
		return p
	}
	switch name {
	case "RoBaRaCoCh":
		return list(fChannel, fCol, fRank, fSid, fGroup, fBank, fRow), nil
	case "ChRaBaRoCo":
		return list(fChannel, fCol, fRow, fBank, fGroup, fSid, fRank), nil
	case "MOP4CLXOR":
		if m.width[fCol] < 2 {
			return nil, fmt.Errorf("mapper MOP4CLXOR needs at least 4 columns per row")
		}
		m.xor = true
		return append([]piece{{field: fChannel}, {field: fCol, at: 2}}, list(fRank, fSid, fGroup, fBank, fCol,
			fRow)...), nil
	}
	tokens := map[string]int{"Ra": fRank, "Si": fSid, "Bg": fGroup, "Ba": fBank, "Ro": fRow, "Co": fCol, "Ch": fChannel}
	var p []piece
	var seen [numFields]bool
	for rest := name; len(rest) >= 2; rest = rest[:len(rest)-2] {
		f, ok := tokens[rest[len(rest)-2:]]
		if !ok || seen[f] {
			return nil, m.unknown(name)
		}
		seen[f] = true
		p = append(p, piece{field: f})
	}
	seen[fSid] = seen[fSid] || m.width[fSid] == 0
	if len(name)%2 != 0 || seen != [numFields]bool{true, true, true, true, true, true, true} {
		return nil, m.unknown(name)
	}
	return p, nil
}

func (m *Mapper) unknown(name string) error {
	all := []string{"Ro", "Ba", "Bg", "Ra", "Co", "Ch"}
	if m.width[fSid] > 0 {
		all = append(all, "Si")
	}
	return fmt.Errorf("unknown mapper %q: use RoBaRaCoCh, ChRaBaRoCo, MOP4CLXOR, or each of %s once, most "+
		"significant first",
		name, strings.Join(all, " "))
}

// Size is the device's size in bytes, all channels together; 0 when it is 2^64 or more.
func (m *Mapper) Size() uint64 {
	shift := m.offset
	for _, w := range m.width {
		shift += uint(w)
	}
	return max(m.divide, 1) << shift
}

// Map splits a byte address. Those beyond the device wrap: address Size is address 0.
func (m *Mapper) Map(addr uint64) (channel int, at dram.Loc) {
	var f [maxFields]uint32
	if m.divide != 0 {
		unit := addr >> m.offset
		addr = unit / m.divide << m.offset
		channel = int(unit % m.divide)
	}
	for i := range m.pieces {
		p := &m.pieces[i]
		f[p.field&(maxFields-1)] |= uint32(addr>>(p.shift&63)&p.mask) << (p.at & 31)
	}
	if m.xor {
		from := 0
		for i := fRank; i <= fRow; i++ {
			w := m.width[i]
			f[i] ^= f[fCol] >> from & (1<<w - 1)
			from += w
		}
	}
	return channel + int(f[fChannel]), dram.Loc{
		Rank: uint8(f[fRank]), BankGroup: uint8(int(f[fSid])*m.groups + int(f[fGroup])),
		Bank: uint8(f[fBank]), Row: f[fRow], Col: f[fCol],
	}
}
