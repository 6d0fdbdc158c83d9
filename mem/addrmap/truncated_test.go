package addrmap

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A map that ends anywhere is read to its end.
func TestTruncated(t *testing.T) {
	truncated.Each(t, []byte(qv100String), func(part []byte) {
		s := qv100(32, 2, "ipoly")
		s.Map.String = string(part)
		if m, err := New(s); (m == nil) == (err == nil) {
			t.Errorf("%q: %v, %v", part, m, err)
		}
	})
}
