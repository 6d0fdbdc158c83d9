package emulate

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

// BenchmarkStep measures functional execution; ns/op is per warp instruction.
func BenchmarkStep(b *testing.B) {
	for _, name := range []string{
		"matmul_tiled_128", "option_price_big", "dep_fma_w16", "dep_iadd", "vadd",
		"hist_smem", "csr_gather",
	} {
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
	for _, name := range []string{
		"matmul_tiled_128", "option_price_big", "dep_shfl", "hist_smem", "diverge_4",
		"barrier_w4",
	} {
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

// TestParallelCTAs steps the CTAs of one grid from several goroutines, as a machine
// that ticks its SMs in parallel does; the result is that of a serial run.
func TestParallelCTAs(t *testing.T) {
	s, in, k, l, bufs := prepare(t, "testdata/calib", "testdata/calib/transpose_naive_big.json")
	g, err := in.Grid(k, l)
	if err != nil {
		t.Fatal(err)
	}
	geo := g.Geometry()
	errs := make(chan error, 4)
	for n := range 4 {
		go func() {
			var st isa.Step
			for i := n; i < geo.CTAs; i += 4 {
				c := g.Start(i, isa.Place{SM: n})
				for w := range geo.Warps {
					for c.PC(w) >= 0 {
						if err := c.Step(w, 0, &st); err != nil {
							errs <- err
							return
						}
					}
				}
				c.Release()
			}
			errs <- nil
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range s.Buffers {
		if got := fnvOf(bufs[b.Name].Data); got != b.Hash {
			t.Errorf("buffer %s: %s, want %s", b.Name, got, b.Hash)
		}
	}
}
