// Package apps_test checks that every application folder is complete.
package apps_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/apps/reference"
)

// folders lists the application folders, <suite>/<app>.
func folders(t *testing.T) []string {
	t.Helper()
	scripts, err := filepath.Glob("*/*/app.star")
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) < 12 {
		t.Fatalf("%d applications found: at least 12 are shipped", len(scripts))
	}
	dirs := make([]string, len(scripts))
	for i, s := range scripts {
		dirs[i] = filepath.Dir(s)
	}
	return dirs
}

// lines is a file of a line table with a relative path: kernel.cu, or what it includes from its folder.
var lines = regexp.MustCompile(`\t\.file\t[0-9]+ "(\./)+[a-z]+\.cuh?"`)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFoldersAreComplete(t *testing.T) {
	used := map[string]bool{}
	refs := regexp.MustCompile(`reference\("([^"]+)"`)
	for _, dir := range folders(t) {
		script := read(t, filepath.Join(dir, "app.star"))
		kernel := read(t, filepath.Join(dir, "kernel.ptx"))
		readme := read(t, filepath.Join(dir, "README.md"))
		read(t, filepath.Join(dir, "kernel.cu"))

		for _, size := range []string{"tiny", "standard", "paper"} {
			if !strings.Contains(script, `"`+size+`":`) {
				t.Errorf("%s/app.star: preset %q is missing", dir, size)
			}
			if !strings.Contains(readme, "| "+size+" |") {
				t.Errorf("%s/README.md: preset %q is missing from the table", dir, size)
			}
		}
		for _, item := range []string{
			"Access pattern", "Expected class", "Source of the algorithm", "Check",
			"footprint",
		} {
			if !strings.Contains(readme, item) {
				t.Errorf("%s/README.md: %q is missing", dir, item)
			}
		}
		if !strings.Contains(kernel, "\t.loc\t1 ") || !lines.MatchString(kernel) {
			t.Errorf("%s/kernel.ptx: no line table with a relative path: regenerate with apps/ptx.sh", dir)
		}
		found := refs.FindAllStringSubmatch(script, -1)
		if len(found) == 0 {
			t.Errorf("%s/app.star: checks against no reference", dir)
		}
		for _, m := range found {
			used[m[1]] = true
			if reference.All[m[1]] == nil {
				t.Errorf("%s/app.star: reference %q is not in reference.All", dir, m[1])
			}
			if want := strings.ReplaceAll(dir, string(filepath.Separator), "_"); m[1] != want {
				t.Errorf("%s/app.star: reference %q: by convention it is called %q", dir, m[1], want)
			}
		}
	}
	for name := range reference.All {
		if !used[name] {
			t.Errorf("reference %q is used by no application", name)
		}
	}
}

// TestPTXIsCurrent regenerates the PTX where clang 19 is installed: the committed files
// must come out byte for byte.
func TestPTXIsCurrent(t *testing.T) {
	if v, err := exec.Command("clang-19", "--version").Output(); err != nil ||
		!strings.Contains(string(v), "version 19.") {
		t.Skip("clang-19 is not installed")
	}
	fresh := t.TempDir()
	cmd := exec.Command("./ptx.sh")
	cmd.Env = append(os.Environ(), "OUT="+fresh, "CLANG=clang-19")
	if log, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("ptx.sh: %v\n%s", err, log)
	}
	for _, dir := range folders(t) {
		if read(t, filepath.Join(dir, "kernel.ptx")) != read(t, filepath.Join(fresh, dir, "kernel.ptx")) {
			t.Errorf("%s/kernel.ptx is not what kernel.cu gives: run make ptx", dir)
		}
	}
}
