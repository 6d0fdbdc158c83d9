package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/mem"
)

// Array is a typed view of an allocation: all of it, a slice of its elements, or the bytes after an offset. Views
// share the bytes.
type Array struct {
	c   *Context
	b   *block
	t   DType
	off int64 // bytes from the start of the region
	n   int64 // elements
}

type block struct {
	r     *mem.Region
	freed bool
}

// Type is the element type.
func (a *Array) Type() DType { return a.t }

// Len is the number of elements.
func (a *Array) Len() int64 { return a.n }

// Size is the number of bytes.
func (a *Array) Size() int64 { return a.n * int64(a.t.Size()) }

// Kind is the kind of memory.
func (a *Array) Kind() mem.Kind { return a.b.r.Kind }

// Region is the allocation the array lies in.
func (a *Array) Region() *mem.Region { return a.b.r }

// Addr is the virtual address of the first element.
func (a *Array) Addr() uint64 { return a.b.r.Base + uint64(a.off) }

func (a *Array) usable() error {
	if a.b.freed {
		return fmt.Errorf("%s was freed", a.b.r.Name)
	}
	return nil
}

func (a *Array) data() []byte { return a.b.r.Data[a.off : a.off+a.Size()] }

// Slice is the view of elements [from, to).
func (a *Array) Slice(from, to int64) (*Array, error) {
	if from < 0 || to < from || to > a.n {
		return nil, fmt.Errorf("slice [%d, %d) is outside the array's %d elements", from, to, a.n)
	}
	v := *a
	v.off += from * int64(a.t.Size())
	v.n = to - from
	return &v, nil
}

// Offset is the view that begins a number of bytes further (or, when negative,
// earlier, but not before the allocation) and reaches as far as a does.
func (a *Array) Offset(bytes int64) (*Array, error) {
	end := a.off + a.Size()
	if bytes < -a.off || bytes > a.Size() {
		return nil, fmt.Errorf("offset of %d bytes leaves %s", bytes, a.b.r.Name)
	}
	v := *a
	v.off += bytes
	v.n = (end - v.off) / int64(a.t.Size())
	return &v, nil
}

// View is the same bytes seen as elements of another type.
func (a *Array) View(t DType) (*Array, error) {
	if a.Size()%int64(t.Size()) != 0 {
		return nil, fmt.Errorf("%d bytes are not a whole number of %s elements", a.Size(), t)
	}
	v := *a
	v.t, v.n = t, a.Size()/int64(t.Size())
	return &v, nil
}

// write runs f on the array's bytes as the host program's write of them; initial
// says that it gives the memory its contents (fill, load) rather than being a step
// of the program (an element).
func (a *Array) write(what string, initial bool, f func(dst []byte)) error {
	if err := a.usable(); err != nil || a.n == 0 {
		return err
	}
	r, c := a.b.r, a.c
	switch r.Kind {
	case mem.Device, mem.Symbol:
		return c.copySync(&Op{
			Name: what, Dst: r, DstOff: a.off, Src: c.staging, N: a.Size(), Initial: initial,
			Apply: func() { f(a.data()) },
		})
	case mem.Managed:
		if err := c.Finish(); err != nil {
			return err
		}
		if err := c.dev.Touch(r, a.off, a.Size(), true); err != nil {
			return c.fail(err)
		}
	default:
		if err := a.settle(); err != nil {
			return err
		}
	}
	f(a.data())
	return nil
}

// read runs f on the array's bytes as the host program's read of them.
func (a *Array) read(what string, f func(src []byte)) error {
	if err := a.usable(); err != nil || a.n == 0 {
		return err
	}
	r, c := a.b.r, a.c
	switch r.Kind {
	case mem.Device, mem.Symbol:
		return c.copySync(&Op{
			Name: what, Dst: c.staging, Src: r, SrcOff: a.off, N: a.Size(),
			Apply: func() { f(a.data()) },
		})
	case mem.Managed:
		if err := c.Finish(); err != nil {
			return err
		}
		if err := c.dev.Touch(r, a.off, a.Size(), false); err != nil {
			return c.fail(err)
		}
	default:
		if err := a.settle(); err != nil {
			return err
		}
	}
	f(a.data())
	return nil
}

// Observe waits for the device and runs f on the array's bytes; it costs no
// simulated time. f must not keep or change the bytes.
func (a *Array) Observe(f func(b []byte) error) error {
	if err := a.usable(); err != nil {
		return err
	}
	if err := a.c.Finish(); err != nil {
		return err
	}
	if d, ok := a.c.dev.(Fetcher); ok {
		if err := d.Fetch(a.b.r); err != nil {
			return a.c.fail(err)
		}
	}
	return f(a.data())
}

// Fetcher is implemented by devices that compute in memory of their own: Fetch brings a region's bytes from there.
type Fetcher interface {
	Fetch(r *mem.Region) error
}

