package addrmap

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/sheets"
)

// newLayout fills what every kind of map shares: channels, groups, ownership.
func newLayout(s *sheets.Machine) (*layout, error) {
	d := &s.DRAM
	l := &layout{channels: d.Channels, groups: s.Map.Groups, hashKind: s.Map.Hash, bankHash: s.Map.BankHash}
	if d.Channels < 1 {
		return nil, fmt.Errorf("dram.channels is %d: at least one is needed", d.Channels)
	}
	if l.groups == 0 {
		l.groups = d.Channels
	}
	if l.groups < 1 || d.Channels%l.groups != 0 {
		return nil, fmt.Errorf("groups is %d: it must divide dram.channels (%d)", s.Map.Groups, d.Channels)
	}
	for g := range l.groups {
		l.owned = append(l.owned, g)
	}
	if !pow2(max(1, s.LLC.SlicesPerChannel)) {
		return nil, fmt.Errorf("llc.slices_per_channel is %d: it must be a power of two", s.LLC.SlicesPerChannel)
	}
	if l.hashKind == "" {
		l.hashKind = "none"
	}
	if l.bankHash == "" {
		l.bankHash = "none"
	}
	l.perGroup = d.Channels / l.groups
	return l, nil
}

// gpgpusimLayout reads a "dramid@N;..." string: 64 characters from bit 63 down,
// R row, B bank, C column, S byte in burst, D channel (when there is no dramid@),
// 0 unused. With dramid@N the string leaves the channel out: it is inserted at
// bit N, or, for a number of channels that is no power of two, is the remainder
// of the address above bit N. group_bits says which bank bits are the bank group
// (-dram_bnkgrp_indexing_policy 1: low); the low ones also name the LLC slice.
func gpgpusimLayout(s *sheets.Machine) (*layout, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, err
	}
	if l.bankHash != "none" {
		return nil, fmt.Errorf("bank_hash %q: kind gpgpusim has none; use kind bits", l.bankHash)
	}
	at, pos, err := parseString(s.Map.String)
	if err != nil {
		return nil, err
	}
	// The block ends where the burst does, or where the channel bits begin.
	for len(pos['S']) > 0 && pos['S'][0] == int(l.offset) && int(l.offset) != at {
		l.offset++
		pos['S'] = pos['S'][1:]
	}
	column := append(slices.Clone(pos['S']), pos['C']...)
	slices.Sort(column)
	if at >= 0 {
		l.spread = uint(at)
	} else if err := l.takeChannelBits(pos['D']); err != nil {
		return nil, err
	}
	if s.DRAM.Ranks > 1 {
		return nil, fmt.Errorf("dram.ranks is %d: kind gpgpusim has no rank bits; use kind bits", s.DRAM.Ranks)
	}
	groupBits := log2(max(1, s.DRAM.BankGroups))
	if want := groupBits + log2(max(1, s.DRAM.Banks)); len(pos['B']) != want {
		return nil, fmt.Errorf("string names %d bank bits, dram.bank_groups * dram.banks needs %d", len(pos['B']), want)
	}
	l.col, l.row = l.single(column), l.single(pos['R'])
	bank := l.single(pos['B'])
	switch s.Map.GroupBits {
	case "", "low":
		l.bg, l.bank = bank[:groupBits], bank[groupBits:]
	case "high":
		l.bg, l.bank = bank[len(bank)-groupBits:], bank[:len(bank)-groupBits]
	default:
		return nil, fmt.Errorf("group_bits %q: use low or high", s.Map.GroupBits)
	}
	subs := log2(max(1, s.LLC.SlicesPerChannel))
	if subs > len(bank) {
		return nil, fmt.Errorf("llc.slices_per_channel is %d, but the string names %d bank bits",
			s.LLC.SlicesPerChannel, len(bank))
	}
	l.sub = bank[:subs]
	l.slice = positions(l.sub)
	l.rehash = hashChannel
	return l, nil
}

