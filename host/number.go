package host

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// number is any number the host program may write: an integer of up to 65 bits
// as sign and magnitude, or a float64.
type number struct {
	isFloat bool
	neg     bool
	mag     uint64
	f       float64
}

func intNumber(v int64) number {
	if v < 0 {
		return number{neg: true, mag: -uint64(v)}
	}
	return number{mag: uint64(v)}
}

// toNumber accepts the Go number types, bool, *big.Int and Scalar.
func toNumber(v any) (number, error) {
	switch x := v.(type) {
	case int:
		return intNumber(int64(x)), nil
	case int32:
		return intNumber(int64(x)), nil
	case int64:
		return intNumber(x), nil
	case uint32:
		return number{mag: uint64(x)}, nil
	case uint64:
		return number{mag: x}, nil
	case bool:
		if x {
			return number{mag: 1}, nil
		}
		return number{}, nil
	case float32:
		return number{isFloat: true, f: float64(x)}, nil
	case float64:
		return number{isFloat: true, f: x}, nil
	case *big.Int:
		if m := new(big.Int).Abs(x); m.IsUint64() {
			return number{neg: x.Sign() < 0, mag: m.Uint64()}, nil
		}
		return number{}, fmt.Errorf("%s does not fit in 64 bits", x)
	case Scalar:
		return toNumber(x.Value())
	}
	return number{}, fmt.Errorf("%v (%T) is not a number", v, v)
}

func (n number) String() string {
	switch {
	case n.isFloat:
		return strconv.FormatFloat(n.f, 'g', -1, 64)
	case n.neg:
		return "-" + strconv.FormatUint(n.mag, 10)
	}
	return strconv.FormatUint(n.mag, 10)
}

// float is the nearest float64.
func (n number) float() float64 {
	switch {
	case n.isFloat:
		return n.f
	case n.neg:
		return -float64(n.mag)
	}
	return float64(n.mag)
}

// integer turns a float without fraction into an integer number.
func (n number) integer() (number, error) {
	if !n.isFloat {
		return n, nil
	}
	a := math.Abs(n.f)
	if a != math.Trunc(a) || a >= 1<<64 {
		return n, fmt.Errorf("%s is not an integer of 64 bits", n)
	}
	return number{neg: n.f < 0, mag: uint64(a)}, nil
}

// two is the two's complement of an integer, modulo 2^64.
func (n number) two() uint64 {
	if n.neg {
		return -n.mag
	}
	return n.mag
}

// less compares two integers.
func (n number) less(m number) bool {
	a, b := n.neg && n.mag > 0, m.neg && m.mag > 0
	switch {
	case a != b:
		return a
	case a:
		return n.mag > m.mag
	}
	return n.mag < m.mag
}

// encode converts to type t, rounding floats to nearest, and checks the range.
func (n number) encode(t DType) (uint64, error) {
	if t.IsFloat() {
		f := n.float()
		bits := t.round(f)
		if math.IsInf(t.float(bits), 0) && !math.IsInf(f, 0) {
			return 0, fmt.Errorf("%s is outside the range of %s", n, t)
		}
		return bits, nil
	}
	i, err := n.integer()
	if err != nil {
		return 0, fmt.Errorf("%s cannot be stored as %s: it is not an integer", n, t)
	}
	lo, hi := t.limits()
	if i.neg && i.mag > lo || !i.neg && i.mag > hi {
		return 0, fmt.Errorf("%s is outside the range of %s [%s, %d]", n, t, number{neg: lo > 0, mag: lo}, hi)
	}
	return i.two() & (^uint64(0) >> (64 - 8*t.Size())), nil
}

// limits are the magnitudes of the smallest (most negative) and largest integer.
func (t DType) limits() (lo, hi uint64) {
	bits := 8 * t.Size()
	if t.signed() {
		return 1 << (bits - 1), 1<<(bits-1) - 1
	}
	return 0, ^uint64(0) >> (64 - bits)
}
