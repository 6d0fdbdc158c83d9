package cache

import (
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// pairBench is two slices that share, each the home of half of the lines, with a network and a
// memory that take fixed times.
type pairBench struct {
	t     *testing.T
	slab  *mem.Slab
	s     [2]*Slice
	table *stat.Table
	now   uint64
	wires []pairFlight
	done  map[int32]uint64 // by handle, of SMs: when it was answered
	asked [2]int           // fetches below
}

// pairFlight is something on its way: a fetch that comes back, a request or an answer that crosses.
type pairFlight struct {
	at   uint64
	to   int
	kind string
	f    mem.Fetch
	h    int32
}

const (
	pairHop = 7  // clocks between the slices
	pairMem = 50 // of the memory
)

func newPair(t *testing.T, keep, coherent bool, change func(l *sheets.LLC)) *pairBench {
	t.Helper()
	m, _, err := sheets.Load("nuba")
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&m.LLC)
	}
	cfg, err := Derive(&m.LLC)
	if err != nil {
		t.Fatal(err)
	}
	b := &pairBench{t: t, slab: mem.NewSlab(64), done: map[int32]uint64{}}
	b.table = stat.NewTable("llc", Counters(), 2, 1)
	for i := range b.s {
		if b.s[i], err = New(i, cfg, b.slab, b.table, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range b.s {
		x := Peers{Port: mem.Port(10 + i), Queue: 4, Keep: keep}
		if coherent {
			x.Copies = b.s[1-i].Holds
		}
		s.SetPeers(x)
	}
	return b
}

// send has an SM near slice i ask for a line whose home is another or the same one.
func (b *pairBench) send(i, home int, op mem.Op, line uint64) int32 {
	h := b.slab.Get()
	full := uint8(0)
	if op == mem.Write {
		full = 1
	}
	b.slab.R[h] = mem.Req{Line: line, Op: op, Sectors: 1, Full: full, Slice: int16(home), Port: mem.Port(i)}
	b.s[i].Accept(h, b.now)
	return h
}

// cross puts something on the way to the other slice.
func (b *pairBench) cross(from int, kind string, h int32) {
	b.wires = append(b.wires, pairFlight{at: b.now + pairHop, to: 1 - from, kind: kind, h: h})
}

// run goes on for some clocks.
func (b *pairBench) run(clocks uint64) {
	for end := b.now + clocks; b.now < end; b.now++ {
		for i := 0; i < len(b.wires); i++ {
			w := b.wires[i]
			if w.at != b.now {
				continue
			}
			b.land(&w)
		}
		for i, s := range b.s {
			s.Tick(b.now)
			for s.Below.Len() > 0 {
				if f := s.Below.Pop(); !f.Write() {
					b.asked[i]++
					b.wires = append(b.wires, pairFlight{at: b.now + pairMem, to: i, kind: "fill", f: f})
				}
			}
			for s.Forward().Len() > 0 {
				b.cross(i, "request", s.Forward().Pop())
			}
			for s.Recall().Len() > 0 {
				b.cross(i, "recall", s.Recall().Pop())
			}
			for s.Far().Len() > 0 && s.Far().Head().At <= b.now {
				b.cross(i, "answer", s.Far().Pop().H)
			}
			for s.Reply.Len() > 0 && s.Reply.Head().At <= b.now {
				b.done[s.Reply.Pop().H] = b.now
			}
			if s.Stalled() {
				s.Retry(b.now)
			}
		}
	}
}

// land takes what has crossed.
func (b *pairBench) land(w *pairFlight) {
	s := b.s[w.to]
	switch r := &b.slab.R[w.h]; w.kind {
	case "fill":
		s.Fill(w.f)
	case "request":
		s.AcceptFar(w.h, b.now)
	case "recall":
		s.Invalidate(r.Line)
		b.cross(w.to, "recalled", w.h)
	case "recalled":
		s.Recalled(w.h, b.now)
	case "answer":
		if r.Port >= 10 {
			s.Fill(mem.Fetch{Line: r.Line, Token: r.Tag, Sectors: r.Sectors})
			return
		}
		b.done[w.h] = b.now
	}
}

// TestCopyLatency: a read that misses here and at home takes both lookups, the way there and back
// and the memory; the next one finds the copy; at home the line is there, too.
func TestCopyLatency(t *testing.T) {
	b := newPair(t, true, false, nil)
	first := b.send(0, 1, mem.Read, 0x1000)
	b.run(500)
	second, third := b.send(0, 1, mem.Read, 0x1000), b.send(1, 1, mem.Read, 0x1000)
	begin := b.now
	b.run(500)
	const lookup = 119 + 1
	// Lookup, hop, lookup until the memory is asked, the memory, a clock for the answer, hop, a clock for the answer.
	if want := uint64(119 + pairHop + 119 + pairMem + 1 + pairHop + 1); b.done[first] != want {
		t.Errorf("the first read took %d clocks, want %d", b.done[first], want)
	}
	if b.done[second]-begin != lookup || b.done[third]-begin != lookup {
		t.Errorf("of a copy %d and at home %d clocks, want %d", b.done[second]-begin, b.done[third]-begin, lookup)
	}
	if b.asked != [2]int{0, 1} {
		t.Errorf("the memories were asked %v times", b.asked)
	}
	if row := b.table.Row(0, 0); row[CopyReads] != 2 || row[CopyHits] != 1 {
		t.Errorf("%d copies looked up, %d found; want 2 and 1", row[CopyReads], row[CopyHits])
	}
}

// TestFillLocal: a home that keeps only what its own SMs ask for forgets what it fetched for
// others, and fetches it again for its own.
func TestFillLocal(t *testing.T) {
	b := newPair(t, false, false, nil)
	b.send(0, 1, mem.Read, 0x1000)
	b.run(500)
	if b.s[1].Holds(0x1000) || !b.s[0].Holds(0x1000) {
		t.Error("the home keeps the line, or who asked does not")
	}
	b.send(1, 1, mem.Read, 0x1000)
	b.send(0, 1, mem.Read, 0x2000)
	b.send(1, 1, mem.Read, 0x2000)
	b.run(800)
	if !b.s[1].Holds(0x1000) || !b.s[1].Holds(0x2000) || b.asked[1] != 3 {
		t.Errorf("lines that SMs near their home wait for are not kept; %d fetches, want 3", b.asked[1])
	}
}

// TestCoherence: a write at home recalls the other half's copy before it is acknowledged; one of
// the other half goes into its copy and on to the home; an atomic does without the copy.
func TestCoherence(t *testing.T) {
	b := newPair(t, false, true, nil)
	b.send(0, 1, mem.Read, 0x1000)
	b.run(500)
	begin := b.now
	plain, recalled := b.send(1, 1, mem.Write, 0x8000), b.send(1, 1, mem.Write, 0x1000)
	b.run(500)
	if b.done[plain]-begin != 120 || b.done[recalled]-begin < 120+2*pairHop || b.s[0].Holds(0x1000) {
		t.Errorf("writes took %d and %d clocks, the copy is there: %v; want 120, a round trip more, false",
			b.done[plain]-begin, b.done[recalled]-begin, b.s[0].Holds(0x1000))
	}
	b.send(0, 1, mem.Read, 0x1000)
	b.run(500)
	through := b.send(0, 1, mem.Write, 0x1000)
	b.run(500)
	if b.done[through] == 0 || !b.s[0].Holds(0x1000) || !b.s[1].Holds(0x1000) {
		t.Error("a write of the other half leaves its copy and is performed at home")
	}
	atomic := b.send(0, 1, mem.AtomicOp, 0x1000)
	b.run(500)
	if b.done[atomic] == 0 || b.s[0].Holds(0x1000) {
		t.Error("an atomic is performed at home, and the copy it makes useless goes")
	}
	if r := b.table.Row(1, 0); r[Recalls] != 1 || b.table.Row(0, 0)[Passed] != 2 {
		t.Errorf("%d recalls and %d requests passed on, want 1 and 2", r[Recalls], b.table.Row(0, 0)[Passed])
	}
}

// TestWalkCopies: an entry of a page table is looked up, and kept, in the half that walks; its walk
// is no write of anything.
func TestWalkCopies(t *testing.T) {
	b := newPair(t, false, true, nil)
	b.send(0, 1, mem.Read, 0x1000)
	b.run(500)
	walk := b.send(0, 1, mem.Walk, 0x1000)
	begin := b.now
	b.run(500)
	if b.done[walk]-begin != 120 || !b.s[0].Holds(0x1000) {
		t.Errorf("the walk took %d clocks, want 120; the copy is there: %v", b.done[walk]-begin, b.s[0].Holds(0x1000))
	}
}

// TestDoomed: a copy that is on its way while its line is written answers who waits and is not
// found afterwards.
func TestDoomed(t *testing.T) {
	b := newPair(t, false, true, nil)
	read := b.send(0, 1, mem.Read, 0x1000)
	b.run(200) // looked up, and asked for
	b.send(1, 1, mem.Write, 0x1000)
	b.run(600)
	if b.done[read] == 0 || b.s[0].Holds(0x1000) {
		t.Errorf("answered at %d, the copy is there: %v", b.done[read], b.s[0].Holds(0x1000))
	}
}

// TestCopiesLeaveRoom: with as few MSHRs and ways as there may be, copies on their way to both
// slices leave each what the requests of the other need.
func TestCopiesLeaveRoom(t *testing.T) {
	b := newPair(t, true, false, func(l *sheets.LLC) {
		l.MSHRs, l.Ways, l.Sets, l.InQueue, l.OutQueue, l.MissQueue, l.ToDRAM = 2, 2, 1, 1, 1, 1, 1
	})
	var all []int32
	for n := range uint64(8) {
		all = append(all, b.send(0, 1, mem.Read, 0x1000+n*0x200), b.send(1, 0, mem.Read, 0x1080+n*0x200))
	}
	b.run(9000)
	for _, h := range all {
		if b.done[h] == 0 {
			t.Errorf("request %d is never answered", h)
		}
	}
	if !b.s[0].Empty() || !b.s[1].Empty() {
		t.Error("something is left")
	}
}

// TestTurns: requests of the SMs near by and of others are looked up in turn.
func TestTurns(t *testing.T) {
	b := newPair(t, true, false, func(l *sheets.LLC) { l.PortBytes = 128 })
	for n := range uint64(3) {
		b.send(1, 1, mem.Write, 0x1000+n*128)
	}
	h := b.slab.Get()
	b.slab.R[h] = mem.Req{Line: 0x9000, Op: mem.Write, Sectors: 1, Full: 1, Slice: 1, Port: 0}
	b.s[1].AcceptFar(h, b.now)
	b.run(300)
	if b.done[h] != 121+pairHop { // second in turn, and a hop
		t.Errorf("the write from the other partition is answered at %d, want %d", b.done[h], 121+pairHop)
	}
}

// TestSampler: hits under either policy are counted as the streams of both would have them.
func TestSampler(t *testing.T) {
	b := newPair(t, true, false, nil)
	table := stat.NewTable("mdr", SamplerCounters(), 1, 1)
	x := b.s[0].Sample(table)
	row := table.Row(0, 0)
	b.send(0, 0, mem.Read, 0) // set 0 is sampled
	b.run(500)
	b.send(0, 0, mem.Read, 0)
	b.send(0, 0, mem.Read, 128) // set 1 is not
	b.run(500)
	r := mem.Req{Line: 0x100000 * 48, Op: mem.Read, Sectors: 1, Flags: mem.ReadOnly, Slice: 1}
	if s := b.s[0].tags.Set(r.Line); s != 0 {
		t.Fatalf("set %d", s)
	}
	b.s[0].Passed(&r)
	b.s[0].Passed(&r)
	want := [samplerCounters]uint64{
		norepLookups: 2, norepHits: 1, norepLocal: 2, fullrepLookups: 4, fullrepHits: 2, fullrepLocal: 2,
	}
	for i, n := range want {
		if row[i] != n {
			t.Errorf("without copies: %s is %d, want %d", SamplerCounters()[i].Name, row[i], n)
		}
	}
	x.Switch(true)
	clear(row)
	b.send(0, 1, mem.Read, r.Line) // a copy: missed, then found
	b.run(500)
	b.send(0, 1, mem.Read, r.Line)
	b.run(500)
	want = [samplerCounters]uint64{norepLookups: 1, norepHits: 1, fullrepLookups: 2, fullrepHits: 1}
	for i, n := range want {
		if row[i] != n {
			t.Errorf("with copies: %s is %d, want %d", SamplerCounters()[i].Name, row[i], n)
		}
	}
}

// TestFlushCopies: a flush of copies leaves lines whose home is in the slice, dirty ones and those in
// places that copies had before, and writes nothing back; the whole flush leaves none.
func TestFlushCopies(t *testing.T) {
	b := newPair(t, true, false, func(l *sheets.LLC) { l.Sets, l.Ways = 1, 2 })
	b.send(0, 1, mem.Read, 0x1000) // a copy, which is evicted
	b.run(500)
	b.send(0, 0, mem.Write, 0x2000)
	b.run(500)
	b.send(0, 0, mem.Write, 0x3000) // in the copy's place
	b.run(500)
	if b.s[0].Holds(0x1000) || !b.s[0].Holds(0x2000) || !b.s[0].Holds(0x3000) {
		t.Fatal("the second line written here has not the place of the copy")
	}
	flush := func(copies bool) {
		for at, done := 0, false; !done; {
			at, done = b.s[0].FlushFrom(at, copies)
		}
	}
	flush(true)
	if !b.s[0].Holds(0x2000) || !b.s[0].Holds(0x3000) || b.s[0].Below.Len() > 0 {
		t.Error("a flush of copies takes lines whose home is here")
	}
	b.send(0, 1, mem.Read, 0x1000)
	b.run(500)
	flush(true)
	if b.s[0].Holds(0x1000) {
		t.Error("a flush of copies leaves one")
	}
	b.send(0, 1, mem.Read, 0x1000)
	b.run(500)
	flush(false)
	if b.s[0].Holds(0x1000) || b.s[0].Holds(0x2000) || b.s[0].Holds(0x3000) {
		t.Error("a flush of the whole slice leaves lines")
	}
}
