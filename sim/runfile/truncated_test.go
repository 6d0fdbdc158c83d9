package runfile

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A run file that ends anywhere is read to its end.
func TestTruncated(t *testing.T) {
	text := two + "sharing: # two ways\n- {name: a, mode: bp}\n- mps\nlength: {cycles: 5} # short\n"
	truncated.Each(t, []byte(text), func(part []byte) {
		if file, err := Parse("testdata/run.yaml", part, Overrides{}); (file == nil) == (err == nil) {
			t.Errorf("%q: %v, %v", part, file, err)
		}
	})
}
