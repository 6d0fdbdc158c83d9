package gpu

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// library is NVIDIA's driver library. Handles are uintptr, device addresses uint64, results 0 for success.
type library struct {
	dev deviceCalls
	mem memoryCalls
	mod moduleCalls
	ord orderCalls
}

// deviceCalls are about the GPU, the context and errors.
type deviceCalls struct {
	init               func(flags uint32) int32
	driverGetVersion   func(v *int32) int32
	deviceGet          func(dev *int32, ordinal int32) int32
	deviceGetName      func(name *byte, n, dev int32) int32
	deviceGetAttribute func(v *int32, attribute, dev int32) int32
	primaryCtxRetain   func(ctx *uintptr, dev int32) int32
	ctxSetCurrent      func(ctx uintptr) int32
	ctxSynchronize     func() int32
	getErrorName       func(code int32, name **byte) int32
	getErrorString     func(code int32, text **byte) int32
}

// memoryCalls are about the memory of the GPU and the pinned memory of this process.
type memoryCalls struct {
	memAlloc     func(addr *uint64, n uint64) int32
	memFree      func(addr uint64) int32
	memAllocHost func(p *unsafe.Pointer, n uint64) int32
	memFreeHost  func(p unsafe.Pointer) int32
	memset       func(addr uint64, v uint8, n uint64) int32
	toDevice     func(dst uint64, src unsafe.Pointer, n uint64, stream uintptr) int32
	toHost       func(dst unsafe.Pointer, src, n uint64, stream uintptr) int32
	onDevice     func(dst, src, n uint64, stream uintptr) int32
}

// moduleCalls are about programs and their kernels; the shape of a launch is grid, block and bytes of shared memory.
type moduleCalls struct {
	moduleLoad   func(m *uintptr, image *byte, n uint32, options *int32, values *unsafe.Pointer) int32
	moduleUnload func(m uintptr) int32
	getFunction  func(f *uintptr, m uintptr, name string) int32
	getGlobal    func(addr, n *uint64, m uintptr, name string) int32
	funcGet      func(v *int32, attribute int32, f uintptr) int32
	funcSet      func(f uintptr, attribute, v int32) int32
	launch       func(f uintptr, gx, gy, gz, bx, by, bz, n uint32, s uintptr, params, extra *unsafe.Pointer) int32
	launchJoint  func(f uintptr, gx, gy, gz, bx, by, bz, n uint32, s uintptr, params *unsafe.Pointer) int32
}

// orderCalls are about streams and events.
type orderCalls struct {
	streamCreate    func(s *uintptr, flags uint32) int32
	streamDestroy   func(s uintptr) int32
	streamSync      func(s uintptr) int32
	streamWaitEvent func(s, event uintptr, flags uint32) int32
	eventCreate     func(e *uintptr, flags uint32) int32
	eventDestroy    func(e uintptr) int32
	eventRecord     func(e, s uintptr) int32
	eventElapsed    func(ms *float32, from, to uintptr) int32
}

// load opens the driver library.
func load() (*library, error) {
	find, err := open()
	if err != nil {
		return nil, fmt.Errorf("no NVIDIA driver here: %w: measure on a computer with an NVIDIA GPU and its driver",
			err)
	}
	l := &library{}
	for _, f := range []struct {
		to   any
		name string
	}{
		{&l.dev.init, "cuInit"},
		{&l.dev.driverGetVersion, "cuDriverGetVersion"},
		{&l.dev.deviceGet, "cuDeviceGet"},
		{&l.dev.deviceGetName, "cuDeviceGetName"},
		{&l.dev.deviceGetAttribute, "cuDeviceGetAttribute"},
		{&l.dev.primaryCtxRetain, "cuDevicePrimaryCtxRetain"},
		{&l.dev.ctxSetCurrent, "cuCtxSetCurrent"},
		{&l.dev.ctxSynchronize, "cuCtxSynchronize"},
		{&l.mem.memAlloc, "cuMemAlloc_v2"},
		{&l.mem.memFree, "cuMemFree_v2"},
		{&l.mem.memAllocHost, "cuMemAllocHost_v2"},
		{&l.mem.memFreeHost, "cuMemFreeHost"},
		{&l.mem.memset, "cuMemsetD8_v2"},
		{&l.mem.toDevice, "cuMemcpyHtoDAsync_v2"},
		{&l.mem.toHost, "cuMemcpyDtoHAsync_v2"},
		{&l.mem.onDevice, "cuMemcpyDtoDAsync_v2"},
		{&l.mod.moduleLoad, "cuModuleLoadDataEx"},
		{&l.mod.moduleUnload, "cuModuleUnload"},
		{&l.mod.getFunction, "cuModuleGetFunction"},
		{&l.mod.getGlobal, "cuModuleGetGlobal_v2"},
		{&l.mod.funcGet, "cuFuncGetAttribute"},
		{&l.mod.funcSet, "cuFuncSetAttribute"},
		{&l.mod.launch, "cuLaunchKernel"},
		{&l.mod.launchJoint, "cuLaunchCooperativeKernel"},
		{&l.ord.streamCreate, "cuStreamCreate"},
		{&l.ord.streamDestroy, "cuStreamDestroy_v2"},
		{&l.ord.streamSync, "cuStreamSynchronize"},
		{&l.ord.streamWaitEvent, "cuStreamWaitEvent"},
		{&l.ord.eventCreate, "cuEventCreate"},
		{&l.ord.eventDestroy, "cuEventDestroy_v2"},
		{&l.ord.eventRecord, "cuEventRecord"},
		{&l.ord.eventElapsed, "cuEventElapsedTime"},
		{&l.dev.getErrorName, "cuGetErrorName"},
		{&l.dev.getErrorString, "cuGetErrorString"},
	} {
		at, err := find(f.name)
		if err != nil && f.to == any(&l.mod.launchJoint) {
			continue // only cooperative launches need it
		}
		if err != nil {
			return nil, fmt.Errorf("the NVIDIA driver here has no %s: it is too old, install 525 or later", f.name)
		}
		purego.RegisterFunc(f.to, at)
	}
	return l, nil
}

// Options of cuModuleLoadDataEx.
const (
	jitErrorLog      = 5
	jitErrorLogBytes = 6
)

// compile has the driver compile PTX; its own words say what it does not take, with the line.
func (l *library) compile(text []byte) (uintptr, error) {
	image := append(append([]byte(nil), text...), 0)
	log := make([]byte, 4096)
	options := [2]int32{jitErrorLog, jitErrorLogBytes}
	values := [2]unsafe.Pointer{unsafe.Pointer(&log[0]), number(len(log))}
	var m uintptr
	code := l.mod.moduleLoad(&m, &image[0], uint32(len(options)), &options[0], &values[0])
	if code == 0 {
		return m, nil
	}
	err := l.check("cuModuleLoadDataEx", code)
	if said := cString(&log[0]); said != "" {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(said))
	}
	return 0, err
}

// number is a number where C takes a pointer.
func number(n int) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&n)) }

// check is the error of a call.
func (l *library) check(call string, code int32) error {
	if code == 0 {
		return nil
	}
	var name, text *byte
	l.dev.getErrorName(code, &name)
	l.dev.getErrorString(code, &text)
	return fmt.Errorf("%s: error %d %s %s", call, code, cString(name), cString(text))
}

// cString is a string that C keeps; nil is "".
func cString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
