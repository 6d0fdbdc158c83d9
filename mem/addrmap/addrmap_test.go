package addrmap

import (
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/sheets"
)

// qv100String is the mapping of GPGPU-Sim's SM7_QV100 configuration.
const qv100String = "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCB.CCCSSSSS"

func qv100(channels, slices int, hash string) *sheets.Machine {
	m := &sheets.Machine{Name: fmt.Sprintf("qv100/%dx%d/%s", channels, slices, hash)}
	m.DRAM.Channels, m.DRAM.BankGroups, m.DRAM.Banks, m.DRAM.Ranks = channels, 4, 4, 1
	m.LLC.SlicesPerChannel, m.LLC.Line = slices, 128
	m.Map.Kind, m.Map.String, m.Map.Hash = "gpgpusim", qv100String, hash
	return m
}

// ugpu is Figure 8 of the UGPU paper.
func ugpu() *sheets.Machine {
	m := &sheets.Machine{Name: "ugpu"}
	m.DRAM.Channels, m.DRAM.Stacks, m.DRAM.BankGroups, m.DRAM.Banks, m.DRAM.Ranks = 32, 4, 4, 4, 1
	m.LLC.SlicesPerChannel, m.LLC.Line = 2, 128
	m.Map = sheets.Map{
		Kind: "bits", Offset: seq(0, 6), Stack: seq(7, 8), BankGroup: seq(9, 10), Column: append([]int{11},
			seq(17, 20)...),
		Channel: seq(12, 14), Bank: seq(15, 16), Row: seq(21, 33), Slice: []int{9}, Groups: 8,
	}
	return m
}

// nuba keeps the channel above the page offset and randomises the banks.
func nuba(hash, bankHash string) *sheets.Machine {
	m := &sheets.Machine{Name: "nuba/" + hash + "/" + bankHash}
	m.DRAM.Channels, m.DRAM.Stacks, m.DRAM.BankGroups, m.DRAM.Banks, m.DRAM.Ranks = 32, 1, 4, 4, 1
	m.LLC.SlicesPerChannel, m.LLC.Line = 2, 128
	m.Map = sheets.Map{
		Kind: "bits", Hash: hash, BankHash: bankHash, Offset: seq(0, 6), BankGroup: seq(7, 8), Bank: seq(9,
			10), Column: append([]int{11}, seq(17, 19)...),
		Channel: seq(12, 16), Row: seq(20, 33), Slice: []int{7},
	}
	return m
}

// scattered has channel bits far apart and out of order.
func scattered() *sheets.Machine {
	m := &sheets.Machine{Name: "scattered"}
	m.DRAM.Channels, m.DRAM.BankGroups, m.DRAM.Banks, m.DRAM.Ranks = 8, 2, 8, 2
	m.LLC.SlicesPerChannel, m.LLC.Line = 1, 64
	m.Map = sheets.Map{
		Kind: "bits", Offset: seq(0, 5), Channel: []int{14, 6, 9}, BankGroup: []int{7}, Bank: []int{
			8, 31,
			32,
		}, Rank: []int{13}, Column: seq(10, 12), Row: seq(15, 30),
	}
	return m
}

func line(channels int, hash string) *sheets.Machine {
	m := &sheets.Machine{Name: fmt.Sprintf("linear/%d/%s", channels, hash)}
	m.DRAM.Channels, m.DRAM.BankGroups, m.DRAM.Banks, m.DRAM.Ranks, m.DRAM.RowBytes = channels, 1, 8, 2, 2048
	m.LLC.SlicesPerChannel, m.LLC.Line = 2, 128
	m.Map = sheets.Map{Kind: "linear", Hash: hash}
	return m
}

func seq(a, b int) (s []int) {
	for ; a <= b; a++ {
		s = append(s, a)
	}
	return s
}

func machines() []*sheets.Machine {
	mig := qv100(40, 2, "ipoly") // A100: 8 memory slices of 5 channels
	mig.Map.Groups = 8
	pairs := qv100(32, 2, "ipoly")
	pairs.Map.Groups = 16
	return []*sheets.Machine{
		qv100(32, 2, "ipoly"), qv100(8, 2, "ipoly"), qv100(16, 1, "xor"), qv100(32, 2, "none"), qv100(1, 1, "ipoly"),
		qv100(24, 2, "ipoly"), qv100(40, 2, "xor"), qv100(6, 1, "ipoly"), mig, pairs, ugpu(), nuba("none",
			"xor"), nuba("pae", "pae"), nuba("ipoly", "none"),
		scattered(), line(6, "none"), line(10, "ipoly"), line(16, "ipoly"), grouped(40, 8, "none"),
		grouped(160, 8, "xor"), grouped(24, 4, "pae"), grouped(32, 8, "ipoly"), grouped(11, 11, "xor"),
	}
}

