package shim

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func headers() fs.FS { return os.DirFS("../include") }

// TestBuild builds the libraries once and finds them again.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	to, err := Build(t.Context(), headers(), dir)
	if none := (*ErrNoCompiler)(nil); errors.As(err, &none) {
		t.Skip("skipped, nothing is built: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range Libraries() {
		if _, err := os.Stat(filepath.Join(to, l)); err != nil {
			t.Error(err)
		}
	}
	t.Setenv("CC", "no-such-compiler")
	if again, err := Build(t.Context(), headers(), dir); err != nil || again != to {
		t.Errorf("%s, %v: what has been built is not found", again, err)
	}
	_, err = Build(t.Context(), headers(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "apt-get install gcc") {
		t.Errorf("no compiler: %v", err)
	}
}

func TestCallNames(t *testing.T) {
	if n := len(strings.Fields(callNames)); n != int(NumCalls)-1 {
		t.Errorf("%d names, %d calls", n, NumCalls-1)
	}
	if Unregister.String() != "unregister" || Call(99).String() != "call 99" {
		t.Error(Unregister, Call(99))
	}
}
