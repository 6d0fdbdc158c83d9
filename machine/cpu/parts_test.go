package cpu

import (
	"testing"

	"github.com/heddle-sim/heddle/isa/scalar"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// ends is the cycle in which a program of n instructions has retired.
func ends(t *testing.T, m *sheets.Machine, insts []scalar.Inst, n uint64) uint64 {
	t.Helper()
	f := newFake(t, m, 100, &listed{insts: insts}, n)
	for f.row()[Executions] == 0 && f.core.now < 10_000 {
		f.run(f.core.now+1, whenDue)
	}
	return f.core.now
}

// What is behind a branch that was mispredicted is dispatched so many cycles after the branch has
// executed, which may itself wait for a load; a branch that was predicted costs nothing.
func TestMispredict(t *testing.T) {
	m := sheet()
	m.CPU.Branch = sheets.CPUBranch{Mispredict: 16, History: 10}
	branch := func(taken bool, src uint16) scalar.Inst {
		return scalar.Inst{Kind: scalar.Branch, Conditional: true, Taken: taken, Src: [4]uint16{src}}
	}
	load := scalar.Inst{Kind: scalar.Load, Dst: [2]uint16{1}}
	for _, c := range []struct {
		name  string
		insts []scalar.Inst
		want  uint64
	}{
		{"predicted", []scalar.Inst{branch(false, 0), {}}, 4}, // dispatched in cycle 2 and a quarter
		{"mispredicted", []scalar.Inst{branch(true, 0), {}}, 3 + 16 + 1},
		{"mispredicted, of a loaded value", []scalar.Inst{load, branch(true, 1), {}}, 2 + 114 + 1 + 16 + 1},
		{"and learnt", []scalar.Inst{branch(true, 0), branch(true, 0), {}}, 3 + 16 + 1 + 16 + 1},
	} {
		if got := ends(t, m, c.insts, uint64(len(c.insts))); got != c.want {
			t.Errorf("%s: ends in cycle %d, want %d", c.name, got, c.want)
		}
	}
	f := newFake(t, m, 100, &endless{make: func(n uint64, in *scalar.Inst) { *in = branch(n%4 != 3, 0) }}, 0)
	f.run(100_000, whenDue) // a loop of four: history tells where it ends
	if b, wrong := f.row()[Branches], f.row()[Mispredicts]; b < 1000 || wrong > 200 {
		t.Errorf("%d of %d branches of a short loop are mispredicted", wrong, b)
	}
}

// A chase through consecutive lines waits a memory latency for each; with a prefetcher most are there, or on their
// way, and each is asked for once. One that goes by steps of two lines needs the stride prefetcher.
func TestPrefetch(t *testing.T) {
	run := func(kind string, step uint64) []uint64 {
		m := sheet()
		m.CPU.Prefetch = sheets.CPUPrefetch{Kind: kind, Degree: 4, Table: 64}
		f := newFake(t, m, 200, &endless{make: func(n uint64, in *scalar.Inst) {
			*in = scalar.Inst{
				Kind: scalar.Load, Addr: n * step % (1 << 30), Src: [4]uint16{1}, Dst: [2]uint16{1}, Site: 0x400,
			}
		}}, 0)
		f.run(200_000, whenDue)
		row := f.row()
		if row[Requests] != row[L2Misses]+row[Prefetches] {
			t.Errorf("%s: %d requests for %d misses and %d prefetches", kind, row[Requests], row[L2Misses],
				row[Prefetches])
		}
		if row[PrefetchHits] > row[Prefetches] {
			t.Errorf("%s: %d of %d prefetched lines were needed", kind, row[PrefetchHits], row[Prefetches])
		}
		return row
	}
	none, next, stride := run("none", 64), run("next-line", 64), run("stride", 64)
	if none[Prefetches] != 0 || next[Insts] < 3*none[Insts] || stride[Insts] < 3*none[Insts] {
		t.Errorf("%d instructions without prefetching, %d with next-line, %d with stride", none[Insts], next[Insts],
			stride[Insts])
	}
	next, stride = run("next-line", 192), run("stride", 192)
	if stride[Insts] < 2*next[Insts] {
		t.Errorf("by steps of three lines %d instructions with stride, %d with next-line", stride[Insts], next[Insts])
	}
}

// Every request is answered once, every line that was written is in a cache or has been written back, and
// nothing is left when the program has ended.
func TestConserve(t *testing.T) {
	for seed := range uint64(40) {
		m := sheetOf(seed)
		f := newFake(t, m, 50, nil, 0)
		f.keep = true
		if err := f.core.Start(Program{Source: random(seed), Insts: 4000, Once: true}, 0, frames()); err != nil {
			t.Fatal(err)
		}
		f.run(3_000_000, whenDue)
		row := f.row()
		if f.core.InFlight() != 0 || f.slab.Live() != 0 || row[Executions] != 1 || row[Insts] != 4000 {
			t.Errorf("seed %d: %d requests in flight, %d live, %v", seed, f.core.InFlight(), f.slab.Live(), row)
		}
		if b := &f.core.stores; b.freed != b.dispatched || uint64(b.freed) != row[Stores] {
			t.Errorf("seed %d: %d of %d stores left, %d counted", seed, b.freed, b.dispatched, row[Stores])
		}
		reads, writes := uint64(0), uint64(0)
		for i := range f.sent {
			if r := &f.sent[i]; r.Op == mem.Read {
				reads++
			} else if writes++; r.Full != r.Sectors || r.Tag != -1 {
				t.Errorf("seed %d: a write-back %+v", seed, *r)
			}
		}
		pending := f.core.caches.m1.Pending() + f.core.caches.m2.Pending()
		if reads != row[Requests] || writes != row[WriteBacks] || pending != 0 {
			t.Errorf("seed %d: %d reads and %d writes, %v", seed, reads, writes, row)
		}
	}
}

// Copies of a program that touch their pages in step have neighbouring pages each, so that all sets of
// an L2 are theirs.
func TestCopiesHavePiecesOfTheirOwn(t *testing.T) {
	f := frames()
	cores := []pages{newPages(&listed{}, f), newPages(&listed{}, f)}
	for page := range uint64(3) {
		for i := range cores {
			got, want := cores[i].physical(page<<pageBits), uint64(i)<<21+page<<pageBits
			if want += cores[0].physical(0); got != want {
				t.Errorf("page %d of core %d lies at %#x, want %#x", page, i, got, want)
			}
		}
	}
}
