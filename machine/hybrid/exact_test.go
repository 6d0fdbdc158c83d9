package hybrid

import (
	"testing"
)

// Times of the rig's devices, all clocks alike: a row is opened and read.
const (
	lookup    = 5
	fastRow   = 14                     // RCD
	fastRead  = 14 + 2                 // CL and the burst
	slowRow   = 22                     //
	slowRead  = 22 + 4                 //
	tableRead = 1 + fastRow + fastRead // from the look-up that misses to the one that follows
)

// bypassing never migrates.
type bypassing struct{ *LRU }

func (bypassing) Miss(*View) Choice { return Choice{Way: Bypass} }

// exact is a rig of one clock without refreshes.
func exact(t *testing.T, cfg *Config, p Policy) *rig {
	return newRigAt(t, cfg, p, clocks{1, 1, 1}, false)
}

// read asks for the first 64 bytes of a line and waits; it returns the cycles that took.
func (r *rig) readLine(line uint64) uint64 {
	r.t.Helper()
	r.drain()
	for range 50 { // write recovery
		r.step()
	}
	from := r.now
	if !r.ask(line, 0b11, false, 0) {
		r.t.Fatal("no room")
	}
	for n := r.done; r.done == n; r.step() {
		if r.now > from+10_000 {
			r.t.Fatalf("never answered: %s", r)
		}
	}
	return r.latest - from
}

func TestExactClocks(t *testing.T) {
	const set = 256 // bytes to the next one
	cfg := small(t, Cache, Shape{Ways: 4, Channels: 4}, 256, 16, 8)
	r := exact(t, cfg, NewLRU(4))
	for _, c := range []struct {
		what string
		line uint64
		want uint64
	}{
		{"remap miss, then the slow tier: a row is opened in either", 0, lookup + tableRead + slowRow + slowRead},
		{"remap hit, way hit: its row is open", 0, lookup + fastRead},
		{"the block has come whole", 128, lookup + fastRead},
		{"its set is in the line of the table: only the slow tier", set, lookup + slowRow + slowRead},
	} {
		if got := r.readLine(c.line); got != c.want {
			t.Errorf("%s: %d cycles, want %d", c.what, got, c.want)
		}
	}
	if m, h := r.count(0, Misses), r.count(0, HitsGPU); m != 2 || h != 2 {
		t.Errorf("%d misses, %d hits, want 2 and 2", m, h)
	}
}

// Passing by costs what a migration does, as its critical bytes come first, and moves nothing else.
func TestExactBypass(t *testing.T) {
	r := exact(t, small(t, Cache, Shape{Ways: 4, Channels: 4}, 256, 16, 8), bypassing{NewLRU(4)})
	if got, want := r.readLine(128), uint64(lookup+tableRead+slowRow+slowRead); got != want {
		t.Errorf("%d cycles, want %d", got, want)
	}
	if got, want := r.readLine(128), uint64(lookup+slowRead); got != want {
		t.Errorf("once more, with an open row: %d cycles, want %d", got, want)
	}
	r.drain()
	if n := r.count(0, SlowReads); n != 2 || r.count(0, Bypasses) != 2 || r.count(0, Migrations) != 0 {
		t.Errorf("%d reads of the slow tier, %d bypasses", n, r.count(0, Bypasses))
	}
}

// A miss moves a block: four units are read from the slow tier and written to the fast one. A
// dirty victim is read and written back, too: 448 bytes for 64, seven times (section IV-B).
func TestExactTraffic(t *testing.T) {
	const way = 16 * 256 // bytes to the next block of a set
	r := exact(t, small(t, Cache, Shape{Ways: 1, Channels: 4}, 256, 16, 8), NewLRU(1))
	moved := func() [4]uint64 {
		r.drain()
		var n [4]uint64
		for i, c := range []int{FastReads, FastWrites, SlowReads, SlowWrites} {
			n[i] = r.count(0, c) + r.count(2, c)
		}
		return n
	}
	r.readLine(0)
	if got, want := moved(), [4]uint64{1, 4, 4, 0}; got != want { // and a line of the table
		t.Errorf("a fill moves %v, want %v", got, want)
	}
	r.ask(0, 0b11, true, 0)
	if got, want := moved(), [4]uint64{1, 5, 4, 0}; got != want {
		t.Errorf("a write-back that hits: %v, want %v", got, want)
	}
	// The victim's rows are open; the bytes asked for do not wait for it.
	if got, want := r.readLine(way), uint64(lookup+slowRow+slowRead); got > want {
		t.Errorf("with a dirty victim: %d cycles, want at most %d", got, want)
	}
	if got, want := moved(), [4]uint64{5, 9, 8, 4}; got != want {
		t.Errorf("a fill with a dirty victim: %v, want %v", got, want)
	}
	if got := r.readLine(0); got < lookup+slowRead {
		t.Errorf("what was written back is read in %d cycles", got)
	}
	r.ask(2*way, 0b1111, true, 0)
	if got, want := moved(), [4]uint64{5, 13 + 4 + 2, 12 + 4, 4}; got != want {
		t.Errorf("a write-back that misses brings its block and is written there: %v, want %v", got, want)
	}
	if m, h := r.count(0, WriteMisses), r.count(0, HitsGPU); m != 1 || h != 1 {
		t.Errorf("%d write-backs missed and %d hit, want one each", m, h)
	}
	r.c.cfg.WritesStay = true
	r.ask(0, 0b1111, true, 0)
	if got, want := moved(), [4]uint64{5, 19, 16, 4 + 2}; got != want {
		t.Errorf("a write-back that misses goes to the slow tier, where writes stay: %v, want %v", got, want)
	}
}

