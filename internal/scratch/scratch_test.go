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
