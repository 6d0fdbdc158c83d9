package emulate

import (
	"math"

	"github.com/heddle-sim/heddle/ptx/parse"
)

// conversion is one cvt form.
type conversion struct {
	dst, src parse.Type
	mode     rounding
	integral bool // .rni and its kin: to an integer, or to an integral float
	ftz, sat bool
}

func formatOf(t parse.Type) *format {
	switch t {
	case parse.F16:
		return &fmt16
	case parse.BF16:
		return &fmtB
	case parse.F32:
		return &fmt32
	case parse.F64:
		return &fmt64
	}
	return nil
}

// truncate keeps the low bits of v that type t holds; a signed value is extended
// to bits (the width of the register it goes to).
func truncate(v uint64, t parse.Type) uint64 {
	n := t.Bits()
	if n >= 64 {
		return v
	}
	if t.Signed() {
		return uint64(int64(v<<(64-n)) >> (64 - n))
	}
	return v & (1<<n - 1)
}

// lane returns the conversion of one value. The argument is the source register,
// zero-extended; the result is the value extended to 64 bits by the signedness of
// the destination type.
func (c conversion) lane() func(uint64) uint64 {
	df, sf := formatOf(c.dst), formatOf(c.src)
	switch {
	case df == nil && sf == nil:
		return c.intToInt()
	case df == nil:
		n, signed, mode, src := c.dst.Bits(), c.dst.Signed(), c.mode, c.src
		return func(v uint64) uint64 {
			return sf.toInt(c.flush(truncate(v, src), sf), n, signed, mode)
		}
	case sf == nil:
		src, mode := c.src, c.mode
		return func(v uint64) uint64 {
			return c.finish(df.fromInt(truncate(v, src), src.Signed(), mode), df)
		}
	case c.integral:
		return func(v uint64) uint64 {
			return c.finish(convertFloat(sf, df, sf.toIntegral(c.flush(v, sf), c.mode), rn), df)
		}
	}
	return func(v uint64) uint64 {
		return c.finish(convertFloat(sf, df, c.flush(truncate(v, c.src), sf), c.mode), df)
	}
}

func (c conversion) intToInt() func(uint64) uint64 {
	src, dst := c.src, c.dst
	if !c.sat {
		return func(v uint64) uint64 { return truncate(truncate(v, src), dst) }
	}
	n := dst.Bits()
	if dst.Signed() {
		hi := uint64(1)<<(n-1) - 1
		if src.Signed() {
			return func(v uint64) uint64 {
				return uint64(min(max(int64(truncate(v, src)), -int64(hi)-1), int64(hi)))
			}
		}
		return func(v uint64) uint64 { return min(truncate(v, src), hi) }
	}
	top := uint64(1)<<(n-1)<<1 - 1
	return func(v uint64) uint64 {
		v = truncate(v, src)
		if src.Signed() && int64(v) < 0 {
			return 0
		}
		return min(v, top)
	}
}

// flush zeroes a subnormal f32 under .ftz.
func (c conversion) flush(v uint64, f *format) uint64 {
	if c.ftz && f == &fmt32 && v&0x7f800000 == 0 {
		return v & (1 << 31)
	}
	return v
}

// finish applies .ftz and .sat to a floating-point result.
func (c conversion) finish(v uint64, f *format) uint64 {
	v = c.flush(v, f)
	if c.sat {
		s := f.unpack(v)
		switch {
		case s.class == nan || s.neg || s.class == zero:
			return 0
		case v > one(f):
			return one(f)
		}
	}
	return v
}

// The conversions compilers emit all the time have loops of their own.

func cvtU32F32(d, a, _, _ *v32) {
	r := fl(d)
	for i := range r {
		r[i] = float32(a[i])
	}
}

func cvtS32F32(d, a, _, _ *v32) {
	r, x := fl(d), si(a)
	for i := range r {
		r[i] = float32(x[i])
	}
}

func cvtF32S32(d, a, _, _ *v32) { // .rzi
	r, x := si(d), fl(a)
	for i := range r {
		switch v := x[i]; {
		case v >= 1<<31:
			r[i] = math.MaxInt32
		case v < -1<<31:
			r[i] = math.MinInt32
		case v != v:
			r[i] = 0
		default:
			r[i] = int32(v)
		}
	}
}

func cvtF32F64(d *v64, a, _ *v32, _ *v64) {
	r, x := db(d), fl(a)
	for i := range r {
		r[i] = c64(float64(x[i]))
	}
}

func cvtF64F32(d *v32, a, _ *v64) {
	r, x := fl(d), db(a)
	for i := range r {
		r[i] = c32(float32(x[i]))
	}
}

func cvtS32F64(d *v64, a, _ *v32, _ *v64) {
	r, x := db(d), si(a)
	for i := range r {
		r[i] = float64(x[i])
	}
}

func cvtU32F64(d *v64, a, _ *v32, _ *v64) {
	r := db(d)
	for i := range r {
		r[i] = float64(a[i])
	}
}

func cvtU32U64(d *v64, a, _ *v32, _ *v64) {
	for i := range d {
		d[i] = uint64(a[i])
	}
}

func cvtS32S64(d *v64, a, _ *v32, _ *v64) {
	for i := range d {
		d[i] = uint64(int64(int32(a[i])))
	}
}

func cvt64U32(d *v32, a, _ *v64) {
	for i := range d {
		d[i] = uint32(a[i])
	}
}

func cvt32U8(d, a, _, _ *v32) {
	for i := range d {
		d[i] = a[i] & 0xff
	}
}

func cvt32U16(d, a, _, _ *v32) {
	for i := range d {
		d[i] = a[i] & 0xffff
	}
}

func cvt32S8(d, a, _, _ *v32) {
	for i := range d {
		d[i] = uint32(int8(a[i]))
	}
}

func cvt32S16(d, a, _, _ *v32) {
	for i := range d {
		d[i] = uint32(int16(a[i]))
	}
}