// grouped keeps a page in one of its groups, whose channels its lines go round.
func grouped(channels, groups int, hash string) *sheets.Machine {
	m := &sheets.Machine{Name: fmt.Sprintf("grouped/%dx%d/%s", groups, channels/groups, hash)}
	m.DRAM.Channels, m.DRAM.BankGroups, m.DRAM.Banks, m.DRAM.Ranks, m.DRAM.RowBytes = channels, 4, 4, 1, 2048
	m.LLC.SlicesPerChannel, m.LLC.Line, m.VM.Page = 2, 128, 4096
	m.Map = sheets.Map{Kind: "group", Hash: hash, BankHash: "xor", Groups: groups}
	return m
}

func compile(t testing.TB, s *sheets.Machine) *Map {
	t.Helper()
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// published holds the IPOLY equations as printed in GPGPU-Sim's sources: for each
// index bit the higher address bits XORed into it.
var published = map[int][][]int{
	4: {{0, 3, 4, 6, 8, 9, 10, 11}, {0, 1, 3, 5, 6, 7, 8, 12}, {1, 2, 4, 6, 7, 8, 9}, {2, 3, 5, 7, 8, 9, 10}},
	5: {
		{0, 3, 5, 6, 9, 10, 11, 12, 13},
		{1, 4, 6, 7, 10, 11, 12, 13, 14},
		{0, 2, 3, 6, 7, 8, 9, 10, 14},
		{1, 3, 4, 7, 8, 9, 10, 11},
		{2, 4, 5, 8, 9, 10, 11, 12},
	},
	6: {
		{0, 5, 6, 10, 12, 15, 16, 17, 18},
		{0, 1, 5, 7, 10, 11, 12, 13, 15},
		{1, 2, 6, 8, 11, 12, 13, 14, 16},
		{2, 3, 7, 9, 12, 13, 14, 15, 17},
		{3, 4, 8, 10, 13, 14, 15, 16, 18},
		{4, 5, 9, 11, 14, 15, 16, 17},
	},
}

func publishedHash(d int, high uint64) (h uint64) {
	for j, terms := range published[d] {
		for _, t := range terms {
			h ^= high >> t & 1 << j
		}
	}
	return h
}

// TestIpolyIsThePolynomialRemainder checks that the printed equations are the
// remainder modulo 19, 37 and 67, and that the degrees are irreducible.
func TestIpolyIsThePolynomialRemainder(t *testing.T) {
	for d := range published {
		for i, image := range ipolyImages(d, ipolyTerms[d]) {
			if want := publishedHash(d, 1<<i); image != want {
				t.Errorf("degree %d, term %d: %#b, published %#b", d, i, image, want)
			}
		}
	}
	for d := 1; d < len(irreducible); d++ {
		p := irreducible[d]
		if bits.Len64(p) != d+1 {
			t.Errorf("degree %d: %d has degree %d", d, p, bits.Len64(p)-1)
		}
		for q := uint64(2); q < 1<<(d/2+1); q++ {
			r := p
			for bits.Len64(r) >= bits.Len64(q) {
				r ^= q << (bits.Len64(r) - bits.Len64(q))
			}
			if r == 0 {
				t.Errorf("polynomial %d is divisible by %d", p, q)
			}
		}
	}
}

// TestGpgpusim compares with the address decoder of GPGPU-Sim written out bit by bit.
func TestGpgpusim(t *testing.T) {
	for _, n := range []int{8, 32} {
		m := compile(t, qv100(n, 2, "ipoly"))
		lg := uint(log2(n))
		rapid.Check(t, func(t *rapid.T) {
			a := rapid.Uint64Range(0, 1<<33-1).Draw(t, "addr")
			chip := a >> 8 & uint64(n-1)
			rest := a>>(8+lg)<<8 | a&255
			bk := rest>>8&1 | rest>>12&7<<1
			col := rest>>5&7 | rest>>9&7<<3
			row := rest >> 15 & (1<<13 - 1)
			sub := chip<<1 | bk&1
			sub ^= publishedHash(int(lg)+1, a>>(8+lg+1))
			want := Loc{
				Row: uint32(row), Col: uint16(col), Channel: uint16(sub >> 1), Slice: uint16(sub),
				BankGroup: uint8(bk & 3), Bank: uint8(bk >> 2),
			}
			got := m.Decode(a)
			got.Row &= 1<<13 - 1 // Heddle keeps the bits above the map in the row
			if got != want {
				t.Fatalf("address %#x: %+v, want %+v", a, got, want)
			}
			if l := rest&255 | rest>>9<<8; m.Local(a) != l {
				t.Fatalf("local address of %#x: %#x, want %#x", a, m.Local(a), l)
			}
		})
	}
}

// TestUgpuFigure8 checks the fields of Figure 8 one by one.
func TestUgpuFigure8(t *testing.T) {
	m := compile(t, ugpu())
	base := uint64(5)<<21 | 9<<17 | 2<<15 | 6<<12 | 1<<11 | 3<<9 | 2<<7
	want := Loc{Row: 5, Col: 9<<1 | 1, Channel: 2*8 + 6, BankGroup: 3, Bank: 2}
	want.Slice = want.Channel*2 + 1
	if got := m.Decode(base + 77); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if !m.PageInGroup(4096) || m.PageInGroup(2<<20) {
		t.Error("a 4 KB page must lie in one channel group, a 2 MB page must not")
	}
	seen := map[[2]uint16]int{}
	for a := uint64(0); a < 4096; a += 128 {
		l := m.Decode(7<<12 | a)
		if m.GroupOf(int(l.Channel)) != 7 {
			t.Fatalf("line %d of the page left group 7: %+v", a/128, l)
		}
		seen[[2]uint16{l.Channel, uint16(l.BankGroup)}]++
	}
	if len(seen) != 16 {
		t.Errorf("the page touches %d stack and bank-group pairs, want 16", len(seen))
	}
}

func TestBijection(t *testing.T) {
	for _, s := range machines() {
		m := compile(t, s)
		if !m.Invertible() {
			t.Errorf("%s is not invertible", s.Name)
			continue
		}
		rapid.Check(t, func(t *rapid.T) { roundTrip(t, s.Name, m) })
	}
}

func roundTrip(t *rapid.T, name string, m *Map) Loc {
	a := rapid.Uint64Range(0, 1<<44).Draw(t, "addr")
	l := m.Decode(a)
	if int(l.Channel) != m.Channel(a) || int(l.Slice) != m.Slice(a) ||
		int(l.Slice)*m.Channels()/m.Slices() != int(l.Channel) {
		t.Fatalf("%s: Channel, Slice and Decode disagree on %#x: %+v", name, a, l)
	}
	back, err := m.Encode(l)
	if err != nil || back != a&^(m.Block()-1) {
		t.Fatalf("%s: %#x -> %+v -> %#x (%v)", name, a, l, back, err)
	}
	return l
}

// TestRestrict checks that a tenant's map stays inside its groups and is injective.
func TestRestrict(t *testing.T) {
	for _, s := range machines() {
		full := compile(t, s)
		rapid.Check(t, func(t *rapid.T) {
			own := rapid.SliceOfNDistinct(rapid.IntRange(0, full.Groups()-1), 1, full.Groups(), rapid.ID[int]).Draw(t,
				"groups")
			m, err := full.Restrict(own)
			if err != nil {
				t.Fatal(err)
			}
			mine := map[int]bool{}
			for _, g := range own {
				mine[g] = true
			}
			l := roundTrip(t, s.Name, m)
			if !mine[m.GroupOf(int(l.Channel))] {
				t.Fatalf("%s: groups %v, but the address went to channel %d", s.Name, own, l.Channel)
			}
		})
	}
}

// TestRestrictIsASmallerMachine: owning k groups looks like a machine of k groups.
func TestRestrictIsASmallerMachine(t *testing.T) {
	for _, k := range []int{1, 4, 5, 8, 16, 20} {
		full := compile(t, qv100(32, 2, "ipoly"))
		small := compile(t, qv100(k, 2, "ipoly"))
		own := seq(7, 7+k-1)
		m, err := full.Restrict(own)
		if err != nil {
			t.Fatal(err)
		}
		for a := uint64(0xc0000000); a < 0xc0000000+1<<20; a += 96 {
			want := small.Decode(a)
			want.Channel += 7
			want.Slice += 14
			if got := m.Decode(a); got != want {
				t.Fatalf("%d groups, address %#x: %+v, want %+v", k, a, got, want)
			}
		}
	}
}

// TestUniform walks memory with power-of-two and odd strides: every channel and
// slice of an IPOLY map gets its share.
func TestUniform(t *testing.T) {
	for _, s := range []*sheets.Machine{
		qv100(32, 2, "ipoly"), qv100(24, 2, "ipoly"), qv100(40, 2, "ipoly"),
		qv100(6, 1, "ipoly"), nuba("pae", "pae"),
	} {
		m := compile(t, s)
		for _, stride := range []uint64{128, 256, 384, 4096, 1 << 14, 1 << 16, 72 << 10} {
			const n = 48000
			slices := make([]int, m.Slices())
			for i := range uint64(n) {
				slices[m.Slice(0xc0000000+i*stride)]++
			}
			mean := n / len(slices)
			for c, k := range slices {
				if k < mean*6/10 || k > mean*14/10 {
					t.Errorf("%s, stride %d: slice %d gets %d of %d, the mean is %d", s.Name, stride, c, k, n, mean)
					break
				}
			}
		}
	}
}

// TestLocal: lines of one slice keep distinct local addresses, also restricted.
func TestLocal(t *testing.T) {
	for _, s := range machines() {
		full := compile(t, s)
		part, err := full.Restrict(seq(0, max(0, full.Groups()-2)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*Map{full, part} {
			seen := map[[2]uint64]uint64{}
			for a := uint64(0); a < 2<<20; a += 128 {
				k := [2]uint64{uint64(m.Slice(a)), m.Local(a)}
				if b, ok := seen[k]; ok {
					t.Fatalf("%s: lines %#x and %#x share slice %d and local address %#x", s.Name, a, b, k[0], k[1])
				}
				seen[k] = a
			}
		}
	}
}

// TestPageAddr: the pages of all groups tile memory, each inside its group.
func TestPageAddr(t *testing.T) {
	mod := qv100(12, 2, "none")
	mod.Map.String, mod.Map.Groups = strings.Replace(qv100String, "@8", "@12", 1), 4
	for _, s := range []*sheets.Machine{
		ugpu(), nuba("none", "xor"), mod, grouped(40, 8, "none"), grouped(160, 8, "xor"), grouped(32, 8, "ipoly"),
		grouped(11, 11, "xor"),
	} {
		m := compile(t, s)
		if !m.PageInGroup(4096) {
			t.Fatalf("%s: pages are not in one group", s.Name)
		}
		seen := map[uint64]bool{}
		const per = 96
		for g := range m.Groups() {
			for i := range uint64(per) {
				a := m.PageAddr(g, i, 4096)
				if a%4096 != 0 || seen[a] {
					t.Fatalf("%s: page %d of group %d is at %#x, unaligned or given twice", s.Name, i, g, a)
				}
				seen[a] = true
				for off := uint64(0); off < 4096; off += 128 {
					if c := m.Channel(a + off); m.GroupOf(c) != g {
						t.Fatalf("%s: page %#x of group %d has a line in channel %d", s.Name, a, g, c)
					}
				}
			}
		}
		for a := range seen {
			if a >= uint64(per*m.Groups()*4096) {
				t.Fatalf("%s: pages leave a hole: %#x was handed out of %d pages", s.Name, a, len(seen))
			}
		}
	}
}

func TestErrors(t *testing.T) {
	cases := []struct {
		name string
		edit func(*sheets.Machine)
		want string
	}{
		{"kind", func(m *sheets.Machine) { m.Map.Kind = "magic" }, "use gpgpusim, bits, linear, page or group"},
		{"hash", func(m *sheets.Machine) { m.Map.Hash = "sha" }, "use none, ipoly or xor"},
		{
			"letter", func(m *sheets.Machine) { m.Map.String = strings.Replace(qv100String, "R", "Q", 1) },
			"'Q' is none of",
		},
		{"short", func(m *sheets.Machine) { m.Map.String = "dramid@8;RRBBCC" }, "has 6 bits"},
		{"head", func(m *sheets.Machine) { m.Map.String = "dram@8;RRBBCC" }, "dramid@N"},
		{"banks", func(m *sheets.Machine) { m.DRAM.Banks = 8 }, "names 4 bank bits"},
		{"groups", func(m *sheets.Machine) { m.Map.Groups = 5 }, "must divide"},
		{"slices", func(m *sheets.Machine) { m.LLC.SlicesPerChannel = 3 }, "power of two"},
	}
	for _, c := range cases {
		m := qv100(32, 2, "ipoly")
		c.edit(m)
		if _, err := New(m); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.name, err, c.want)
		}
	}
	m := ugpu()
	m.Map.Bank = []int{15, 21}
	if _, err := New(m); err == nil || !strings.Contains(err.Error(), "bit 21 is both bank and row") {
		t.Errorf("overlap: %v", err)
	}
	full := compile(t, ugpu())
	for _, own := range [][]int{{}, {8}, {-1}, {1, 1}} {
		if _, err := full.Restrict(own); err == nil {
			t.Errorf("Restrict(%v) gave no error", own)
		}
	}
	if part, err := full.Restrict([]int{2}); err != nil {
		t.Error(err)
	} else if _, err := part.Encode(full.Decode(0)); err == nil {
		t.Error("Encode accepted a channel the tenant does not own")
	}
}

func TestSetIndex(t *testing.T) {
	for _, kind := range []string{"linear", "xor", "ipoly"} {
		for _, sets := range []int{1, 4, 32, 48, 64, 100} {
			s, err := NewSetIndex(kind, sets)
			if err != nil {
				t.Fatal(err)
			}
			count := make([]int, sets)
			for line := uint64(0); line < uint64(sets)*500; line++ {
				count[s.Of(line)]++
			}
			for i, n := range count {
				if n != 500 {
					t.Errorf("%s, %d sets: set %d gets %d of 500 lines per set", kind, sets, i, n)
					break
				}
			}
		}
	}
	s, _ := NewSetIndex("ipoly", 32)
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.Uint64Range(0, 1<<40).Draw(t, "line")
		if got, want := s.Of(line), int(line&31^publishedHash(5, line>>5)); got != want {
			t.Fatalf("line %#x: set %d, want %d", line, got, want)
		}
	})
	if _, err := NewSetIndex("random", 4); err == nil {
		t.Error("an unknown kind gave no error")
	}
}

