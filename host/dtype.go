package host

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// DType is the element type of an array or the type of a scalar argument.
type DType uint8

const (
	I8 DType = iota
	U8
	I16
	U16
	I32
	U32
	I64
	U64
	F16
	F32
	F64
	NumDTypes = iota
)

// String is the name scripts use: i8 ... f64.
func (t DType) String() string {
	return [...]string{"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64"}[t]
}

// Size is the number of bytes of one element.
func (t DType) Size() int { return int("\x01\x01\x02\x02\x04\x04\x08\x08\x02\x04\x08"[t]) }

// IsFloat tells the floating-point types from the integers.
func (t DType) IsFloat() bool { return t >= F16 }

func (t DType) signed() bool { return !t.IsFloat() && t&1 == 0 }

// load reads one little-endian element as raw bits.
func (t DType) load(b []byte) uint64 {
	switch t.Size() {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// store writes the low bits of v as one little-endian element.
func (t DType) store(b []byte, v uint64) {
	switch t.Size() {
	case 1:
		b[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b, uint32(v))
	default:
		binary.LittleEndian.PutUint64(b, v)
	}
}

// storeAll writes the low bits of each of v as little-endian elements, one behind the other.
func (t DType) storeAll(b []byte, v []uint64) {
	if t.Size() == 4 {
		for b := b[:4*len(v)]; len(v) > 0; b, v = b[4:], v[1:] {
			binary.LittleEndian.PutUint32(b, uint32(v[0]))
		}
		return
	}
	size := t.Size()
	for i, x := range v {
		t.store(b[i*size:], x)
	}
}

// float is the value of the bits as a float64; exact for every type but 64-bit
// integers above 2^53, which are rounded.
func (t DType) float(bits uint64) float64 {
	switch t {
	case F16:
		return halfToFloat(uint16(bits))
	case F32:
		return float64(math.Float32frombits(uint32(bits)))
	case F64:
		return math.Float64frombits(bits)
	}
	if t.signed() {
		return float64(t.signExtend(bits))
	}
	return float64(bits)
}

func (t DType) signExtend(bits uint64) int64 {
	shift := 64 - 8*t.Size()
	return int64(bits<<shift) >> shift
}

// round is the bits of the value of a floating type nearest to f (ties to even).
func (t DType) round(f float64) uint64 {
	switch t {
	case F16:
		return uint64(halfFromFloat(f))
	case F32:
		return uint64(math.Float32bits(float32(f)))
	}
	return math.Float64bits(f)
}

// Scalar is a value of a definite type, e.g. f32(1.5) in a script.
type Scalar struct {
	Type DType
	Bits uint64 // the little-endian encoding, zero-extended
}

// NewScalar converts a Go number to type t. It fails when v is not a number, is
// outside the range of t, or is a fraction and t an integer.
func NewScalar(t DType, v any) (Scalar, error) {
	n, err := toNumber(v)
	if err != nil {
		return Scalar{}, err
	}
	bits, err := n.encode(t)
	return Scalar{t, bits}, err
}

// Value is the scalar as int64, uint64 (U64 only) or float64.
func (s Scalar) Value() any {
	switch {
	case s.Type.IsFloat():
		return s.Type.float(s.Bits)
	case s.Type == U64:
		return s.Bits
	case s.Type.signed():
		return s.Type.signExtend(s.Bits)
	}
	return int64(s.Bits)
}

// text is the shortest decimal that reads back as the same value of the type.
func (t DType) text(bits uint64) string {
	switch {
	case t == F64:
		return strconv.FormatFloat(t.float(bits), 'g', -1, 64)
	case t.IsFloat():
		return strconv.FormatFloat(t.float(bits), 'g', -1, 32)
	case t.signed():
		return strconv.FormatInt(t.signExtend(bits), 10)
	}
	return strconv.FormatUint(bits, 10)
}

func (s Scalar) String() string { return fmt.Sprintf("%s(%s)", s.Type, s.Type.text(s.Bits)) }

// halfToFloat is the exact value of an IEEE 754 binary16.
func halfToFloat(h uint16) float64 {
	exp, frac := int(h>>10&31), float64(h&1023)
	var f float64
	switch {
	case exp == 31 && frac != 0:
		return math.NaN()
	case exp == 31:
		f = math.Inf(1)
	case exp == 0:
		f = math.Ldexp(frac, -24)
	default:
		f = math.Ldexp(1024+frac, exp-25)
	}
	return math.Copysign(f, 1-2*float64(h>>15))
}

// halfFromFloat rounds to the nearest binary16, ties to even, in one rounding.
func halfFromFloat(f float64) uint16 {
	sign := uint16(math.Float64bits(f) >> 48 & 0x8000)
	a := math.Abs(f)
	switch {
	case f != f:
		return 0x7fff // the canonical half NaN of NVIDIA GPUs
	case a >= 65520: // halfway between the largest finite value and 2^16
		return sign | 0x7c00
	case a < math.Ldexp(1, -14): // subnormal: units of 2^-24
		return sign | uint16(math.RoundToEven(math.Ldexp(a, 24)))
	}
	frac, exp := math.Frexp(a) // a = frac * 2^exp, frac in [0.5, 1)
	m := uint16(math.RoundToEven(math.Ldexp(frac, 11)))
	// m is in [1024, 2048]; 2048 carries into the exponent by itself.
	return sign | (uint16(exp+13)<<10 + m)
}
