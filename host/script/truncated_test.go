package script

import (
	"testing"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/internal/truncated"
)

// A script that ends anywhere is read to its end.
func TestTruncated(t *testing.T) {
	const text = "# c\nx = {1: f32(2)}\ndef main(n = 3, **k): # d\n    \"\"\"Text.\"\"\"\n    a = malloc(f32, n)\n" +
		"    a.copy_from([1] * 9, stream = s)\n    while x: x[2] = host_array(i64, 4).slice(1, -1)\n"
	dir := t.TempDir()
	truncated.Each(t, []byte(text), func(part []byte) {
		_, err := parse(dir, "app.star", part, Options{MaxSteps: 5000})
		if err != nil && host.Classify(err) != host.BadInput {
			t.Errorf("%q: %v is of class %d", part, err, host.Classify(err))
		}
	})
}