func TestDecodeDoesNotAllocate(t *testing.T) {
	m := compile(t, qv100(24, 2, "ipoly"))
	var sink Loc
	if n := testing.AllocsPerRun(100, func() { sink = m.Decode(0xc0000080) }); n != 0 {
		t.Errorf("%v allocations per Decode (%+v)", n, sink)
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, s := range []*sheets.Machine{qv100(32, 2, "ipoly"), qv100(24, 2, "ipoly"), ugpu(), scattered()} {
		m := compile(b, s)
		b.Run(strings.ReplaceAll(s.Name, "/", "-"), func(b *testing.B) {
			var sum uint64
			a := uint64(0xc0000000)
			for range b.N {
				l := m.Decode(a)
				sum += uint64(l.Slice) + uint64(l.Row)
				a += 0x13480
				a &= 1<<34 - 1
			}
			_ = sum
		})
	}
}

func BenchmarkSetIndex(b *testing.B) {
	for _, kind := range []string{"linear", "xor", "ipoly"} {
		s, _ := NewSetIndex(kind, 48)
		b.Run(kind, func(b *testing.B) {
			sum := 0
			for i := range b.N {
				sum += s.Of(uint64(i) * 77)
			}
			_ = sum
		})
	}
}

// TestShippedSheets: every sheet has a map that compiles and inverts.
func TestShippedSheets(t *testing.T) {
	for _, name := range sheets.Names() {
		s, _, err := sheets.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		m := compile(t, s)
		if !m.Invertible() || m.Channels() != s.DRAM.Channels || m.Slices() != s.DRAM.Channels*s.LLC.SlicesPerChannel {
			t.Errorf("%s: invertible %v, %d channels, %d slices", name, m.Invertible(), m.Channels(), m.Slices())
		}
	}
}

// FuzzString: any mapping string gives an error or a map that inverts where it
// says so.
func FuzzString(f *testing.F) {
	f.Add(qv100String, 32, 2, uint64(0xc0001234))
	f.Add(strings.Replace(qv100String, "dramid@8;0000", "DDDD", 1), 16, 1, uint64(77))
	f.Add("dramid@12;00000000000000000000000000000000|0000RRRR|RRRRRRRR|RBBBCCCB|CCCSSSSS", 24, 2, uint64(1)<<33)
	f.Fuzz(func(t *testing.T, text string, channels, slices int, addr uint64) {
		if channels > 300 || slices > 64 {
			return
		}
		s := qv100(channels, slices, "ipoly")
		s.Map.String = text
		m, err := New(s)
		if err != nil || !m.Invertible() {
			return
		}
		addr &= 1<<44 - 1
		l := m.Decode(addr)
		if back, err := m.Encode(l); err != nil || back != addr&^(m.Block()-1) {
			t.Fatalf("%q, %d channels: %#x -> %+v -> %#x (%v)", text, channels, addr, l, back, err)
		}
		if int(l.Slice) >= m.Slices() {
			t.Fatalf("slice %d of %d", l.Slice, m.Slices())
		}
	})
}
