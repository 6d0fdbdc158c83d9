package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// textureUnits gives a machine texture units of a rate, with a pipeline of 60 cycles; without them
// (0) a fetch is a load for each row of texels.
func textureUnits(rate, queue int) func(m *sheets.Machine) {
	return func(m *sheets.Machine) {
		m.SM.TextureRate, m.SM.TextureLatency, m.SM.TextureQueue = rate, 60, queue
		if rate == 0 {
			m.SM.TextureLatency, m.SM.TextureQueue = 0, 0
		}
	}
}

// TestTextureLatency: a fetch that hits takes what a load that hits takes, its lanes' turns in the
// units and their pipeline. The first load brings the lines.
func TestTextureLatency(t *testing.T) {
	used := func(rate, rows int, mid ins) uint64 {
		g := oneWarp(load(isa.Global, isa.CacheAll, 0), alu(isa.IntAdd, isa.INT, 1, 0), mid,
			alu(isa.IntAdd, isa.INT, 3, 2), exit())
		g.rows = rows
		g.addr = func(_, _, pc, l int) uint64 { return 0x1000 + uint64(l)*4 }
		at := newBench(t, textureUnits(rate, 2)).issues(g)
		return at[3] - at[2]
	}
	hit := used(4, 1, load(isa.Global, isa.CacheAll, 2, 1))
	fetch := load(isa.Global, isa.CacheTexture, 2, 1)
	for _, c := range []struct {
		name       string
		rate, rows int
		want       uint64
	}{
		{"one row: 32 lanes at 4 a cycle", 4, 1, hit + 8 + 60},
		{"two rows, filtered in 2D: the same turn", 4, 2, hit + 8 + 60},
		{"four rows, filtered in 3D: two turns", 4, 4, hit + 16 + 60},
		{"a faster unit", 32, 1, hit + 1 + 60},
		{"rates that do not divide 32", 5, 1, hit + 7 + 60},
		{"no units: a load", 0, 1, hit},
	} {
		// the step that is traced last is the last row's, in the cycle of the first
		if got := used(c.rate, c.rows, fetch); got != c.want {
			t.Errorf("%s: %d cycles, want %d (a load that hits %d)", c.name, got, c.want, hit)
		}
	}
}

// TestTextureRate: fetches follow each other at the rate of the units, however many warps there are,
// and the counters say so. Loads go past them until the units have as many before them as may wait.
func TestTextureRate(t *testing.T) {
	const n = 12
	for _, queue := range []int{0, 2, 40} {
		list := []ins{load(isa.Global, isa.CacheAll, 0), alu(isa.IntAdd, isa.INT, 1, 0)}
		for i := range uint16(n) {
			list = append(list, load(isa.Global, isa.CacheTexture, 2+i, 1))
		}
		for i := range uint16(n) {
			list = append(list, alu(isa.IntAdd, isa.INT, 20+i, 2+i))
		}
		list = append(list, exit())
		g := oneWarp(list...)
		g.rows = 2
		g.addr = func(_, _, pc, l int) uint64 { return 0x1000 + uint64(l)*4 }
		b := newBench(t, func(m *sheets.Machine) {
			textureUnits(4, queue)(m)
			m.SM.CollectorsShared = false // else younger ones pass older ones before the load/store unit
		})
		at := b.issues(g)
		for i := n / 2; i < n; i++ { // the first results are there before their turn to be used
			if d := at[2+n+i] - at[1+n+i]; d != 8 {
				t.Errorf("queue of %d: result %d is used %d cycles after the one before, want 8", queue, i, d)
			}
		}
		// The units have begun with the first fetch when it left the load/store queue. The last left it as long before
		// its turn as the queue is, and its data may be still to come then.
		data := b.s.cfg.l1.latency + b.s.cfg.ldst.back
		want := b.s.cfg.ldst.front + 8*n + 60 + data - min(data, 8*uint64(queue))
		if got := at[1+2*n] - at[2]; got != want {
			t.Errorf("queue of %d: all took %d cycles, want %d", queue, got, want)
		}
		row := b.table.Row(0, 0)
		if row[TextureFetches] != n || row[TextureBusy] != 8*n || row[Loads] != n+1 {
			t.Errorf("queue of %d: %d fetches, %d busy cycles, %d loads; want %d, %d, %d", queue, row[TextureFetches],
				row[TextureBusy], row[Loads], n, 8*n, n+1)
		}
		// Unlimited, fetch i enters a cycle or a few after the one before and waits for i turns of 8 cycles; with
		// room for none, each enters when the units are free.
		wait := row[TextureWait]
		if queue == 0 && wait != 0 || queue == 2 && wait > 16*n || queue == 40 && wait <= 16*n {
			t.Errorf("queue of %d: fetches waited %d cycles", queue, wait)
		}
	}
}

