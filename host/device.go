// Package host is the interface of host programs: memory, modules, streams and launches, as in CUDA's driver API.
//
// A reader must know three types. A Context is one application's view (memory,
// modules, streams, events); it turns calls into Ops. An Op is one operation in a
// stream. A Device executes the Ops, either at once (Functional) or in simulated
// time (package sim). Package host/script runs programs written in Starlark
// against a Context.
package host

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// OpKind is a stream operation.
type OpKind uint8

const (
	OpLaunch   OpKind = iota // run Grid
	OpCopy                   // copy N bytes Src -> Dst; the bytes move when the op completes
	OpEvent                  // mark; Done and End tell when the stream reached it
	OpWait                   // the stream waits until After is done
	OpPrefetch               // move the pages of Dst to the device (ToDevice) or the host
	OpDelay                  // let N core cycles pass
	OpExecute                // execute the application's CPU program once: the device knows it
)

// Op is one operation in a stream. Ops of a stream run in order; streams are independent.
type Op struct {
	Kind   OpKind
	Stream int
	Name   string // kernel name or a description, for timelines and messages

	// Grid is what OpLaunch executes. A device that executes the module's own text uses Kernel, the kernel that the
	// program launched; it is nil in launches of recordings and models.
	Grid   isa.Grid
	Kernel *Kernel
	Shape  emulate.Launch

	// Src and Dst belong to OpCopy and OpPrefetch. If the host program itself produces or consumes the bytes (fill,
	// element access), one side is a Host region without data.
	Dst, Src          *mem.Region
	DstOff, SrcOff, N int64
	ToDevice          bool
	// Write marks an OpPrefetch to the host before the host writes the pages: copies that the device has of them
	// become void.
	Write bool
	// Initial marks an OpCopy that gives memory its contents in place (fill, arange, random, load). It belongs to the
	// program's set-up and takes no simulated time.
	Initial bool
	Apply   func() // OpCopy: moves the bytes; called once by the device when the copy completes

	After *Op // OpWait

	Done       bool
	Start, End uint64 // core cycles of simulated time; 0 under functional execution
	Err        error  // why the op failed, if the device knows that it was this one
}

// Advice is a cudaMemAdvise hint. Its numbers are those of recordings.
type Advice uint8

const (
	ReadMostly Advice = iota
	PreferDevice
	PreferHost
	AccessedByDevice
	UnsetReadMostly
	UnsetPreferred
	UnsetAccessedBy
)

// AdviceNames are the hints as host scripts name them, by number.
func AdviceNames() []string {
	return []string{
		"read_mostly", "prefer_device", "prefer_host", "accessed_by_device",
		"unset_read_mostly", "unset_preferred_location", "unset_accessed_by",
	}
}

func (a Advice) String() string { return AdviceNames()[a] }

// Device executes the operations of one application.
type Device interface {
	// Enqueue puts op at the tail of its stream.
	Enqueue(op *Op) error
	// Wait lets simulated time pass until op is done. The error is the program's
	// (*isa.Fault), the machine's (deadlock) or ErrStopped.
	Wait(op *Op) error
	// Touch accounts a host access to [off, off+n) of managed memory: pages that are
	// on the device come back first, in simulated time.
	Touch(r *mem.Region, off, n int64, write bool) error
	// Advise takes a hint on memory of any kind; a device reports in its result which hints had no effect.
	Advise(r *mem.Region, a Advice) error
	// SetQoS declares the IPC target of a kernel (thread instructions per cycle).
	SetQoS(kernel string, ipc float64) error
	// Cycle is the current core cycle; 0 under functional execution.
	Cycle() uint64
}

// Program is an application: it runs its host code against a context.
type Program interface {
	Name() string
	Run(c *Context) error
}
