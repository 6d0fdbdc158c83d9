package sm

import (
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"

	"pgregory.net/rapid"
)

// A dependent instruction issues latency + overhead cycles after its producer:
// the figures measured for the reference configuration (add 9, mul 9, mad 10, max
// 18, logic 6, fp64 13, shuffle 26, SFU 104, integer division 149).
func TestDependentLatency(t *testing.T) {
	for _, c := range []struct {
		t    isa.Timing
		u    isa.Unit
		want uint64
	}{
		{isa.IntAdd, isa.INT, 9},
		{isa.IntMul, isa.INT, 9},
		{isa.IntMad, isa.INT, 10},
		{isa.IntMax, isa.INT, 18},
		{isa.TimeOther, isa.INT, 6},
		{isa.FpAdd, isa.SP, 9},
		{isa.FpMad, isa.SP, 10},
		{isa.DpAdd, isa.DP, 13},
		{isa.Shuffle, isa.INT, 26},
		{isa.Special, isa.SFU, 105},
		{isa.IntDiv, isa.SFU, 150},
	} {
		at := newBench(t, nil).issues(oneWarp(alu(c.t, c.u, 0, 2), alu(c.t, c.u, 1, 0), exit()))
		if got := at[1] - at[0]; got != c.want {
			t.Errorf("timing %d: dependent issue after %d cycles, want %d", c.t, got, c.want)
		}
	}
}

// Instructions issue from cycle 1 on, where scheduler 1 chooses first if scheduler 0 did in cycle 0,
// and scheduler 2 if 1 did.
func TestTurnOfSchedulers(t *testing.T) {
	for _, zero := range []bool{false, true} {
		g := oneWarp(alu(isa.IntAdd, isa.INT, 0), exit())
		g.geo.Threads, g.geo.Warps = 128, 4
		var order []int
		g.trace = func(_, warp, pc int, now uint64) {
			if pc == 0 && now == 1 {
				order = append(order, warp)
			}
		}
		newBench(t, func(m *sheets.Machine) { m.SM.ZeroFirst = zero }).run(g, 1, false)
		want := 2
		if zero {
			want = 1
		}
		if len(order) == 0 || order[0] != want {
			t.Errorf("scheduler 0 first in cycle 0 %v: in cycle 1 warps %v issue, want %d first", zero, order, want)
		}
	}
}

// The load-to-use times of the reference: shared memory 25, L1 hit 24.
func TestLoadToUse(t *testing.T) {
	g := oneWarp(load(isa.Shared, isa.CacheAll, 0, 2), alu(isa.IntAdd, isa.INT, 1, 0), exit())
	g.addr = lanes(0, 4)
	at := newBench(t, nil).issues(g)
	if got := at[1] - at[0]; got != 25 {
		t.Errorf("shared load to use: %d cycles, want 25", got)
	}
	g = oneWarp(load(isa.Global, isa.CacheAll, 0), load(isa.Global, isa.CacheAll, 1, 0), alu(isa.IntAdd, isa.INT, 2, 1),
		exit())
	g.addr = lanes(0x1000, 4)
	at = newBench(t, nil).issues(g)
	if got := at[2] - at[1]; got != 24 {
		t.Errorf("L1 hit load to use: %d cycles, want 24", got)
	}
}

// Five shared loads of 32 bank cycles each: one is served, one stands before the
// unit, two hold the scheduler's collectors, one waits for them. An addition gets a
// collector when two more are served; a floating-point one, which asks before memory
// instructions do, when one is; with collectors of its own either does at once.
func TestSharedCollectors(t *testing.T) {
	for _, c := range []struct {
		unit   isa.Unit
		timing isa.Timing
		shared bool
		served uint64 // loads, when it gets its collector
	}{{isa.INT, isa.IntAdd, true, 2}, {isa.SP, isa.FpAdd, true, 1}, {isa.INT, isa.IntAdd, false, 0}} {
		ld := func(dst uint16) ins { return load(isa.Shared, isa.CacheAll, dst, 8) }
		g := oneWarp(ld(0), ld(1), ld(2), ld(3), ld(4), alu(c.timing, c.unit, 5, 8), alu(c.timing, c.unit, 6, 5),
			exit())
		g.addr = lanes(0, 128)
		b := newBench(t, func(m *sheets.Machine) { m.SM.CollectorsShared = c.shared })
		at := b.issues(g)
		want := at[5] + 9
		// the unit takes a load a cycle before it serves it; the cycle after issue is when the addition would
		// have got its collector
		if c.shared {
			want = at[0] + b.s.cfg.ldst.front - 1 + 32*c.served + 9 - 1
		}
		if at[6] != want {
			t.Errorf("%v, shared %v: the dependent instruction issued at %d, want %d (%v)", c.unit, c.shared, at[6],
				want, at)
		}
	}
}

