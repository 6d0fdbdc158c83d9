// Package shim is the driver library of programs that run under heddle exec: C, embedded as text and built by the
// system's compiler on first use. libcuda.so.1 has the driver API and the connection to heddle, libcudart.so.11.0 and
// .12 the runtime API on top of it; they are thin: package host/exec decides what a call does. Types to know: Call
// and Push, what the packets between the two are.
package shim

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/mem"
)

//go:embed c
var sources embed.FS

// Libraries are the file names of the libraries, the core first.
func Libraries() []string { return []string{core, "libcudart.so.11.0", "libcudart.so.12"} }

const core = "libcuda.so.1"

// ErrNoCompiler is wrapped by Build's error if there is no C compiler.
type ErrNoCompiler struct{}

func (*ErrNoCompiler) Error() string {
	return "no C compiler found: the library that CUDA programs call is built on first use; install one, such as by " +
		"apt-get install gcc, or name it in the environment variable CC"
}

// Build returns the folder with the libraries, below the user's cache directory or in dir, and builds them if they
// are not there yet. headers are Heddle's CUDA headers.
func Build(ctx context.Context, headers fs.FS, dir string) (string, error) {
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("the driver library needs a place: %w", err)
		}
		dir = filepath.Join(base, "heddle", "cuda")
	}
	id, err := identity(headers)
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, id)
	if _, err := os.Stat(filepath.Join(to, core)); err == nil {
		return to, nil
	}
	path, err := exec.LookPath(cc)
	if err != nil {
		return "", &ErrNoCompiler{}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(dir, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp) // a rest of it does no harm
	if err := build(ctx, path, headers, tmp); err != nil {
		return "", err
	}
	if err := os.Rename(filepath.Join(tmp, "out"), to); err != nil {
		if _, there := os.Stat(filepath.Join(to, core)); there != nil { // another process was faster otherwise
			return "", err
		}
	}
	return to, nil
}

// identity is a hash of everything that is built.
func identity(headers fs.FS) (string, error) {
	h := sha256.New()
	fmt.Fprint(h, callsHeader(mem.DefaultBase), entriesText, perThread)
	for _, f := range []fs.FS{sources, headers} {
		err := fs.WalkDir(f, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := fs.ReadFile(f, p)
			fmt.Fprintf(h, "%s %d\n%s", p, len(b), b)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// The sources of the libraries.
const (
	driverFiles = `core.c device.c graph.c capture.c driver.c driver_memory.c driver_launch.c driver_graph.c driver_texture.c array.c errors.c
		proc_address.c entries.c system.c`
	runtimeFiles = `runtime.c runtime_graph.c register.c memory.c texture.c stubs.c`
)

// systemCalls are the functions of the C library that system.c stands in front of.
const systemCalls = `read; __read_chk; pread; pread64; write; pwrite; pwrite64; recv; send; readv; writev;
	fread; __fread_chk; fwrite; `

// build compiles the libraries into the folder out of tmp.
func build(ctx context.Context, cc string, headers fs.FS, tmp string) error {
	src := filepath.Join(tmp, "src")
	c, err := fs.Sub(sources, "c")
	if err != nil {
		return err
	}
	out := filepath.Join(tmp, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	if err := os.CopyFS(src, c); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(tmp, "include"), headers); err != nil {
		return err
	}
	stubs, err := runtimeStubs(headers)
	if err != nil {
		return err
	}
	texts := map[string]string{
		"calls.h":      callsHeader(mem.DefaultBase),
		"entries.c":    entriesSource(),
		"stubs.c":      stubs,
		"libcuda.map":  "{ global: cu[A-Z]*; heddle_*; " + systemCalls + "local: *; };\n",
		"cudart11.map": "libcudart.so.11.0 { global: cuda*; __cuda*; local: *; };\n",
		"cudart12.map": "libcudart.so.12 { global: cuda*; __cuda*; local: *; };\n",
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	flags := []string{
		"-shared", "-fPIC", "-O2", "-std=gnu11", "-pthread", "-I", filepath.Join(tmp, "include"), "-I", src,
	}
	library := func(name, version string, more ...string) error {
		args := append(append([]string{}, flags...), "-Wl,-soname,"+name,
			"-Wl,--version-script="+filepath.Join(src, version), "-o", filepath.Join(out, name))
		return compile(ctx, cc, src, append(args, more...))
	}
	driver := append(append(strings.Fields(driverFiles), perThreadNames("cu")...), firstNames()...)
	if err := library(core, "libcuda.map", driver...); err != nil {
		return err
	}
	runtime := append(strings.Fields(runtimeFiles), filepath.Join(out, core))
	runtime = append(runtime, perThreadNames("cuda")...)
	for _, l := range []struct{ name, version, number string }{
		{"libcudart.so.11.0", "cudart11.map", "11080"}, {"libcudart.so.12", "cudart12.map", "12030"},
	} {
		// A program that is linked by another linker finds the core beside the library.
		args := append([]string{"-DHEDDLE_RUNTIME_VERSION=" + l.number, "-Wl,-rpath,$ORIGIN"}, runtime...)
		if err := library(l.name, l.version, args...); err != nil {
			return err
		}
	}
	return nil
}

// compile runs the compiler.
func compile(ctx context.Context, cc, dir string, args []string) error {
	cmd := exec.CommandContext(ctx, cc, args...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the driver library cannot be built: %s: %w\n%s", filepath.Base(cc), err,
			strings.TrimSpace(said.String()))
	}
	return nil
}

// Linked are the libraries that heddle cc links programs with.
func Linked() []string { return []string{"libcudart.so.12", core} }
