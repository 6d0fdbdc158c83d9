package cpu

import (
	"testing"

	"github.com/heddle-sim/heddle/isa/scalar"
)

// far is an address no other access of a test is near for long: a new line, in a new page and another set.
func far(n uint64) uint64 { return n % (1 << 17) * (1<<pageBits + 64) }

// chase is loads of which each needs the one before it, with plain instructions between.
func chase(before uint32) *endless {
	return &endless{make: func(n uint64, in *scalar.Inst) {
		*in = scalar.Inst{Kind: scalar.Load, Addr: far(n), Before: before, Src: [4]uint16{1}, Dst: [2]uint16{1}}
	}}
}

// scatter is loads that wait for nothing, each of a new line.
func scatter(before uint32) *endless {
	return &endless{make: func(n uint64, in *scalar.Inst) {
		*in = scalar.Inst{Kind: scalar.Load, Addr: far(n), Before: before}
	}}
}

// rate is instructions in a span of cycles long after the begin.
func rate(f *fake, cycles uint64) uint64 {
	f.run(cycles, whenDue)
	from := f.row()[Insts]
	f.run(2*cycles, whenDue)
	return f.row()[Insts] - from
}

// A pointer chase does one load in an L2 latency and a memory latency: 10 instructions in 214
// cycles.
func TestChase(t *testing.T) {
	f := newFake(t, sheet(), 200, chase(9), 0)
	if n := rate(f, 1000*214); n != 1000*10 {
		t.Errorf("%d instructions, want %d", n, 1000*10)
	}
}

// Loads that wait for nothing are bound by 16 miss registers: 16 loads in 214 cycles.
func TestStream(t *testing.T) {
	f := newFake(t, sheet(), 200, scatter(3), 0)
	if n := rate(f, 1000*214); n < 1000*64-64 || n > 1000*64+64 {
		t.Errorf("%d instructions, want %d", n, 1000*64)
	}
}

// With 56 instructions to a load, a window of 224 holds four of them: what leaves it, 224
// instructions, does so in a memory latency and the cycle in which its place is taken again.
func TestWindow(t *testing.T) {
	f := newFake(t, sheet(), 200, scatter(55), 0)
	if n := rate(f, 1000*215); n < 1000*224-224 || n > 1000*224+224 {
		t.Errorf("%d instructions, want %d", n, 1000*224)
	}
}

// Plain instructions go as wide as the core is.
func TestWidth(t *testing.T) {
	f := newFake(t, sheet(), 200, &endless{make: func(_ uint64, in *scalar.Inst) { in.Before = 999 }}, 0)
	if n := rate(f, 10_000); n != 40_000 {
		t.Errorf("%d instructions, want %d", n, 40_000)
	}
}

