package accelsim

import (
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

// BenchmarkStep is the cost of replaying a warp instruction, loads and stores with
// 32 addresses included.
func BenchmarkStep(b *testing.B) {
	const blocks = 100
	dir := writeVecadd(b, blocks, "", nil)
	tr, err := Read(filepath.Join(dir, "kernel-1.traceg"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer tr.Close()
	g := tr.Launch()
	var s isa.Step
	n := 0
	b.ReportAllocs()
	for n < b.N {
		c := g.Start(n%blocks, isa.Place{})
		for w := range 4 {
			for c.PC(w) >= 0 {
				if err := c.Step(w, 0, &s); err != nil {
					b.Fatal(err)
				}
				n++
			}
		}
		c.Release()
	}
}
