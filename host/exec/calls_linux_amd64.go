package exec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/heddle-sim/heddle/cuda/fatbin"
	"github.com/heddle-sim/heddle/cuda/shim"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// CUDA's numbers of errors, which runtime and driver share.
const (
	success          = 0
	invalidValue     = 1
	outOfMemory      = 2
	notInitialized   = 3
	invalidConfig    = 9
	noBinary         = 209
	invalidPTX       = 218
	invalidHandle    = 400
	notFound         = 500
	notReady         = 600
	illegalAddress   = 700
	outOfResources   = 701
	launchTimeout    = 702
	assertFailed     = 710
	notRegistered    = 713
	misaligned       = 716
	launchFailed     = 719
	tooLarge         = 720
	notSupported     = 801
	unsupportedLimit = 215
)

// call is one call under way: its values, which become those of the answer.
type call struct {
	s      *session
	v      [shim.Values]uint64
	data   []byte // of the program; gone with the next packet
	out    []byte // of the answer
	broken error  // the connection's end, within the call
}

// handler is the function that answers a call; nil: there is none.
//
//heddle:table
func handler(c shim.Call) func(*call) int32 {
	switch c {
	case shim.Hello:
		return (*call).hello
	case shim.Attributes:
		return (*call).attributes
	case shim.Module:
		return (*call).module
	case shim.ModuleEnd:
		return (*call).moduleEnd
	case shim.Function:
		return (*call).function
	case shim.SetAttribute:
		return (*call).setAttribute
	case shim.Global:
		return (*call).global
	case shim.Occupancy:
		return (*call).occupancy
	case shim.Launch:
		return (*call).launch
	case shim.Allocate:
		return (*call).allocate
	case shim.Free:
		return (*call).free
	case shim.Pointer:
		return (*call).pointer
	case shim.Memory:
		return (*call).memory
	case shim.Copy:
		return (*call).copy
	case shim.Fill:
		return (*call).fill
	case shim.Prefetch:
		return (*call).prefetch
	case shim.Advise:
		return (*call).advise
	case shim.Touch:
		return (*call).touch
	case shim.Sync:
		return (*call).sync
	case shim.SyncAll, shim.Reset:
		return (*call).syncAll
	case shim.SetLimit:
		return (*call).setLimit
	case shim.GetLimit:
		return (*call).getLimit
	case shim.Stream:
		return (*call).stream
	case shim.StreamEnd:
		return (*call).streamEnd
	case shim.StreamQuery:
		return (*call).streamQuery
	case shim.StreamWait:
		return (*call).streamWait
	case shim.StreamFlags:
		return (*call).streamFlags
	case shim.Event:
		return (*call).event
	case shim.EventEnd:
		return (*call).eventEnd
	case shim.EventRecord:
		return (*call).eventRecord
	case shim.EventQuery:
		return (*call).eventQuery
	case shim.EventSync:
		return (*call).eventSync
	case shim.EventTime:
		return (*call).eventTime
	case shim.Host:
		return (*call).hostFunction
	case shim.Image:
		return (*call).image
	case shim.ImageEnd:
		return (*call).imageEnd
	case shim.ImageBind:
		return (*call).imageBind
	}
	return nil
}

// failed turns an error into CUDA's number, and tells the reason once. otherwise is the number where the error does
// not say.
func (c *call) failed(err error, otherwise int32) int32 {
	var fault *isa.Fault
	var dead *host.Deadlock
	code := otherwise
	switch {
	case err == nil:
		return success
	case errors.Is(err, host.ErrStopped):
		return launchFailed // the program is about to be ended
	case errors.As(err, &fault):
		code = illegalAddress
		if strings.Contains(fault.Msg, "assertion") {
			code = assertFailed
		} else if strings.Contains(fault.Msg, "misaligned") || strings.Contains(fault.Msg, "aligned") {
			code = misaligned
		}
		c.s.said[faultLine] = true
	case errors.As(err, &dead):
		code = launchTimeout
		c.s.said[faultLine] = true
	}
	c.s.say("%s: %v (CUDA error %d)", c.s.call, err, code)
	return code
}

// refused tells why a call gets an error.
func (c *call) refused(code int32, format string, args ...any) int32 {
	return c.failed(fmt.Errorf(format, args...), code)
}

func (c *call) hello() int32 {
	if c.v[0] != shim.Protocol {
		c.out = []byte(fmt.Sprintf("the driver library speaks version %d, heddle exec version %d: start the program "+
			"by the heddle it was built with", c.v[0], shim.Protocol))
		return notInitialized
	}
	return success
}

// module is a loaded module.
type module struct {
	m       *host.Module
	kernels map[string]uint64
}

// kernel is a kernel that the program knows, by its place in the list.
type kernel struct {
	k      *host.Kernel
	shared uint64 // most dynamic shared memory
}

// mostHandles bounds what a program may ask for of each kind.
const mostHandles = 1 << 20

func (c *call) module_() (*module, int32) {
	if i := c.v[0]; i < uint64(len(c.s.modules)) && c.s.modules[i] != nil {
		return c.s.modules[i], success
	}
	return nil, invalidHandle
}

