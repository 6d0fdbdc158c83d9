package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/heddle-sim/heddle/lab/silicon"
)

// source is a .cu file whose PTX is among the kernels.
type source struct {
	file string
	// exact says that a product and a sum stay two instructions, as in the PTX of applications.
	exact bool
}

// sources are the .cu files by the names of their PTX: those of the folder, and those of the applications whose
// kernels are measured, too.
func sources(dir string) (map[string]source, error) {
	found, err := filepath.Glob(filepath.Join(dir, "kernels", "*.cu"))
	if err != nil {
		return nil, err
	}
	out := map[string]source{}
	for _, f := range found {
		out[strings.TrimSuffix(filepath.Base(f), ".cu")] = source{file: f}
	}
	for name, app := range silicon.Borrowed() {
		out[name] = source{file: filepath.Join(dir, "..", "..", "apps", app, "kernel.cu"), exact: true}
	}
	return out, nil
}

// build compiles the kernels with an nvcc into a folder, beside the programs that launch them, and returns the
// compiler's version.
func build(ctx context.Context, nvcc, dir, into string) (version string, err error) {
	said, err := exec.CommandContext(ctx, nvcc, "--version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("--nvcc %s --version: %w\n%s", nvcc, err, said)
	}
	version = regexp.MustCompile(`V\d+\.\d+\.\d+`).FindString(string(said))
	if version == "" {
		return "", fmt.Errorf("--nvcc %s --version names no version such as V12.4.131: name NVIDIA's nvcc\n%s",
			nvcc, said)
	}
	if err := os.CopyFS(into, os.DirFS(filepath.Join(dir, "kernels"))); err != nil {
		return "", err
	}
	all, err := sources(dir)
	if err != nil {
		return "", err
	}
	for name, s := range all {
		arch := "compute_70"
		if strings.HasSuffix(name, "80") { // kernels of instructions that begin there
			arch = "compute_80"
		}
		args := []string{
			"-ptx", "-arch=" + arch, "-std=c++17", "-w", "-I", filepath.Join(dir, "..", "..", "apps", "include"),
			"-o", filepath.Join(into, name+".ptx"), s.file,
		}
		if s.exact {
			args = append(args, "-fmad=false")
		}
		if said, err := exec.CommandContext(ctx, nvcc, args...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %s: %w\n%s", s.file, nvcc, err, said)
		}
	}
	return version, nil
}
