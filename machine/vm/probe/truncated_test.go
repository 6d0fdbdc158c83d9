package probe

import (
	"bytes"
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A trace that ends anywhere is read to its end.
func TestTruncated(t *testing.T) {
	truncated.Each(t, []byte(figure6a+"# c\n0 0x1 # x\n\n1 0X2"), func(part []byte) {
		if r, err := Place(Options{"lab", 3, "0.9"}, "t", bytes.NewReader(part)); (err != nil) == (r != nil) {
			t.Errorf("%q: %v, %v", part, r, err)
		}
	})
}