// A load that finds no room before the load/store unit is throttled: until the unit
// takes one more of those before it.
func TestThrottled(t *testing.T) {
	for _, shared := range []bool{true, false} {
		ld := func(dst uint16) ins { return load(isa.Shared, isa.CacheAll, dst) }
		list := make([]ins, 0, 10)
		for i := range uint16(10) {
			list = append(list, ld(i))
		}
		g := oneWarp(append(list, exit())...)
		g.addr = lanes(0, 128)
		b := newBench(t, func(m *sheets.Machine) { m.SM.CollectorsShared = shared })
		b.prof = make([]PC, len(g.code.Instr))
		at := b.issues(g)
		p := &b.prof[9]
		before := p.Stall[Fetch] + p.Stall[Dependency]
		if p.Stall[NotSelected] != 0 || p.Stall[Throttled] != at[9]-at[8]-1-before || p.Stall[Throttled] < 25 {
			t.Errorf("shared %v: the tenth load issued %d cycles after the ninth, stalls %v", shared, at[9]-at[8],
				p.Stall)
		}
	}
}

// An SM wakes for whatever comes first: an instruction that waits for a collector, not
// only the access at the head of the L1 pipeline.
func TestNextIsTheEarliest(t *testing.T) {
	for _, c := range []struct{ collector, l1, want uint64 }{
		{11, 50, 11},
		{50, 20, 20},
		{engine.Never, 20, 20},
		{5, 50, 11},
	} {
		s := newBench(t, nil).s
		s.pipe.collect.due = c.collector
		s.lsu.l1.queue.Push(access{at: c.l1})
		if got := s.next(10); got != c.want {
			t.Errorf("collector at %d, L1 at %d: wakes at %d, want %d", c.collector, c.l1, got, c.want)
		}
	}
}

// Of the collectors the first one that can goes on. Of six loads with 32 bank conflicts each
// the third waits in the first collector and the fourth in the second; the fifth gets the
// first one from the third, and so goes before the fourth, as does the sixth. Where the
// load/store unit has one queue nothing passes.
func TestYoungerLoadPasses(t *testing.T) {
	for _, c := range []struct {
		shared bool
		order  []int
	}{{true, []int{0, 1, 2, 4, 5}}, {false, []int{0, 1, 2, 3, 4}}} {
		list := make([]ins, 0, 14)
		for i := range uint16(6) {
			list = append(list, load(isa.Shared, isa.CacheAll, i))
		}
		g := oneWarp(append(list, exit())...)
		g.addr = lanes(0, 128)
		b := newBench(t, func(m *sheets.Machine) { m.SM.CollectorsShared = c.shared })
		var order []int
		b.each = func(uint64) { // with the last load the warp ends
			for i := range 6 {
				if wp := &b.s.pipe.warps.slot[0]; wp.ready[i] != notReady && wp.ready[i] > 0 &&
					!slices.Contains(order, i) {
					order = append(order, i)
				}
			}
		}
		b.run(g, 1, false)
		if !slices.Equal(order, c.order) {
			t.Errorf("shared %v: loads served in the order %v, want %v", c.shared, order, c.order)
		}
	}
}

// A context brings more memory instructions back than there is room for: others wait
// until fewer are left than fit, not until one has gone.
func TestRoomAfterRestore(t *testing.T) {
	s := newBench(t, func(m *sheets.Machine) { m.SM.CollectorsShared = false }).s
	most := s.cfg.collect.memQueue
	for range most + 2 {
		s.pipe.collect.enqueue()
	}
	for left := most + 1; left >= most-1; left-- {
		s.pipe.collect.dequeue(1)
		if full := s.pipe.collect.throttled&1 != 0; full != (left >= most) {
			t.Errorf("%d left of at most %d, full %v", left, most, full)
		}
	}
	s.pipe.collect.enqueue()
	if s.pipe.collect.throttled&1 == 0 {
		t.Errorf("room for one more than %d", most)
	}
}

