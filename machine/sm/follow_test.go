package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/sheets"
)

// machined is a program that is timed as another: upto is, by instruction of the latter, the one of the program up to
// which it is executed then. All but the last are of one run.
func machined(source *scripted, machine isa.Code, upto ...int32) *scripted {
	g := &scripted{code: source.code, geo: source.geo, addr: source.addr}
	src := &isa.Source{Upto: upto, Enter: make([]int32, len(g.code.Instr))}
	for i := range src.Enter {
		src.Enter[i] = -1
	}
	src.Enter[0] = 0
	machine.Instr[len(machine.Instr)-1].Marks |= isa.Ends
	machine.Source = src
	g.code.Machine = &machine
	return g
}

// took is how many cycles a program of some warps takes on an SM of an H100, and the instructions it issues there.
func took(t *testing.T, g *scripted, warps int) (cycles, insts uint64) {
	t.Helper()
	b := newBenchOn(t, "h100", func(m *sheets.Machine) { m.SM.CTASetup = 0 })
	g.geo.Warps, g.geo.Threads = warps, 32*warps
	cycles = b.run(g, 1, false)
	return cycles, b.table.Row(0, 0)[WarpInsts]
}

// What vanishes takes no time, and what issues before what it stood behind takes the time it would have taken there.
func TestMachineCode(t *testing.T) {
	add := func(dst uint16, src ...uint16) ins { return alu(isa.IntAdd, isa.INT, dst, src...) }
	mov := func(dst, src uint16) ins { return alu(isa.TimeOther, isa.INT, dst, src) }
	ld := func(dst, src uint16) ins { return load(isa.Global, isa.CacheAll, dst, src) }
	source := oneWarp(mov(1, 0), ld(2, 1), add(3, 2), add(4, 3), ld(5, 1), add(6, 5, 4), exit())
	source.addr = func(_, warp, pc, l int) uint64 { return uint64(1<<20 + pc<<12 + warp<<8 + 4*l) }
	order := []ins{ld(2, 0), ld(5, 0), add(3, 2), add(4, 3), add(6, 5, 4), exit()}
	for _, warps := range []int{1, 3, 8} {
		plain := oneWarp(order...)
		plain.addr = source.addr
		want, insts := took(t, plain, warps)
		got, n := took(t, machined(source, program(order...), 1, 4, 2, 3, 5, 6), warps)
		if got != want || n != insts {
			t.Errorf("%d warps: %d cycles and %d instructions, want %d and %d", warps, got, n, want, insts)
		}
		if slow, _ := took(t, source, warps); slow < want+90 {
			t.Errorf("%d warps: one load behind the other takes %d cycles, both at once %d", warps, slow, want)
		}
	}
}

// A store that a load goes before has the addresses it was executed with, and the time it would have behind the load.
func TestLateStore(t *testing.T) {
	ld := func(dst, src uint16) ins { return load(isa.Global, isa.CacheAll, dst, src) }
	st := func(src uint16) ins { return store(isa.Shared, src) }
	addr := func(_, warp, pc, l int) uint64 {
		if pc == 1 || pc == 3 {
			return uint64(pc * 64 * l) // conflicts of the banks
		}
		return uint64(1<<20 + pc<<12 + warp<<8 + 4*l)
	}
	source := oneWarp(ld(1, 0), st(1), ld(2, 0), st(2), alu(isa.IntAdd, isa.INT, 3, 1, 2), exit())
	source.addr = addr
	plain := oneWarp(ld(1, 0), ld(2, 0), st(1), st(2), alu(isa.IntAdd, isa.INT, 3, 1, 2), exit())
	plain.addr = func(cta, warp, pc, l int) uint64 { return addr(cta, warp, []int{0, 2, 1, 3}[pc], l) }
	for _, warps := range []int{1, 4} {
		want, insts := took(t, plain, warps)
		g := machined(source, program(ld(1, 0), ld(2, 0), st(1), st(2), alu(isa.IntAdd, isa.INT, 3, 1, 2), exit()),
			0, 2, 1, 3, 4, 5)
		g.code.Machine.Source.Late = []bool{false, true, false, false, false, false}
		if got, n := took(t, g, warps); got != want || n != insts {
			t.Errorf("%d warps: %d cycles and %d instructions, want %d and %d", warps, got, n, want, insts)
		}
	}
}

