package sm

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// switched runs two CTAs of two warps that load, meet at a barrier and store, and
// takes everything off the SM and back on at cycle at (0: never). It counts how
// often each instruction of each warp issued.
func switched(t *testing.T, at uint64) (count map[[3]int]int, end uint64, b *bench) {
	t.Helper()
	b = newBench(t, nil)
	g := &scripted{
		code: program(load(isa.Global, isa.CacheAll, 0), alu(isa.Special, isa.SFU, 1, 0), barrierIns(),
			load(isa.Global, isa.CacheAll, 2, 1), store(isa.Global, 2), alu(isa.IntDiv, isa.SFU, 3, 2), atomicOp(4, 3),
			exit()),
		geo: isa.Geometry{Threads: 64, Warps: 2, Regs: 8, SharedBytes: 1000, LocalBytes: 4},
	}
	g.addr = func(cta, w, pc, l int) uint64 { return uint64(0x10000*(cta+1) + 0x1000*pc + 128*w + 4*l) }
	count = map[[3]int]int{}
	g.trace = func(cta, w, pc int, _ uint64) { count[[3]int{cta, w, pc}]++ }
	var saved []*Context
	done := at == 0
	b.each = func(now uint64) {
		switch {
		case done || now < at:
		case saved == nil && !b.s.pipe.frozen:
			b.s.Freeze(now)
		case saved == nil && b.s.Quiet():
			next := uint64(1 << 30)
			saved = b.s.Save(now, func(_ *Kernel, bytes int) uint64 {
				next += 1 << 20
				return next
			})
			if saved == nil {
				done = true // everything had ended
			}
			if b.s.Resident() != 0 {
				t.Errorf("%d CTAs are left on the SM", b.s.Resident())
			}
		case saved != nil && !b.s.Busy():
			for _, c := range saved {
				if !b.s.Fits(c.K) {
					t.Fatal("a CTA that was there does not fit any more")
				}
				if err := b.s.Restore(c, now); err != nil {
					t.Fatal(err)
				}
			}
			done = true
		}
		b.s.wakeAt(now + 1)
	}
	end = b.run(g, 2, false)
	return count, end, b
}

// TestSwitch: wherever a CTA is taken off, every warp executes every instruction
// once, and its context crosses the port once in each direction.
func TestSwitch(t *testing.T) {
	_, plain, _ := switched(t, 0)
	for at := uint64(1); at < plain; at += 3 {
		count, end, b := switched(t, at)
		if len(count) != 2*2*8 {
			t.Fatalf("switched at cycle %d: %d instructions executed, want 32", at, len(count))
		}
		for k, n := range count {
			if n != 1 {
				t.Fatalf("switched at cycle %d: CTA %d warp %d executed instruction %d %d times", at, k[0], k[1], k[2],
					n)
			}
		}
		// 2 warps x (8 registers x 32 lanes x 4 bytes + 100) + 1000 shared, in lines of 128.
		g := isa.Geometry{Threads: 64, Warps: 2, Regs: 8, SharedBytes: 1000, LocalBytes: 4}
		bytes := b.s.cfg.ContextBytes(&g)
		lines := (bytes + 127) / 128
		var out, in int
		for _, r := range b.sent {
			if r.Line >= 1<<30 {
				if r.Op == mem.Write {
					out++
				} else {
					in++
				}
			}
		}
		if out != in || out%lines != 0 || out > 2*lines {
			t.Errorf("switched at cycle %d: %d lines out, %d in, an image has %d", at, out, in, lines)
		}
		if out > 0 && end < plain+uint64(2*out) {
			t.Errorf("switched at cycle %d: ended at %d, %d without; %d lines cannot pass the port in that time", at,
				end, plain, 2*out)
		}
		c := &b.s.pipe.ctas
		if b.s.lsu.link.inflight != 0 || c.regs != 0 || c.shared != 0 || c.threads != 0 {
			t.Errorf("switched at cycle %d: the SM is not empty at the end", at)
		}
	}
}

