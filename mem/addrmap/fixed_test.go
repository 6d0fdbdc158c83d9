package addrmap

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/sheets"
)

// fixed is a machine with the partition-aware map.
func fixed(channels, slices, page int, hash, bankHash string) *sheets.Machine {
	m := &sheets.Machine{Name: fmt.Sprintf("page/%dx%d/%d/%s/%s", channels, slices, page, hash, bankHash)}
	m.DRAM.Channels, m.DRAM.BankGroups, m.DRAM.Banks, m.DRAM.Ranks, m.DRAM.RowBytes = channels, 4, 4, 1, 2048
	m.LLC.SlicesPerChannel, m.LLC.Line, m.VM.Page = slices, 128, page
	m.Map = sheets.Map{Kind: "page", Hash: hash, BankHash: bankHash}
	return m
}

// TestPageKindByHand: line 0-6, bank group 7-8, bank 9-10, column 11, channel 12-16, the rest of
// the column 17-19, row 20 on; with 2 MB pages the column ends at 14 and the channel is 21-25.
func TestPageKindByHand(t *testing.T) {
	m := compile(t, fixed(32, 2, 4096, "none", "none"))
	addr := uint64(77)<<20 | 5<<17 | 19<<12 | 1<<11 | 2<<9 | 3<<7 | 100
	want := Loc{Row: 77, Col: 5<<1 | 1, Channel: 19, Slice: 19*2 + 1, Bank: 2, BankGroup: 3}
	if got := m.Decode(addr); got != want {
		t.Errorf("4 KB: %+v, want %+v", got, want)
	}
	m = compile(t, fixed(32, 4, bigPage, "none", "none"))
	addr = uint64(77)<<26 | 19<<21 | 41<<15 | 11<<11 | 2<<9 | 3<<7 | 100
	want = Loc{Row: 77<<6 | 41, Col: 11, Channel: 19, Slice: 19*4 + 3, Bank: 2, BankGroup: 3}
	if got := m.Decode(addr); got != want {
		t.Errorf("2 MB: %+v, want %+v", got, want)
	}
}

// TestFixedChannel: whatever the shape, the map inverts, a page lies in one channel, the channel
// bits are copied, and the slice is the lowest bits of the randomised bank.
func TestFixedChannel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := shape(t)
		s.Map.Hash = "none"
		m := build(t, s)
		l := roundTrip(t, s.Name, m)
		if !m.PageInGroup(s.VM.Page) {
			t.Fatalf("%s: a page spans channels", s.Name)
		}
		a := rapid.Uint64Range(0, 1<<44).Draw(t, "page")
		if got, want := m.Channel(a), int(a/uint64(s.VM.Page)%uint64(s.DRAM.Channels)); got != want {
			t.Fatalf("%s: %#x is in channel %d, its bits say %d", s.Name, a, got, want)
		}
		bank := int(l.BankGroup) | int(l.Bank)<<log2(s.DRAM.BankGroups)
		if got, want := int(l.Slice)%s.LLC.SlicesPerChannel, bank%s.LLC.SlicesPerChannel; got != want {
			t.Fatalf("%s: slice %d of its channel, the bank says %d: %+v", s.Name, got, want, l)
		}
		i := rapid.Uint64Range(0, 1<<20).Draw(t, "i")
		g := rapid.IntRange(0, m.Groups()-1).Draw(t, "group")
		if p := m.PageAddr(g, i, s.VM.Page); m.GroupOf(m.Channel(p)) != g || p%uint64(s.VM.Page) != 0 {
			t.Fatalf("%s: page %d of group %d is at %#x", s.Name, i, g, p)
		}
	})
}

// TestPAE: with the channel randomised as well the map inverts still, and the lines of a page
// are in many channels: no placement can choose one.
func TestPAE(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := shape(t)
		s.Map.Hash = "pae"
		m := build(t, s)
		roundTrip(t, s.Name, m)
		if s.DRAM.Channels < 2 {
			return
		}
		if m.PageInGroup(s.VM.Page) {
			t.Fatalf("%s: says a page lies in one channel", s.Name)
		}
		base := rapid.Uint64Range(0, 1<<22).Draw(t, "page") * uint64(s.VM.Page)
		seen := map[int]bool{}
		for off := 0; off < min(s.VM.Page, 1<<16); off += s.LLC.Line {
			seen[m.Channel(base+uint64(off))] = true
		}
		if len(seen) < 2 {
			t.Fatalf("%s: all lines of page %#x are in one channel", s.Name, base)
		}
	})
}

// shape is a machine nobody thought of, its banks randomised or not.
func shape(t *rapid.T) *sheets.Machine {
	page := rapid.SampledFrom([]int{4096, bigPage}).Draw(t, "page size")
	s := fixed(rapid.IntRange(1, 96).Draw(t, "channels"), 1<<rapid.IntRange(0, 2).Draw(t, "log slices"), page, "none",
		rapid.SampledFrom([]string{"none", "xor", "ipoly", "pae"}).Draw(t, "bank hash"))
	d := &s.DRAM
	d.BankGroups, d.Banks = 1<<rapid.IntRange(1, 2).Draw(t, "log groups"), 1<<rapid.IntRange(3, 4).Draw(t, "log banks")
	d.Ranks = 1 << rapid.IntRange(0, 1).Draw(t, "log ranks")
	d.RowBytes = s.LLC.Line << rapid.IntRange(3, 6).Draw(t, "log columns")
	return s
}

func build(t *rapid.T, s *sheets.Machine) *Map {
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Invertible() {
		t.Fatalf("%s is not invertible", s.Name)
	}
	return m
}

// TestPAEEvensStrides: with pae banks and channels every stride that is a power of two uses all
// slices alike; with fixed channels that is the driver's business.
func TestPAEEvensStrides(t *testing.T) {
	for _, channels := range []int{16, 32, 64} {
		m := compile(t, fixed(channels, 2, 4096, "pae", "pae"))
		for shift := 7; shift <= 18; shift++ {
			count := make([]int, m.Slices())
			const n = 1 << 14
			for i := range uint64(n) {
				count[m.Slice(i<<shift)]++
			}
			for c, k := range count {
				if mean := n / len(count); k < mean/2 || k > mean*2 {
					t.Errorf("%d channels, stride 2^%d: slice %d gets %d, the mean is %d", channels, shift, c, k, mean)
					break
				}
			}
		}
	}
}
