package host

import (
	"bytes"
	"fmt"
	"math"
)

// Check is the outcome of one comparison.
type Check struct {
	What   string // the compared arrays, with the place in the host program
	OK     bool
	Msg    string // empty when OK
	Differ int64  // elements outside the tolerance
	First  int64  // index of the first of them; -1 when there is none
	// Got and Want are the values at First in decimal.
	Got, Want string
	// MaxError is the largest |got-want| over all elements, NaN and infinities aside.
	MaxError float64
}

// Tolerance of a check: |got-want| <= Abs + Rel*|want|.
type Tolerance struct{ Rel, Abs float64 }

func (t Tolerance) limit(want float64) float64 {
	return t.Abs + float64(t.Rel*math.Abs(want)) // the conversion forbids a fused multiply-add
}

// Check compares a with want element by element and records the outcome; a
// difference is not an error. want is an *Array, a *Data or a typed slice of the
// same length and of the same sort (integer or floating). Integers are compared
// exactly when the tolerance is zero. NaN equals NaN, infinities equal themselves.
func (c *Context) Check(a *Array, want any, tol Tolerance, what string) (Check, error) {
	var got *Data
	err := a.Observe(func(b []byte) error { got = &Data{a.t, b}; return nil })
	if err != nil {
		return Check{}, err
	}
	var d *Data
	switch w := want.(type) {
	case *Array:
		err = w.Observe(func(b []byte) error { d = &Data{w.t, b}; return nil })
	case *Data:
		d = w
	default:
		d, err = NewData(want)
	}
	if err != nil {
		return Check{}, err
	}
	return c.CheckData(got, d, tol, what)
}

// CheckData is Check for two sequences that are not in simulated memory.
func (c *Context) CheckData(got, want *Data, tol Tolerance, what string) (Check, error) {
	switch {
	case got.Len() != want.Len():
		return Check{}, fmt.Errorf("check: the array has %d elements, the expected values %d", got.Len(), want.Len())
	case got.Type.IsFloat() != want.Type.IsFloat():
		return Check{}, fmt.Errorf("check: the array has elements of %s, the expected values "+
			"are %s", got.Type, want.Type)
	case !(tol.Rel >= 0) || !(tol.Abs >= 0):
		return Check{}, fmt.Errorf("check: rtol = %g and atol = %g must not be negative", tol.Rel, tol.Abs)
	}
	k := Check{What: what, First: -1}
	switch {
	case got.Type == want.Type && bytes.Equal(got.Bytes, want.Bytes):
	case got.Type.IsFloat():
		k.floats(got, want, tol)
	default:
		k.integers(got, want, tol)
	}
	k.OK = k.Differ == 0
	if !k.OK {
		k.Msg = fmt.Sprintf("%d of %d elements differ; first at [%d]: got %s, expected %s; max abs error %.6g (rtol "+
			"%g, atol %g)",
			k.Differ, got.Len(), k.First, k.Got, k.Want, k.MaxError, tol.Rel, tol.Abs)
	}
	c.checks = append(c.checks, k)
	return k, nil
}

func (k *Check) floats(got, want *Data, tol Tolerance) {
	for i := range got.Len() {
		g, w := got.At(i), want.At(i)
		x, y := g.Type.float(g.Bits), w.Type.float(w.Bits)
		if x == y || x != x && y != y {
			continue
		}
		e := math.Abs(x - y)
		finite := !math.IsNaN(e) && !math.IsInf(e, 0)
		if finite && e > k.MaxError {
			k.MaxError = e
		}
		if !finite || e > tol.limit(y) {
			k.differ(i, g, w)
		}
	}
}

func (k *Check) integers(got, want *Data, tol Tolerance) {
	for i := range got.Len() {
		g, w := got.At(i), want.At(i)
		e := distance(g, w)
		if e == 0 {
			continue
		}
		k.MaxError = max(k.MaxError, float64(e))
		if float64(e) > tol.limit(w.Type.float(w.Bits)) {
			k.differ(i, g, w)
		}
	}
}

// distance is |a-b| of two integers, saturated to 2^64-1.
func distance(a, b Scalar) uint64 {
	x, xneg := a.magnitude()
	y, yneg := b.magnitude()
	if xneg != yneg {
		if s := x + y; s >= x {
			return s
		}
		return math.MaxUint64
	}
	return max(x, y) - min(x, y)
}

func (s Scalar) magnitude() (m uint64, neg bool) {
	if s.Type.signed() {
		if v := s.Type.signExtend(s.Bits); v < 0 {
			return -uint64(v), true
		}
	}
	return s.Bits, false
}

func (k *Check) differ(i int64, g, w Scalar) {
	if k.Differ == 0 {
		k.First, k.Got, k.Want = i, g.Type.text(g.Bits), w.Type.text(w.Bits)
	}
	k.Differ++
}
