package emulate

import (
	"os"
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A module that ends anywhere is decoded as far as it goes, and Check finds what Load does.
func TestTruncated(t *testing.T) {
	src, err := os.ReadFile("testdata/calib/reduce_tree.ptx")
	if err != nil {
		t.Fatal(err)
	}
	truncated.Each(t, src, func(part []byte) {
		_, err := Load("x.ptx", part)
		if _, all := Check("x.ptx", append(part, "\n/* "...)); len(all) == 0 {
			t.Errorf("the first %d bytes and a comment that does not end: no problem", len(part))
		}
		if _, all := Check("x.ptx", part); (err == nil) != (len(all) == 0) {
			t.Errorf("the first %d bytes: Load says %v, Check %v", len(part), err, all)
		}
	})
}
