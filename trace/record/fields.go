package record

import (
	"encoding/binary"
	"errors"
)

// fields appends the values of the index.
type fields struct{ b []byte }

func (f *fields) u(v uint64) { f.b = binary.AppendUvarint(f.b, v) }
func (f *fields) i(v int64)  { f.b = binary.AppendVarint(f.b, v) }
func (f *fields) str(s string) {
	f.u(uint64(len(s)))
	f.b = append(f.b, s...)
}

func (f *fields) flag(v bool) {
	n := uint64(0)
	if v {
		n = 1
	}
	f.u(n)
}

var errIndex = errors.New("the index ends early or holds a number out of range")

// values reads what fields wrote. The first error sticks and later values are zero,
// so that callers check once per record.
type values struct {
	b   []byte
	err error
}

func (v *values) fail() {
	if v.err == nil {
		v.err = errIndex
	}
	v.b = nil
}

// u reads a number of at most most.
func (v *values) u(most uint64) uint64 {
	x, n := binary.Uvarint(v.b)
	if n <= 0 || x > most {
		v.fail()
		return 0
	}
	v.b = v.b[n:]
	return x
}

// n reads an int of at most most.
func (v *values) n(most int) int { return int(v.u(uint64(max(most, 0)))) }

func (v *values) i() int64 {
	x, n := binary.Varint(v.b)
	if n <= 0 {
		v.fail()
		return 0
	}
	v.b = v.b[n:]
	return x
}

func (v *values) flag() bool { return v.u(1) == 1 }

// count reads the length of a list whose elements take at least one byte each: a
// longer one cannot be complete, and is not allocated.
func (v *values) count() int { return v.n(len(v.b)) }

func (v *values) str() string {
	n := v.count()
	if v.err != nil || n > len(v.b) {
		v.fail()
		return ""
	}
	s := string(v.b[:n])
	v.b = v.b[n:]
	return s
}