// parseString splits a mapping string into the position lists of its letters,
// lowest bit first. at is -1 without dramid@.
func parseString(text string) (at int, pos map[byte][]int, err error) {
	at, body := -1, text
	if head, rest, ok := strings.Cut(text, ";"); ok {
		body = rest
		if _, err := fmt.Sscanf(head, "dramid@%d", &at); err != nil || at < 0 || at > 32 {
			return 0, nil, fmt.Errorf("string %q: %q should be dramid@N with N from 0 to 32", text, head)
		}
	}
	pos = map[byte][]int{}
	bit := 63
	for i := range len(body) {
		c := body[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		switch c {
		case '.', '|', ' ':
			continue
		case 'D', 'B', 'R', 'C', 'S', '0':
		default:
			return 0, nil, fmt.Errorf("string %q: %q is none of R B C S D 0", text, body[i])
		}
		if c == 'D' && at >= 0 {
			return 0, nil, fmt.Errorf("string %q: D bits and dramid@ exclude each other", text)
		}
		if c != '0' {
			pos[c] = append([]int{bit}, pos[c]...)
		}
		bit--
	}
	if bit != -1 {
		return 0, nil, fmt.Errorf("string %q has %d bits, it must have 64", text, 63-bit)
	}
	for _, c := range []byte("RBCSD") {
		if list := pos[c]; len(list) > 0 && list[len(list)-1] >= AddrBits {
			return 0, nil, fmt.Errorf("string %q: %c bit %d is above the %d bits of a physical address", text, c,
				list[len(list)-1], AddrBits)
		}
	}
	return at, pos, nil
}

// linearLayout interleaves lines over channels (any number) and fills each row of
// a bank before the next: from the least significant bit, line offset, channel,
// column, rank, bank group, bank, row. The low column bits name the LLC slice.
func linearLayout(s *sheets.Machine) (*layout, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, err
	}
	d := &s.DRAM
	if !pow2(s.LLC.Line) || !pow2(d.RowBytes) || d.RowBytes < s.LLC.Line {
		return nil, fmt.Errorf("kind linear needs llc.line (%d) and dram.row_bytes (%d) to be powers of two, a row "+
			"at least a line", s.LLC.Line, d.RowBytes)
	}
	l.offset = uint(log2(s.LLC.Line))
	l.spread = l.offset
	at := l.spread
	take := func(name string, n int) (f []uint64) {
		if err == nil && !pow2(max(1, n)) {
			err = fmt.Errorf("kind linear needs dram.%s (%d) to be a power of two", name, n)
		}
		for range log2(max(1, n)) {
			f = append(f, 1<<at)
			at++
		}
		return f
	}
	l.col = take("row_bytes", d.RowBytes/s.LLC.Line)
	l.rank = take("ranks", d.Ranks)
	l.bg = take("bank_groups", d.BankGroups)
	l.bank = take("banks", d.Banks)
	for i := range log2(max(1, s.LLC.SlicesPerChannel)) {
		l.sub = append(l.sub, 1<<(l.spread+uint(i)))
	}
	l.slice = positions(l.sub)
	l.rehash = hashChannel
	return l, err
}

// bitsLayout reads the position lists of the sheet.
func bitsLayout(s *sheets.Machine) (*layout, error) {
	l, err := newLayout(s)
	if err != nil {
		return nil, err
	}
	mp, d := forPage(&s.Map, s.VM.Page), &s.DRAM
	for _, f := range []struct {
		name string
		list []int
		n    int
	}{
		{"channel and stack", append(slices.Clone(mp.Channel), mp.Stack...), d.Channels},
		{"stack", mp.Stack, max(1, d.Stacks)},
		{"rank", mp.Rank, max(1, d.Ranks)},
		{"bank_group", mp.BankGroup, max(1, d.BankGroups)},
		{"bank", mp.Bank, max(1, d.Banks)},
	} {
		if f.n != 1<<len(f.list) {
			return nil, fmt.Errorf("%s lists %d bits, which name %d of the machine's %d", f.name, len(f.list),
				1<<len(f.list), f.n)
		}
	}
	if err := disjoint(mp); err != nil {
		return nil, err
	}
	for i, b := range sorted(mp.Offset) {
		if b != i {
			return nil, fmt.Errorf("offset must list bits 0, 1, 2, ... without a gap")
		}
		l.offset++
	}
	if err := l.takeChannelBits(append(slices.Clone(mp.Channel), mp.Stack...)); err != nil {
		return nil, err
	}
	l.col, l.bank, l.bg = l.single(mp.Column), l.single(mp.Bank), l.single(mp.BankGroup)
	l.rank, l.row = l.single(mp.Rank), l.single(mp.Row)
	if err := l.takeSliceBits(mp.Slice, log2(max(1, s.LLC.SlicesPerChannel))); err != nil {
		return nil, err
	}
	l.rehash = hashRows
	return l, nil
}

