package sm

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/isa"
)

// TestLocalStays: CTAs that come back in each other's warp slots go on with the local memory they had: CTA c, in
// slot c, uses word c of piece c, before and after.
func TestLocalStays(t *testing.T) {
	b := newBench(t, nil)
	b.local = NewLocalMemory(b.s.cfg.Warps)
	g := &scripted{
		code: program(load(isa.Local, isa.CacheAll, 0), alu(isa.Special, isa.SFU, 1, 0),
			load(isa.Global, isa.CacheAll, 2, 1), alu(isa.Special, isa.SFU, 3, 2), load(isa.Local, isa.CacheAll, 4, 3),
			exit()),
		geo: isa.Geometry{Threads: 32, Warps: 1, Regs: 8, LocalBytes: 8},
	}
	g.addr = func(cta, _, pc, l int) uint64 {
		if pc == 2 {
			return uint64(0x10000*(cta+1) + 4*l)
		}
		return uint64(4 * cta)
	}
	var saved []*Context
	b.each = func(now uint64) {
		switch {
		case now == 200:
			b.s.Freeze(now)
		case now > 200 && saved == nil && b.s.Quiet():
			next := uint64(1 << 30)
			saved = b.s.Save(now, func(*Kernel, int) uint64 { next += 1 << 20; return next })
		case len(saved) == 2 && !b.s.Busy():
			for _, c := range slices.Backward(saved) {
				if err := b.s.Restore(c, now); err != nil {
					t.Fatal(err)
				}
			}
			saved = saved[:1]
		}
		b.s.wakeAt(now + 1)
	}
	b.run(g, 2, false)
	if len(saved) != 1 {
		t.Fatal("nobody was switched")
	}
	stride, n := b.s.cfg.ldst.localStride, 0
	for _, r := range b.sent {
		if r.Line < 1<<39 {
			continue
		}
		if n++; r.Line != 1<<39 && r.Line != 1<<39+128+stride {
			t.Errorf("an access to %#x", r.Line-1<<39)
		}
	}
	if n < 2 {
		t.Errorf("%d accesses to local memory", n)
	}
}

// TestLocalPieces: whoever starts, leaves and comes where, no two warps that have a piece of their own have the same,
// and none is lost.
func TestLocalPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const slots = 6
		l := NewLocalMemory(slots)
		var used [slots]bool
		var away []int32
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s := rapid.IntRange(0, slots-1).Draw(t, "slot")
			switch {
			case used[s] && rapid.Bool().Draw(t, "leaves"):
				away = append(away, l.leave(s))
				used[s] = false
			case used[s]: // its CTA ends
				used[s] = false
			case len(away) > 0 && rapid.Bool().Draw(t, "comes"):
				l.come(s, away[0])
				away, used[s] = away[1:], true
			default:
				l.start(s)
				used[s] = true
			}
			seen := map[int32]bool{}
			for _, p := range slices.Concat(l.of, l.spare, away) {
				if p == none {
					continue
				}
				if seen[p] {
					t.Fatalf("piece %d is in two places: slots %v, spare %v, away %v", p, l.of, l.spare, away)
				}
				seen[p] = true
			}
			if len(seen) != slots {
				t.Fatalf("%d of %d pieces are left: slots %v, spare %v, away %v", len(seen), slots, l.of, l.spare, away)
			}
		}
	})
}
