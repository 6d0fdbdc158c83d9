package machine

import (
	"testing"

	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/mem"
)

// What is moved for an application without its asking counts in a row of its own: under
// time slicing the lines of its contexts, written once and read once, and nothing else.
func TestContextTrafficIsApart(t *testing.T) {
	for _, sheet := range []string{"ugpu", "qv100"} {
		r := together(t, sheet, 8, 2, Options{Quantum: 3000})
		for i := range 2 {
			r.count(i, 40, 128, 500)
			r.scale(i, 30_000, mem.Device)
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		var bytes, ctas, moved uint64
		for _, x := range r.g.Sharing.TimeSlices.Log() {
			bytes, ctas = bytes+x.Bytes, ctas+uint64(x.CTAs)
		}
		for _, table := range r.g.Tables {
			if table.Owner == "llc" {
				for tenant := range 2 {
					moved += table.Moved(tenant)[cache.Accesses] * uint64(r.g.Sheet.LLC.Sector)
				}
			}
		}
		if line := uint64(r.g.Sheet.LLC.Line); bytes == 0 || moved < 2*bytes || moved > 2*(bytes+line*ctas) {
			t.Errorf("%s: %d bytes of contexts of %d CTAs were stored and loaded: the LLC saw %d", sheet, bytes, ctas,
				moved)
		}
	}
}
