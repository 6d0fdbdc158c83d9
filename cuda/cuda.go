// Package cuda turns CUDA sources into PTX by the system's clang, without the CUDA toolkit: the headers that nvcc
// brings along are Heddle's own (include/). Types to know: Options, a command line in nvcc's form, and Compiler, a
// clang of the system.
package cuda

import (
	"context"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

//go:embed include
var headers embed.FS

// parts are names that nvcc has for parts of cuda_runtime.h.
const parts = `device_functions math_functions device_launch_parameters device_atomic_functions device_double_functions
	sm_20_atomic_functions sm_20_intrinsics sm_30_intrinsics sm_32_atomic_functions sm_32_intrinsics sm_35_intrinsics
	sm_60_atomic_functions sm_61_intrinsics common_functions host_config builtin_types texture_fetch_functions
	texture_indirect_functions surface_functions surface_indirect_functions cuda_texture_types cuda_surface_types
	cuda_profiler_api`

// Oldest is the oldest version of clang that these headers work with.
const Oldest = 17

// Compiler is a clang of the system.
type Compiler struct {
	Path    string
	Version int
}

var versionLine = regexp.MustCompile(`clang version ([0-9]+)\.`)

// Find looks for a clang: the named program, or else the newest one in PATH that is new enough.
func Find(named string) (*Compiler, error) {
	names := []string{"clang-19", "clang"}
	for v := 30; v >= Oldest; v-- {
		names = append(names, "clang-"+strconv.Itoa(v))
	}
	if named != "" {
		names = []string{named}
	}
	old := ""
	for _, n := range names {
		path, err := exec.LookPath(n)
		if err != nil {
			continue
		}
		out, err := exec.Command(path, "--version").Output()
		m := versionLine.FindSubmatch(out)
		if err != nil || m == nil {
			continue
		}
		v, err := strconv.Atoi(string(m[1]))
		if err == nil && v >= Oldest {
			return &Compiler{path, v}, nil
		}
		old = fmt.Sprintf(" (%s is version %d)", n, v)
	}
	return nil, fmt.Errorf("no clang of version %d or newer found%s: install one, such as by "+
		"apt-get install clang-19, or name it in the environment variable CLANG; no CUDA toolkit is needed",
		Oldest, old)
}

// Headers are Heddle's CUDA headers by file name.
func Headers() (fs.FS, error) { return fs.Sub(headers, "include") }

// PTX compiles the kernels of source to the file to. Messages of clang go to log. A failed compilation leaves no
// file.
func (c *Compiler) PTX(ctx context.Context, o *Options, source, to string, log io.Writer) error {
	b, err := c.begin(o, log)
	if err != nil {
		return err
	}
	defer b.end()
	text, err := b.ptx(ctx, source)
	if err != nil {
		return err
	}
	return place(text, to, 0o644)
}

// unpack writes the headers into a folder.
func unpack(dir string) error {
	root, err := fs.Sub(headers, "include")
	if err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "include"), root); err != nil {
		return err
	}
	for _, p := range strings.Fields(parts) {
		text := "#pragma once\n#include \"cuda_runtime.h\"\n"
		if err := os.WriteFile(filepath.Join(dir, "include", p+".h"), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

var missing = regexp.MustCompile(`fatal error: '([^']+)' file not found`)

// toolkit are the headers of NVIDIA's libraries for the host.
var toolkit = regexp.MustCompile(`^(cublas|cufft|cusparse|cusolver|cudnn|curand|cudss|cutensor|npp|nvjpeg|nvml|` +
	`nvrtc|nccl)[A-Za-z0-9_]*\.(h|hpp)$|^(npp|cufile|cudnn_frontend)/`)

// ofToolkit says what Heddle has of libraries that are sources.
const ofToolkit = " is part of the CUDA toolkit's Thrust, CUB or libcu++. Of these Heddle has cub::BlockReduce, " +
	"BlockScan and WarpReduce, cuda/atomic, cuda/barrier and cuda/pipeline; write the kernel yourself, or compile " +
	"with nvcc --ptx and give Heddle the PTX"

// fromKernels are clang's words where a kernel launches another or calls the runtime.
var fromKernels = regexp.MustCompile(`reference to __global__ function '[^']+' in __(global|device)__ function|` +
	`candidate function not viable: call to __host__ function from __(global|device)__ function`)

var noMember = regexp.MustCompile(`no [a-z ]+ named '([^']+)' in namespace '(cub|cuda)'`)

// remedy explains a header, or a name of a library, that clang misses.
func remedy(said string) string {
	m := missing.FindStringSubmatch(said)
	if m == nil {
		if m = noMember.FindStringSubmatch(said); m != nil {
			return ": " + m[2] + "::" + m[1] + ofToolkit
		}
		if fromKernels.MatchString(said) {
			return ": a kernel launches a kernel, or calls a function of the host. Heddle has no launches from " +
				"kernels (dynamic parallelism): launch from host code"
		}
		return ""
	}
	switch name := m[1]; {
	case toolkit.MatchString(name):
		return ": " + name + " belongs to a library of the CUDA toolkit, which Heddle does not have: such libraries " +
			"(cuBLAS, cuFFT ...) are machine code for NVIDIA's GPUs. Replace its calls by kernels of your own"
	case strings.HasPrefix(name, "thrust/"), strings.HasPrefix(name, "cub/"), strings.HasPrefix(name, "cuda/"):
		return ": " + name + ofToolkit
	case !strings.Contains(name, "."):
		return ": the C++ library's headers are missing; install them, such as by apt-get install g++"
	default:
		return ": " + name + " is not among Heddle's CUDA headers; if it is the program's own header, name its " +
			"folder by -I"
	}
}

var undefined = regexp.MustCompile("undefined reference to `([^']+)'")

// unresolved explains a name that the linker misses.
func unresolved(said string) string {
	m := undefined.FindStringSubmatch(said)
	switch {
	case m == nil:
		return ""
	case strings.HasPrefix(m[1], "cuda") || strings.HasPrefix(m[1], "cu"):
		return ": Heddle does not have the call " + m[1]
	}
	return ": no source or library named here defines " + m[1]
}
