package host

import (
	"bytes"
	"fmt"
	"math"
)

// Reference computes an expected result on the CPU. Arguments are typed slices ([]int8 ... []uint64, []float32,
// []float64; f16 arrays as []float32) for arrays, and int64, float64, string or bool for scalars. The slices are for
// reading only: they may be the arrays' own memory (InPlace). The result is a typed slice, which belongs to the
// caller.
type Reference = func(args []any) (any, error)

// Snapshot is a copy of the elements as a typed slice; f16 widens to []float32. It
// observes: no simulated time.
func (a *Array) Snapshot() (any, error) {
	var out any
	err := a.Observe(func(b []byte) error { out = a.t.typed(b); return nil })
	return out, err
}

// typed decodes little-endian bytes into a new slice.
func (t DType) typed(b []byte) any {
	switch t {
	case I8:
		return decode(b, t, func(v uint64) int8 { return int8(v) })
	case U8:
		return decode(b, t, func(v uint64) uint8 { return uint8(v) })
	case I16:
		return decode(b, t, func(v uint64) int16 { return int16(v) })
	case U16:
		return decode(b, t, func(v uint64) uint16 { return uint16(v) })
	case I32:
		return decode(b, t, func(v uint64) int32 { return int32(v) })
	case U32:
		return decode(b, t, func(v uint64) uint32 { return uint32(v) })
	case I64:
		return decode(b, t, func(v uint64) int64 { return int64(v) })
	case U64:
		return decode(b, t, func(v uint64) uint64 { return v })
	case F16:
		return decode(b, t, func(v uint64) float32 { return float32(halfToFloat(uint16(v))) })
	case F32:
		return decode(b, t, func(v uint64) float32 { return math.Float32frombits(uint32(v)) })
	}
	return decode(b, t, math.Float64frombits)
}

func decode[T any](b []byte, t DType, f func(uint64) T) []T {
	size := t.Size()
	out := make([]T, len(b)/size)
	for i := range out {
		out[i] = f(t.load(b[i*size:]))
	}
	return out
}

// Data is a sequence of typed elements outside the simulated memory: an expected
// result, a literal list, the contents of a file.
type Data struct {
	Type  DType
	Bytes []byte // little-endian
}

// Len is the number of elements.
func (d *Data) Len() int64 { return int64(len(d.Bytes) / d.Type.Size()) }

// At is element i, which must exist.
func (d *Data) At(i int64) Scalar {
	return Scalar{d.Type, d.Type.load(d.Bytes[i*int64(d.Type.Size()):])}
}

// NewData copies a typed slice.
func NewData(slice any) (*Data, error) {
	switch s := slice.(type) {
	case []int8:
		return encode(I8, s, func(v int8) uint64 { return uint64(v) }), nil
	case []uint8:
		return encode(U8, s, func(v uint8) uint64 { return uint64(v) }), nil
	case []int16:
		return encode(I16, s, func(v int16) uint64 { return uint64(v) }), nil
	case []uint16:
		return encode(U16, s, func(v uint16) uint64 { return uint64(v) }), nil
	case []int32:
		return encode(I32, s, func(v int32) uint64 { return uint64(v) }), nil
	case []uint32:
		return encode(U32, s, func(v uint32) uint64 { return uint64(v) }), nil
	case []int64:
		return encode(I64, s, func(v int64) uint64 { return uint64(v) }), nil
	case []uint64:
		return encode(U64, s, func(v uint64) uint64 { return v }), nil
	case []int:
		return encode(I64, s, func(v int) uint64 { return uint64(v) }), nil
	case []float32:
		return encode(F32, s, func(v float32) uint64 { return uint64(math.Float32bits(v)) }), nil
	case []float64:
		return encode(F64, s, math.Float64bits), nil
	}
	return nil, fmt.Errorf("%T is not a slice of numbers ([]float32, []int32, ...)", slice)
}

func encode[T any](t DType, s []T, f func(T) uint64) *Data {
	size := t.Size()
	d := &Data{Type: t, Bytes: make([]byte, len(s)*size)}
	for i, v := range s {
		t.store(d.Bytes[i*size:], f(v))
	}
	return d
}

// Convert is the same values as elements of type t; a value outside its range is an
// error that names the index.
func (d *Data) Convert(t DType) (*Data, error) {
	if d.Type == t {
		return d, nil
	}
	out := &Data{Type: t, Bytes: make([]byte, d.Len()*int64(t.Size()))}
	for i := range d.Len() {
		s, err := NewScalar(t, d.At(i))
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		t.store(out.Bytes[i*int64(t.Size()):], s.Bits)
	}
	return out, nil
}

// Set stores a typed slice (or *Data) of the array's length, converted to its type.
func (a *Array) Set(slice any) error {
	d, ok := slice.(*Data)
	if !ok {
		var err error
		if d, err = NewData(slice); err != nil {
			return err
		}
	}
	if d.Len() != a.n {
		return fmt.Errorf("%d values given for an array of %d elements", d.Len(), a.n)
	}
	d, err := d.Convert(a.t)
	if err != nil {
		return err
	}
	return a.write("set "+a.b.r.Name, true, func(b []byte) { copy(b, d.Bytes) })
}

// Append adds an element of the type of s, whatever the type of d.
func (d *Data) Append(s Scalar) {
	var b [8]byte
	s.Type.store(b[:], s.Bits)
	d.Bytes = append(d.Bytes, b[:s.Type.Size()]...)
}

// Repeat is d n times over.
func (d *Data) Repeat(n int64) *Data {
	return &Data{d.Type, bytes.Repeat(d.Bytes, int(n))}
}

// Slice is a copy as a typed Go slice; f16 widens to []float32.
func (d *Data) Slice() any { return d.Type.typed(d.Bytes) }