// A taken branch alone costs the same however it is noticed. Where the front end fetches on
// behind it, a warp that can issue comes before one whose buffer has to be seen to be
// wrong: three of a scheduler's warps branch one after another, and the first fetches from
// its target when the third has branched, not while the others do.
func TestLateRedirect(t *testing.T) {
	for _, c := range []struct {
		warps int
		late  bool
		want  uint64 // cycles from warp 0's branch to its next instruction
	}{{1, false, 2}, {1, true, 2}, {3, false, 3}, {3, true, 4}} {
		nop := func(dst uint16) ins { return alu(isa.TimeOther, isa.INT, dst) }
		g := oneWarp(nop(0), nop(1), nop(2), nop(3), exit())
		g.jump = map[int]int32{1: 3}
		g.geo = isa.Geometry{Threads: 32 * 4 * c.warps, Warps: 4 * c.warps, Regs: 8}
		b := newBench(t, func(m *sheets.Machine) { m.SM.LateRedirect, m.SM.ZeroFirst = c.late, false })
		var at [5]uint64
		g.trace = func(_, w, pc int, now uint64) {
			if w == 0 {
				at[pc] = now
			}
		}
		b.run(g, 1, false)
		if got := at[3] - at[1]; got != c.want {
			t.Errorf("%d warps, late %v: %d cycles from branch to target, want %d", c.warps, c.late, got, c.want)
		}
	}
}

// On a local crossbar every sector is a packet: a request for four of them keeps the link
// for four cycles and takes four places of the miss queue. Elsewhere both take requests.
func TestSectorsOnTheLink(t *testing.T) {
	for _, kind := range []string{"local", "crossbar"} {
		list := make([]ins, 0, 13)
		for i := range uint16(12) {
			list = append(list, load(isa.Global, isa.CacheAll, i))
		}
		g := oneWarp(append(list, exit())...)
		g.addr = func(_, _, pc, l int) uint64 { return uint64(0x1000 + pc*128 + l*4) }
		b := newBench(t, func(m *sheets.Machine) { m.NoC.Kind, m.L1D.MissQueue = kind, 12 })
		most := 0
		b.each = func(uint64) { most = max(most, b.s.Out().Len()) }
		b.run(g, 1, false)
		for i := range b.sentAt[1:] {
			if got := b.sentAt[i+1] - b.sentAt[i]; (kind == "local") != (got == 4) {
				t.Errorf("%s: requests left the SM at %v", kind, b.sentAt)
				break
			}
		}
		if kind == "local" && most != 3 {
			t.Errorf("%d lines at most in a miss queue of 12 sectors, want 3", most)
		}
	}
}

// On a local crossbar a bank of the L1 has a place for each cycle of its lookup: while
// the interconnect takes nothing, no more accesses than that wait behind the tags.
func TestBankPipelines(t *testing.T) {
	for _, c := range []struct {
		kind string
		want int
	}{{"local", 5}, {"crossbar", 11}} { // of twelve the first is in the miss queue
		list := make([]ins, 0, 13)
		for i := range uint16(12) {
			list = append(list, load(isa.Global, isa.CacheAll, i))
		}
		g := oneWarp(append(list, exit())...)
		g.addr = func(_, _, pc, l int) uint64 { return uint64(0x1000 + pc*128 + l*4) }
		b := newBench(t, func(m *sheets.Machine) {
			m.NoC.Kind, m.L1D.Latency, m.L1D.MissQueue = c.kind, 5, 4
			if c.kind == "crossbar" {
				m.L1D.MissQueue = 1 // requests
			}
		})
		most := 0
		b.each = func(now uint64) { b.blocked, most = now < 300, max(most, b.s.lsu.l1.queue.Len()) }
		b.blocked = true
		b.run(g, 1, false)
		if most != c.want {
			t.Errorf("%s: %d accesses in the L1 pipeline, want %d", c.kind, most, c.want)
		}
	}
}

