package scratch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What cannot be written is named as it was given, and not by the name of the file on its way there.
func TestUnwritten(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := filepath.Join(dir, "full")
	if err := os.MkdirAll(filepath.Join(full, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, cause := range map[string]error{
		filepath.Join(dir, "none", "x"): syscall.ENOENT,
		filepath.Join(file, "x"):        syscall.ENOTDIR,
		full:                            syscall.EISDIR,
	} {
		err := WriteWhole(path, []byte("new"))
		if !errors.Is(err, cause) || err.Error() != path+" cannot be written: "+cause.Error() {
			t.Errorf("%s: %v, want %v", path, err, cause)
		}
	}
	if err := WriteWhole(file, []byte("new")); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.Contains(e.Name(), "writing") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// A file is written whole or stays what it was; what is no file is written to.
func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	for _, text := range []string{"first", "second"} {
		if err := WriteWhole(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := WriteWhole(os.DevNull, []byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/dev/full"); err == nil && WriteWhole("/dev/full", []byte("x")) == nil {
		t.Error("a full device takes it")
	}
	if err := WriteWhole(filepath.Join(dir, "no", "f"), nil); err == nil {
		t.Error("a directory that is not there takes it")
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("%v, %v: something is left", all, err)
	}
}
