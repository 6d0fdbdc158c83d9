// Package gpu executes host programs on the NVIDIA GPU of this computer: the same scripts, kernels and arguments
// that Heddle simulates, measured.
//
// A reader must know three types. A Board is the GPU with its driver. A Device is one program's context on it, a
// host.Device: memory lies in one allocation of the GPU, in which every array has the address that the program's
// space gives it, so that addresses inside arrays hold. A Launch is the time of one kernel, if the device times its
// launches.
//
// Kernels are the PTX of the module, compiled by the driver. Bytes of an array are held twice, by the GPU and by this
// process. They are fetched before the program reads them.
//
// Not supported: managed memory, host memory that kernels access, textures, modules of several files, and the address
// of a module's variable as an argument.
//
// Nothing here changes the board's settings.
package gpu

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
)

// Board is the GPU of this computer.
type Board struct {
	Name   string
	Driver string // version
	CUDA   string // version that the driver brings, "13.0"
	SMs    int
	L2     int64 // bytes
	Major  int   // compute capability
	Minor  int

	lib *library
	ctx uintptr
}

// Attributes of a device, as cuDeviceGetAttribute numbers them.
const (
	attributeSMs   = 16
	attributeL2    = 38
	attributeMajor = 75
	attributeMinor = 76

	attributeRegisters = 4 // of a function: registers of a thread
	attributeSharedUp  = 8 // of a function: most dynamic shared memory
)

// Open finds the GPU and makes it current for this thread; the caller's goroutine stays on its thread from now on.
func Open() (*Board, error) {
	// Kernels are loaded with their module, not at their first launch, which would then wait for the GPU.
	if err := os.Setenv("CUDA_MODULE_LOADING", "EAGER"); err != nil {
		return nil, err
	}
	lib, err := load()
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	b := &Board{lib: lib}
	if err := lib.check("cuInit", lib.dev.init(0)); err != nil {
		return nil, err
	}
	var dev int32
	if err := lib.check("cuDeviceGet", lib.dev.deviceGet(&dev, 0)); err != nil {
		return nil, err
	}
	name := make([]byte, 256)
	if err := lib.check("cuDeviceGetName", lib.dev.deviceGetName(&name[0], int32(len(name)), dev)); err != nil {
		return nil, err
	}
	b.Name = strings.TrimRight(string(name), "\x00")
	var cuda int32
	if err := lib.check("cuDriverGetVersion", lib.dev.driverGetVersion(&cuda)); err != nil {
		return nil, err
	}
	b.CUDA = fmt.Sprintf("%d.%d", cuda/1000, cuda%1000/10)
	b.Driver = driverVersion("/proc/driver/nvidia/version")
	ask := func(to *int, attribute int32) error {
		var v int32
		err := lib.check("cuDeviceGetAttribute", lib.dev.deviceGetAttribute(&v, attribute, dev))
		*to = int(v)
		return err
	}
	var l2 int
	for at, to := range map[int32]*int{
		attributeSMs: &b.SMs, attributeL2: &l2, attributeMajor: &b.Major, attributeMinor: &b.Minor,
	} {
		if err := ask(to, at); err != nil {
			return nil, err
		}
	}
	b.L2 = int64(l2)
	if err := lib.check("cuDevicePrimaryCtxRetain", lib.dev.primaryCtxRetain(&b.ctx, dev)); err != nil {
		return nil, err
	}
	return b, lib.check("cuCtxSetCurrent", lib.dev.ctxSetCurrent(b.ctx))
}

func (b *Board) String() string {
	return fmt.Sprintf("%s, driver %s, CUDA %s, %d SMs, compute capability %d.%d", b.Name, b.Driver, b.CUDA, b.SMs,
		b.Major, b.Minor)
}

// What describes a measurement: its board, driver and compiler.
func (b *Board) What() string {
	return fmt.Sprintf("%s, driver %s, PTX compiled by the driver (CUDA %s)", b.Name, b.Driver, b.CUDA)
}

// driverVersion reads the kernel module's version from where Linux shows it; "unknown" if it does not.
func driverVersion(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "unknown"
	}
	if m := regexp.MustCompile(`\b\d+\.\d+(\.\d+)?\b`).Find(text); m != nil {
		return string(m)
	}
	return "unknown"
}
