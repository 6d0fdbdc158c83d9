package fatbin

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A container that ends anywhere, packed or not, is read to its end: it is refused, unless all of it is there.
func TestTruncated(t *testing.T) {
	for _, file := range [][]byte{Write([]byte(sample), 70), packed([]byte(sample)[:40], flagLZ4)} {
		whole, _ := Parse(file)
		truncated.Each(t, file, func(part []byte) {
			list, err := Parse(part)
			if err == nil && (len(part) < len(file) || len(list) != len(whole)) {
				t.Errorf("the first %d of %d bytes: %d entries", len(part), len(file), len(list))
			}
		})
	}
}
