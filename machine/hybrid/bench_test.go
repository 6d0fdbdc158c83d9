package hybrid

import (
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

// BenchmarkController is what a request costs the computer in the controller alone: channels
// that answer at once. hits: all are in the fast tier; misses: every one migrates a block.
func BenchmarkController(b *testing.B) {
	for _, c := range []struct {
		name  string
		lines uint64
	}{{"hits", 1 << 10}, {"misses", 1 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := small(b, Cache, Shape{Ways: 4, Channels: 4}, 256, 1<<12, 8)
			cfg.Remap, cfg.RemapWays, cfg.Requests, cfg.Registers, cfg.Buffers = 1<<18, 8, 256, 64, 96
			r := newRig(b, cfg, NewLRU(4))
			x := r.c
			x.out.trace = nil
			now, done := uint64(0), 0
			step := func() {
				now++
				x.Tick(now)
				for tier := range x.out.ring {
					for fed := x.Fed(tier); fed != 0; fed &= fed - 1 {
						for i := range x.out.ring[tier] {
							for q := x.Out(tier, i); q.Len() > 0; {
								if a := q.Pop(); !a.Write {
									x.Arrived(a.Buffer, now)
								}
							}
						}
					}
				}
				for x.Done.Len() > 0 {
					x.Done.Pop()
					done++
				}
			}
			ask := func(i int) {
				line := uint64(i) * 0x9E3779B1 % c.lines * 128
				for !x.CanAccept(line) {
					step()
				}
				x.Accept(mem.Fetch{Line: line, Token: 1, Sectors: 0b11}, now)
				step()
			}
			for i := range 1 << 12 {
				ask(i)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				ask(i)
			}
			if done == 0 {
				b.Fatal("nothing was answered")
			}
		})
	}
}
