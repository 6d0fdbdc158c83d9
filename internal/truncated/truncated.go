// Package truncated tries a parser on a file that ends too early: Each gives it every beginning of the file. It finds
// loops that do not advance at the end of their input. It is for tests.
package truncated

import (
	"sync/atomic"
	"testing"
	"time"
)

// patience is how long one beginning may take on a busy computer. A parser needs less than a millisecond for it.
const patience = 30 * time.Second

// Each calls read with every beginning of a file, from nothing to all of it. The test fails if read does not come
// back; the goroutine that hangs is left behind.
func Each(t *testing.T, file []byte, read func(beginning []byte)) {
	t.Helper()
	if len(file) == 0 {
		t.Fatal("an empty file has no beginnings")
	}
	var at atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range len(file) + 1 {
			at.Store(int64(n))
			read(file[:n:n])
		}
	}()
	seen := int64(-1)
	for tick := time.NewTicker(patience); ; {
		select {
		case <-done:
			tick.Stop()
			return
		case <-tick.C:
			n := at.Load()
			if n == seen {
				t.Fatalf("the reader does not come back from the first %d of %d bytes, which end with %q", n, len(file),
					file[max(0, n-40):n])
			}
			seen = n
		}
	}
}