// takeSliceBits sets the bits that pick the slice; without a list they are the
// lowest bank bits, bank groups first, as in GPGPU-Sim.
func (l *layout) takeSliceBits(list []int, need int) error {
	l.sub = l.single(list)
	if len(list) == 0 {
		l.sub = slices.Concat(l.bg, l.bank)
		l.sub = l.sub[:min(need, len(l.sub))]
	}
	if len(l.sub) != need {
		return fmt.Errorf("slice lists %d bits, llc.slices_per_channel needs %d", len(l.sub), need)
	}
	l.slice = positions(l.sub)
	return nil
}

// takeChannelBits takes the group bits (the low channel bits) out of the address
// and leaves the others to pick the channel within its group.
func (l *layout) takeChannelBits(list []int) error {
	if !pow2(l.channels) || len(list) != log2(l.channels) {
		return fmt.Errorf("%d channel bits for %d channels: the number must be a power of two and match", len(list),
			l.channels)
	}
	if !pow2(l.groups) {
		return fmt.Errorf("groups is %d: it must be a power of two when bits name the channel", l.groups)
	}
	g := log2(l.groups)
	var taken uint64
	for _, b := range list[:g] {
		taken |= 1 << b
	}
	if g > 0 {
		l.spread = uint(slices.Min(list[:g]))
	}
	for b := uint(0); b < AddrBits; b++ {
		to := squeeze(b, taken)
		if i := slices.Index(list[:g], int(b)); i >= 0 {
			to = l.spread + uint(i)
		} else if to >= l.spread {
			to += uint(g)
		}
		l.perm[b], l.unperm[to] = 1<<to, 1<<b
		l.permuted = l.permuted || to != b
	}
	l.perGroup = 1
	for _, b := range list[g:] {
		l.within = append(l.within, 1<<squeeze(uint(b), taken))
	}
	l.taken = taken
	return nil
}

// single makes one mask per bit position, in the stitched address.
func (l *layout) single(list []int) (f []uint64) {
	for _, b := range list {
		f = append(f, 1<<squeeze(uint(b), l.taken))
	}
	return f
}

func positions(masks []uint64) (pos []uint) {
	for _, m := range masks {
		pos = append(pos, uint(bits.TrailingZeros64(m)))
	}
	return pos
}

func sorted(list []int) []int {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// disjoint checks that no bit has two meanings; slice bits may share.
func disjoint(mp *sheets.Map) error {
	owner := map[int]string{}
	for _, f := range []struct {
		name string
		list []int
	}{
		{"offset", mp.Offset},
		{"channel", mp.Channel},
		{"stack", mp.Stack},
		{"rank", mp.Rank},
		{"bank_group", mp.BankGroup},
		{"bank", mp.Bank},
		{"column", mp.Column},
		{"row", mp.Row},
	} {
		for _, b := range f.list {
			if b < 0 || b >= AddrBits {
				return fmt.Errorf("%s bit %d: physical addresses have bits 0 to %d", f.name, b, AddrBits-1)
			}
			if other, ok := owner[b]; ok {
				return fmt.Errorf("bit %d is both %s and %s", b, other, f.name)
			}
			owner[b] = f.name
		}
	}
	for _, b := range mp.Slice {
		if b < 0 || b >= AddrBits {
			return fmt.Errorf("slice bit %d: physical addresses have bits 0 to %d", b, AddrBits-1)
		}
		if owner[b] == "channel" || owner[b] == "stack" || owner[b] == "offset" {
			return fmt.Errorf("slice bit %d is also a %s bit", b, owner[b])
		}
	}
	return nil
}
