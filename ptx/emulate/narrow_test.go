package emulate

import (
	"math"
	"math/rand/v2"
	"testing"
)

// value8 is the value of a code by the definition of the format.
func value8(code uint32, fraction, bias int) float64 {
	e, m := int(code&0x7f)>>fraction, float64(code&(1<<fraction-1))/float64(int(1)<<fraction)
	v := math.Ldexp(m, 1-bias)
	if e > 0 {
		v = math.Ldexp(1+m, e-bias)
	}
	if code&0x80 != 0 {
		return -v
	}
	return v
}

// TestFloat8: a conversion gives the nearest finite number, of two the one with an even
// code; every code converts to the f16 of its value and back to itself.
func TestFloat8(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for name, f := range map[string]*float8{"e4m3": float8Of("e4m3x2"), "e5m2": float8Of("e5m2x2")} {
		check := func(x float64) {
			best := uint32(0)
			for code := range f.largest + 1 {
				d, was := math.Abs(value8(code, f.fraction, f.bias)-math.Abs(x)), math.Abs(value8(best, f.fraction,
					f.bias)-math.Abs(x))
				if d < was || d == was && code&1 == 0 {
					best = code
				}
			}
			if math.Signbit(x) {
				best |= 0x80
			}
			if got := f.from(x, false); got != best {
				t.Fatalf("%s: %v becomes %#x, want %#x", name, x, got, best)
			}
			if got := f.from(x, true); math.Signbit(x) && got != 0 || !math.Signbit(x) && got != best {
				t.Fatalf("%s: %v becomes %#x with .relu", name, x, got)
			}
		}
		for code := range uint32(256) {
			if code&0x7f > f.largest {
				continue
			}
			x := value8(code, f.fraction, f.bias)
			check(x)
			check(x + value8(code&^0x7f|1, f.fraction, f.bias)/2) // half the smallest
			check((x + value8(code^1, f.fraction, f.bias)) / 2)
			if got := half64(f.toHalf(code, false)); got != x || math.Signbit(got) != math.Signbit(x) {
				t.Errorf("%s: %#x becomes the f16 %v, want %v", name, code, got, x)
			}
		}
		for range 20000 {
			check(math.Ldexp(r.Float64()*2-1, r.IntN(50)-25))
		}
		if v := f.from(math.Inf(-1), false); v != 0x80|f.largest {
			t.Errorf("%s: -Inf becomes %#x", name, v)
		}
		if v := f.from(math.NaN(), true); v != nan8 || f.toHalf(v, false) != 0x7fff {
			t.Errorf("%s: NaN becomes %#x and %#x", name, v, f.toHalf(v, false))
		}
	}
	if v := float8Of("e5m2x2").toHalf(0xfc, false); v != 0xfc00 {
		t.Errorf("the infinity of e5m2 becomes %#x", v)
	}
}
