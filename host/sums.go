package host

import (
	"fmt"
	"math/big"
	"math/bits"
)

// wide is an integer of 128 bits in two's complement: the sum of as many elements as there can be.
type wide struct{ low, high uint64 }

// add adds an element of a type.
func (w *wide) add(t DType, v uint64) {
	var top, carry uint64
	if t.signed() {
		v = uint64(t.signExtend(v))
		top = uint64(int64(v) >> 63)
	}
	w.low, carry = bits.Add64(w.low, v, 0)
	w.high, _ = bits.Add64(w.high, top, carry)
}

// fits says that it is in the range of a type.
func (w wide) fits(t DType) bool {
	if t.signed() {
		return int64(w.low) == t.signExtend(w.low) && int64(w.high) == int64(w.low)>>63
	}
	return w.high == 0 && w.low == w.low&(^uint64(0)>>(64-8*t.Size()))
}

func (w wide) big() *big.Int {
	s := new(big.Int).SetInt64(int64(w.high))
	return s.Lsh(s, 64).Add(s, new(big.Int).SetUint64(w.low))
}

// Sum is the sum of the elements. Integers are added exactly, as a *big.Int; floating types as float64 in index
// order.
func (a *Array) Sum() (any, error) {
	s, err := a.Sums(1, nil)
	if err != nil {
		return nil, err
	}
	return s[0], nil
}

// Sums are n sums; number i adds elements i, i+n and so on as Sum does. With start, one number per sum, sums of
// floating types begin there.
func (a *Array) Sums(n int, start []float64) ([]any, error) {
	switch {
	case n < 1:
		return nil, fmt.Errorf("%d sums: it must be one or more", n)
	case start != nil && !a.t.IsFloat():
		return nil, fmt.Errorf("sums of %s begin with 0: only sums of floats take a start", a.t)
	case start != nil && len(start) != n:
		return nil, fmt.Errorf("%d sums and %d start values: there must be one for each", n, len(start))
	}
	floats, integers := make([]float64, n), make([]wide, n)
	copy(floats, start)
	size := a.t.Size()
	err := a.read("sum of "+a.b.r.Name, func(b []byte) {
		for i := 0; len(b) > 0; b = b[size:] {
			if v := a.t.load(b); a.t.IsFloat() {
				floats[i] += a.t.float(v)
			} else {
				integers[i].add(a.t, v)
			}
			if i++; i == n {
				i = 0
			}
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]any, n)
	for i := range out {
		if out[i] = floats[i]; !a.t.IsFloat() {
			out[i] = integers[i].big()
		}
	}
	return out, nil
}

// PrefixSums sets element i to the sum of the first i elements of src, which has one element less: the beginning of
// each of several lists that lie one behind the other, and the end of the last. Both have integer types. A sum
// outside the range of this array's type is an error, and nothing is written.
func (a *Array) PrefixSums(src *Array) error {
	switch {
	case a.t.IsFloat() || src.t.IsFloat():
		return fmt.Errorf("prefix sums need integers, not %s into %s", src.t, a.t)
	case a.n != src.n+1:
		return fmt.Errorf("prefix sums of %d elements are %d, and the array has %d", src.n, src.n+1, a.n)
	}
	size, from := int64(a.t.Size()), src.t.Size()
	out := make([]byte, a.n*size)
	var total wide
	var outside error
	err := src.read("prefix sums of "+src.b.r.Name, func(b []byte) {
		for i := int64(1); i < a.n; i, b = i+1, b[from:] {
			if total.add(src.t, src.t.load(b)); !total.fits(a.t) {
				outside = fmt.Errorf("the sum of the first %d elements, %v, is outside the range of %s",
					i, total.big(), a.t)
				return
			}
			a.t.store(out[i*size:], total.low)
		}
	})
	if err == nil {
		err = outside
	}
	if err != nil {
		return err
	}
	return a.write("write "+a.b.r.Name, false, func(b []byte) { copy(b, out) })
}