// An n-way bank conflict holds the load/store unit for n cycles.
func TestBankConflicts(t *testing.T) {
	for _, c := range []struct{ stride, want int }{{4, 1}, {0, 1}, {8, 2}, {32, 8}, {128, 32}, {132, 1}} {
		var a [isa.Lanes]uint64
		for l := range a {
			a[l] = uint64(l * c.stride)
		}
		if got := conflictCycles(^uint32(0), &a, 4, 32, false); got != c.want {
			t.Errorf("stride %d: %d cycles, want %d", c.stride, got, c.want)
		}
	}
	var same [isa.Lanes]uint64
	if got := conflictCycles(0xff, &same, 4, 32, true); got != 8 {
		t.Errorf("8 atomics on one word: %d cycles, want 8", got)
	}
}

func TestCoalescing(t *testing.T) {
	for _, c := range []struct {
		name          string
		base, stride  uint64
		width         uint8
		lines, sector int
	}{
		{"consecutive words", 0x1000, 4, 4, 1, 4},
		{"misaligned by one word", 0x1004, 4, 4, 2, 5},
		{"stride 2", 0x1000, 8, 4, 2, 8},
		{"one line each", 0x1000, 128, 4, 32, 32},
		{"one address", 0x1040, 0, 4, 1, 1},
		{"16-byte vectors", 0x1000, 16, 16, 4, 16},
	} {
		b := newBench(t, nil)
		in := store(isa.Global)
		in.Width = c.width
		g := oneWarp(in, exit())
		g.addr = lanes(c.base, c.stride)
		b.run(g, 1, false)
		sectors := 0
		for _, r := range b.sent {
			for s := range 4 {
				sectors += int(r.Sectors >> s & 1)
			}
		}
		if len(b.sent) != c.lines || sectors != c.sector {
			t.Errorf("%s: %d lines, %d sectors; want %d, %d", c.name, len(b.sent), sectors, c.lines, c.sector)
		}
	}
}

// A store of whole sectors says so, a partial one does not.
func TestFullSectors(t *testing.T) {
	b := newBench(t, nil)
	g := oneWarp(store(isa.Global), exit())
	g.addr = lanes(0x1000, 4)
	b.run(g, 1, false)
	if b.sent[0].Full != 0xf {
		t.Errorf("full sectors %04b, want all", b.sent[0].Full)
	}
	b = newBench(t, nil)
	g.addr = lanes(0x1000, 0)
	b.run(g, 1, false)
	if b.sent[0].Full != 0 || b.sent[0].Sectors != 1 {
		t.Errorf("32 stores to one word: full %04b of sectors %04b, want none of one", b.sent[0].Full,
			b.sent[0].Sectors)
	}
}

// A request says that it is for a load of what nobody writes; no other does, whatever entry of
// the operations it takes.
func TestReadOnlyRequests(t *testing.T) {
	b := newBench(t, nil)
	g := oneWarp(load(isa.Global, isa.CacheReadOnly, 0), alu(isa.IntAdd, isa.INT, 1, 0),
		load(isa.Global, isa.CacheAll, 2, 1), alu(isa.IntAdd, isa.INT, 3, 2), store(isa.Global, 3), exit())
	g.addr = func(_, _, pc, l int) uint64 { return uint64(0x1000 + pc*128 + l*4) }
	b.run(g, 1, false)
	for i, want := range []bool{true, false, false} {
		if b.sent[i].Flags&mem.ReadOnly != 0 != want {
			t.Errorf("request %d: %+v, want read-only %v", i, b.sent[i], want)
		}
	}
}

// A store says how many bytes it writes into each line, however its lanes lie.
func TestBytesWritten(t *testing.T) {
	for _, c := range []struct {
		stride uint64
		want   []uint8
	}{{4, []uint8{128}}, {8, []uint8{64, 64}}, {0, []uint8{4}}, {2048, []uint8{4, 4, 4}}} {
		b := newBench(t, nil)
		g := oneWarp(alu(isa.IntAdd, isa.INT, 0, 0), store(isa.Global, 0), exit())
		g.addr = func(_, _, _, l int) uint64 { return 0x1000 + uint64(l)*c.stride }
		b.run(g, 1, false)
		for i, n := range c.want {
			if b.sent[i].Bytes != n {
				t.Errorf("stride %d, request %d: %d bytes, want %d", c.stride, i, b.sent[i].Bytes, n)
			}
		}
	}
}