// A write-back of the GPU takes a token for its block as a read does, and goes to the slow tier without one.
func TestWritesTakeTokens(t *testing.T) {
	cfg := small(t, Cache, Shape{Ways: 4, Channels: 4}, 256, 16, 8)
	h, err := NewHydrogen(cfg.Shape, HydrogenOptions{
		Swap: SwapNone, Split: Split{3, 1}, Tokens: 2, Mode: Cache, Period: 1 << 40,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := exact(t, cfg, h)
	for i, want := range []uint64{1, 2, 2} {
		r.ask(uint64(i)*256, 0b1111, true, 1)
		r.drain()
		if n := r.count(1, Migrations); n != want {
			t.Errorf("after %d write-backs: %d migrations, want %d", i+1, n, want)
		}
	}
	if n := r.count(1, SlowWrites); n != 2 {
		t.Errorf("%d writes of the slow tier, want the two units of the third", n)
	}
}

// Requests of a block on its way wait for it, and are answered as their bytes come.
func TestExactMerge(t *testing.T) {
	r := exact(t, small(t, Cache, Shape{Ways: 4, Channels: 4}, 256, 16, 8), NewLRU(4))
	r.readLine(256) // the entry
	r.drain()
	from := r.now
	r.ask(0, 0b11, false, 0)
	r.ask(128, 0b1111, false, 1)
	for r.done < 3 {
		r.step()
	}
	// Four units in four channels of the slow tier: all are there at once.
	if got, want := r.latest-from, uint64(lookup+slowRow+slowRead); got != want {
		t.Errorf("both were answered after %d cycles, want %d", got, want)
	}
	if n := r.count(1, Merged); n != 1 || r.count(0, Migrations)+r.count(1, Migrations) != 2 {
		t.Errorf("%d merged", n)
	}
}

// A hit in a way of the CPU on a shared channel swaps with the dedicated one: eight units are
// read and eight written, four in place of the one hit. The bytes asked for come first.
func TestExactSwap(t *testing.T) {
	const way = 16 * 256
	cfg := small(t, Cache, Shape{Ways: 4, Channels: 4}, 256, 16, 8)
	h, err := NewHydrogen(cfg.Shape, HydrogenOptions{
		Swap: SwapAlways, Split: Split{3, 1}, Tokens: Unlimited, Mode: Cache, Period: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := exact(t, cfg, h)
	for i := range uint64(3) {
		r.readLine(i * way)
	}
	r.drain()
	var shared uint64
	for i := range uint64(3) { // whichever of them lies outside the CPU's channel
		if at := r.c.table.find(0, uint32(i)); at.pos != 0 {
			shared = i
		}
	}
	accesses := func() uint64 {
		r.drain()
		return r.count(0, FastReads) + r.count(2, FastReads) + r.count(2, FastWrites)
	}
	before := accesses()
	if got, want := r.readLine(shared*way), uint64(lookup+fastRead); got != want {
		t.Errorf("%d cycles, want %d", got, want)
	}
	if n := accesses() - before; n != 16 || r.count(0, Swaps) != 1 {
		t.Errorf("%d accesses for %d swaps, want 16 for 1", n, r.count(0, Swaps))
	}
	if at := r.c.table.find(0, uint32(shared)); at.pos != 0 {
		t.Errorf("the block is in way %d", at.pos)
	}
	if got := r.readLine(shared * way); got != lookup+fastRead || r.count(0, Swaps) != 1 {
		t.Errorf("%d cycles in the CPU's own channel", got)
	}
}

// Misses of the GPU that find no token pass by until the next period brings one.
func TestTokensRefill(t *testing.T) {
	cfg := small(t, Cache, Shape{Ways: 4, Channels: 4}, 256, 16, 8)
	h, err := NewHydrogen(cfg.Shape, HydrogenOptions{
		Swap: SwapNone, Split: Split{3, 1}, Tokens: 1, Mode: Cache, Period: 5000,
	})
	if err != nil {
		t.Fatal(err)
	}
	r := exact(t, cfg, h)
	for i, c := range []struct{ cycle, migrations uint64 }{{10, 1}, {1000, 1}, {6000, 2}, {7000, 2}, {10_001, 3}} {
		for r.now < c.cycle {
			r.step()
		}
		r.ask(uint64(i)*256, 0b11, false, 1)
		r.drain()
		if n := r.count(1, Migrations); n != c.migrations {
			t.Errorf("cycle %d: %d migrations, want %d", c.cycle, n, c.migrations)
		}
	}
}