// How an image is loaded.
const (
	whole = iota // as a module
	aPart        // as a part of the program, which is linked with others: v[0] is its number
	link         // part v[0], with all that it belongs to
)

// module loads an image of v[0] bytes in the staging area, or makes a module of part v[0], as v[1] says: the module's
// number is v[0].
func (c *call) module() int32 {
	if c.v[1] == link {
		return c.linked()
	}
	if c.v[0] > shim.StagingBytes || len(c.s.modules)+len(c.s.parts) >= mostHandles {
		return invalidValue
	}
	text, e := c.text(append([]byte{}, c.s.w.staged(int64(c.v[0]))...))
	if e != success {
		return e
	}
	c.s.images++
	src := emulate.Source{File: fmt.Sprintf("module%d.ptx", c.s.images), Text: text}
	if c.v[1] == aPart {
		c.s.parts = append(c.s.parts, &part{src: src})
		c.v[0] = uint64(len(c.s.parts) - 1)
		return success
	}
	all := []emulate.Source{src}
	if texts := bytes.Split(text, []byte(shim.Joint)); len(texts) > 1 {
		all = nil
		for i, t := range texts {
			all = append(all, emulate.Source{File: fmt.Sprintf("module%d-%d.ptx", c.s.images, i+1), Text: t})
		}
	}
	m, err := c.s.c.LinkModules(all)
	if err != nil {
		return c.failed(err, invalidPTX)
	}
	c.s.modules = append(c.s.modules, &module{m, map[string]uint64{}})
	c.v[0] = uint64(len(c.s.modules) - 1)
	return success
}

// linked gives the module of part v[0].
func (c *call) linked() int32 {
	if c.v[0] >= uint64(len(c.s.parts)) {
		return invalidHandle
	}
	p := c.s.parts[c.v[0]]
	if !p.linked {
		c.linkParts()
	}
	c.v[0] = p.module
	return p.status
}

// text is the PTX of an image that the machine takes.
func (c *call) text(image []byte) ([]byte, int32) {
	list, err := fatbin.Parse(image)
	if err != nil {
		return nil, c.failed(err, 200)
	}
	capability := c.s.d.Properties().Capability
	text, err := fatbin.Choose(list, capability)
	if err == nil {
		return text, success
	}
	if text, err = fatbin.Choose(list, 0); err != nil {
		return nil, c.failed(err, noBinary)
	}
	c.s.say("the program has no PTX for compute capability %d.%d, which the machine has; newer PTX is run all the same",
		capability/10, capability%10)
	return text, success
}

// moduleEnd forgets module v[0]. Its variables keep their addresses, which are never used again.
func (c *call) moduleEnd() int32 {
	if _, e := c.module_(); e != success {
		return e
	}
	c.s.modules[c.v[0]] = nil
	return success
}

// function finds kernel data of module v[0]: v is handle, parameters and their bytes; 16 attributes follow as words,
// then offset and size of each parameter.
func (c *call) function() int32 {
	m, e := c.module_()
	if e != success {
		return e
	}
	name := string(c.data)
	id, known := m.kernels[name]
	if !known {
		k, err := m.m.Kernel(name)
		if err != nil {
			return c.failed(err, notFound)
		}
		if len(c.s.kernels) >= mostHandles {
			return outOfMemory
		}
		c.s.kernels = append(c.s.kernels, &kernel{k: k, shared: staticShared})
		id = uint64(len(c.s.kernels))
		m.kernels[name] = id
	}
	k := c.s.kernels[id-1].k
	if 4*(16+2*len(k.Params)) > shim.Payload {
		return invalidValue
	}
	c.v = [shim.Values]uint64{id, uint64(len(k.Params)), uint64(k.ParamBytes)}
	capability := c.s.d.Properties().Capability
	for _, w := range [16]int{
		k.MaxThreads, k.SharedBytes, 0, k.LocalBytes, k.Regs, capability, capability, 0,
		staticShared - min(k.SharedBytes, staticShared), -1,
	} {
		c.out = binary.LittleEndian.AppendUint32(c.out, uint32(w))
	}
	for _, p := range k.Params {
		c.out = binary.LittleEndian.AppendUint32(c.out, uint32(p.Offset))
		c.out = binary.LittleEndian.AppendUint32(c.out, uint32(p.Size))
	}
	return success
}

// staticShared is the shared memory in bytes that a block has without asking for more.
const staticShared = staticSharedBytes

func (c *call) kernel() (*kernel, int32) {
	if id := c.v[0]; id >= 1 && id <= uint64(len(c.s.kernels)) {
		return c.s.kernels[id-1], success
	}
	return nil, invalidHandle
}