// Exact latencies: of a program of a few operations the cycle in which its last instruction
// has retired. The first is dispatched in cycle 2, the others a quarter of a cycle later each
// and ready from the next whole cycle on; one that executes in a cycle retires in the next.
func TestLatency(t *testing.T) {
	load := func(addr uint64, dst uint16, src ...uint16) scalar.Inst {
		in := scalar.Inst{Kind: scalar.Load, Addr: addr, Dst: [2]uint16{dst}}
		copy(in.Src[:], src)
		return in
	}
	store := func(addr uint64, src ...uint16) scalar.Inst {
		in := scalar.Inst{Kind: scalar.Store, Addr: addr}
		copy(in.Src[:], src)
		return in
	}
	plain := func(dst uint16, src ...uint16) scalar.Inst {
		in := scalar.Inst{Dst: [2]uint16{dst}}
		copy(in.Src[:], src)
		return in
	}
	const memory, miss = 100, 14 + 100
	for _, c := range []struct {
		name  string
		insts []scalar.Inst
		want  uint64
	}{
		{"one instruction", []scalar.Inst{plain(1)}, 2 + 1},
		{"a chain of three", []scalar.Inst{plain(1), plain(1, 1), plain(1, 1)}, 2 + 3},
		{"a miss", []scalar.Inst{load(0, 1)}, 2 + miss},
		{"two misses at once", []scalar.Inst{load(0, 1), load(4096, 2)}, 3 + miss},
		{"two misses in a row", []scalar.Inst{load(0, 1), load(4096, 2, 1)}, 2 + 2*miss},
		{"a hit behind a miss", []scalar.Inst{load(0, 1), load(8, 2, 1)}, 2 + miss + 4},
		// both are there at once, and retire a quarter of a cycle after each other
		{"a load of a line on its way", []scalar.Inst{load(0, 1), load(8, 2)}, 2 + miss + 1},
		{"an instruction on a loaded value", []scalar.Inst{load(0, 1), plain(2, 1)}, 2 + miss + 1},
		// it retires when it has its data; its line comes later
		{"a store", []scalar.Inst{store(0)}, 2 + 1},
		{"a load from the store before it", []scalar.Inst{store(0), load(0, 1)}, 2 + 1 + 4},
		{
			"a load from a store of a loaded value",
			[]scalar.Inst{load(0, 1), store(4096, 1), load(4096, 2)},
			2 + miss + 1 + 4,
		},
	} {
		n := uint64(len(c.insts))
		f := newFake(t, sheet(), memory, &listed{insts: c.insts}, n)
		for f.row()[Executions] == 0 && f.core.now < 10_000 {
			f.run(f.core.now+1, whenDue)
		}
		if got := f.core.now; got != c.want {
			t.Errorf("%s: ends in cycle %d, want %d", c.name, got, c.want)
		}
	}
}

// An execution ends when its last instruction retires: of so many instructions, whatever the length of the
// source, or of as many as the source has; then the next begins, unless there is only one.
func TestExecutions(t *testing.T) {
	insts := make([]scalar.Inst, 10)
	for i := range insts {
		insts[i] = scalar.Inst{Before: 3, Src: [4]uint16{1}, Dst: [2]uint16{1}} // a chain: a cycle each
	}
	for _, c := range []struct {
		length uint64
		once   bool
		each   uint64 // instructions
	}{
		{0, false, 40},
		{0, true, 40},
		{40, false, 40},
		{30, false, 30},
		{45, true, 45},
		{1000, false, 1000},
	} {
		f := newFake(t, sheet(), 100, nil, 0)
		p := Program{Source: &listed{insts: insts}, Insts: c.length, Once: c.once}
		if err := f.core.Start(p, 0, frames()); err != nil {
			t.Fatal(err)
		}
		for n := uint64(1); n <= 3; n++ {
			for f.row()[Executions] < n && f.core.now < 5000 {
				f.run(f.core.now+1, whenDue)
			}
			if c.once && n > 1 {
				if f.row()[Executions] != 1 || f.row()[Insts] != c.each {
					t.Errorf("%+v: %d executions, %d instructions", c, f.row()[Executions], f.row()[Insts])
				}
				break
			}
			// in the cycle in which it retires up to three others may, too
			if got := f.row()[Insts]; got < n*c.each || got > n*c.each+3 {
				t.Errorf("%+v: %d instructions after %d executions", c, got, n)
			}
		}
	}
}

// A program's last stores are made before it ends: forty to words of five lines, each a miss of 214 cycles.
func TestLastStores(t *testing.T) {
	var list []scalar.Inst
	for i := range 40 {
		list = append(list, scalar.Inst{Kind: scalar.Store, Addr: uint64(8 * i)})
	}
	f := newFake(t, sheet(), 200, nil, 0)
	if err := f.core.Start(Program{Source: &listed{insts: list}, Once: true}, 0, frames()); err != nil {
		t.Fatal(err)
	}
	f.run(214, whenDue)
	if n := f.core.Executions(); n != 0 {
		t.Errorf("%d executions before the first line has come", n)
	}
	f.run(1000, whenDue)
	if r := f.row(); r[Stores] != 40 || r[Executions] != 1 || r[Requests] != 5 {
		t.Errorf("%d stores, %d executions, %d requests; want 40, 1 and 5", r[Stores], r[Executions], r[Requests])
	}
}
