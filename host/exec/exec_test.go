//go:build linux && amd64

package exec

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/cuda"
	"github.com/heddle-sim/heddle/cuda/shim"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/mem"
)

// library is the driver library; the test is skipped without a C compiler.
func library(t *testing.T) string {
	t.Helper()
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
	return lib
}

// built compiles a program of testdata, with options among the sources; the test is skipped without clang.
func built(t *testing.T, sources ...string) (program, lib string) {
	t.Helper()
	lib = library(t)
	c, err := cuda.Find(os.Getenv("CLANG"))
	if err != nil {
		t.Skip("skipped, no program is compiled: ", err)
	}
	program = filepath.Join(t.TempDir(), "prog")
	args := []string{"-o", program}
	for _, s := range sources {
		if !strings.HasPrefix(s, "-") {
			s = filepath.Join("testdata", s)
		}
		args = append(args, s)
	}
	o, err := cuda.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if err := c.Program(t.Context(), o, lib, &said); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	return program, lib
}

// outcome is what a program left.
type outcome struct {
	out, log string
	status   int
	err      error
	dev      *host.Functional
}

// execute runs a program without time.
func execute(t *testing.T, ctx context.Context, lib string, args ...string) outcome {
	t.Helper()
	var out, log bytes.Buffer
	p := &Program{Args: args, Shim: lib, Stdout: &out, Stderr: &log}
	dev := host.NewFunctional(ctx, 0)
	props := host.Properties{
		Machine: "test", SMs: 84, Threads: 2048, CTAs: 32, Registers: 65536, Shared: 96 << 10, L2: 1 << 20,
		MemoryBytes: 1 << 30, CoreMHz: 1000, MemoryMHz: 800, MemoryBusBits: 256, Capability: 70, Timeless: true,
	}
	c := host.New(dev, mem.NewSpace(props.MemoryBytes), host.Options{Ctx: ctx, Properties: props})
	err := p.Run(c)
	return outcome{out.String(), log.String(), p.Status(), err, dev}
}

// prints compiles a program, runs it without time and compares what it prints.
func prints(t *testing.T, want string, sources ...string) {
	t.Helper()
	program, lib := built(t, sources...)
	o := execute(t, t.Context(), lib, program)
	if o.err != nil || o.status != 0 || o.out != want {
		t.Errorf("%v, status %d, got\n%swant\n%s%s", o.err, o.status, o.out, want, o.log)
	}
}

func TestVectorAdd(t *testing.T) {
	program, lib := built(t, "vectoradd.cu")
	o := execute(t, t.Context(), lib, program)
	const want = "thread 3 has 24\nbad 0 counter 1007 time stood still: no error\n"
	if o.err != nil || o.status != 0 || o.out != want {
		t.Errorf("%v, status %d, %q\n%s", o.err, o.status, o.out, o.log)
	}
	if n := len(o.dev.Kernels); n != 2 {
		t.Errorf("%d kernels were launched, want 2", n)
	}
}

func TestManagedVariables(t *testing.T) {
	prints(t, "before 40, after 42, bad 0, plain 3\n", "managed.cu")
}

// TestSeparateCompilation: kernels use functions and variables of other sources (nvcc -rdc=true).
func TestSeparateCompilation(t *testing.T) {
	// 0*0 + 1000 + 7 + 100 and 31*31 + 1000 + 4 + 100
	prints(t, "1107 2065, no error\n", "uses.cu", "has.cu")
}