// TestTextureRows: the rows of a fetch are asked for at once, each sector once, and the result
// waits for the last.
func TestTextureRows(t *testing.T) {
	g := oneWarp(load(isa.Global, isa.CacheTexture, 0), alu(isa.IntAdd, isa.INT, 1, 0), exit())
	g.rows = 4
	g.addr = func(_, _, _, l int) uint64 { return uint64(0x1000 + g.row%2*0x1000 + l*4) }
	b := newBench(t, textureUnits(4, 2))
	at := b.issues(g)
	if len(b.sent) != 2 || b.sent[0].Line != 0x2000 || b.sent[1].Line != 0x1000 || b.sent[0].Flags&mem.ReadOnly == 0 {
		t.Fatalf("requests %+v, want read-only ones for lines 0x2000 and 0x1000", b.sent)
	}
	row := b.table.Row(0, 0)
	if row[WarpInsts] != 3 || row[L1Accesses] != 8 || row[L1Misses] != 8 {
		t.Errorf("%d instructions, %d sectors, %d misses; want 3, 8, 8", row[WarpInsts], row[L1Accesses], row[L1Misses])
	}
	if first := at[1] - b.sentAt[0]; first < b.delay+16+60 || first > b.delay+16+60+20 {
		t.Errorf("the result is used %d cycles after the first request", first)
	}
}

// TestTextureSkip: visiting every cycle changes nothing, with scattered fetches of many warps.
func TestTextureSkip(t *testing.T) {
	run := func(every bool, queue int) (uint64, [numCounters]uint64) {
		var list []ins
		for i := range uint16(6) {
			list = append(list, load(isa.Global, isa.CacheTexture, i), load(isa.Global, isa.CacheAll, 8+i),
				alu(isa.IntAdd, isa.INT, 16, i))
		}
		g := &scripted{
			code: program(append(list, exit())...), geo: isa.Geometry{Threads: 128, Warps: 4, Regs: 8}, rows: 4,
			addr: func(cta, w, pc, l int) uint64 { return uint64(0x1000 + (cta*7+w*5+pc*3+l*l*97)%512*64) },
		}
		b := newBench(t, textureUnits(3, queue))
		end := b.run(g, 6, every)
		return end, *b.s.lsu.rows[0]
	}
	for _, queue := range []int{0, 1, 5} {
		end, row := run(false, queue)
		if e, r := run(true, queue); e != end || r != row {
			t.Errorf("queue of %d: %d cycles with skipping, %d without, counters\n%v\n%v", queue, end, e, row, r)
		}
	}
}

// surface makes a surface access of what a load or store would be.
func surface(x ins, cache isa.Cache) ins {
	x.Cache = cache
	return x
}

// TestSurfaceLoad: a surface load takes what a fetch of one row takes, and is not read-only; one that
// only the L2 may serve asks it again.
func TestSurfaceLoad(t *testing.T) {
	used := func(cache isa.Cache, rate int) (uint64, *bench) {
		g := oneWarp(load(isa.Global, isa.CacheAll, 0), alu(isa.IntAdd, isa.INT, 1, 0), load(isa.Global, cache, 2, 1),
			alu(isa.IntAdd, isa.INT, 3, 2), exit())
		g.addr = lanes(0x1000, 4)
		b := newBench(t, textureUnits(rate, 2))
		at := b.issues(g)
		return at[3] - at[2], b
	}
	fetch, _ := used(isa.CacheTexture, 4)
	got, b := used(isa.CacheSurface, 4)
	if row := b.table.Row(0, 0); got != fetch || row[TextureFetches] != 1 || row[TextureBusy] != 8 || len(b.sent) != 1 {
		t.Errorf("%d cycles, a fetch %d; %d accesses, %d busy cycles, %d requests", got, fetch, row[TextureFetches],
			row[TextureBusy], len(b.sent))
	}
	if _, b := used(isa.CacheSurfaceL2, 4); len(b.sent) != 2 || b.sent[1].Flags&mem.ReadOnly != 0 {
		t.Errorf("requests %+v, want another one that is not read-only", b.sent)
	}
	past, _ := used(isa.CacheGlobal, 0)
	if got, _ := used(isa.CacheSurfaceL2, 0); got != past {
		t.Errorf("without units %d cycles, a load past the L1 %d", got, past)
	}
}

// TestSurfaceStore: surface stores leave at the rate of the units once their queue is full, with what
// a store writes, and a fence behind them waits until they are through.
func TestSurfaceStore(t *testing.T) {
	const n = 10
	var list []ins
	for range n {
		list = append(list, surface(store(isa.Global, 0), isa.CacheSurface))
	}
	list = append(list, ins{Instr: isa.Instr{Kind: isa.Fence, Unit: isa.LDST}}, exit())
	g := oneWarp(list...)
	g.addr = func(_, _, pc, l int) uint64 { return uint64(0x1000*(pc+1) + l*4) }
	b := newBench(t, func(m *sheets.Machine) {
		textureUnits(4, 2)(m)
		m.SM.CollectorsShared = false // else younger ones pass older ones before the load/store unit
	})
	at := b.issues(g)
	if len(b.sent) != n {
		t.Fatalf("%d requests, want %d", len(b.sent), n)
	}
	for i, r := range b.sent {
		if r.Op != mem.Write || r.Full != 0xf || r.Line != uint64(0x1000*(i+1)) {
			t.Errorf("request %d: %+v", i, r)
		}
		if d := b.sentAt[i] - b.sentAt[max(0, i-1)]; i > n/2 && d != 8 { // the queue is full by then
			t.Errorf("store %d leaves %d cycles after the one before, want 8", i, d)
		}
	}
	if end := at[n+1]; end < at[0]+8*n+60 {
		t.Errorf("the fence is through in cycle %d, before the stores are", end)
	}
	if row := b.table.Row(0, 0); row[Stores] != n || row[Loads] != 0 || row[TextureBusy] != 8*n {
		t.Errorf("%d stores, %d loads, %d busy cycles", row[Stores], row[Loads], row[TextureBusy])
	}
}