// Two misses on one line become one request; the second is a pending hit.
func TestMSHRMerge(t *testing.T) {
	b := newBench(t, nil)
	g := oneWarp(load(isa.Global, isa.CacheAll, 0), load(isa.Global, isa.CacheAll, 1),
		alu(isa.IntAdd, isa.INT, 2, 0, 1), exit())
	g.addr = lanes(0x1000, 4)
	b.run(g, 1, false)
	row := b.table.Row(0, 0)
	if len(b.sent) != 1 || row[L1Misses] != 4 || row[L1Pending] != 4 {
		t.Errorf("%d requests, %d misses, %d pending hits; want 1, 4, 4", len(b.sent), row[L1Misses], row[L1Pending])
	}
}

// Conservation: every request is answered, every warp and CTA ends, nothing is
// left in flight, with few MSHRs, a tiny queue and one set too.
func TestNothingIsLost(t *testing.T) {
	tight := func(m *sheets.Machine) {
		m.L1D.MSHRs, m.L1D.Merge, m.L1D.MissQueue = 4, 1, 1
		m.L1D.Unified, m.L1D.Sets, m.L1D.Ways = 0, 1, 2
	}
	for name, change := range map[string]func(*sheets.Machine){"roomy": nil, "tight": tight} {
		b := newBench(t, change)
		g := &scripted{geo: isa.Geometry{Threads: 128, Warps: 4, Regs: 16, SharedBytes: 1024}, code: program(
			load(isa.Global, isa.CacheAll, 0), load(isa.Global, isa.CacheGlobal, 1), alu(isa.FpMad, isa.SP, 2, 0,
				1), barrierIns(),
			store(isa.Global, 2), ins{
				Instr: isa.Instr{Kind: isa.Atomic, Unit: isa.LDST, Space: isa.Global, Width: 4},
				dst:   []uint16{3},
			},
			ins{Instr: isa.Instr{Kind: isa.Fence, Unit: isa.LDST}}, load(isa.Shared, isa.CacheAll, 4, 3), exit())}
		g.addr = func(cta, w, pc, l int) uint64 { return uint64(0x10000 + (cta*7+w*13+pc)*512 + l*24&^3) }
		b.run(g, 40, false)
		l := &b.s.lsu
		if g.ended != 40 || b.slab.Live() != 0 || len(l.ops.free) != len(l.ops.list) || l.l1.mshrs.Pending() != 0 {
			t.Errorf("%s: %d CTAs ended, %d requests live, %d of %d operations free, %d MSHR sectors in use",
				name, g.ended, b.slab.Live(), len(l.ops.free), len(l.ops.list), l.l1.mshrs.Pending())
		}
		row := b.table.Row(0, 0)
		if row[WarpInsts] != 40*4*9 || row[CTAsDone] != 40 || row[Requests] != uint64(len(b.sent)) {
			t.Errorf("%s: %d warp instructions, %d CTAs, %d requests counted and %d sent", name, row[WarpInsts],
				row[CTAsDone], row[Requests], len(b.sent))
		}
	}
}

// Ticking an SM when it has nothing to do changes nothing.
func TestIdleTicksChangeNothing(t *testing.T) {
	run := func(every bool) (uint64, []uint64) {
		b := newBench(t, nil)
		g := &scripted{geo: isa.Geometry{Threads: 256, Warps: 8, Regs: 16}, code: program(
			load(isa.Global, isa.CacheAll, 0), alu(isa.Special, isa.SFU, 1, 0), barrierIns(),
			load(isa.Shared, isa.CacheAll, 2, 1), store(isa.Global, 2), exit())}
		g.addr = func(cta, w, pc, l int) uint64 { return uint64(0x10000+cta*4096+w*128+l*(4+pc)) &^ 3 }
		return b.run(g, 20, every), append([]uint64(nil), b.table.Row(0, 0)...)
	}
	n1, c1 := run(false)
	n2, c2 := run(true)
	if n1 != n2 {
		t.Fatalf("%d cycles with skipping, %d without", n1, n2)
	}
	for i := range c1 {
		if c1[i] != c2[i] {
			t.Errorf("counter %s: %d with skipping, %d without", Counters()[i].Name, c1[i], c2[i])
		}
	}
}

