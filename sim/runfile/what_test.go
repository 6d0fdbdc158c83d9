package runfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim/runfile"
)

// TestMistakenFiles gives heddle run what is no run file: the message names what it is and what to do.
func TestMistakenFiles(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ content, want string }{
		"kernel-1.traceg": {"-kernel name = k\n-kernel id = 1\n", "one kernel of an Accel-Sim trace"},
		"k.ptx":           {"// made by hand\n.version 8.0\n", "is PTX code"},
		"champ.trace":     {strings.Repeat("\x01\x00\x40\x00", 100_000), "cpu: {trace: FILE}"},
		"champ.xz":        {"\xfd7zXZ\x00\x01", "cpu: {trace: FILE}"},
		"cut.rec":         {"\x00\x01\x8bHeddle\n", "record it again"},
		"a.out":           {"\x7fELF\x02", "heddle simulates PTX"},
		"prog.cu":         {"// a program\n#include <stdio.h>\n", "heddle cc --ptx"},
		"nothing":         {"", "is empty"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
			t.Fatal(err)
		}
		if app, err := runfile.IsApp(path); app || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: an application: %v, error %v; want %q", name, app, err, c.want)
		}
		text := []byte("apps:\n- path: " + name + "\n")
		_, err := runfile.Parse(filepath.Join(dir, "run.yaml"), text, runfile.Overrides{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "run.yaml:2:9") {
			t.Errorf("%s as path: error %v; want run.yaml:2:9 and %q", name, err, c.want)
		}
	}
	for name, content := range map[string]string{
		"run":      "apps:\n- path: x\n",
		"run.json": `{"apps": [{"path": "x"}]}`,
		"odd.yaml": "#include\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if app, err := runfile.IsApp(path); app || err != nil {
			t.Errorf("%s: an application: %v, error %v; it may be a run file", name, app, err)
		}
	}
}
