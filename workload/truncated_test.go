package workload

import (
	"os"
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A model that ends anywhere is read to its end.
func TestTruncated(t *testing.T) {
	src, err := os.ReadFile("../apps/models/stencil.yaml")
	if err != nil {
		t.Fatal(err)
	}
	truncated.Each(t, append(src, "# the end\n"...), func(part []byte) {
		if m, err := Parse("f", part); (m == nil) == (err == nil) {
			t.Errorf("%q: %v, %v", part, m, err)
		}
	})
}
