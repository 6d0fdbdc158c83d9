package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKilledReproductionGoesOn kills a reproduction (SIGKILL) once it has kept some
// results. What it leaves is whole, is not simulated again, and the end is the same
// as without the interruption.
func TestKilledReproductionGoesOn(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	heddle := filepath.Join(dir, "heddle") // TestMain acts by the name it is called by
	if err := os.Symlink(self, heddle); err != nil {
		t.Fatal(err)
	}
	command := func(cache, out string) (*exec.Cmd, *bytes.Buffer) {
		c := exec.Command(heddle, "reproduce", "../../paper/testdata/tiny/pairs", "--apps", "../../apps", "--jobs", "1",
			"--cache", filepath.Join(dir, cache), "--out", filepath.Join(dir, out))
		var text bytes.Buffer
		c.Stdout, c.Stderr = &text, &text
		return c, &text
	}
	kept := func() int {
		files, err := filepath.Glob(filepath.Join(dir, "cache", "??", "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	first, _ := command("cache", "never")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); kept() < 3; time.Sleep(time.Millisecond) {
		if time.Since(begun) > 2*time.Minute {
			t.Fatal("no results within two minutes")
		}
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Fatal("it ended before it was killed: this shows nothing")
	}
	n := kept()
	if _, err := os.Stat(filepath.Join(dir, "never")); err == nil {
		t.Error("a killed reproduction left figures")
	}
	second, text := command("cache", "second")
	if err := second.Run(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if want := fmt.Sprintf(", %d kept from before", n); !strings.Contains(text.String(), want) {
		t.Errorf("%d results were kept; the second run says\n%s", n, text)
	}
	if strings.Contains(text.String(), "damaged") {
		t.Errorf("something was damaged:\n%s", text)
	}
	whole, text := command("other", "whole")
	if err := whole.Run(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, f := range []string{"pairs.csv", "pairs.measures.csv", "pairs.svg"} {
		a, err := os.ReadFile(filepath.Join(dir, "second", f))
		b, err2 := os.ReadFile(filepath.Join(dir, "whole", f))
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs from an uninterrupted reproduction's (%v, %v)", f, err, err2)
		}
	}
}
