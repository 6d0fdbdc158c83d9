package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// evicted runs two CTAs of two warps and takes the younger off from cycle at on, and
// back when its context is stored; 0: never. It counts how often each instruction
// issued, and those the elder issued while the other was away; back says that the
// eviction came to its end.
func evicted(t *testing.T, at uint64) (count map[[3]int]int, beside int, end uint64, back bool, b *bench) {
	t.Helper()
	b = newBench(t, nil)
	g := &scripted{
		code: program(load(isa.Global, isa.CacheAll, 0), alu(isa.Special, isa.SFU, 1, 0), barrierIns(),
			load(isa.Global, isa.CacheAll, 2, 1), store(isa.Global, 2), alu(isa.IntDiv, isa.SFU, 3, 2), atomicOp(4, 3),
			alu(isa.IntAdd, isa.INT, 5, 3), exit()),
		geo: isa.Geometry{Threads: 64, Warps: 2, Regs: 8, SharedBytes: 1000},
	}
	g.addr = func(cta, w, pc, l int) uint64 { return uint64(0x10000*(cta+1) + 0x1000*pc + 128*w + 4*l) }
	count = map[[3]int]int{}
	var saved *Context
	asked, done := false, at == 0
	g.trace = func(cta, w, pc int, _ uint64) {
		count[[3]int{cta, w, pc}]++
		if asked && !done && cta == 0 {
			beside++
		}
		if cta == 1 && asked && !done {
			t.Errorf("evicted from cycle %d on: a warp that leaves issued instruction %d", at, pc)
		}
	}
	b.each = func(now uint64) {
		switch {
		case done || now < at:
		case !asked:
			young := b.s.Youngest(0, nil)
			if len(young) < 2 {
				break // not there yet, or over
			}
			b.s.Evict(young[0], now)
			asked = true
		case saved == nil && b.s.Rested():
			saved = b.s.SaveEvicted(now, func(*Kernel, int) uint64 { return 1 << 30 })
			if done = saved == nil; !done && b.s.Resident() > 1 {
				t.Errorf("%d CTAs are left on the SM", b.s.Resident())
			}
		case saved != nil && !b.s.Busy():
			if err := b.s.Restore(saved, now); err != nil {
				t.Fatal(err)
			}
			done = true
		}
		b.s.wakeAt(now + 1)
	}
	end = b.run(g, 2, false)
	return count, beside, end, done, b
}

// TestEvict: whenever a CTA is evicted, every warp executes every instruction once, the
// leaving one none meanwhile, the other goes on, and the context crosses the port once
// in each direction.
func TestEvict(t *testing.T) {
	_, _, plain, _, _ := evicted(t, 0)
	most := 0
	for at := uint64(2); at < plain; at += 3 {
		count, beside, _, back, b := evicted(t, at)
		most = max(most, beside)
		if len(count) != 2*2*9 {
			t.Fatalf("evicted from cycle %d on: %d instructions executed, want 36", at, len(count))
		}
		for k, n := range count {
			if n != 1 {
				t.Fatalf("evicted from cycle %d on: CTA %d warp %d executed instruction %d %d times", at, k[0], k[1],
					k[2], n)
			}
		}
		// 2 warps x (8 registers x 32 lanes x 4 bytes + 100) + 1000 shared, in lines of 128.
		const lines = (2*(8*32*4+100) + 1000 + 127) / 128
		var out, in int
		for _, r := range b.sent {
			if r.Line >= 1<<30 && r.Op == mem.Write {
				out++
			} else if r.Line >= 1<<30 {
				in++
			}
		}
		if out != in || out != 0 && out != lines {
			t.Errorf("evicted from cycle %d on: %d lines out, %d in, an image has %d", at, out, in, lines)
		}
		c := &b.s.pipe.ctas
		if b.s.lsu.link.inflight != 0 || c.regs != 0 || c.shared != 0 || c.threads != 0 || back &&
			b.s.pipe.warps.halted != 0 {
			t.Errorf("evicted from cycle %d on: the SM is not empty at the end", at)
		}
	}
	if most < 6 {
		t.Errorf("the CTA that stays issued %d instructions at most while the other was away: it does not go on", most)
	}
}

// TestActivePerTenant: an SM is active for a tenant while one of its CTAs is there,
// whoever else is; its share of those cycles is what is left when they are divided among
// all that are there, whenever the counters are looked at.
func TestActivePerTenant(t *testing.T) {
	b := newBench(t, nil)
	g := oneWarp(exit())
	start := func(tenant mem.TenantID, now uint64) *Kernel {
		k := &Kernel{Tenant: tenant, Grid: g, Code: &g.code, Geo: g.geo}
		if err := b.s.Start(k, 0, now); err != nil {
			t.Fatal(err)
		}
		return k
	}
	end := func(k *Kernel, now uint64) {
		for i := range b.s.pipe.ctas.blocks {
			if b.s.pipe.ctas.blocks[i].k == k {
				b.s.pipe.ctas.vacate(&b.s.pipe.ctas.blocks[i], now)
			}
		}
	}
	a := start(0, 10)
	x := start(1, 20)
	b.s.SyncCounters(33)
	end(a, 50)
	y := start(1, 60)
	end(x, 70)
	a = start(0, 81)
	b.s.SyncCounters(82)
	end(y, 100)
	b.s.SyncCounters(110)
	end(a, 130)
	for tenant, want := range []uint64{50 - 10 + 130 - 81, 100 - 20} {
		if got := b.s.lsu.rows[tenant][ActiveCycles]; got != want {
			t.Errorf("tenant %d: active for %d cycles, want %d", tenant, got, want)
		}
	}
	// 19 cycles: the odd one is the first's
	for tenant, want := range []uint64{10 + 30/2 + 20/2 + 30, 30/2 + 31 + 19/2} {
		if got := b.s.lsu.rows[tenant][ActiveShareCycles]; got != want {
			t.Errorf("tenant %d: %d cycles of the SM are its, want %d", tenant, got, want)
		}
	}
}

// TestDominant: a share is that of the resource most of which is used.
func TestDominant(t *testing.T) {
	has := Use{CTAs: 32, Threads: 2048, Regs: 65536, Shared: 98304}
	for _, c := range []struct {
		use  Use
		want int
	}{
		{Use{1, 256, 4096, 0}, Whole / 8},
		{Use{4, 256, 32768, 0}, Whole / 2},
		{Use{16, 512, 8192, 24576}, Whole / 2},
		{Use{1, 32, 512, 73728}, Whole / 4 * 3},
		{Use{}, 0},
		{has, Whole},
	} {
		if got := c.use.Dominant(has); got != c.want {
			t.Errorf("%+v has a share of %d, want %d of %d", c.use, got, c.want, Whole)
		}
	}
	if got := (Use{1, 2, 3, 4}).Dominant(Use{CTAs: 2, Threads: 4, Regs: 6}); got < Whole {
		t.Errorf("shared memory where there is none is a share of %d", got)
	}
}
