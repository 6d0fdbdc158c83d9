package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/sheets"
)

// Sheets of boards tell instructions apart that the reference's do not; there they take what
// their coarse timing does.
func TestFinerLatency(t *testing.T) {
	for _, c := range []struct {
		machine string
		t       isa.Timing
		u       isa.Unit
		want    uint64
	}{
		{"v100", isa.IntAdd, isa.INT, 4},
		{"v100", isa.IntMad, isa.INT, 5},
		{"v100", isa.Logic, isa.INT, 4},
		{"v100", isa.BitCount, isa.INT, 10},
		{"v100", isa.HalfMad, isa.SP, 6},
		{"v100", isa.Half4K, isa.TENSOR, 54},
		{"a100", isa.Half2K, isa.TENSOR, 25},
		{"a100", isa.Tf1K, isa.TENSOR, 25},
		{"a100", isa.Byte4K, isa.TENSOR, 25},
		{"a100", isa.Half4K, isa.TENSOR, 33},
		{"qv100", isa.Logic, isa.INT, 6},
		{"qv100", isa.HalfMad, isa.SP, 10},
		{"qv100", isa.Half2K, isa.TENSOR, 69},
	} {
		at := newBenchOn(t, c.machine, nil).issues(oneWarp(alu(c.t, c.u, 0, 2), alu(c.t, c.u, 1, 0), exit()))
		if got := at[1] - at[0]; got != c.want {
			t.Errorf("%s, timing %d: dependent issue after %d cycles, want %d", c.machine, c.t, got, c.want)
		}
	}
}

// Matrix units take an instruction again when they have done its multiplications: 2048 of a unit with 256 a cycle.
func TestTensorRate(t *testing.T) {
	for _, c := range []struct {
		t    isa.Timing
		want uint64
	}{{isa.Half1K, 4}, {isa.Half2K, 8}, {isa.Half4K, 16}, {isa.Tf512, 4}, {isa.Tf2K, 16}, {isa.Byte4K, 8}} {
		m, _, err := sheets.Load("a100")
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := Derive(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := uint64(cfg.issue.interval[c.t]); got != c.want {
			t.Errorf("timing %d: every %d cycles, want %d", c.t, got, c.want)
		}
	}
}

// A barrier takes note of a warp every other cycle and opens 21 later: 23 cycles for one warp,
// 85 for 32 of them that come together, as an A100 measures.
func TestBarrierOfBoards(t *testing.T) {
	for _, c := range []struct {
		machine string
		warps   int
		want    uint64
	}{{"a100", 1, 23}, {"a100", 4, 29}, {"a100", 32, 85}, {"qv100", 4, 1}} {
		g := &scripted{geo: isa.Geometry{Threads: 32 * c.warps, Warps: c.warps, Regs: 8}, code: program(barrierIns(),
			exit())}
		var first, left uint64
		g.trace = func(_, _, pc int, now uint64) {
			switch {
			case pc == 0 && first == 0:
				first = now
			case pc == 1 && left == 0:
				left = now
			}
		}
		newBenchOn(t, c.machine, func(m *sheets.Machine) { m.SM.CTAWarp = 0 }).run(g, 1, false)
		if got := left - first; got != c.want {
			t.Errorf("%s, %d warps: %d cycles from the first arrival on, want %d", c.machine, c.warps, got, c.want)
		}
	}
}

// A CTA's warps begin one after the other once it has been set up.
func TestSetUpOfCTAs(t *testing.T) {
	g := &scripted{geo: isa.Geometry{Threads: 128, Warps: 4, Regs: 8}, code: program(exit())}
	var at [4]uint64
	g.trace = func(_, w, _ int, now uint64) { at[w] = now }
	newBenchOn(t, "a100", func(m *sheets.Machine) { m.SM.CTASetup, m.SM.CTAWarp = 240, 2.5 }).run(g, 1, false)
	if want := [4]uint64{241, 243, 246, 248}; at != want {
		t.Errorf("warps begin at %v, want %v", at, want)
	}
}

// The load/store unit needs a cycle for an atomic's line and one for each of its sectors.
func TestAtomicsOfBoards(t *testing.T) {
	for _, c := range []struct {
		sector int
		want   uint64
	}{{1, 5}, {2, 10}, {0, 1}} {
		g := oneWarp(atomicOp(0), atomicOp(1), exit())
		g.addr = func(_, _, pc, l int) uint64 { return uint64(pc)*0x1000 + uint64(l)*4 }
		b := newBenchOn(t, "a100", func(m *sheets.Machine) { m.SM.AtomicSector = c.sector })
		b.run(g, 1, false)
		if len(b.sent) != 2 || b.sentAt[1]-b.sentAt[0] != c.want {
			t.Errorf("sector %d: requests sent at %d, want 2 of them %d cycles apart", c.sector, b.sentAt, c.want)
		}
	}
}

// The L1 of boards looks up four lines of an instruction in a cycle, and its words conflict as those of shared memory:
// 32 lines take 8 cycles where the words lie on banks of their own. Four loads of one warp hit one after the other.
func TestTagsAndBanks(t *testing.T) {
	list := []ins{load(isa.Global, isa.CacheAll, 0), alu(isa.IntAdd, isa.INT, 1, 0)}
	for i := range uint16(4) {
		list = append(list, load(isa.Global, isa.CacheAll, 2+i, 1))
	}
	list = append(list, alu(isa.IntAdd, isa.INT, 6, 5), exit())
	for _, c := range []struct {
		words uint64 // from lane to lane
		tags  int
		want  uint64 // cycles of a load
	}{
		{1, 4, 1},
		{0, 4, 1},
		{2, 4, 2},
		{3, 4, 1},
		{9, 4, 3},
		{12, 4, 4},
		{33, 4, 8},
		{33, 8, 4},
		{32, 4, 32},
		{40, 4, 8},
	} {
		g := oneWarp(list...)
		g.addr = lanes(0x10000, 4*c.words)
		at := newBenchOn(t, "a100", func(m *sheets.Machine) { m.L1D.Tags = c.tags }).issues(g)
		// The last load's data is there when the cycles of all four have passed and the pipeline has.
		if got, want := at[6]-at[2], 4*c.want-1+36; got != want {
			t.Errorf("stride %d, %d tags: four loads take %d cycles, want %d", c.words, c.tags, got, want)
		}
	}
}
