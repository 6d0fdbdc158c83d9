package emulate

import "math"

// Floating-point rows. The .rn forms use the host's IEEE arithmetic; f32 results
// that are NaN become the GPU's canonical NaN.

func addF32(d, a, b, _ *v32) {
	r, x, y := fl(d), fl(a), fl(b)
	for i := range r {
		r[i] = c32(x[i] + y[i])
	}
}

func subF32(d, a, b, _ *v32) {
	r, x, y := fl(d), fl(a), fl(b)
	for i := range r {
		r[i] = c32(x[i] - y[i])
	}
}

func mulF32(d, a, b, _ *v32) {
	r, x, y := fl(d), fl(a), fl(b)
	for i := range r {
		r[i] = c32(x[i] * y[i])
	}
}

func divF32(d, a, b, _ *v32) {
	r, x, y := fl(d), fl(a), fl(b)
	for i := range r {
		r[i] = c32(x[i] / y[i])
	}
}

func rcpF32(d, a, _, _ *v32) {
	r, x := fl(d), fl(a)
	for i := range r {
		r[i] = c32(1 / x[i])
	}
}

// sqrtF32 is exact: rounding the f64 root to f32 is innocuous (53 >= 2*24+2).
func sqrtF32(d, a, _, _ *v32) {
	r, x := fl(d), fl(a)
	for i := range r {
		r[i] = c32(float32(math.Sqrt(float64(x[i]))))
	}
}

func fmaF32(d, a, b, c *v32) {
	r, x, y, z := fl(d), fl(a), fl(b), fl(c)
	for i := range r {
		r[i] = c32(fma32(x[i], y[i], z[i]))
	}
}

// fma32 is x*y+z with one rounding. The product is exact in f64; the f64 sum is
// rounded once, and rounding it again to f32 can only be wrong when the sum falls on
// a tie of the f32 grid or in its subnormal range. Then the sum is moved one unit of
// f64 towards the exact value, which decides the second rounding as the exact value
// would (Boldo and Melquiond's rounding to odd does the same).
func fma32(x, y, z float32) float32 {
	p := float64(x) * float64(y)
	s := p + float64(z)
	b := math.Float64bits(s)
	if b&(1<<29-1) != 1<<28 && b>>52&0x7ff >= 1023-126+1 || b<<1 == 0 {
		return float32(s)
	}
	if b>>52&0x7ff == 0x7ff {
		return float32(s)
	}
	c := float64(z) // TwoSum: e is the exact error of s
	t := s - p
	e := (p - (s - t)) + (c - t)
	if e != 0 && b&1 == 0 {
		if (e > 0) == (s > 0) {
			b++
		} else {
			b--
		}
	}
	return float32(math.Float64frombits(b))
}

// minF32 and maxF32 return the number when one operand is a NaN; -0 < +0.
func minF32(d, a, b, _ *v32) {
	r, x, y := fl(d), fl(a), fl(b)
	for i := range r {
		r[i] = min32(x[i], y[i])
	}
}

func maxF32(d, a, b, _ *v32) {
	r, x, y := fl(d), fl(a), fl(b)
	for i := range r {
		r[i] = max32(x[i], y[i])
	}
}

func min32(x, y float32) float32 {
	switch {
	case x < y:
		return x
	case y < x:
		return y
	case x != x:
		return c32(y)
	case y != y:
		return x
	}
	return math.Float32frombits(math.Float32bits(x) | math.Float32bits(y)) // equal: keeps the sign of -0
}

func max32(x, y float32) float32 {
	switch {
	case x > y:
		return x
	case y > x:
		return y
	case x != x:
		return c32(y)
	case y != y:
		return x
	}
	return math.Float32frombits(math.Float32bits(x) & math.Float32bits(y))
}

// minNaN32 and maxNaN32 are the .NaN variants: any NaN operand gives NaN.
func minNaN32(a, b uint32) uint32 {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	if x != x || y != y {
		return canonNaN32
	}
	return math.Float32bits(min32(x, y))
}

func maxNaN32(a, b uint32) uint32 {
	x, y := math.Float32frombits(a), math.Float32frombits(b)
	if x != x || y != y {
		return canonNaN32
	}
	return math.Float32bits(max32(x, y))
}

func negF32(d, a, _, _ *v32) {
	for i := range d {
		d[i] = a[i] ^ 1<<31
	}
}

func absF32(d, a, _, _ *v32) {
	for i := range d {
		d[i] = a[i] &^ (1 << 31)
	}
}

func copysign32(a, b uint32) uint32 { return a&(1<<31) | b&^(1<<31) }

