package apps_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ordinaryCUDA is a source file as one finds them: with the toolkit's header, the standard library's and
// a main() that launches.
const ordinaryCUDA = `
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>

__constant__ float scale[2];

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y, long long *clocks) {
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    long long begin = clock64();
    tile[threadIdx.x] = i < n ? __ldg(x + i) : 0.0f;
    __syncthreads();
    if (i < n) y[i] = a * tile[threadIdx.x] + y[i] + scale[0] + logf(expf(1.0f)) + min(3.0f, 4.0f);
    if (i == 0) printf("n = %d\n", n);
    if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - begin;
}

int main() {
    int n = 1 << 20;
    float *x, *y;
    long long *c;
    std::vector<float> h(n, 1.0f);
    cudaMalloc(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof(float));
    cudaMalloc(&c, 4096 * sizeof(long long));
    cudaMemcpy(x, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    float s[2] = {0.5f, 0};
    cudaMemcpyToSymbol(scale, s, sizeof(s));
    dim3 grid((n + 255) / 256), block(256);
    saxpy<<<grid, block>>>(n, 2.0f, x, y, c);
    if (cudaDeviceSynchronize() != cudaSuccess) printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    cudaFree(x);
    return 0;
}
`

// TestOrdinaryCUDA compiles a file outside of apps and runs its kernel.
func TestOrdinaryCUDA(t *testing.T) {
	if v, err := exec.Command("clang-19", "--version").Output(); err != nil ||
		!strings.Contains(string(v), "version 19.") {
		t.Skip("clang-19 is not installed")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mine.cu", ordinaryCUDA)
	write("app.star", `
def main(n = 1000):
    m = module("mine.ptx")
    x, y, c = malloc(f32, n), malloc(f32, n), malloc(i64, 4)
    x.fill(3)
    y.fill(1)
    m.symbol("scale", f32).fill(0.5)
    launch(m.kernel("saxpy"), grid = 4, block = 256, args = [i32(n), f32(2), x, y, c])
    device_synchronize()
    check(y, 11.5, rtol = 1e-6)
`)
	if log, err := exec.Command("./ptx.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("ptx.sh: %v\n%s", err, log)
	}
	ptx := read(t, filepath.Join(dir, "mine.ptx"))
	if strings.Contains(ptx, dir) || !strings.Contains(ptx, `"./mine.cu"`) {
		t.Error("the PTX names the folder it was compiled in")
	}
	passes(t, dir, nil)
	write("bad.cu", "int main( { return 0; }\n")
	write("whole.cu", "#include \"part.cu\"\nint main() { run<<<1, 1>>>(); }\n")
	write("part.cu", "__global__ void run() {}\n")
	log, err := exec.Command("./ptx.sh", dir).CombinedOutput()
	var status *exec.ExitError
	if !errors.As(err, &status) || status.ExitCode() != 2 || !strings.Contains(string(log), "1 of 4 files in") ||
		!strings.Contains(string(log), "/part.cu is a part of whole.cu") ||
		!strings.Contains(string(log), "/whole.ptx\n") {
		t.Errorf("one of several files does not compile: %v\n%s", err, log)
	}
	empty := exec.Command("./ptx.sh", t.TempDir())
	if log, err := empty.CombinedOutput(); err == nil || !strings.Contains(string(log), "no .cu file") {
		t.Errorf("an empty folder: %v %s", err, log)
	}
}
