package cache

import (
	"testing"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// bench is a slice with a DRAM that answers after a fixed delay.
type bench struct {
	t     *testing.T
	s     *Slice
	slab  *mem.Slab
	table *stat.Table
	dram  []mem.Fetch // everything asked of DRAM
}

func newBench(t *testing.T, change func(l *sheets.LLC)) *bench {
	t.Helper()
	m, _, err := sheets.Load("qv100")
	if err != nil {
		t.Fatal(err)
	}
	l := m.LLC
	if change != nil {
		change(&l)
	}
	cfg, err := Derive(&l)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, slab: mem.NewSlab(64), table: stat.NewTable("llc", Counters(), 1, 1)}
	if b.s, err = New(0, cfg, b.slab, b.table, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

type want struct {
	line          uint64
	op            mem.Op
	sectors, full uint8
	at            uint64 // arrival
}

// run offers the requests at their times and returns when each was answered.
func (b *bench) run(delay uint64, list ...want) []uint64 {
	b.t.Helper()
	out := make([]uint64, len(list))
	of := map[int32]int{}
	var flight []struct {
		at uint64
		f  mem.Fetch
	}
	left := len(list)
	for now := uint64(0); left > 0; now++ {
		if now > 100_000 {
			b.t.Fatalf("%d requests unanswered", left)
		}
		for i, w := range list {
			if w.at == now {
				h := b.slab.Get()
				b.slab.R[h] = mem.Req{Line: w.line, Op: w.op, Sectors: w.sectors, Full: w.full}
				of[h] = i
				b.s.Accept(h, now)
			}
		}
		for i := 0; i < len(flight); i++ {
			if flight[i].at == now {
				b.s.Fill(flight[i].f)
			}
		}
		b.s.Tick(now)
		for b.s.Below.Len() > 0 && b.s.Below.Head().At <= now+1 {
			f := b.s.Below.Pop()
			b.dram = append(b.dram, f)
			if !f.Write() {
				flight = append(flight, struct {
					at uint64
					f  mem.Fetch
				}{now + delay, f})
			}
			b.s.Retry(now)
		}
		for b.s.Reply.Len() > 0 && b.s.Reply.Head().At <= now {
			a := b.s.Reply.Pop()
			out[of[a.H]] = now
			b.slab.Put(a.H)
			left--
			b.s.Retry(now)
		}
	}
	if b.slab.Live() != 0 || b.s.mshrs.Pending() != 0 {
		b.t.Errorf("%d requests and %d MSHR sectors left", b.slab.Live(), b.s.mshrs.Pending())
	}
	return out
}

// A miss costs pipeline + miss queue + DRAM + fill + data access, a hit pipeline + data access, a
// line of four sectors keeps the tags for four cycles.
func TestLatencies(t *testing.T) {
	b := newBench(t, func(l *sheets.LLC) {
		l.Latency, l.HitLatency, l.PortBytes, l.MissLatency, l.FillLatency = 10, 2, 32, 3, 4
	})
	got := b.run(50, want{line: 0x1000, sectors: 0xf, at: 0}, want{line: 0x1000, sectors: 0xf, at: 100},
		want{line: 0x1000, sectors: 1, at: 100})
	for i, w := range []uint64{69, 112, 116} {
		if got[i] != w {
			t.Errorf("request %d answered at %d, want %d", i, got[i], w)
		}
	}
}

// A hit looked up in the clock of a fill leaves before the answer that waited for the fill, which
// takes a cycle more; one looked up in the next clock leaves after it.
func TestHitsOvertakeFills(t *testing.T) {
	b := newBench(t, func(l *sheets.LLC) { l.Latency, l.HitLatency, l.MissLatency, l.FillLatency = 10, 1, 0, 1 })
	b.s.Prefill(0x1000, 0xf, 0)
	fill := uint64(10 + 50) // of the request that misses
	got := b.run(50, want{line: 0x2000, sectors: 1}, want{line: 0x1000, sectors: 1, at: fill - 10},
		want{line: 0x1000, sectors: 2, at: fill - 9})
	for i, w := range []uint64{fill + 2, fill + 1, fill + 2} {
		if got[i] != w {
			t.Errorf("request %d answered at %d, want %d", i, got[i], w)
		}
	}
}

// Requests for a sector on its way merge; a full merge list stalls, and nothing is
// fetched twice.
func TestMergeLimit(t *testing.T) {
	b := newBench(t, func(l *sheets.LLC) { l.Merge = 2 })
	b.run(400, want{line: 0, sectors: 1}, want{line: 0, sectors: 1, at: 1}, want{line: 0, sectors: 1, at: 2},
		want{line: 0, sectors: 3, at: 3})
	row := b.table.Row(0, 0)
	if len(b.dram) != 2 || row[Stalls] == 0 || row[Pending] != 1 {
		t.Errorf("%d fetches, %d stall cycles, %d pending hits; want 2, some, 1", len(b.dram), row[Stalls],
			row[Pending])
	}
}

// A dirty line is written back when it is replaced, only its dirty sectors; a
// fully written sector is readable, a partly written one is fetched when read.
func TestWriteBackAndLazyFetch(t *testing.T) {
	b := newBench(t, func(l *sheets.LLC) { l.Sets, l.Ways, l.Index, l.WriteAlloc = 1, 1, "linear", "lazy" })
	b.run(20, want{line: 0, op: mem.Write, sectors: 3, full: 1}, want{line: 0, sectors: 1, at: 500},
		want{line: 0, sectors: 2, at: 1000}, want{line: 128, sectors: 1, at: 1500})
	if len(b.dram) != 3 {
		t.Fatalf("DRAM saw %+v, want the fetch of sector 2, the write-back and the new line", b.dram)
	}
	if b.dram[0].Sectors != 2 || b.dram[0].Write() {
		t.Errorf("first %+v, want a fetch of the partly written sector", b.dram[0])
	}
	if b.dram[1].Owner != mem.ForNobody || b.dram[1].Sectors != 3 || b.dram[1].Line != 0 {
		t.Errorf("second %+v, want the write-back of sectors 0 and 1", b.dram[1])
	}
}

// An atomic holds the slice as long as the sheet says, fractions of a cycle added up, or as its words
// need: 8 at 4 a cycle.
func TestAtomicsTakeTheirTime(t *testing.T) {
	for _, c := range []struct {
		cycles, words float64
		want          [4]uint64
	}{{0, 0, [4]uint64{12, 13, 14, 15}}, {1.5, 0, [4]uint64{12, 13, 15, 16}}, {1.5, 4, [4]uint64{12, 14, 16, 18}}} {
		b := newBench(t, func(l *sheets.LLC) {
			l.Latency, l.HitLatency, l.AtomicCycles, l.AtomicWords = 10, 2, c.cycles, c.words
		})
		b.s.Prefill(0x1000, 0xf, 0)
		one := want{line: 0x1000, op: mem.ReduceOp, sectors: 1}
		if got := [4]uint64(b.run(50, one, one, one, one)); got != c.want {
			t.Errorf("%g cycles, %g words: answered at %d, want %d", c.cycles, c.words, got, c.want)
		}
	}
}

// One unit that changes words for several slices does one request after the other; the word of the request before
// takes longer, of floats longer still, and a compare and swap has twice the operands.
func TestChangerIsShared(t *testing.T) {
	cost := deriveAtomics(&sheets.LLC{
		Sector: 32, AtomicCycles: 1, AtomicWords: 8, AtomicSame: [2]float64{1.5, 3.5},
	})
	a, b := &Slice{changer: &changer{}}, &Slice{changer: &changer{}}
	b.ShareAtomics(a)
	for i, c := range []struct {
		s    *Slice
		r    mem.Req
		want uint64
	}{
		{a, mem.Req{Line: 0x000, Sectors: 1, Bytes: 4}, 101},
		{b, mem.Req{Line: 0x100, Sectors: 1, Bytes: 4}, 102},
		{a, mem.Req{Line: 0x100, Sectors: 1, Bytes: 4}, 103}, // 103.5
		{b, mem.Req{Line: 0x100, Sectors: 1, Bytes: 4, Change: isa.Float}, 107},
		{a, mem.Req{Line: 0x200, Sectors: 15, Bytes: 128}, 111},
		{a, mem.Req{Line: 0x300, Sectors: 15, Bytes: 128, Change: isa.Compare}, 119},
	} {
		if got := c.s.changer.perform(&cost, &c.r, 100); got != c.want {
			t.Errorf("request %d: done at %d, want %d", i, got, c.want)
		}
	}
}

// Writes keep the data array for as long as write_port says: 32 bytes a cycle are read, 16 written.
func TestWritesHaveTheirPort(t *testing.T) {
	b := newBench(t, func(l *sheets.LLC) { l.Latency, l.HitLatency, l.PortBytes, l.WritePort = 10, 2, 32, 16 })
	b.s.Prefill(0x1000, 0xf, 0)
	read, write := want{line: 0x1000, sectors: 1}, want{line: 0x1000, op: mem.Write, sectors: 1, full: 1}
	if got := [4]uint64(b.run(50, read, write, read, read)); got != [4]uint64{12, 13, 15, 16} {
		t.Errorf("answered at %d, want 12, 13, 15 and 16", got)
	}
}

// An atomic makes its sectors dirty.
func TestAtomicDirties(t *testing.T) {
	b := newBench(t, func(l *sheets.LLC) { l.Sets, l.Ways, l.Index = 1, 1, "linear" })
	b.run(20, want{line: 0, op: mem.AtomicOp, sectors: 4}, want{line: 128, sectors: 1, at: 600})
	if b.dram[1].Owner != mem.ForNobody || b.dram[1].Sectors != 4 {
		t.Errorf("after the atomic DRAM saw %+v, want its sector written back", b.dram)
	}
}

// A slice with nothing to do asks not to be visited.
func TestIdleIsNever(t *testing.T) {
	b := newBench(t, nil)
	b.run(30, want{line: 0, sectors: 1})
	if n := b.s.Tick(10_000); n != engine.Never {
		t.Errorf("idle slice wants cycle %d", n)
	}
}

// A slice that is ahead of those who ask tells how full it was.
func TestAhead(t *testing.T) {
	b := newBench(t, func(l *sheets.LLC) { l.InQueue, l.Latency = 2, 3 })
	room := func(now uint64, want bool) {
		t.Helper()
		if got := b.s.CanAccept(now); got != want {
			t.Errorf("clock %d: room %v, want %v", now, got, want)
		}
	}
	for i := range 5 { // the queue and the pipeline before it
		room(0, true)
		h := b.slab.Get()
		b.slab.R[h] = mem.Req{Line: uint64(i) << 7, Op: mem.Write, Sectors: 1, Full: 1}
		b.s.Accept(h, 0)
	}
	room(0, false)
	for now := range uint64(5) { // the first requests leave at clocks 3 and 4
		b.s.Tick(now)
	}
	room(1, false)
	room(2, false)
	room(3, true)
	b.s.Accept(5, 3)
	room(3, false)
	room(4, true)
	if b.s.Queued() != 4 {
		t.Errorf("%d requests queued, want 4", b.s.Queued())
	}
}
