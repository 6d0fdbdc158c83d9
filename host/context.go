package host

import (
	"context"
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// Allocator is implemented by devices that need the allocations, e.g. to map pages. Context calls it right after
// allocating and right before freeing.
type Allocator interface {
	Allocated(r *mem.Region) error
	Freed(r *mem.Region) error
}

// Synchronizer is implemented by devices that want to know when a program has explicitly waited for everything it
// asked for. It is not called at the program's end, nor for the waits of a host access or a copy. The program also
// waits for what the device does in response.
type Synchronizer interface{ Synchronized() error }

// Options of a Context.
type Options struct {
	// Ctx stops the program when it is cancelled; nil: never. A program also stops
	// when its device returns ErrStopped.
	Ctx context.Context
	// CoreMHz is the core clock. It turns cycles into the microseconds of Event.Elapsed; 0: no simulated time, every
	// interval is 0.
	CoreMHz float64
	// Where is the current position in the host program ("app.star:12"), for
	// messages and allocation names; nil: unknown.
	Where func() string
	// Printf and Heap are the sizes in bytes of the buffer of printf in kernels and of the heap
	// of their malloc; 0: CUDA's defaults, 1 MiB and 8 MiB.
	Printf, Heap int64
	// AllManaged makes device memory that the program allocates managed memory.
	AllManaged bool
	// Properties are the numbers of the machine that programs can ask for.
	Properties Properties
	// ReadOnly marks loads of data that a kernel does not write (emulate.Launch).
	ReadOnly bool
	// Unroll executes several turns of short loops as one, as NVIDIA's assembler does (emulate.Launch).
	Unroll bool
}

// Context is one application's view of the machine: its memory, modules, streams
// and events. It is used from one goroutine, the program's, and starts none.
//
// Time. Host code costs nothing. Fill, Arange, Random, SetBytes and Set give memory
// its contents: on device memory they are synchronous copies marked Op.Initial,
// which the timed machine carries out without letting time pass. SetAt, At, Bytes,
// Sum, Min and Max on device memory are synchronous copies over the host link; on
// managed memory all of these are host accesses (Device.Touch brings the pages
// back); on host memory they cost nothing. SHA256, Check, Snapshot and Observe look
// at the simulated program from outside: they wait for the device and cost nothing.
//
// Order. Launch, PrefetchAsync, Event.Record, Stream.WaitFor and CopyFrom with a
// stream are asynchronous; everything else waits. The default stream (nil) is
// CUDA's legacy default stream: an operation on it starts after everything
// enqueued before on any stream, and operations enqueued later on other streams
// start after it. Bytes move when the device completes the copy. A kernel's fault
// surfaces at the next call that waits, with the place of the launch.
type Context struct {
	dev      Device
	space    *mem.Space
	opt      Options
	streams  []*Stream
	launches []launched // not known to be done, in launch order
	copies   []*Op      // not known to be done, with a Host region on one side
	checks   []Check
	modules  []*Module
	staging  *mem.Region
	dead     error // the first error of the device; nothing runs after it
	limits   limits
	output   *emulate.Output // of printf in kernels; nil until a module needs it
	heap     *emulate.Heap   // of malloc in kernels; nil until a module needs it
	images   emulate.Images
	print    func(text string)
	pass     *Stream // for Pass; nil until it is used
}

type launched struct {
	op    *Op
	where string
}

// New makes the context of one application on dev, whose memory is space.
func New(dev Device, space *mem.Space, opt Options) *Context {
	if opt.Ctx == nil {
		opt.Ctx = context.Background()
	}
	c := &Context{dev: dev, space: space, opt: opt, staging: &mem.Region{Kind: mem.Host, Name: "host staging"}}
	c.streams = []*Stream{{c: c}}
	c.limits = limits{printf: defaultPrintf, heap: defaultHeap}
	if opt.Printf > 0 {
		c.limits.printf = opt.Printf
	}
	if opt.Heap > 0 {
		c.limits.heap = opt.Heap
	}
	return c
}

// SetWhere replaces Options.Where; script programs install their own.
func (c *Context) SetWhere(f func() string) { c.opt.Where = f }

// Device is the device that executes the context's operations, for programs that issue operations of their own (a
// replay). Such a program must wait for them itself.
func (c *Context) Device() Device { return c.dev }

// Space is the application's address space.
func (c *Context) Space() *mem.Space { return c.space }

// Cycle is the current core cycle; 0 under functional execution.
func (c *Context) Cycle() uint64 { return c.dev.Cycle() }

// Done is closed when the context of the options is cancelled.
func (c *Context) Done() <-chan struct{} { return c.opt.Ctx.Done() }

// Err is ErrStopped once the context of the options is cancelled.
func (c *Context) Err() error {
	if c.opt.Ctx.Err() != nil {
		return ErrStopped
	}
	return nil
}

func (c *Context) where() string {
	if c.opt.Where == nil {
		return ""
	}
	return c.opt.Where()
}

// Malloc allocates n elements of device memory, zeroed and 256-byte aligned. An
// empty name gets a numbered one.
func (c *Context) Malloc(t DType, n int64, name string) (*Array, error) {
	if c.opt.AllManaged {
		return c.alloc(t, n, mem.Managed, name)
	}
	return c.alloc(t, n, mem.Device, name)
}

// MallocDevice is Malloc, but the memory stays on the device whatever Options.AllManaged says.
func (c *Context) MallocDevice(t DType, n int64, name string) (*Array, error) {
	return c.alloc(t, n, mem.Device, name)
}

// MallocManaged allocates unified memory; its pages begin on the host.
func (c *Context) MallocManaged(t DType, n int64, name string) (*Array, error) {
	return c.alloc(t, n, mem.Managed, name)
}

// HostArray allocates host memory; kernels may touch it once it is registered.
func (c *Context) HostArray(t DType, n int64, name string) (*Array, error) {
	return c.alloc(t, n, mem.Host, name)
}

func (c *Context) alloc(t DType, n int64, k mem.Kind, name string) (*Array, error) {
	if n <= 0 {
		return nil, fmt.Errorf("cannot allocate %d elements: the count must be positive", n)
	}
	if n > math.MaxInt64/int64(t.Size()) {
		return nil, fmt.Errorf("cannot allocate %d elements of %s: too large", n, t)
	}
	r, err := c.space.Alloc(n*int64(t.Size()), k, name)
	if err != nil {
		return nil, err
	}
	if w := c.where(); w != "" {
		r.Name += " (" + w + ")"
	}
	if d, ok := c.dev.(Allocator); ok {
		if err := d.Allocated(r); err != nil {
			return nil, err
		}
	}
	return &Array{c: c, b: &block{r: r}, t: t, n: n}, nil
}

// Free waits for the device and releases the allocation that begins at a.
func (c *Context) Free(a *Array) error {
	if err := a.usable(); err != nil {
		return err
	}
	r := a.b.r
	if r.Kind == mem.Symbol {
		return fmt.Errorf("cannot free %s: it belongs to its module", r.Name)
	}
	if a.off != 0 || a.Size() != int64(len(r.Data)) {
		return fmt.Errorf("cannot free a part of %s: free the array that malloc returned", r.Name)
	}
	if err := c.Finish(); err != nil {
		return err
	}
	if d, ok := c.dev.(Allocator); ok {
		if err := d.Freed(r); err != nil {
			return err
		}
	}
	a.b.freed = true
	c.images.Forget(r)
	return c.space.Free(r.Base)
}

// HostRegister lets kernels access host memory (zero copy).
func (c *Context) HostRegister(a *Array) error {
	if err := a.usable(); err != nil {
		return err
	}
	if a.b.r.Kind != mem.Host {
		return fmt.Errorf("host_register: %s is %s memory; only host_array memory can be registered", a.b.r.Name,
			a.b.r.Kind)
	}
	a.b.r.Registered = true
	return nil
}

// MemAdvise passes a hint on a whole allocation to the device.
func (c *Context) MemAdvise(a *Array, advice Advice) error {
	if err := a.usable(); err != nil {
		return err
	}
	return c.dev.Advise(a.b.r, advice)
}

// SetQoS declares the IPC target of a kernel of a loaded module, in thread instructions per
// core cycle in which it is on the GPU: the paper's cudaSetQoS (SMQoS, section III-A).
func (c *Context) SetQoS(kernel string, ipc float64) error {
	if !(ipc > 0) || math.IsInf(ipc, 0) {
		return fmt.Errorf("set_qos: the IPC target of %s must be a positive number, not %g", kernel, ipc)
	}
	name := c.KernelName(kernel)
	if name == "" {
		return fmt.Errorf("set_qos: no loaded module has a kernel %s", kernel)
	}
	return c.dev.SetQoS(name, ipc)
}

// KernelName is the name that results give to the kernel of a loaded module; "" if no kernel matches, or more than
// one.
func (c *Context) KernelName(written string) string {
	for _, m := range c.modules {
		if k, err := m.Kernel(written); err == nil {
			return k.Name
		}
	}
	return ""
}

// Checks lists the checks made so far.
func (c *Context) Checks() []Check { return c.checks }

// CheckErr is a *CheckError when a check failed, else nil.
func (c *Context) CheckErr() error {
	e := &CheckError{Total: len(c.checks)}
	for _, k := range c.checks {
		if !k.OK {
			if e.Failed == 0 {
				e.First = k
			}
			e.Failed++
		}
	}
	if e.Failed == 0 {
		return nil
	}
	return e
}
