package host

import (
	"encoding/binary"
	"unsafe"
)

// InPlace returns the elements as a typed slice, for reading only and until the next operation on the array. It is
// the array's own memory if this computer stores numbers of the type in the same form, else a copy (Snapshot): for
// f16, and for arrays that begin in the middle of one of this computer's elements. It takes no simulated time.
func (a *Array) InPlace() (any, error) {
	var out any
	err := a.Observe(func(b []byte) error { out = a.t.inPlace(b); return nil })
	return out, err
}

// InPlace is Slice without a copy where this computer allows it, for reading only.
func (d *Data) InPlace() any { return d.Type.inPlace(d.Bytes) }

// little says that the computer has the lowest byte of a number first, as the simulated device has.
var little = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// inPlace is the elements in bytes, in place where that is possible.
func (t DType) inPlace(b []byte) any {
	if !little || t == F16 || len(b) == 0 || uintptr(unsafe.Pointer(&b[0]))%uintptr(t.Size()) != 0 {
		return t.typed(b)
	}
	switch t {
	case I8:
		return cast[int8](b)
	case U8:
		return b
	case I16:
		return cast[int16](b)
	case U16:
		return cast[uint16](b)
	case I32:
		return cast[int32](b)
	case U32:
		return cast[uint32](b)
	case I64:
		return cast[int64](b)
	case U64:
		return cast[uint64](b)
	case F32:
		return cast[float32](b)
	}
	return cast[float64](b)
}

// cast is bytes as elements; the first is aligned and there is one at least.
func cast[T any](b []byte) []T {
	var v T
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(v)))
}

// Result is NewData of a reference's result, without a copy where this computer allows it. A result that lies in an
// argument is copied, because it may be an array's own memory.
func Result(slice any, args []any) (*Data, error) {
	t, b := raw(slice)
	if b == nil || !little {
		return NewData(slice)
	}
	for _, a := range args {
		if _, in := raw(a); overlap(b, in) {
			return NewData(slice)
		}
	}
	return &Data{t, b}, nil
}

// raw is the bytes of a typed slice; nil of what is none, or empty.
func raw(slice any) (DType, []byte) {
	switch s := slice.(type) {
	case []int8:
		return I8, bytesOf(s)
	case []uint8:
		return U8, s
	case []int16:
		return I16, bytesOf(s)
	case []uint16:
		return U16, bytesOf(s)
	case []int32:
		return I32, bytesOf(s)
	case []uint32:
		return U32, bytesOf(s)
	case []int64:
		return I64, bytesOf(s)
	case []uint64:
		return U64, bytesOf(s)
	case []float32:
		return F32, bytesOf(s)
	case []float64:
		return F64, bytesOf(s)
	}
	return U8, nil
}

func bytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// overlap says whether two slices share bytes.
func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	from, other := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return from < other+uintptr(len(b)) && other < from+uintptr(len(a))
}
