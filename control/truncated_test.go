package control

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A file of samples that ends anywhere is read to its end.
func TestTruncated(t *testing.T) {
	truncated.Each(t, []byte(twoSamples), func(part []byte) {
		whole := len(part) == len(twoSamples)
		if plans, err := replayed(t, "ugpu", nil, "s.json", part); (err == nil) != whole || (plans == nil) == whole {
			t.Errorf("%q: %v, %v", part, plans, err)
		}
	})
}
