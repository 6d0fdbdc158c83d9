package hybrid

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/mem"
)

// organisations are shapes and blocks that a property is tried on.
var organisations = []struct {
	shape Shape
	block int
}{
	{Shape{Ways: 4, Channels: 4}, 256},
	{Shape{Ways: 1, Channels: 4}, 256},
	{Shape{Ways: 2, Channels: 4}, 64},
	{Shape{Ways: 4, Channels: 4}, 128},
	{Shape{Ways: 8, Channels: 4}, 512},
	{Shape{Ways: 16, Channels: 4}, 256},
	{Shape{Ways: 4, Channels: 2}, 2048},
	{Shape{Ways: 4, Channels: 4, Page: 2}, 256},
	{Shape{Ways: 3, Channels: 2, Page: 4}, 128},
}

// Whatever is cached, swapped, dropped, passed by and reconfigured, a read returns what was
// written last, or something written while it was on its way. Everything asked for is
// answered, transfers read nothing that has been overwritten, and in the end each block has
// one place.
func TestShadowMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := rapid.SampledFrom(organisations).Draw(t, "organisation")
		mode := rapid.SampledFrom([]Mode{Cache, Flat}).Draw(t, "mode")
		cfg := small(t, mode, o.shape, o.block, 16, rapid.IntRange(1, 4).Draw(t, "slow"))
		cfg.WritesStay = rapid.Bool().Draw(t, "writes stay")
		cfg.SerialTag = rapid.IntRange(0, 4).Draw(t, "tag") == 0
		p := drawPolicy(t, cfg)
		r := newRig(t, cfg, p)
		exercise(t, r, rapid.IntRange(50, 400).Draw(t, "steps"))
		r.drain()
		checkPlaces(t, r.c)
		checkCounts(t, r)
	})
}

