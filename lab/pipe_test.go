//go:build unix

package lab

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipeInTheStore puts a pipe where an entry would be. Reading it says that it is damaged; opening it
// would wait for ever.
func TestPipeInTheStore(t *testing.T) {
	store, err := OpenStore(t.TempDir(), "c")
	if err != nil {
		t.Fatal(err)
	}
	_, file := store.path("spec")
	failed := store.failedFile("spec")
	for _, f := range []string{file, failed} {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(f, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan []error, 1)
	go func() {
		_, get := store.Get("spec")
		_, _, kept := store.GetFailed("spec")
		_, _, entry := ReadEntry(file)
		_, fail := ReadFailed(failed)
		done <- []error{get, kept, entry, fail}
	}()
	select {
	case errs := <-done:
		for i, err := range errs {
			if !errors.Is(err, ErrDamaged) {
				t.Errorf("read %d of a pipe: %v, want a damaged entry", i, err)
			}
		}
	case <-time.After(10 * time.Second):
		t.Fatal("reading a pipe in the store waits for ever")
	}
}
