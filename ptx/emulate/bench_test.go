package emulate

import (
	"testing"

	"heddle/isa"
)

// BenchmarkStep measures functional execution; ns/op is per warp instruction.
func BenchmarkStep(b *testing.B) {
	for _, name := range []string{"matmul_tiled_128", "option_price_big", "dep_fma_w16", "dep_iadd", "vadd", "hist_smem", "csr_gather"} {
		b.Run(name, func(b *testing.B) {
			_, in, k, l, _ := prepare(b, "testdata/calib", "testdata/calib/"+name+".json")
			g, err := in.Grid(k, l)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; {
				c, err := Run(g, uint64(b.N-n))
				if err != nil && c.WarpInsts < uint64(b.N-n) {
					b.Fatal(err)
				}
				n += int(c.WarpInsts)
			}
		})
	}
}

// TestStepAllocates nothing once a CTA is running.
func TestStepAllocates(t *testing.T) {
	for _, name := range []string{"matmul_tiled_128", "option_price_big", "dep_shfl", "hist_smem", "diverge_4", "barrier_w4"} {
		_, in, k, l, _ := prepare(t, "testdata/calib", "testdata/calib/"+name+".json")
		g, err := in.Grid(k, l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Run(g, 0); err != nil { // fills the free list
			t.Fatal(err)
		}
		var s isa.Step
		n := testing.AllocsPerRun(3, func() {
			c := g.Start(0, isa.Place{})
			for range 200 {
				if c.PC(0) < 0 {
					break
				}
				if err := c.Step(0, 0, &s); err != nil {
					t.Fatal(err)
				}
			}
			c.Release()
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
