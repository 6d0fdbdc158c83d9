package heddle

import (
	"io/fs"
	"os/exec"
	"strings"
	"testing"
)

// TestSourcesAreComplete asks the go command which files sim and energy are built
// from; each must be in Sources, or a change of it would leave old results valid.
func TestSourcesAreComplete(t *testing.T) {
	const module = "github.com/heddle-sim/heddle"
	const files = `{{if .Module}}{{if .Module.Main}}{{$d := .ImportPath}}{{range .GoFiles}}{{$d}}/{{.}} {{end}}{{range .SFiles}}{{$d}}/{{.}} {{end}}{{range .IgnoredGoFiles}}{{$d}}/{{.}} {{end}}{{end}}{{end}}`
	out, err := exec.Command("go", "list", "-deps", "-f", files, module+"/sim", module+"/energy").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	list := strings.Fields(string(out))
	if len(list) < 50 {
		t.Fatalf("only %d files: %s", len(list), out)
	}
	for _, f := range list {
		if _, err := fs.Stat(Sources, strings.TrimPrefix(f, module+"/")); err != nil {
			t.Errorf("%s is part of the simulator and not of Sources: add its folder to sources.go", f)
		}
	}
}
