package runfile

import (
	"path/filepath"
	"testing"
)

// TestExamples: every run file in examples and docs/runs can be run: its applications are there, and its machine can
// have what it asks for.
func TestExamples(t *testing.T) {
	var files []string
	for _, folder := range []string{"examples", filepath.Join("docs", "runs")} {
		found, err := filepath.Glob(filepath.Join("..", "..", folder, "*.yaml"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no run files in %s: %v", folder, err)
		}
		files = append(files, found...)
	}
	for _, f := range files {
		if _, err := Load(f, Overrides{}); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}
