package emulate

import (
	"math"
	"unsafe"
)

// Register rows. A warp's register is a row of 32 lanes; 8- and 16-bit registers
// sit zero-extended in 32-bit rows. Row functions always compute all 32 lanes:
// the caller blends the result when the mask is partial, so there is one
// implementation of every operation. They may be called with d aliasing a source.
type (
	v32 = [32]uint32
	v64 = [32]uint64

	fn32     func(d, a, b, c *v32)           // 32-bit registers only
	fn64     func(d, a, b, c *v64)           // 64-bit registers only
	fnWide   func(d *v64, a, b *v32, c *v64) // mul.wide, mad.wide, cvt to 64 bits
	fnNarrow func(d *v32, a, b *v64)         // cvt to 32 bits, clz.b64, popc.b64
	fnShift  func(d, a *v64, b, c *v32)      // shifts and fields of 64-bit registers
	fnCmp32  func(a, b *v32) uint32          // comparison, one bit per lane
	fnCmp64  func(a, b *v64) uint32
)

func si(p *v32) *[32]int32   { return (*[32]int32)(unsafe.Pointer(p)) }
func sl(p *v64) *[32]int64   { return (*[32]int64)(unsafe.Pointer(p)) }
func fl(p *v32) *[32]float32 { return (*[32]float32)(unsafe.Pointer(p)) }
func db(p *v64) *[32]float64 { return (*[32]float64)(unsafe.Pointer(p)) }

const (
	canonNaN32 = 0x7fffffff
	canonNaN64 = 0xfff8000000000000
)

// c32 replaces a NaN by the canonical one of the GPU.
func c32(f float32) float32 {
	if f != f {
		return math.Float32frombits(canonNaN32)
	}
	return f
}

func c64(f float64) float64 {
	if f != f {
		return math.Float64frombits(canonNaN64)
	}
	return f
}

// blend32Go copies the lanes of mask from s to d.
func blend32Go(d, s *v32, mask uint32) {
	for i := range d {
		if mask>>i&1 != 0 {
			d[i] = s[i]
		}
	}
}

func blend64Go(d, s *v64, mask uint32) {
	for i := range d {
		if mask>>i&1 != 0 {
			d[i] = s[i]
		}
	}
}

func offset64Go(d, a *[32]uint64, n uint64) {
	for i := range d {
		d[i] = a[i] + n
	}
}

func bounds64Go(d, a *[32]uint64, start, limit uint64) (all uint64, over bool) {
	for i := range d {
		o := a[i] - start
		d[i] = o
		all |= o
		over = over || o > limit
	}
	return all, over
}

// Adapters for operations that are too rare to deserve a loop of their own.

func un32(f func(uint32) uint32) fn32 {
	return func(d, a, _, _ *v32) {
		for i := range d {
			d[i] = f(a[i])
		}
	}
}

func bin32(f func(a, b uint32) uint32) fn32 {
	return func(d, a, b, _ *v32) {
		for i := range d {
			d[i] = f(a[i], b[i])
		}
	}
}

func tri32(f func(a, b, c uint32) uint32) fn32 {
	return func(d, a, b, c *v32) {
		for i := range d {
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

func un64(f func(uint64) uint64) fn64 {
	return func(d, a, _, _ *v64) {
		for i := range d {
			d[i] = f(a[i])
		}
	}
}

func bin64(f func(a, b uint64) uint64) fn64 {
	return func(d, a, b, _ *v64) {
		for i := range d {
			d[i] = f(a[i], b[i])
		}
	}
}

func tri64(f func(a, b, c uint64) uint64) fn64 {
	return func(d, a, b, c *v64) {
		for i := range d {
			d[i] = f(a[i], b[i], c[i])
		}
	}
}

func wide1(f func(uint64) uint64) fnWide {
	return func(d *v64, a, _ *v32, _ *v64) {
		for i := range d {
			d[i] = f(uint64(a[i]))
		}
	}
}

func narrow1(f func(uint64) uint64) fnNarrow {
	return func(d *v32, a, _ *v64) {
		for i := range d {
			d[i] = uint32(f(a[i]))
		}
	}
}
