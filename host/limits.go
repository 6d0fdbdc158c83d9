package host

import (
	"fmt"

	"github.com/heddle-sim/heddle/ptx/emulate"
)

// limits are what CUDA calls the limits of a device: bytes that its runtime library needs.
type limits struct{ printf, heap int64 }

// The defaults of CUDA (CUDA C++ Programming Guide, "Formatted Output" and "Dynamic Global
// Memory Allocation").
const (
	defaultPrintf = 1 << 20
	defaultHeap   = 8 << 20
)

// SetPrintfBuffer sets the size in bytes of the buffer that holds what kernels print until
// the host synchronises; it may be set before the first module that prints is loaded.
func (c *Context) SetPrintfBuffer(bytes int64) error {
	if c.output != nil {
		return fmt.Errorf("the printf buffer cannot change any more: a module that prints is loaded")
	}
	return setLimit(&c.limits.printf, "the printf buffer", bytes)
}

// SetHeap sets the size in bytes of the heap that malloc in kernels allocates from; it may be
// set before the first module that allocates is loaded.
func (c *Context) SetHeap(bytes int64) error {
	if c.heap != nil {
		return fmt.Errorf("the heap cannot change any more: a module that allocates is loaded")
	}
	return setLimit(&c.limits.heap, "the heap of kernels", bytes)
}

// setLimit checks and sets one.
func setLimit(limit *int64, what string, bytes int64) error {
	if bytes < 1<<10 || bytes > 1<<34 {
		return fmt.Errorf("%s of %d bytes: it must be 1 KiB to 16 GiB", what, bytes)
	}
	*limit = bytes
	return nil
}

// SetPrint sets where the output of kernels goes; without it the output is dropped.
func (c *Context) SetPrint(print func(text string)) { c.print = print }

// runtime gives an instance what the runtime library of kernels needs: the buffer of printf
// and the heap of malloc, which the modules of an application share.
func (c *Context) runtime(m *emulate.Module, in *emulate.Instance) (err error) {
	in.SetImages(&c.images)
	if m.Prints() {
		if c.output == nil {
			c.output = emulate.NewOutput(int(c.limits.printf))
		}
		in.SetOutput(c.output)
	}
	if m.Allocates() {
		if c.heap == nil {
			c.heap, err = emulate.NewHeap(c.space, c.limits.heap)
		}
		in.SetHeap(c.heap)
	}
	return err
}

// flush prints what kernels have printed so far, in the order in which they did. As in CUDA
// that is at calls that wait, and before a launch.
func (c *Context) flush() {
	if c.output == nil {
		return
	}
	c.output.Flush(func(text string) {
		if c.print != nil {
			c.print(text)
		}
	})
}
