package cuda

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	o, err := Parse(strings.Fields("--ptx -O3 -gencode arch=compute_80,code=sm_80 -arch=sm_75 -Iinc -D N=4 -o x.ptx " +
		"a.cu -lcudart -lnvToolsExt -Xcompiler -fopenmp --no-such"))
	if err != nil {
		t.Fatal(err)
	}
	if !o.PTX || o.SM != 80 || o.Target("a.cu") != "x.ptx" || len(o.Notes) != 1 ||
		strings.Join(o.flags, " ") != "-I inc -D N=4" {
		t.Errorf("%+v", o)
	}
	for _, bad := range []string{
		"--ptx", "-c -o x a.cu b.cu", "a.cu -lcublas", "a.f90", "a.cu -o", "a.cu -arch=volta",
	} {
		if _, err := Parse(strings.Fields(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestFindNames(t *testing.T) {
	if _, err := Find("no-such-clang"); err == nil || !strings.Contains(err.Error(), "apt-get install clang-19") {
		t.Errorf("no remedy: %v", err)
	}
}

// TestHeaders compiles every file of testdata, host code and kernels.
func TestHeaders(t *testing.T) {
	c, err := Find(os.Getenv("CLANG"))
	if err != nil {
		t.Skip("skipped, nothing is compiled: ", err)
	}
	files, err := filepath.Glob("testdata/*.cu")
	if err != nil || len(files) == 0 {
		t.Fatal("no files: ", err)
	}
	for _, f := range files {
		to := filepath.Join(t.TempDir(), "out.ptx")
		var said bytes.Buffer
		if err := c.PTX(t.Context(), &Options{}, f, to, &said); err != nil {
			t.Errorf("%v\n%s", err, said.String())
			continue
		}
		text, err := os.ReadFile(to)
		if err != nil || !bytes.Contains(text, []byte(".entry")) {
			t.Errorf("%s: no kernel (%v)", f, err)
		}
	}
	broken := filepath.Join(t.TempDir(), "x.cu")
	if err := os.WriteFile(broken, []byte("#include <thrust/sort.h>\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	to := broken + ".ptx"
	err = c.PTX(t.Context(), &Options{}, broken, to, &bytes.Buffer{})
	if _, serr := os.Stat(to); err == nil || !strings.Contains(err.Error(), "Thrust") || serr == nil {
		t.Errorf("thrust: %v, file %v", err, serr)
	}
}

func TestRemedy(t *testing.T) {
	for name, want := range map[string]string{
		"thrust/sort.h":   "write the kernel yourself",
		"cublas_v2.h":     "kernels of your own",
		"cufftXt.h":       "kernels of your own",
		"cudacommon.h":    "name its folder by -I",
		"culling/parts.h": "name its folder by -I",
		"nvector.h":       "name its folder by -I",
		"optional":        "apt-get install g++",
	} {
		got := remedy("x.cu:1:10: fatal error: '" + name + "' file not found\n")
		if !strings.Contains(got, name) && name != "optional" || !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
	got := remedy("x.cu:1:10: error: no member named 'DeviceReduce' in namespace 'cub'\n")
	if !strings.Contains(got, "cub::DeviceReduce is part of") || !strings.Contains(got, "BlockReduce") {
		t.Error(got)
	}
	got = remedy("x.cu:91:5: error: reference to __global__ function 'child' in __global__ function\n")
	if !strings.Contains(got, "dynamic parallelism") {
		t.Error(got)
	}
}

// TestSpacedLaunches: nvcc takes "<< <" and ">> >", and alignas behind __shared__; lines of messages stay those of the
// source.
func TestSpacedLaunches(t *testing.T) {
	c, err := Find(os.Getenv("CLANG"))
	if err != nil {
		t.Skip("skipped, nothing is compiled: ", err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		f := filepath.Join(dir, name)
		if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return f
	}
	write("own.h", "#define N 32\n")
	good := write("good.cu", "#include \"own.h\"\n"+
		"__global__ void k() { __shared__ alignas(alignof(float4)) float a[4]; a[0] = 0; }\n"+
		"int main() { k << < 1, N >> > (); }\n")
	var said bytes.Buffer
	o := &Options{Sources: []string{good}, Output: filepath.Join(dir, "good.o")}
	if err := c.Objects(t.Context(), o, &said); err != nil {
		t.Errorf("%v\n%s", err, said.String())
	}
	bad := write("bad.cu", "__global__ void k() {}\nint main() { k << < 1, 32 >> > (); nothing(); }\n")
	said.Reset()
	o = &Options{Sources: []string{bad}, Output: filepath.Join(dir, "bad.o")}
	if err := c.Objects(t.Context(), o, &said); err == nil || !strings.Contains(said.String(), "bad.cu:2:36: error:") {
		t.Errorf("%v\n%s", err, said.String())
	}
}