// flush32 replaces subnormals by zeros of the same sign (.ftz).
func flush32(d, a *v32) {
	for i, v := range a {
		if v&0x7f800000 == 0 {
			v &= 1 << 31
		}
		d[i] = v
	}
}

// saturate32 clamps to [0, 1]; NaN becomes +0 (.sat).
func saturate32(d *v32) {
	r := fl(d)
	for i, v := range r {
		if !(v > 0) {
			r[i] = 0
		} else if v > 1 {
			r[i] = 1
		}
	}
}

func addF64(d, a, b, _ *v64) {
	r, x, y := db(d), db(a), db(b)
	for i := range r {
		r[i] = c64(x[i] + y[i])
	}
}

func subF64(d, a, b, _ *v64) {
	r, x, y := db(d), db(a), db(b)
	for i := range r {
		r[i] = c64(x[i] - y[i])
	}
}

func mulF64(d, a, b, _ *v64) {
	r, x, y := db(d), db(a), db(b)
	for i := range r {
		r[i] = c64(x[i] * y[i])
	}
}

func divF64(d, a, b, _ *v64) {
	r, x, y := db(d), db(a), db(b)
	for i := range r {
		r[i] = c64(x[i] / y[i])
	}
}

func rcpF64(d, a, _, _ *v64) {
	r, x := db(d), db(a)
	for i := range r {
		r[i] = c64(1 / x[i])
	}
}

func sqrtF64(d, a, _, _ *v64) {
	r, x := db(d), db(a)
	for i := range r {
		r[i] = c64(math.Sqrt(x[i]))
	}
}

func fmaF64(d, a, b, c *v64) {
	r, x, y, z := db(d), db(a), db(b), db(c)
	for i := range r {
		r[i] = c64(math.FMA(x[i], y[i], z[i]))
	}
}

func minF64(a, b uint64) uint64 {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	switch {
	case x < y:
		return a
	case y < x:
		return b
	case x != x:
		return math.Float64bits(c64(y))
	case y != y:
		return a
	}
	return a | b
}

func maxF64(a, b uint64) uint64 {
	x, y := math.Float64frombits(a), math.Float64frombits(b)
	switch {
	case x > y:
		return a
	case y > x:
		return b
	case x != x:
		return math.Float64bits(c64(y))
	case y != y:
		return a
	}
	return a & b
}

func negF64(a uint64) uint64        { return a ^ 1<<63 }
func absF64(a uint64) uint64        { return a &^ (1 << 63) }
func copysign64(a, b uint64) uint64 { return a&(1<<63) | b&^(1<<63) }

// soft32 and soft64 build rows for the directed rounding modes.
func soft32(op string, m rounding) fn32 {
	f := &fmt32
	switch op {
	case "add":
		return bin32(func(a, b uint32) uint32 { return uint32(f.add(uint64(a), uint64(b), m)) })
	case "sub":
		return bin32(func(a, b uint32) uint32 { return uint32(f.add(uint64(a), uint64(b^1<<31), m)) })
	case "mul":
		return bin32(func(a, b uint32) uint32 { return uint32(f.mul(uint64(a), uint64(b), m)) })
	case "fma":
		return tri32(func(a, b, c uint32) uint32 { return uint32(f.fma(uint64(a), uint64(b), uint64(c), m)) })
	case "div":
		return bin32(func(a, b uint32) uint32 { return uint32(f.div(uint64(a), uint64(b), m)) })
	case "rcp":
		return un32(func(a uint32) uint32 { return uint32(f.div(0x3f800000, uint64(a), m)) })
	case "sqrt":
		return un32(func(a uint32) uint32 { return uint32(f.sqrt(uint64(a), m)) })
	}
	return nil
}

func soft64(op string, m rounding) fn64 {
	f := &fmt64
	switch op {
	case "add":
		return bin64(func(a, b uint64) uint64 { return f.add(a, b, m) })
	case "sub":
		return bin64(func(a, b uint64) uint64 { return f.add(a, b^1<<63, m) })
	case "mul":
		return bin64(func(a, b uint64) uint64 { return f.mul(a, b, m) })
	case "fma":
		return tri64(func(a, b, c uint64) uint64 { return f.fma(a, b, c, m) })
	case "div":
		return bin64(func(a, b uint64) uint64 { return f.div(a, b, m) })
	case "rcp":
		return un64(func(a uint64) uint64 { return f.div(math.Float64bits(1), a, m) })
	case "sqrt":
		return un64(func(a uint64) uint64 { return f.sqrt(a, m) })
	}
	return nil
}
