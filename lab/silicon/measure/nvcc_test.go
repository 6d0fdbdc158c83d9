package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// TestNVCC: NVIDIA's compiler makes PTX from every kernel's source, and the machine of Heddle measures it. Where no
// CUDA toolkit is installed it is skipped: clang compiles the same sources for every other test.
func TestNVCC(t *testing.T) {
	nvcc, err := exec.LookPath("nvcc")
	if err != nil {
		t.Skip("skipped, nothing is compiled: no nvcc of a CUDA toolkit")
	}
	into := t.TempDir()
	version, err := build(t.Context(), nvcc, "..", into)
	if err != nil {
		t.Fatal(err)
	}
	all, err := sources("..")
	if err != nil {
		t.Fatal(err)
	}
	for name := range all {
		text, err := os.ReadFile(filepath.Join(into, name+".ptx"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("NVIDIA NVVM Compiler")) {
			t.Errorf("%s.ptx is not of nvcc %s", name, version)
		}
		if _, err := parse.File(name+".ptx", text); err != nil {
			t.Error(err)
		}
	}
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rows.csv")
	said := onHeddle(t, "--dir", dir, "--board", "h100-sxm5", "--row", "chain ffma", "--times", "1", "--spin", "2000",
		"--arena", "256", "-o", file, "--nvcc", nvcc)
	rows, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if !strings.Contains(string(rows), "PTX of nvcc "+version) {
		t.Errorf("the rows do not name the compiler:\n%s", rows)
	}
}

// TestBadNVCC: a compiler that cannot be used is named, with what it said and the source it stopped at.
func TestBadNVCC(t *testing.T) {
	program := func(text string) string {
		name := filepath.Join(t.TempDir(), "nvcc")
		if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text), 0o755); err != nil { //nolint:gosec // it is executed
			t.Fatal(err)
		}
		return name
	}
	for _, c := range []struct{ nvcc, more, want string }{
		{filepath.Join(t.TempDir(), "nvcc"), "", "no such file"},
		{program("echo gcc 12\n"), "", "names no version such as V12.4.131"},
		{program("[ $1 = --version ] && echo V12.4.131 || { echo no space >&2; exit 1; }\n"), "", ".cu: "},
		{program("[ $1 = --version ] && echo V12.4.131 || { echo no space >&2; exit 1; }\n"), "", "no space"},
		{"nvcc", "--app=x", "leave it or --app out"},
	} {
		args := []string{"--dir", "..", "--board", "h100-sxm5", "--nvcc", c.nvcc}
		if c.more != "" {
			args = append(args, c.more)
		}
		err := run(t.Context(), args, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", args, err, c.want)
		}
	}
}
