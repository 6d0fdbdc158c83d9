package host

import (
	"fmt"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// DriverAPI is the view of a context that compiled CUDA programs need: they name memory by addresses and ask for the
// machine's numbers.
type DriverAPI struct{ c *Context }

// DriverAPI is the context's view for compiled programs.
func (c *Context) DriverAPI() DriverAPI { return DriverAPI{c} }

// At is n bytes from an address on, within one allocation.
func (d DriverAPI) At(addr uint64, n int64) (*Array, error) {
	space := d.c.space
	r := space.Find(addr)
	if r == nil || r.Data == nil {
		return nil, fmt.Errorf("0x%x is not allocated: %s", addr, space.Nearest(addr))
	}
	if off := int64(addr - r.Base); n < 0 || n > r.Len()-off {
		return nil, fmt.Errorf("%d bytes from 0x%x on: %s", n, addr, space.Nearest(addr))
	}
	return &Array{c: d.c, b: &block{r: r}, t: U8, off: int64(addr - r.Base), n: n}, nil
}

// Move is a copy between an array and program memory that is not simulated.
type Move struct {
	N     int64  // bytes that cross the link
	ToGPU bool   // from the program
	Bytes func() // moves them, when the device completes the copy
}

// Transfer is a copy over the host link that begins at the array's first byte; s nil: it waits.
func (a *Array) Transfer(m Move, s *Stream) error {
	if err := a.usable(); err != nil {
		return err
	}
	c, r := a.c, a.b.r
	if m.N < 0 || m.N > a.Size() {
		return fmt.Errorf("copy of %d bytes, %s has %d there", m.N, r.Name, a.Size())
	}
	op := &Op{Kind: OpCopy, Name: "copy to " + r.Name, Dst: r, DstOff: a.off, Src: c.staging, N: m.N, Apply: m.Bytes}
	if !m.ToGPU {
		op.Name, op.Dst, op.DstOff, op.Src, op.SrcOff = "copy from "+r.Name, c.staging, 0, r, a.off
	}
	if s == nil {
		return c.copySync(op)
	}
	return c.enqueue(s, op)
}

// CopyRows is CopyFrom with a function that moves the bytes, for a part of a matrix; n bytes count.
func (a *Array) CopyRows(src *Array, n int64, apply func(), s *Stream) error {
	return a.c.enqueue(s, &Op{
		Kind: OpCopy, Name: "copy " + src.b.r.Name + " to " + a.b.r.Name, Dst: a.b.r, DstOff: a.off, Src: src.b.r,
		SrcOff: src.off, N: n, Apply: apply,
	})
}

// Raw is the array's bytes, not a copy.
func (a *Array) Raw() []byte { return a.data() }

// Note records a check whose result is the program's own exit status.
func (d DriverAPI) Note(k Check) { d.c.checks = append(d.c.checks, k) }

// Properties are the numbers of the machine that programs ask for.
type Properties struct {
	Machine       string
	SMs           int
	Threads       int // per SM
	CTAs          int // per SM
	Registers     int // per SM
	Shared        int // bytes per SM
	L2            int // bytes
	MemoryBytes   int64
	CoreMHz       float64
	MemoryMHz     float64
	MemoryBusBits int
	Capability    int  // 70 for compute capability 7.0
	Timeless      bool // operations are complete when they are enqueued, as in functional execution
}

// Properties are the numbers of the machine.
func (d DriverAPI) Properties() Properties { return d.c.opt.Properties }

// Occupant is implemented by devices that know how many blocks of a launch an SM holds.
type Occupant interface {
	Occupancy(g isa.Geometry) int
}

// Occupancy is how many blocks of a kernel an SM can hold; 0 if the device does not know.
func (d DriverAPI) Occupancy(k *Kernel, block [3]uint32, shared int) (int, error) {
	grid, err := k.m.inst.Grid(k.Kernel, emulate.Launch{
		Grid: [3]uint32{1, 1, 1}, Block: block, Params: make([]byte, k.ParamBytes), SharedDynamic: shared,
	})
	if err != nil {
		return 0, err
	}
	if o, ok := d.c.dev.(Occupant); ok {
		return o.Occupancy(grid.Geometry()), nil
	}
	return d.Properties().blocks(grid.Geometry()), nil
}

// blocks is how many blocks an SM holds, where no machine runs them.
func (p Properties) blocks(g isa.Geometry) int {
	n := min(p.CTAs, p.Threads/max(1, 32*g.Warps))
	if g.Regs > 0 {
		n = min(n, p.Registers/(32*g.Warps*g.Regs))
	}
	if g.SharedBytes > 0 {
		n = min(n, p.Shared/g.SharedBytes)
	}
	return n
}

// Gate holds a stream until the host opens it.
type Gate struct {
	c       *Context
	reached *Op // done when the stream has come to the gate
	open    *Op // what the stream waits for
}

// Gate puts a gate at the tail of the stream (nil: the default stream).
func (d DriverAPI) Gate(s *Stream) (*Gate, error) {
	op := func() *Op { return &Op{Kind: OpEvent, Name: "host function"} }
	g := &Gate{c: d.c, reached: op(), open: op()}
	if err := d.c.enqueue(s, g.reached); err != nil {
		return nil, err
	}
	return g, d.c.enqueue(s, &Op{Kind: OpWait, Name: "host function", After: g.open})
}

// Wait lets time pass until the stream has reached the gate.
func (g *Gate) Wait() error { return g.c.wait(g.reached) }

// Open lets the stream continue.
func (g *Gate) Open() { g.open.Done = true }

// StreamApart makes a stream that does not synchronise with the default stream (cudaStreamNonBlocking).
func (d DriverAPI) StreamApart() *Stream {
	s := d.c.NewStream()
	s.apart = true
	return s
}

// Idle says that the stream has nothing left to do.
func (s *Stream) Idle() bool { return s.pending() == nil }

// Done says that the event's stream has reached it, or that the event was never recorded.
func (e *Event) Done() bool { return e.op == nil || e.op.Done }

// Recorded says that the event has been recorded.
func (e *Event) Recorded() bool { return e.op != nil }

// Pass lets a number of core cycles pass.
func (d DriverAPI) Pass(cycles float64) error {
	c := d.c
	if c.pass == nil {
		c.pass = d.StreamApart()
	}
	op := &Op{Kind: OpDelay, Name: "poll", N: int64(cycles)}
	if err := c.enqueue(c.pass, op); err != nil {
		return err
	}
	return c.wait(op)
}

// Touch is the host's access to a range of managed memory, once the device is idle.
func (d DriverAPI) Touch(r *mem.Region, off, n int64, write bool) error {
	if err := d.c.Finish(); err != nil {
		return err
	}
	if err := d.c.dev.Touch(r, off, n, write); err != nil {
		return d.c.fail(err)
	}
	return nil
}

// Limits are the sizes in bytes of a thread's stack (at least), of the buffer of printf and of the heap of kernels.
func (d DriverAPI) Limits() (stack, printf, heap int64) {
	return 1 << 10, d.c.limits.printf, d.c.limits.heap
}
