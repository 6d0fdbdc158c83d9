package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/cuda"
)

// TestTutorial does what docs/tutorial.md tells a reader: it writes the files that stand there and
// runs the commands, in a folder that has the applications and nothing else.
func TestTutorial(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if err := os.Symlink(filepath.Join(root, "apps"), "apps"); err != nil {
		t.Fatal(err)
	}
	_, noClang := cuda.Find("")
	said := map[string]string{} // what each command printed
	block := regexp.MustCompile("(?sm)^```([a-z]+) ?([^\n]*)\n(.*?)^```")
	for _, b := range block.FindAllStringSubmatch(string(text), -1) {
		kind, file, body := b[1], b[2], b[3]
		if kind != "sh" {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if file == "clang" && noClang != nil {
			t.Logf("not run without clang: %s", body)
			continue
		}
		for line := range strings.Lines(body) {
			line = strings.TrimSpace(line)
			args, ok := strings.CutPrefix(line, "./heddle ")
			if !ok {
				t.Fatalf("%q is no command of the tutorial", line)
			}
			var out bytes.Buffer
			if code := heddle(strings.Fields(args), &out, &out); code != exitOK {
				t.Fatalf("%s: status %d\n%s", line, code, out.String())
			}
			said[args] = out.String()
		}
	}
	wanted := map[string]string{
		"run mine":                              `saxpy .* DRAM +`,
		"run mine --arg rounds=300":             `saxpy .* issue +`,
		"ptx check mine/kernel.ptx":             `saxpy`,
		"run pair.yaml --out results/pair":      `(?m)^ *unbalanced +\d`,
		"reproduce ./study --out results/study": `-\d+\.\d %.*holds`,
	}
	if noClang == nil {
		wanted["exec --table -- ./prog"] = `y\[0\] = 5, no error(?s:.*)axpy`
		wanted["ptx check prog.ptx"] = `axpy`
	}
	for args, want := range wanted {
		if !regexp.MustCompile(want).MatchString(said[args]) {
			t.Errorf("heddle %s does not say %q:\n%s", args, want, said[args])
		}
	}
	for _, file := range []string{"pair.html", "sweep.csv", "results/study/pairs.svg"} {
		if st, err := os.Stat(file); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
}
