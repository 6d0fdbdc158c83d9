package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestReadmeExample runs the first command of README.md and holds the comparison that README shows against what the
// command prints.
func TestReadmeExample(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates 450,000 cycles")
	}
	const path, begin, end = "../../README.md", "<!-- begin example -->\n```\n", "```\n<!-- end example -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	shown, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("README.md has no example between %q and %q", begin, end)
	}
	var out, errs bytes.Buffer
	if code := heddle([]string{"run", "../../examples/two-tenants.yaml", "--no-cache"}, &out, &errs); code != exitOK {
		t.Fatalf("status %d\n%s", code, errs.String())
	}
	_, printed, ok := strings.Cut(out.String(), "\ncomparison")
	if !ok {
		t.Fatalf("no comparison in\n%s", out.String())
	}
	printed = "comparison" + printed
	switch {
	case printed == shown:
	case *updateDocs:
		if err := os.WriteFile(path, []byte(before+begin+printed+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("README.md shows\n%s\nthe command prints\n%s\nrun go test ./cmd/heddle -run TestReadmeExample "+
			"-update", shown, printed)
	}
}
