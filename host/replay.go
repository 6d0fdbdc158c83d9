package host

import (
	"fmt"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// Calls that only a recorded application needs: memory at given addresses and without contents, copies without bytes,
// grids that are no kernels of a module.

// AllocAt reserves n bytes of device memory at a fixed address. They have no contents: only grids that execute no
// program may touch them.
func (c *Context) AllocAt(base uint64, n int64, k mem.Kind, name string) (*mem.Region, error) {
	r, err := c.space.AllocAt(base, n, k, name)
	if err != nil {
		return nil, err
	}
	if d, ok := c.dev.(Allocator); ok {
		if err := d.Allocated(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// CopyIn takes the time of a copy of n bytes from the host to r, and waits.
func (c *Context) CopyIn(r *mem.Region, off, n int64) error {
	if off < 0 || n <= 0 || n > r.Len()-off {
		return fmt.Errorf("copy of %d bytes to offset %d of %s, which has %d", n, off, r.Name, r.Len())
	}
	return c.copySync(&Op{Name: "copy to " + r.Name, Dst: r, DstOff: off, Src: c.staging, N: n, Apply: func() {}})
}

// LaunchGrid enqueues a grid that does not come from a module; it does not wait.
func (c *Context) LaunchGrid(name string, g isa.Grid, s *Stream) error {
	return c.launch(&Op{Kind: OpLaunch, Name: name, Grid: g}, s)
}

// AllManaged makes the device memory that a program allocates managed memory.
func (c *Context) AllManaged() bool { return c.opt.AllManaged }

// HostWrite is a write of the host to a range of managed memory: pages that the device has come back first.
func (c *Context) HostWrite(r *mem.Region, off, n int64) error {
	return c.DriverAPI().Touch(r, off, n, true)
}
