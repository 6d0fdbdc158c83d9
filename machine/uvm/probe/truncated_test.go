package probe

import (
	"bytes"
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
	"github.com/heddle-sim/heddle/machine/uvm"
)

// A trace that ends anywhere is read to its end.
func TestTruncated(t *testing.T) {
	trace := []byte("# c\nalloc a 0x200000 5000000 ro\nR 0x200000\nkernel k # d\n\nW 0x600001\nR 0x600000\n")
	truncated.Each(t, trace, func(part []byte) {
		opt := uvm.Options{Capacity: 1 << 18, Prefetch: "tbn", Evict: "lru2m", Migrate: "adaptive", Ts: 8, P: 8}
		if r, err := Run(opt, "t", bytes.NewReader(part)); (err != nil) == (r != nil) {
			t.Errorf("%q: %v, %v", part, r, err)
		}
	})
}
