package sm

import "testing"

// A CTA whose warps are done keeps its place while the machine says so, and gives it up in the cycle after it need not
// any more: the second of two that share an SM with room for one begins then.
func TestStay(t *testing.T) {
	const until = 500
	for stays, want := range map[bool]uint64{false: until / 5, true: until} {
		b := newBench(t, nil)
		b.s.cfg.CTAs = 1
		g := oneWarp(exit())
		var began []uint64
		g.trace = func(_, _, _ int, now uint64) { began = append(began, now) }
		b.s.Stay(stays, 0)
		b.each = func(now uint64) {
			if stays && now == until {
				if !b.s.Stay(false, now) {
					t.Error("nobody has stayed")
				}
			}
			if now < until {
				b.s.wakeAt(now + 1)
			}
		}
		b.run(g, 2, false)
		if len(began) != 2 || began[0] > 50 || stays == (began[1] < want) {
			t.Errorf("stays %v: the CTAs issue in cycles %v, want the second %d", stays, began, want)
		}
		if b.s.Stay(false, 1000) {
			t.Error("somebody has stayed after all have left")
		}
	}
}
