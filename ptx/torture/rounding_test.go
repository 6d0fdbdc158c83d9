package torture

import (
	"math"
	"math/big"
)

// mode is a rounding mode of PTX.
type mode int

const (
	rn mode = iota // nearest even
	rz             // towards zero
	rm             // towards minus infinity
	rp             // towards plus infinity
)

var modes = []mode{rn, rz, rm, rp}

// format is float32 or float64; values travel as float64, which holds both.
type format struct {
	bits    int // of the significand
	nearest func(*big.Rat) float64
	next    func(x, towards float64) float64
}

var (
	single = format{
		24,
		func(r *big.Rat) float64 { f, _ := r.Float32(); return float64(f) },
		func(x, towards float64) float64 { return float64(math.Nextafter32(float32(x), float32(towards))) },
	}
	double = format{53, func(r *big.Rat) float64 { f, _ := r.Float64(); return f }, math.Nextafter}
)

// round rounds an exact non-zero value.
func (f format) round(x *big.Rat, m mode) float64 {
	near := f.nearest(x)
	if m == rz {
		m = rm
		if x.Sign() < 0 {
			m = rp
		}
	}
	cmp := -x.Sign() // how near compares with x, when near is infinite or zero
	switch {
	case math.IsInf(near, 0):
		cmp = x.Sign()
	case near != 0:
		cmp = new(big.Rat).SetFloat64(near).Cmp(x)
	}
	if m == rm && cmp > 0 {
		return f.next(near, math.Inf(-1))
	}
	if m == rp && cmp < 0 {
		return f.next(near, math.Inf(1))
	}
	return near
}

func special(v ...float64) bool {
	for _, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return true
		}
	}
	return false
}

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// zero is the sign of a sum that is exactly zero; a and b are the terms (a may stand for a product).
func zero(a, b float64, m mode) float64 {
	if a == 0 && b == 0 && math.Signbit(a) == math.Signbit(b) {
		return a
	}
	if m == rm {
		return math.Copysign(0, -1)
	}
	return 0
}

func (f format) add(x, y float64, m mode) float64 {
	if special(x, y) {
		return x + y
	}
	s := new(big.Rat).Add(rat(x), rat(y))
	if s.Sign() == 0 {
		return zero(x, y, m)
	}
	return f.round(s, m)
}

func (f format) mul(x, y float64, m mode) float64 {
	if special(x, y) || x == 0 || y == 0 {
		return x * y
	}
	return f.round(new(big.Rat).Mul(rat(x), rat(y)), m)
}

func (f format) div(x, y float64, m mode) float64 {
	if special(x, y) || x == 0 || y == 0 {
		return x / y
	}
	return f.round(new(big.Rat).Quo(rat(x), rat(y)), m)
}

func (f format) fma(x, y, z float64, m mode) float64 {
	if special(x, y, z) {
		return math.FMA(x, y, z)
	}
	p := new(big.Rat).Mul(rat(x), rat(y))
	s := new(big.Rat).Add(p, rat(z))
	if s.Sign() != 0 {
		return f.round(s, m)
	}
	if p.Sign() == 0 {
		return zero(x*y, z, m)
	}
	return zero(1, -1, m)
}

func (f format) sqrt(x float64, m mode) float64 {
	if special(x) || x <= 0 {
		return math.Sqrt(x)
	}
	near := math.Sqrt(x)
	if f.bits == 24 {
		near = float64(float32(near)) // once more is harmless: 53 >= 2*24+2 bits
	}
	switch cmp := new(big.Rat).Mul(rat(near), rat(near)).Cmp(rat(x)); {
	case (m == rm || m == rz) && cmp > 0:
		return f.next(near, 0)
	case m == rp && cmp < 0:
		return f.next(near, math.Inf(1))
	}
	return near
}

// fma32 is the fused multiply-add of float32, rounded once.
func fma32(x, y, z float32) float32 {
	return float32(single.fma(float64(x), float64(y), float64(z), rn))
}

// integral rounds to a whole number.
func integral(x float64, m mode) float64 {
	switch m {
	case rz:
		return math.Trunc(x)
	case rm:
		return math.Floor(x)
	case rp:
		return math.Ceil(x)
	}
	return math.RoundToEven(x)
}

// toInt converts with saturation to a signed or unsigned integer of some bits; x is not NaN.
func toInt(x float64, m mode, bits uint, signed bool) uint64 {
	x = integral(x, m)
	lo, hi := 0.0, math.Ldexp(1, int(bits))
	if signed {
		lo, hi = -hi/2, hi/2
	}
	switch {
	case x < lo && signed:
		return ^uint64(0) << (bits - 1)
	case x < lo:
		return 0
	case x >= hi && signed:
		return 1<<(bits-1) - 1
	case x >= hi:
		return ^uint64(0) >> (64 - bits)
	case signed:
		return uint64(int64(x))
	}
	return uint64(x)
}

// fromInt rounds an integer to the format.
func (f format) fromInt(v *big.Int, m mode) float64 {
	if v.Sign() == 0 {
		return 0
	}
	return f.round(new(big.Rat).SetInt(v), m)
}