// settle waits for what may still access host memory: everything if it is
// registered, else the copies from or to it.
func (a *Array) settle() error {
	c, r := a.c, a.b.r
	if c.dead != nil {
		return c.dead
	}
	if r.Registered {
		return c.Finish()
	}
	keep := c.copies[:0]
	for _, op := range c.copies {
		if !op.Done && (op.Dst == r || op.Src == r) {
			if err := c.wait(op); err != nil {
				return err
			}
		}
		if !op.Done {
			keep = append(keep, op)
		}
	}
	c.copies = keep
	return nil
}

func (c *Context) copySync(op *Op) error {
	op.Kind = OpCopy
	if err := c.enqueue(nil, op); err != nil {
		return err
	}
	return c.wait(op)
}

// CopyFrom copies src, of the same number of bytes, over a: memcpy in any
// direction. With a stream it is asynchronous: the bytes move when the device
// completes the copy. Without (nil) it waits.
func (a *Array) CopyFrom(src *Array, s *Stream) error {
	for _, x := range []*Array{a, src} {
		if err := x.usable(); err != nil {
			return err
		}
	}
	if a.Size() != src.Size() {
		return fmt.Errorf("copy_from: the source has %d bytes, the destination %d; copy a slice(from, to) of the "+
			"larger one", src.Size(), a.Size())
	}
	if a.n == 0 {
		return nil
	}
	c := a.c
	if a.Kind() == mem.Host && src.Kind() == mem.Host && s == nil {
		if err := errors.Join(a.settle(), src.settle()); err != nil {
			return err
		}
		copy(a.data(), src.data())
		return nil
	}
	op := &Op{
		Kind: OpCopy, Name: "copy " + src.b.r.Name + " to " + a.b.r.Name, Dst: a.b.r, DstOff: a.off, Src: src.b.r,
		SrcOff: src.off,
		N:      a.Size(), Apply: func() { copy(a.data(), src.data()) },
	}
	if s == nil {
		return c.copySync(op)
	}
	if err := c.enqueue(s, op); err != nil {
		return err
	}
	if a.Kind() == mem.Host || src.Kind() == mem.Host {
		c.copies = append(c.copies, op)
	}
	return nil
}

func (a *Array) element(i int64) (*Array, error) {
	if i < 0 || i >= a.n {
		return nil, fmt.Errorf("index %d is outside the array's %d elements", i, a.n)
	}
	return a.Slice(i, i+1)
}

// At reads one element. Like a program's access to unified memory it waits for the
// device first.
func (a *Array) At(i int64) (Scalar, error) {
	e, err := a.element(i)
	if err != nil {
		return Scalar{}, err
	}
	s := Scalar{Type: a.t}
	err = e.read("read "+a.b.r.Name, func(b []byte) { s.Bits = a.t.load(b) })
	return s, err
}

// SetAt writes one element; v is a number within the range of the type.
func (a *Array) SetAt(i int64, v any) error {
	e, err := a.element(i)
	if err != nil {
		return err
	}
	s, err := NewScalar(a.t, v)
	if err != nil {
		return err
	}
	return e.write("write "+a.b.r.Name, false, func(b []byte) { a.t.store(b, s.Bits) })
}

// Bytes is a copy of the array's little-endian bytes.
func (a *Array) Bytes() ([]byte, error) {
	out := make([]byte, a.Size())
	err := a.read("read "+a.b.r.Name, func(b []byte) { copy(out, b) })
	return out, err
}

// SHA256 is the digest of the array's little-endian bytes in hexadecimal. It
// observes: no simulated time.
func (a *Array) SHA256() (string, error) {
	var sum [32]byte
	err := a.Observe(func(b []byte) error { sum = sha256.Sum256(b); return nil })
	return hex.EncodeToString(sum[:]), err
}

// Min is the smallest element; NaN if there is one.
func (a *Array) Min() (Scalar, error) { return a.extreme(false) }

// Max is the largest element; NaN if there is one.
func (a *Array) Max() (Scalar, error) { return a.extreme(true) }

func (a *Array) extreme(largest bool) (Scalar, error) {
	if a.n == 0 {
		return Scalar{}, errors.New("min and max of an empty array are not defined")
	}
	var best uint64
	size := a.t.Size()
	err := a.read("min/max of "+a.b.r.Name, func(b []byte) {
		best = a.t.load(b)
		for b = b[size:]; len(b) > 0; b = b[size:] {
			v := a.t.load(b)
			less := a.t.less(v, best)
			if largest {
				less = a.t.less(best, v)
			}
			if less || a.t.IsFloat() && math.IsNaN(a.t.float(v)) {
				best = v
			}
		}
	})
	return Scalar{a.t, best}, err
}

func (t DType) less(a, b uint64) bool {
	switch {
	case t.IsFloat():
		return t.float(a) < t.float(b)
	case t.signed():
		return t.signExtend(a) < t.signExtend(b)
	}
	return a < b
}