// A barrier holds every warp until the last has arrived; warps that have exited
// do not count.
func TestBarrier(t *testing.T) {
	b := newBench(t, nil)
	g := &scripted{geo: isa.Geometry{Threads: 96, Warps: 3, Regs: 8}, code: program(load(isa.Global, isa.CacheAll, 0),
		alu(isa.IntAdd, isa.INT, 1, 0), barrierIns(), exit())}
	g.addr = func(_, w, _, l int) uint64 { return uint64(0x1000*(w+1) + 4*l) }
	var arrived, left [3]uint64
	g.trace = func(_, w, pc int, now uint64) {
		switch pc {
		case 2:
			arrived[w] = now
		case 3:
			left[w] = now
		}
	}
	b.run(g, 1, false)
	last := max(arrived[0], arrived[1], arrived[2])
	for w := range left {
		if left[w] <= last {
			t.Errorf("warp %d went on at %d, the last arrived at %d", w, left[w], last)
		}
	}
}

// Residency is limited by threads, CTAs, registers and shared memory.
func TestOccupancy(t *testing.T) {
	b := newBench(t, nil)
	for _, c := range []struct {
		g    isa.Geometry
		want int
	}{
		{isa.Geometry{Threads: 32, Warps: 1, Regs: 8}, 32},
		{isa.Geometry{Threads: 256, Warps: 8, Regs: 32}, 8},
		{isa.Geometry{Threads: 256, Warps: 8, Regs: 64}, 4},
		{isa.Geometry{Threads: 64, Warps: 2, Regs: 16, SharedBytes: 40 << 10}, 2},
		{isa.Geometry{Threads: 1024, Warps: 32, Regs: 128}, 0},
	} {
		if got := b.s.cfg.Occupancy(&c.g); got != c.want {
			t.Errorf("%+v: %d CTAs, want %d", c.g, got, c.want)
		}
	}
}

// The steady tick allocates nothing.
func TestTickAllocatesNothing(t *testing.T) {
	b := newBench(t, nil)
	list := []ins{load(isa.Global, isa.CacheAll, 0)}
	for range 2000 {
		list = append(list, load(isa.Global, isa.CacheAll, 1, 0), alu(isa.FpMad, isa.SP, 2, 1), store(isa.Global, 2),
			load(isa.Shared, isa.CacheAll, 3))
	}
	g := &scripted{geo: isa.Geometry{Threads: 256, Warps: 8, Regs: 16, CTAs: 1}, code: program(append(list, exit())...)}
	g.addr = func(_, w, pc, l int) uint64 { return uint64(0x10000+w*65536+pc*128+l*4) & 0xfffff }
	k := &Kernel{Grid: g, Code: &g.code, Geo: g.geo}
	if err := b.s.Start(k, 0, 0); err != nil {
		t.Fatal(err)
	}
	now := uint64(0)
	var hold [64]flight
	tick := func() {
		now++
		for i := range hold {
			if hold[i].at == now {
				b.s.Deliver(hold[i].h, now)
			}
		}
		b.s.Tick(now)
		if b.s.Out().Len() > 0 {
			for i := range hold {
				if hold[i].at < now {
					hold[i] = flight{now + 50, *b.s.Out().Head()}
					b.s.Sent(now)
					break
				}
			}
		}
	}
	for range 3000 {
		tick()
	}
	if n := testing.AllocsPerRun(5, func() {
		for range 1000 {
			tick()
		}
	}); n != 0 {
		t.Errorf("%v allocations in 1000 ticks", n)
	}
	if b.s.Resident() == 0 {
		t.Error("the CTA ended before the measurement did")
	}
}

// Conflicts are the largest number of distinct words any bank delivers, of lanes
// where each counts.
func TestConflictsAgainstCounting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.SampledFrom([]uint8{1, 2, 4, 8, 16}).Draw(t, "width")
		banks := rapid.SampledFrom([]int{16, 24, 32, 64}).Draw(t, "banks")
		serial := rapid.Bool().Draw(t, "serial")
		mask := rapid.Uint32Min(1).Draw(t, "mask")
		span := rapid.SampledFrom([]int{8, 64, 1024}).Draw(t, "span")
		step := rapid.IntRange(-1, span).Draw(t, "step") // -1: anywhere
		var addr [isa.Lanes]uint64
		want, seen := map[int]int{}, map[uint64]bool{}
		worst := 0
		for l := range addr {
			n := l * step
			if step < 0 {
				n = rapid.IntRange(0, span).Draw(t, "word")
			}
			addr[l] = uint64(n) * uint64(width)
			for k := range max(1, uint64(width)/4) {
				if w := addr[l]>>2 + k; mask>>l&1 != 0 && (serial || !seen[w]) {
					seen[w] = true
					b := int(w % uint64(banks))
					want[b]++
					worst = max(worst, want[b])
				}
			}
		}
		if got := conflictCycles(mask, &addr, width, banks, serial); got != worst {
			t.Fatalf("%d cycles, counting says %d", got, worst)
		}
		memo := conflictMemo{banks: banks}
		from := uint64(rapid.IntRange(0, 256).Draw(t, "from")) * uint64(width)
		for range 2 { // at one place, then at another
			if got := memo.cycles(3, mask, &addr, width, serial); got != worst {
				t.Fatalf("%d cycles remembered, counting says %d", got, worst)
			}
			for l := range addr {
				addr[l] += from / 4 * 4
			}
		}
	})
}

