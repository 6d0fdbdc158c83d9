package yamldoc

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A document that ends anywhere is read to its end.
func TestTruncated(t *testing.T) {
	const text = "# c\na: [1, MHz, x] # d\nb: {c: 1, 'd': \"e\"}\nf: |\n  text\ng:\n- &h x\n- *h\n- [[1], {i: [2]}]\n"
	truncated.Each(t, []byte(text), func(part []byte) {
		if n, err := Parse("f", part); (n == nil) == (err == nil) {
			t.Errorf("%q: node %v, error %v", part, n, err)
		}
	})
}