// setAttribute sets attribute v[1] of kernel v[0] to v[2].
func (c *call) setAttribute() int32 {
	k, e := c.kernel()
	switch {
	case e != success:
		return e
	case c.v[1] == 8: // the most dynamic shared memory
		if most := c.s.d.Properties().Shared - k.k.SharedBytes; c.v[2] > uint64(max(0, most)) {
			return c.refused(invalidValue, "kernel %s: %d bytes of dynamic shared memory, an SM has %d beside the "+
				"kernel's own", k.k.Name, int64(c.v[2]), most)
		}
		k.shared = c.v[2]
	case c.v[1] > 15:
		return invalidValue
	}
	return success
}

// global finds variable data of module v[0]: v is address and bytes. v[1] says that the
// program touches it itself, as a __managed__ one.
func (c *call) global() int32 {
	m, e := c.module_()
	if e != success {
		return e
	}
	a, err := m.m.SymbolAs(string(c.data), host.U8)
	if err != nil {
		return notFound
	}
	if c.v[1] != 0 {
		c.s.variables[a.Region()] = true
	}
	c.v[0], c.v[1] = a.Addr(), uint64(a.Size())
	return success
}

// occupancy is how many blocks of v[1] threads and v[2] bytes an SM holds of kernel v[0].
func (c *call) occupancy() int32 {
	k, e := c.kernel()
	if e != success {
		return e
	}
	if c.v[1] == 0 || c.v[1] > 1024 || c.v[2] > 1<<30 {
		return invalidValue
	}
	n, err := c.s.d.Occupancy(k.k, [3]uint32{uint32(c.v[1]), 1, 1}, int(c.v[2]))
	if err != nil {
		n = 0 // such a block fits nowhere
	}
	c.v[0] = uint64(n)
	return success
}

// launch enqueues kernel v[0]: grid and block in v[1..3], dynamic shared memory, stream, whether it is cooperative;
// data are the parameters.
func (c *call) launch() int32 {
	k, e := c.kernel()
	if e != success {
		return e
	}
	s, e := c.streamOf(c.v[5])
	if e != success {
		return e
	}
	lo, hi := func(x uint64) uint32 { return uint32(x) }, func(x uint64) uint32 { return uint32(x >> 32) }
	l := host.Launch{
		Grid: [3]uint32{lo(c.v[1]), hi(c.v[1]), lo(c.v[2])}, Block: [3]uint32{hi(c.v[2]), lo(c.v[3]), hi(c.v[3])},
		Stream: s.s, Cooperative: c.v[6] != 0,
	}
	if c.v[4] > max(k.shared, staticShared) || len(c.data) != k.k.ParamBytes {
		return c.refused(invalidValue, "kernel %s: %d bytes of dynamic shared memory, the limit is %d: raise it with "+
			"cudaFuncSetAttribute(..., cudaFuncAttributeMaxDynamicSharedMemorySize, ...)", k.k.Name, c.v[4], k.shared)
	}
	l.Shared = int(c.v[4])
	args := make([]any, len(k.k.Params))
	for i, p := range k.k.Params {
		args[i] = c.data[p.Offset : p.Offset+p.Size]
	}
	if err := c.s.revoke(); err != nil {
		c.broken = err
		return launchFailed
	}
	if err := c.s.c.Launch(k.k, l, args...); err != nil {
		if l.Cooperative && strings.Contains(err.Error(), "find room") {
			return c.failed(err, tooLarge)
		}
		return c.failed(err, invalidConfig)
	}
	return success
}

// attributes are those of CUdevice_attribute, the device's name, and in v[0] the bytes of its memory.
func (c *call) attributes() int32 {
	list, name := attributesOf(c.s.d.Properties())
	for _, v := range list {
		c.out = binary.LittleEndian.AppendUint32(c.out, uint32(v))
	}
	c.out = append(c.out, name[:min(len(name), 255)]...)
	c.out = append(c.out, 0)
	c.v[0] = uint64(c.s.d.Properties().MemoryBytes)
	return success
}

// memory is v[0] free bytes of v[1].
func (c *call) memory() int32 {
	total := c.s.d.Properties().MemoryBytes
	free := total
	for _, r := range c.s.c.Space().Regions() {
		if r.Kind == mem.Device || r.Kind == mem.Symbol {
			free -= r.Len()
		}
	}
	c.v[0], c.v[1] = uint64(max(0, free)), uint64(total)
	return success
}

// setLimit sets limit v[0] to v[1]: 1 is the buffer of printf, 2 the heap of kernels.
func (c *call) setLimit() int32 {
	n := int64(min(c.v[1], math.MaxInt64))
	switch c.v[0] {
	case 0, 5, 6: // the stack has what a kernel needs; the others are hints
		return success
	case 1:
		return c.failed(c.s.c.SetPrintfBuffer(max(n, 1<<10)), invalidValue)
	case 2:
		return c.failed(c.s.c.SetHeap(max(n, 1<<10)), invalidValue)
	}
	return unsupportedLimit
}

func (c *call) getLimit() int32 {
	stack, printf, heap := c.s.d.Limits()
	switch c.v[0] {
	case 0:
		c.v[0] = uint64(stack)
	case 1:
		c.v[0] = uint64(printf)
	case 2:
		c.v[0] = uint64(heap)
	default:
		return unsupportedLimit
	}
	return success
}
