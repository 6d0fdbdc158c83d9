package sim

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/cuda"
	"github.com/heddle-sim/heddle/cuda/shim"
)

const triadSource = `#include <cstdio>
extern "C" __global__ void triad(float *a, const float *b, const float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = b[i] + 3.0f * c[i];
}
int main()
{
    const int n = 20000;
    static float h[n];
    float *a, *b, *c;
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMalloc(&a, sizeof h), cudaMalloc(&b, sizeof h), cudaMalloc(&c, sizeof h);
    cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemcpy(c, h, sizeof h, cudaMemcpyHostToDevice);
    triad<<<(n + 255) / 256, 256>>>(a, b, c, n);
    cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        if (h[i] != 4.0f * i) return 1;
    return 0;
}
`

const triadScript = `def main():
    n = 20000
    m = module("kernel.ptx")
    a = malloc(f32, n)
    b = malloc(f32, n)
    c = malloc(f32, n)
    h = host_array(f32, n)  # last: a compiled program's own memory has no address of the machine's
    h.arange(0, 1)
    b.copy_from(h)
    c.copy_from(h)
    launch(m.kernel("triad"), (n + 255) // 256, 256, [a, b, c, n])
    h.copy_from(a)
`

// compiledTriad is a folder with the program as an application and as an executable; skipped without compilers.
func compiledTriad(t *testing.T) string {
	t.Helper()
	c, err := cuda.Find(os.Getenv("CLANG"))
	if err != nil {
		t.Skip("skipped, no program is compiled: ", err)
	}
	headers, err := cuda.Headers()
	if err != nil {
		t.Fatal(err)
	}
	lib, err := shim.Build(t.Context(), headers, "")
	if none := (*shim.ErrNoCompiler)(nil); errors.As(err, &none) {
		t.Skip("skipped, no program is run: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"prog.cu": triadSource, "app.star": triadScript} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	source := filepath.Join(dir, "prog.cu")
	o, err := cuda.Parse([]string{source, "-o", filepath.Join(dir, "prog")})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	err = errors.Join(c.Program(t.Context(), o, lib, &said),
		c.PTX(t.Context(), &cuda.Options{}, source, filepath.Join(dir, "kernel.ptx"), &said))
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	return dir
}

// TestCompiledAsScript: a compiled program takes the cycles that a script takes which makes the same calls.
func TestCompiledAsScript(t *testing.T) {
	dir := compiledTriad(t)
	one := func(a App) *Result {
		t.Helper()
		r, err := Run(context.Background(), Spec{
			Machine: "qv100", Sharing: Sharing{Mode: "alone"}, Apps: []App{a},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	script := one(App{Name: "a", Path: dir})
	program := one(App{Name: "a", Path: dir, Exec: []string{"./prog"}})
	s, p := script.Tenants[0].Kernels, program.Tenants[0].Kernels
	if len(s) != 1 || len(p) != 1 || s[0].Start != p[0].Start || s[0].End != p[0].End ||
		script.Cycles != program.Cycles {
		t.Errorf("script %d cycles, kernels %+v\nprogram %d cycles, kernels %+v", script.Cycles, s, program.Cycles, p)
	}
}

// TestCompiledTwice: two compiled programs on one machine give the same bits twice.
func TestCompiledTwice(t *testing.T) {
	dir := compiledTriad(t)
	two := func() *Result {
		t.Helper()
		app := func(name string) App { return App{Name: name, Path: dir, Exec: []string{"./prog"}} }
		r, err := Run(context.Background(), Spec{
			Machine: "qv100", Sharing: Sharing{Mode: "mps"}, Apps: []App{app("first"), app("second")},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b := two(), two()
	if a.Cycles != b.Cycles || a.Cycles == 0 || len(a.Checks) != 2 {
		t.Errorf("%d and %d cycles, %d checks", a.Cycles, b.Cycles, len(a.Checks))
	}
	for i := range a.Tenants {
		x, y := a.Tenants[i].Kernels, b.Tenants[i].Kernels
		if len(x) != 1 || len(y) != 1 || x[0].Start != y[0].Start || x[0].End != y[0].End {
			t.Errorf("application %d: %+v and %+v", i, x, y)
		}
	}
}
