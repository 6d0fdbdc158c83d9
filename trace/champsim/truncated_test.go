package champsim

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A trace that ends anywhere is read to its end, packed or not.
func TestTruncated(t *testing.T) {
	dir := t.TempDir()
	for _, suffix := range []string{"", ".gz", ".xz", ".zst"} {
		file := filepath.Join(dir, "t"+suffix)
		whole := false
		truncated.Each(t, compress(t, suffix, sample(6)), func(part []byte) {
			if err := os.WriteFile(file, part, 0o600); err != nil {
				t.Error(err)
			}
			_, _, err := read(file)
			whole = err == nil
		})
		if !whole {
			t.Errorf("the whole trace%s is not read", suffix)
		}
	}
}