// The short cut for equally spaced addresses agrees with the general method.
func TestAffineShortCut(t *testing.T) {
	for _, stride := range []int{0, 4, 8, 12, 16, 20, 32, 64, 128, 132, 256, -4} {
		var a, b [isa.Lanes]uint64
		for l := range a {
			a[l] = uint64(1<<20 + l*stride)
		}
		b = a
		b[30], b[31] = b[31], b[30] // the same set of words, no longer equally spaced
		if x, y := conflictCycles(^uint32(0), &a, 4, 32, false), conflictCycles(^uint32(0), &b, 4, 32, false); x != y {
			t.Errorf("stride %d: %d cycles by formula, %d by counting", stride, x, y)
		}
	}
	for _, base := range []uint64{0x1000, 0x1004, 0x1020, 0x107c} {
		for _, width := range []uint8{4, 8, 16} {
			c := coalescer{lineShift: 7, sectorShift: 5, sectors: 4}
			d := c
			var a, b [isa.Lanes]uint64
			for l := range a {
				a[l] = base&^uint64(width-1) + uint64(l)*uint64(width)
			}
			b = a
			b[30], b[31] = b[31], b[30]
			c.merge(^uint32(0), &a, width, true)
			d.merge(^uint32(0), &b, width, true)
			if c.n != d.n {
				t.Fatalf("base %x width %d: %d lines and %d", base, width, c.n, d.n)
			}
			for i := range c.n {
				if c.acc[i] != d.acc[i] {
					t.Errorf("base %x width %d: %+v and %+v", base, width, c.acc[i], d.acc[i])
				}
			}
		}
	}
}

func TestPickers(t *testing.T) {
	older := &[64]uint64{0b1010, 0b1000, 0b1011, 0} // launched in the order 3, 1, 0, 2
	for _, c := range []struct {
		name string
		pick picker
		cand uint64
		last int
		want int
	}{
		{"lrr goes on after the last", lrr, 0b1011, 0, 1},
		{"lrr wraps", lrr, 0b0011, 2, 0},
		{"lrr may repeat the only one", lrr, 0b0100, 2, 2},
		{"lrr at the last slot", lrr, 1<<63 | 1, 63, 0},
		{"gto stays", gto, 0b1111, 2, 2},
		{"gto takes the oldest", gto, 0b0111, 3, 1},
		{"gto, the only one", gto, 0b0001, 3, 0},
	} {
		if got := c.pick(c.cand, c.last, older); got != c.want {
			t.Errorf("%s: warp %d, want %d", c.name, got, c.want)
		}
	}
}

// TestMergeAtomic: lanes that change the same word are transactions of their own. Apart, so
// are the sectors of a line, the highest first; otherwise a line's lie together.
func TestMergeAtomic(t *testing.T) {
	var addr [isa.Lanes]uint64
	for i := range addr {
		addr[i] = 0x1000 + uint64(i)*4 // one line
	}
	addr[1], addr[2] = 0x1000, 0x2020
	for _, apart := range []bool{false, true} {
		c := coalescer{lineShift: 7, sectorShift: 5, sectors: 4, apart: apart}
		c.mergeAtomic(^uint32(0), &addr, 4)
		want := []access{
			{line: 0x1000, sectors: 0b1111, bytes: 30 * 4},
			{line: 0x1000, sectors: 0b0001, bytes: 4},
			{line: 0x2000, sectors: 0b0010, bytes: 4},
		}
		if apart {
			want = []access{
				{line: 0x2000, sectors: 0b0010, bytes: 4},
				{line: 0x1000, sectors: 0b1000, bytes: 32},
				{line: 0x1000, sectors: 0b0100, bytes: 32},
				{line: 0x1000, sectors: 0b0010, bytes: 32},
				{line: 0x1000, sectors: 0b0001, bytes: 24},
				{line: 0x1000, sectors: 0b0001, bytes: 4},
			}
		}
		if got := c.acc[:c.n]; !slices.Equal(got, want) {
			t.Errorf("apart %v: %+v, want %+v", apart, got, want)
		}
	}
}

