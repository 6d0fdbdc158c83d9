package slurm

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// What squeue says is read to its end, wherever that is.
func TestTruncated(t *testing.T) {
	const text = "3|0|RUNNING|n1|None|heddle-0123456789abcdef-0\n3|4294967294|PENDING||Priority|heddle-x|y\n"
	truncated.Each(t, []byte(text), func(part []byte) {
		if n := len(parseQueue(string(part))); n > 2 {
			t.Errorf("%q: %d jobs", part, n)
		}
	})
}
