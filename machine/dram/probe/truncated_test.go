package probe

import (
	"bytes"
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A trace that ends anywhere is read to its end.
func TestTruncated(t *testing.T) {
	truncated.Each(t, []byte("# c\nR 0x40\n\nW 0x80 # x\n  R 0xc0\n"), func(part []byte) {
		tr := NewTrace("t", bytes.NewReader(part))
		for n := 0; ; n++ {
			if _, _, ok, err := tr.Next(); err != nil || !ok {
				return
			}
			if n > len(part) {
				t.Fatalf("%q: more requests than bytes", part)
			}
		}
	})
}
