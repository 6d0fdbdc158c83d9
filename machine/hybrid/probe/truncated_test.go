package probe

import (
	"bytes"
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A list of misses that ends anywhere is read to its end.
func TestTruncated(t *testing.T) {
	truncated.Each(t, []byte("# cycle, kind\n0 miss\n9 miss-dirty # x\n\n10 miss\n"), func(part []byte) {
		if trace, err := ReadTrace("t", bytes.NewReader(part)); err != nil && trace != nil || len(trace) > 3 {
			t.Errorf("%q: %v, %v", part, trace, err)
		}
	})
}