// A context is loaded in what its lines take at the port, and a little more, whatever a CTA beside it does: here
// one each of whose loads is of 32 lines.
func TestContextBesideScatteredLoads(t *testing.T) {
	for _, machine := range []string{"qv100", "fermi", "ugpu"} {
		b := newBenchOn(t, machine, func(m *sheets.Machine) { m.VM.Enabled = false })
		var list []ins
		for range 400 {
			list = append(list, load(isa.Global, isa.CacheGlobal, 0))
		}
		g := &scripted{
			code: program(append(list, exit())...), geo: isa.Geometry{Threads: 256, Warps: 8, Regs: 32},
		}
		g.addr = func(cta, w, pc, l int) uint64 { return uint64(cta)<<32 + uint64((w*400+pc)*32+l)*128 }
		var saved []*Context
		var restored, loaded uint64
		b.each = func(now uint64) {
			switch {
			case saved == nil && now >= 1000 && !b.s.pipe.frozen:
				b.s.Freeze(now)
			case saved == nil && now >= 1000 && b.s.Quiet():
				saved = b.s.Save(now, func(_ *Kernel, bytes int) uint64 { return 1 << 36 })
			case saved != nil && restored == 0 && !b.s.Busy(), restored > 0 && len(saved) > 0 && now >= restored+3000:
				if err := b.s.Restore(saved[0], now); err != nil {
					t.Fatal(err)
				}
				restored, saved = now, saved[1:]
			case restored > 0 && len(saved) == 0 && loaded == 0 && !b.s.Busy():
				loaded = now
			}
			b.s.wakeAt(now + 1)
		}
		b.run(g, 2, false)
		lines := uint64(b.s.cfg.ContextBytes(&g.geo)+127) / 128
		if took := loaded - restored; loaded == 0 || took > 4*lines+1500 {
			t.Errorf("%s: %d lines of a context took %d cycles beside scattered loads", machine, lines, took)
		}
	}
}

// Of a context that part is moved that the machine says, in whole bytes; all of it where it says nothing.
func TestContextShare(t *testing.T) {
	g := isa.Geometry{Threads: 64, Warps: 2, Regs: 8, SharedBytes: 1000, LocalBytes: 4}
	all := newBench(t, nil).s.cfg.ContextBytes(&g)
	for _, c := range []struct {
		share float64
		want  int
	}{{0, all}, {1, all}, {0.5, (all + 1) / 2}, {1e-9, 1}} {
		b := newBench(t, func(m *sheets.Machine) { m.SM.CtxShare = c.share })
		if got := b.s.cfg.ContextBytes(&g); got != c.want {
			t.Errorf("share %g: %d of %d bytes, want %d", c.share, got, all, c.want)
		}
	}
}

// TestHold: held accesses stay before the TLB, so a machine without translation
// holds nothing; with it, nothing is sent until Release.
func TestHold(t *testing.T) {
	b := newBench(t, nil)
	b.s.lsu.translation.tlb, b.s.lsu.translation.mmu = identity{}, identity{}
	b.s.lsu.translation.pending = make([]tlbMiss, 4)
	b.s.cfg.translation.pageShift = 12
	b.s.Hold()
	b.each = func(now uint64) {
		if now == 500 {
			if len(b.sent) != 0 || !b.s.Drained() {
				t.Errorf("%d requests left a held SM", len(b.sent))
			}
			b.s.Release(now)
		}
		b.s.wakeAt(now + 1)
	}
	g := oneWarp(load(isa.Global, isa.CacheAll, 0), alu(isa.IntAdd, isa.INT, 1, 0), exit())
	g.addr = lanes(0x1000, 4)
	if end := b.run(g, 1, false); end < 600 {
		t.Errorf("ended at cycle %d", end)
	}
	if len(b.sent) != 1 {
		t.Errorf("%d requests", len(b.sent))
	}
}

// identity is a TLB that always hits.
type identity struct{}

func (identity) Lookup(_ mem.TenantID, vpn uint64) (uint64, bool)           { return vpn, true }
func (identity) Insert(mem.TenantID, uint64, uint64)                        {}
func (identity) Request(uint64, mem.TenantID, uint64, int, int32) (ok bool) { return false }
