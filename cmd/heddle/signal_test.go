//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// The first SIGTERM ends a command that looks at no interrupt, such as one that still reads its input.
func TestFirstSignalEnds(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	heddle, pipe := filepath.Join(dir, "heddle"), filepath.Join(dir, "pipe.ptx")
	if err := os.Symlink(self, heddle); err != nil { // TestMain acts by the name it is called by
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	c := exec.Command(heddle, "ptx", "check", pipe)
	var text bytes.Buffer
	c.Stderr = &text
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // comes back when the command has opened it to read
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	defer late.Stop()
	if _ = c.Wait(); c.ProcessState.ExitCode() != exitInterrupted || text.String() != "heddle: interrupted\n" {
		t.Errorf("%v, %q", c.ProcessState, text.String())
	}
}
