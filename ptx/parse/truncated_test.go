package parse

import (
	"errors"
	"os"
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// TestTruncated: a module that ends anywhere is read to its end, whether the parser stops at the first problem or goes
// on. What follows the last byte of a whole module is as good as nothing, or a comment, or a string, that does not end.
func TestTruncated(t *testing.T) {
	src, err := os.ReadFile("testdata/comments.ptx")
	if err != nil {
		t.Fatal(err)
	}
	for _, tail := range []string{"", "/*", "/* x\n", "\"", "\x01", "/"} {
		truncated.Each(t, src, func(part []byte) {
			part = append(part, tail...)
			_, err := File("x.ptx", part)
			_, all := All("x.ptx", part)
			if (err == nil) != (len(all) == 0) {
				t.Errorf("the first %d bytes and %q: File says %v, All %v", len(part)-len(tail), tail, err, all)
			}
			var e *Error
			if err != nil && !errors.As(err, &e) {
				t.Errorf("the first %d bytes and %q: %v", len(part)-len(tail), tail, err)
			}
		})
	}
	if _, err := File("x.ptx", src); err != nil {
		t.Errorf("the whole file: %v", err)
	}
}