// TestSharedAtomics: 32 lanes that change one word of shared memory take turns, and with
// sm.atomic_broadcast do not.
func TestSharedAtomics(t *testing.T) {
	var took [2]uint64
	for i, at := range []bool{false, true} {
		b := newBench(t, func(m *sheets.Machine) { m.SM.AtomicBroadcast = at })
		op := atomicOp(1)
		op.Space = isa.Shared
		g := oneWarp(op, alu(isa.IntAdd, isa.INT, 2, 1), exit())
		g.addr = lanes(0, 0)
		issued := b.issues(g)
		took[i] = issued[1] - issued[0]
	}
	if took[0] != took[1]+31 {
		t.Errorf("the result is there after %d cycles, with atomic_broadcast after %d: want 31 less", took[0], took[1])
	}
}

// TestAtomicWait: with sm.atomic_wait nothing of a warp issues before its atomic is
// performed, a load before it not answered yet makes no difference; without, only what
// reads the result waits.
func TestAtomicWait(t *testing.T) {
	for _, wait := range []bool{true, false} {
		b := newBench(t, func(m *sheets.Machine) { m.SM.AtomicWait = wait })
		g := oneWarp(load(isa.Global, isa.CacheAll, 0), atomicOp(1), alu(isa.IntAdd, isa.INT, 2),
			alu(isa.IntAdd, isa.INT, 3, 1), exit())
		g.addr = lanes(0x1000, 0)
		at := b.issues(g)
		free, result := at[2]-at[1], at[3]-at[1]
		if result < b.delay {
			t.Errorf("wait %v: the result is read after %d cycles, the memory takes %d", wait, result, b.delay)
		}
		if wait && free < b.delay || !wait && free > 4 {
			t.Errorf("wait %v: the next instruction issues after %d cycles", wait, free)
		}
		g = oneWarp(load(isa.Global, isa.CacheAll, 0), atomicOp(1), alu(isa.IntAdd, isa.INT, 3, 1), exit())
		g.addr = lanes(0x1000, 0)
		at = newBench(t, func(m *sheets.Machine) { m.SM.AtomicWait = wait }).issues(g)
		if first := at[2] - at[1]; wait && (first != free+1 || result != first) {
			t.Errorf("right behind the atomic what reads its result issues after %d cycles, behind another %d, "+
				"and what does not after %d: want that a cycle before either", first, result, free)
		}
	}
}

// TestWritePort: sectors of two lines that arrive together reach the register file one
// per cycle with l1d.write_port, those of a load that hit the first line's fill in turn;
// at once without.
func TestWritePort(t *testing.T) {
	for _, port := range []bool{true, false} {
		s := newBench(t, func(m *sheets.Machine) { m.L1D.WritePort = port }).s
		var ops []int32
		line := func(sectors ...uint8) int32 { // which loads wait for
			i := s.lsu.l1.tags.Victim(0)
			s.lsu.l1.tags.Fill(i, 0, 0)
			for _, m := range sectors {
				op := s.lsu.ops.get()
				s.lsu.ops.list[op] = memOp{warp: noWarp, left: 2} // one more than is answered here
				s.lsu.l1.mshrs.Wait(i, op, m)
				ops = append(ops, op)
			}
			return i
		}
		s.lsu.fill(&s.pipe, line(0b1111, 0b0011), 0b1111, 100) // came in cycles 97 to 100
		s.lsu.fill(&s.pipe, line(0b0001), 0b0001, 100)
		back := s.cfg.ldst.back + s.cfg.l1.returnLatency
		want := []uint64{100 + back, 102 + back, 103 + back}
		if !port {
			want = []uint64{100 + back, 100 + back, 100 + back}
		}
		for k, op := range ops {
			if got := s.lsu.ops.list[op].at; got != want[k] {
				t.Errorf("port %v: load %d is written back in cycle %d, want %d", port, k, got, want[k])
			}
		}
	}
}