// A run of which nothing is left is passed without time, behind what comes to it, but not behind a barrier.
func TestVanishedRun(t *testing.T) {
	nop := alu(isa.TimeOther, isa.INT, 9, 8)
	for _, c := range []struct {
		first ins
		extra uint64
	}{{alu(isa.IntAdd, isa.INT, 1, 0), 0}, {barrierIns(), 1}} {
		list := []ins{c.first, alu(isa.IntAdd, isa.INT, 2, 1), exit()}
		want, insts := took(t, oneWarp(list...), 1)
		source := oneWarp(c.first, nop, nop, list[1], exit())
		g := machined(source, program(c.first, nop, list[1], exit()), 0, 2, 3, 4)
		m := g.code.Machine
		m.Source.Enter[1], m.Source.Enter[3] = 1, 2
		m.Instr[0].Marks, m.Instr[1].Marks = isa.Ends, isa.Ends|isa.Vanishes
		got, n := took(t, g, 1)
		if n != insts+c.extra || c.extra == 0 && got != want {
			t.Errorf("%d cycles and %d instructions, want %d and %d more than %d", got, n, want, c.extra, insts)
		}
	}
}

// So is the end of a run that vanishes behind what issues.
func TestVanishedEnd(t *testing.T) {
	nop := alu(isa.TimeOther, isa.INT, 9, 8)
	list := []ins{load(isa.Global, isa.CacheAll, 1, 0), alu(isa.IntAdd, isa.INT, 2, 1), exit()}
	addr := lanes(1<<20, 4)
	plain := oneWarp(list...)
	plain.addr = addr
	want, insts := took(t, plain, 1)
	source := oneWarp(list[0], nop, nop, list[1], exit())
	source.addr = addr
	g := machined(source, program(list[0], nop, list[1], exit()), 0, 2, 3, 4)
	m := g.code.Machine
	m.Source.Enter[3] = 2
	m.Instr[1].Marks = isa.Ends | isa.Vanishes
	if got, n := took(t, g, 1); got != want || n != insts {
		t.Errorf("%d cycles and %d instructions, want %d and %d", got, n, want, insts)
	}
}

// The issues of a sequence take the time of the sequence together, and a slot of the scheduler each.
func TestSequence(t *testing.T) {
	list := []ins{alu(isa.IntDiv, isa.SFU, 1, 0), alu(isa.IntAdd, isa.INT, 2, 1), exit()}
	one, insts := took(t, oneWarp(list...), 1)
	for _, times := range []uint8{2, 7, 20} {
		list[0].Times = times
		got, n := took(t, machined(oneWarp(list...), program(list...), 0, 1, 2), 1)
		if got != one || n != insts+uint64(times)-1 {
			t.Errorf("%d cycles and %d instructions, want %d and %d", got, n, one, insts+uint64(times)-1)
		}
	}
	// 16 warps divide, 4 on a scheduler: each division holds the unit for 16 cycles, in 8 issues, between which
	// those of others go.
	list[0].Times = 8
	got, _ := took(t, machined(oneWarp(list...), program(list...), 0, 1, 2), 16)
	if got < one+3*8 || got > one+3*16 {
		t.Errorf("16 divisions take %d cycles, one takes %d", got, one)
	}
}

// Of loads that are one the addresses begin with the first; an elected lane performs an atomic for its warp.
func TestJoinedAndElected(t *testing.T) {
	for _, c := range []struct {
		name       string
		own, as    ins
		requests   int
		bytes, off uint64
	}{
		{"four words", load(isa.Global, isa.CacheGlobal, 1, 0), load(isa.Global, isa.CacheGlobal, 1, 0), 4, 0, 1 << 20},
		{"atomic", atomicOp(1, 0), atomicOp(1, 0), 1, 4, 1<<20 + 8},
	} {
		source := oneWarp(c.own, exit())
		source.addr = func(_, _, _, l int) uint64 {
			if c.own.Kind == isa.Atomic {
				return 1<<20 + 8
			}
			return 1<<20 + 8 + 16*uint64(l)
		}
		g := machined(source, program(c.as, exit()), 0, 1)
		if in := &g.code.Machine.Instr[0]; in.Kind == isa.Atomic {
			in.Marks = isa.Elected
		} else {
			in.Width, in.Back = 16, 8
		}
		b := newBenchOn(t, "h100", nil)
		b.run(g, 1, false)
		if first := b.sent[0]; len(b.sent) != c.requests || first.Line != c.off&^127 ||
			c.bytes > 0 && uint64(first.Bytes) != c.bytes {
			t.Errorf("%s: %d requests, %+v", c.name, len(b.sent), b.sent)
		}
	}
}