func drawPolicy(t *rapid.T, cfg *Config) Policy {
	s := cfg.Shape
	kinds := []string{"lru", "waypart", "hydrogen", "hydrogen", "hashcache", "profess"}
	kind := rapid.SampledFrom(kinds).Draw(t, "policy")
	if s.Page > 0 {
		kind = "hydrogen"
	}
	switch {
	case kind == "hashcache" && cfg.Mode == Cache:
		if s.Ways == 1 {
			cfg.Chained = rapid.Bool().Draw(t, "chained")
		}
		p := NewHAShCache(s.Ways, rapid.IntRange(8, 2000).Draw(t, "counters"))
		return p
	case kind == "profess" && cfg.Mode == Cache:
		return NewProFess(cfg, rapid.Bool().Draw(t, "lru"))
	case kind == "waypart" && s.Ways > 1:
		p, err := NewWayPart(s, rapid.IntRange(1, s.Ways-1).Draw(t, "cpu"))
		if err != nil {
			t.Fatal(err)
		}
		return p
	case kind == "hydrogen":
		o := HydrogenOptions{Mode: cfg.Mode, Period: 1000, Tokens: Unlimited}
		o.Swap = rapid.SampledFrom([]SwapMode{SwapAlways, SwapProb, SwapNone, SwapIdeal}).Draw(t, "swap")
		o.Split = drawSplit(t, s)
		if rapid.Bool().Draw(t, "counted") {
			o.Tokens = rapid.Uint64Max(20).Draw(t, "tokens")
			o.PerChannel = rapid.SampledFrom([]int{0, 4}).Draw(t, "per")
		} else if rapid.Bool().Draw(t, "shared") {
			o.ByShare, o.Share = true, 0.15
		}
		p, err := NewHydrogen(s, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return NewLRU(s.Ways)
}

func drawSplit(t *rapid.T, s Shape) Split { return rapid.SampledFrom(splitsOf(s)).Draw(t, "split") }

// splitsOf are those that fit, of ways or of colors.
func splitsOf(s Shape) []Split {
	if s.Page > 0 {
		s = s.row()
	}
	return splits(s)
}

// exercise asks at random, and reconfigures at random moments.
func exercise(t *rapid.T, r *rig, steps int) {
	cfg := r.c.cfg
	bytes := cfg.Tiers[Slow].Bytes
	if cfg.Mode == Flat {
		bytes += cfg.Tiers[Fast].Bytes
	}
	lines := bytes / uint64(cfg.Line)
	few := rapid.Uint64Range(1, 64).Draw(t, "few") // that are asked for often
	writes := rapid.IntRange(0, 60).Draw(t, "writes")
	seed := rapid.Uint64().Draw(t, "seed")
	random := func(n uint64) uint64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return seed >> 33 % n
	}
	for range steps {
		line := random(lines)
		if random(2) == 0 {
			line = random(min(few, lines)) * 7 % lines
		}
		sectors := []uint8{0b11, 0b1100, 0b1111}[random(3)]
		r.ask(line*uint64(cfg.Line), sectors, random(100) < uint64(writes), mem.TenantID(random(2)))
		for range random(30) {
			r.step()
		}
		if x, ok := r.c.policy.(*HAShCache); ok && random(20) == 0 {
			x.kernel = 0
		}
		h, ok := r.c.policy.(*Hydrogen)
		if !ok || random(40) != 0 {
			continue
		}
		all := splitsOf(cfg.Shape)
		if err := h.SetSplit(all[random(uint64(len(all)))]); err != nil {
			t.Fatal(err)
		}
		if random(2) == 0 {
			r.c.Reconfigured()
		} else {
			r.c.ReconfiguredAtOnce()
		}
	}
}

// checkPlaces: blocks and places are one to one.
func checkPlaces(t *rapid.T, c *Controller) {
	x := &c.table
	for set := range uint32(x.sets) {
		held := map[place]bool{}
		blocks := x.spots - x.first
		for index := range uint32(blocks) {
			p := x.find(set, index)
			if held[p] {
				t.Fatalf("two blocks of set %d in position %d", set, p.pos)
			}
			held[p] = true
			if int(p.pos) >= x.ways {
				continue
			}
			if s, i, ok := x.resident(p); ok && (s != set || i != index) {
				t.Fatalf("block %d of set %d is in position %d, which has %d of set %d", index, set, p.pos, i, s)
			}
		}
		if n := bits.OnesCount16(x.set[set].valid); n > x.ways || x.set[set].dirty&^x.set[set].valid != 0 {
			t.Fatalf("set %d: valid %b, dirty %b", set, x.set[set].valid, x.set[set].dirty)
		}
	}
	for set := range x.chain {
		if x.chain[set].to == 0 {
			continue
		}
		if home, _, ok := x.resident(place{x.chained(uint32(set)), 0}); !ok || home != uint32(set) {
			t.Fatalf("set %d is chained to a way that does not hold its block", set)
		}
	}
	for i, n := range c.readers {
		if n != 0 {
			t.Fatalf("%d reads of place %d never came back", n, i)
		}
	}
}

// checkCounts: every part of a request has looked up its entry, and what is read and moved for it is counted as a
// miss. Migrations of the GPU have had their tokens. Nobody has starved.
func checkCounts(t *rapid.T, r *rig) {
	if r.c.moving.buffers != r.c.cfg.Buffers {
		t.Fatalf("%d of %d buffers are free in the end", r.c.moving.buffers, r.c.cfg.Buffers)
	}
	for tenant := range 2 {
		n := func(counter int) uint64 { return r.count(tenant, counter) }
		requests, most := n(Reads)+n(Writes), uint64(max(1, r.c.cfg.Line/r.c.cfg.Block))
		if n(RemapHits)+n(RemapMisses)+n(Passed) < requests || n(RemapHits) > most*requests {
			t.Fatalf("%d requests have found %d entries and not found %d", requests, n(RemapHits), n(RemapMisses))
		}
		if misses := n(Misses) + n(WriteMisses); misses < n(Migrations)+n(Bypasses) ||
			r.c.cfg.WritesStay && n(Misses) < n(Migrations) {
			t.Fatalf("%d misses, %d migrations and %d bypasses", misses, n(Migrations), n(Bypasses))
		}
		if n(Migrations) < n(DirtyVictims) || n(Invalidations) < n(DirtyDrops) {
			t.Fatalf("%v", r.table.Row(0, tenant))
		}
		if r.count(2+tenant, TableReads) > n(RemapMisses) {
			t.Fatalf("%d lines of the table for %d misses", r.count(2+tenant, TableReads), n(RemapMisses))
		}
	}
	if h, ok := r.c.policy.(*Hydrogen); ok && h.options.Tokens != Unlimited {
		granted := h.options.Tokens * (r.now/h.options.Period + 1)
		if n := r.count(1, Migrations); n > granted {
			t.Fatalf("%d migrations with %d tokens", n, granted)
		}
	}
	if r.worst > 20_000 {
		t.Fatalf("a read took %d cycles", r.worst)
	}
}

// TestWritesKeepTheirOrder: writes that wait for a block to come are carried out in their order, though the
// first finds it misplaced, and some of the others wait for it again, as it leaves, before all have been looked up.
func TestWritesKeepTheirOrder(t *testing.T) {
	for writes := 2; writes <= 8; writes++ {
		cfg := small(t, Cache, Shape{Ways: 4, Channels: 4}, 128, 16, 2)
		p, err := NewHydrogen(cfg.Shape, HydrogenOptions{
			Mode: Cache, Swap: SwapNone, Period: 1000, Tokens: Unlimited, Split: Split{Cap: 3, BW: 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, cfg, p)
		const cpu, gpu = 0, 1
		r.ask(0, 0b1111, false, gpu)
		for r.c.moving.left == len(r.c.moving.list) {
			r.step()
		}
		r.ask(0, 0b1111, true, gpu) // so that what the way holds is quickly read
		for range writes {
			if !r.ask(0, 0b11, true, cpu) {
				t.Fatal("no room for a write")
			}
			r.step()
		}
		r.drain()
		r.ask(0, 0b11, false, cpu)
		r.drain() // the rig looks at what is read
		if n := r.count(cpu, DirtyDrops); n != 1 {
			t.Errorf("%d writes: the block has left %d times", writes, n)
		}
	}
}
