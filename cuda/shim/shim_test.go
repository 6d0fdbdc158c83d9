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

// TestEntries: the table is whole, in order, and says of each name once since when it is.
func TestEntries(t *testing.T) {
	list := Entries()
	lines := 0
	for line := range strings.Lines(entriesText) {
		if !strings.HasPrefix(line, "#") {
			lines++
		}
	}
	if len(list) != lines || lines < 473 {
		t.Errorf("%d entries of %d lines, CUDA 13.0 has 473 names", len(list), lines)
	}
	seen := map[string]bool{}
	for i, e := range list {
		if seen[e.Name] {
			t.Errorf("%s is there twice", e.Name)
		}
		seen[e.Name] = true
		if i > 0 && list[i-1].Base == e.Base && list[i-1].Since == e.Since {
			t.Errorf("%s and %s are both of version %d", list[i-1].Name, e.Name, e.Since)
		}
	}
	for _, n := range strings.Fields(perThread) {
		if strings.HasPrefix(n, "cuda") || strings.HasSuffix(n, ":") || seen[n] {
			continue
		}
		t.Errorf("perThread has %s, which is no entry", n)
	}
}
