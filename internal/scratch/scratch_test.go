package scratch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What nobody holds any more is cleared, what somebody holds and what has another name stays.
func TestLeftOversAreCleared(t *testing.T) {
	parent := t.TempDir()
	held, err := Make(parent, "a-")
	if err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(parent, "a-left")
	other := filepath.Join(parent, "b-other")
	fresh := filepath.Join(parent, "a-fresh")
	for _, d := range []string{left, other, fresh} {
		if err := os.MkdirAll(filepath.Join(d, "inside"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-time.Hour)
	for _, d := range []string{left, other, held.Path()} {
		if err := os.Chtimes(d, old, old); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Make(parent, "a-")
	if err != nil {
		t.Fatal(err)
	}
	for d, want := range map[string]bool{left: false, other: true, fresh: true, held.Path(): true, again.Path(): true} {
		if _, err := os.Stat(d); (err == nil) != want {
			t.Errorf("%s: %v, want there: %v", d, err, want)
		}
	}
	if err := held.Remove(); err != nil {
		t.Error(err)
	}
	if err := again.Remove(); err != nil {
		t.Error(err)
	}
}

// The same of files: those of the name with a number, and no others.
func TestLeftFilesAreCleared(t *testing.T) {
	parent := t.TempDir()
	held, err := File(parent, ".r.")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	old := time.Now().Add(-time.Hour)
	want := map[string]bool{".r.123": false, ".r.x": true, ".r.": true, ".r.12x": true, "r.123": true, ".r.99": true}
	for name := range want {
		if err := os.WriteFile(filepath.Join(parent, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name != ".r.99" { // that one is young
			if err := os.Chtimes(filepath.Join(parent, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Mkdir(filepath.Join(parent, ".r.7"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{held.Name(), filepath.Join(parent, ".r.7")} {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	want[".r.7"], want[filepath.Base(held.Name())] = true, true
	again, err := File(parent, ".r.")
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for name, there := range want {
		if _, err := os.Stat(filepath.Join(parent, name)); (err == nil) != there {
			t.Errorf("%s: %v, want there: %v", name, err, there)
		}
	}
}