func TestGroups(t *testing.T) {
	set := func(list ...string) map[string]bool {
		m := map[string]bool{}
		for _, n := range list {
			m[n] = true
		}
		return m
	}
	got := groups([]names{
		{set("a"), set("vprintf")}, {set("b"), set("c")}, {set("d"), nil}, {set("c"), set("e")}, {set("e"), nil},
	})
	if want := [][]int{{0}, {1, 3, 4}, {2}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestFiles: system calls on managed memory work wherever its pages are, those on device memory fail.
func TestFiles(t *testing.T) {
	prints(t, "wrote 200000, read 200000, bad 0, device memory -1\n", "files.cu")
}

// TestHelpers: files, images and comparisons of the samples' headers.
func TestHelpers(t *testing.T) {
	program, lib := built(t, "../../../cuda/testdata/helpers.cu")
	t.Chdir(t.TempDir()) // where it writes
	if o := execute(t, t.Context(), lib, program); o.err != nil || o.status != 0 || o.out != "good\n" {
		t.Errorf("%v, status %d, %q\n%s", o.err, o.status, o.out, o.log)
	}
}

// TestHostSources: C and C++ files beside kernels include cuda_runtime.h.
func TestHostSources(t *testing.T) {
	prints(t, "14 2 2 no error, 1 device\n", "beside.cpp", "beside.c", "beside.cu")
}

func TestDriver(t *testing.T) {
	prints(t, "bad 0 calls 5 capability 7.0 missing 500, 3 blocks, 168 of 1024\n", "driver.c")
}

// TestToolkit: a build that asks for the CUDA toolkit's nvcc, headers and libraries gets a program that runs.
func TestToolkit(t *testing.T) {
	lib := library(t)
	if _, err := cuda.Find(os.Getenv("CLANG")); err != nil {
		t.Skip("skipped, no program is compiled: ", err)
	}
	dir := t.TempDir()
	heddle := filepath.Join(dir, "it's heddle") // a name that a shell would take apart
	if out, err := exec.Command("go", "build", "-o", heddle, "../../cmd/heddle").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	kit, err := cuda.Toolkit(lib, heddle)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := cuda.Toolkit(lib, heddle); err != nil || again != kit {
		t.Errorf("%s, %v: not the same folder again", again, err)
	}
	run := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	nvcc := filepath.Join(kit, "bin", "nvcc")
	if out := run(nvcc, "--version"); !strings.Contains(out, "release 12.") {
		t.Errorf("--version: %s", out)
	}
	o, program := filepath.Join(dir, "k.o"), filepath.Join(dir, "prog")
	c := filepath.Join(dir, "c.o")
	run(nvcc, "-I"+filepath.Join(kit, "include"), "-c", "testdata/beside.cu", "-o", o)
	run("cc", "-I", filepath.Join(kit, "include"), "-c", "testdata/beside.c", "-o", c)
	run("c++", "-I", filepath.Join(kit, "include"), "testdata/beside.cpp", o, c, "-L", filepath.Join(kit, "lib64"),
		"-lcudart", "-o", program)
	res := execute(t, t.Context(), lib, program)
	if want := "14 2 2 no error, 1 device\n"; res.err != nil || res.out != want {
		t.Errorf("%v, status %d, %q\n%s", res.err, res.status, res.out, res.log)
	}
}

// TestRefused: what cannot be run is said before anything runs.
func TestRefused(t *testing.T) {
	lib := library(t)
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{
		"/no/such/program": "no such program",
		text:               "neither an ELF executable nor a script",
		"no-such-program":  "no such program",
		t.TempDir():        "no such program, or it is not executable",
	} {
		o := execute(t, t.Context(), lib, program)
		if o.err == nil || !strings.Contains(o.err.Error(), want) || host.Classify(o.err) != host.BadInput {
			t.Errorf("%s: %v, want %q", program, o.err, want)
		}
	}
}

// TestStatus: the exit status is the program's.
func TestStatus(t *testing.T) {
	lib := library(t)
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -TERM $$": 128 + 15} {
		o := execute(t, t.Context(), lib, "/bin/sh", "-c", script)
		var check *host.CheckError
		if o.status != want || (want != 0) != errors.As(o.err, &check) {
			t.Errorf("%s: status %d, want %d (%v)", script, o.status, want, o.err)
		}
	}
}

// TestKilled: a program that does not end is ended with the run, and what it has started with it.
func TestKilled(t *testing.T) {
	lib := library(t)
	ctx, cancel := context.WithCancel(t.Context())
	mark := filepath.Join(t.TempDir(), "pid")
	go func() {
		for {
			if b, err := os.ReadFile(mark); err == nil && len(b) > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	o := execute(t, ctx, lib, "/bin/sh", "-c", "sleep 1000 & echo $! > "+mark+"; wait")
	if !errors.Is(o.err, host.ErrStopped) {
		t.Errorf("%v", o.err)
	}
	b, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	// The signal is sent when the run has ended; the system takes its time to act on it.
	stat := ""
	for range 1000 {
		s, err := os.ReadFile("/proc/" + strings.TrimSpace(string(b)) + "/stat")
		if err != nil || strings.Contains(string(s), ") Z ") {
			return
		}
		stat = string(s)
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %s is left: %s", b, stat)
}

func FuzzDecode(f *testing.F) {
	p := packet{kind: int32(shim.Launch), v: [shim.Values]uint64{1, 2, 3}, data: []byte("abc")}
	f.Add(p.encode(nil))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decode(b)
		if err != nil {
			return
		}
		again, err := decode(p.encode(nil))
		if err != nil || again.kind != p.kind || again.v != p.v || !bytes.Equal(again.data, p.data) {
			t.Errorf("%+v, again %+v (%v)", p, again, err)
		}
	})
}

// TestChildWaits: where a process waits for another one that cannot begin before it has ended, a line says so, and the
// run can be stopped.
func TestChildWaits(t *testing.T) {
	program, lib := built(t, "child.c")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	said := make(teller, 1)
	ended := make(chan error, 1)
	go func() {
		p := &Program{Args: []string{program, "child"}, Shim: lib, Stderr: said}
		ended <- p.Run(host.New(host.NewFunctional(ctx, 0), mem.NewSpace(1<<30), host.Options{Ctx: ctx}))
	}()
	select {
	case line := <-said:
		if !strings.Contains(line, "a second process of the program uses CUDA") {
			t.Errorf("it said %q", line)
		}
	case err := <-ended:
		t.Fatalf("the run ended: %v", err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, host.ErrStopped) {
		t.Errorf("the run ended with %v", err)
	}
}

// teller is a writer whose first text goes to a channel.
type teller chan string

func (c teller) Write(b []byte) (int, error) {
	select {
	case c <- string(b):
	default:
	}
	return len(b), nil
}
