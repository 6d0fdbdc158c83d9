package emulate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// interesting values of 32 and 64 bits: integer limits, signed zeros, subnormals,
// infinities, NaNs and their neighbours.
var edges32 = []uint32{
	0, 1, 2, 31, 32, 33, 255, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0x3f800000, 0xbf800000, 0x00800000,
	0x007fffff,
	0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x4f000000, 0xcf000000, 0x33800000, 0x3f800001,
	0x5f000000,
}

var edges64 = []uint64{
	0, 1, 2, 63, 64, 0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff, math.Float64bits(1),
	math.Float64bits(-1),
	0x0010000000000000, 0x000fffffffffffff, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
	0x7ff8000000000000, 0x7ff0000000000001,
	math.Float64bits(1e-300), math.Float64bits(1 + 0x1p-52), math.Float64bits(0x1p-60),
}

type source struct{ *rand.Rand }

func newSource(seed uint64) source { return source{rand.New(rand.NewPCG(seed, 1))} }

func (s source) bits32() uint32 {
	switch s.IntN(4) {
	case 0:
		return edges32[s.IntN(len(edges32))]
	case 1:
		return math.Float32bits(float32(s.NormFloat64()))
	case 2: // close in exponent, so that sums cancel
		return math.Float32bits(float32(s.Float64()+1) * float32(1-2*s.IntN(2)))
	}
	return s.Uint32()
}

func (s source) bits64() uint64 {
	switch s.IntN(4) {
	case 0:
		return edges64[s.IntN(len(edges64))]
	case 1:
		return math.Float64bits(s.NormFloat64())
	case 2:
		return math.Float64bits((s.Float64() + 1) * float64(1-2*s.IntN(2)))
	}
	return s.Uint64()
}

func (s source) row32() (r v32) {
	for i := range r {
		r[i] = s.bits32()
	}
	return r
}

func (s source) row64() (r v64) {
	for i := range r {
		r[i] = s.bits64()
	}
	return r
}

// twins lists every accelerated row with its pure Go form.
var twins32 = map[string]fn32{
	"add": add32, "sub": sub32, "mul.lo": mulLo32, "mad.lo": madLo32, "and": and32, "or": or32, "xor": xor32,
	"min.u": minU32, "max.u": maxU32, "min.s": minS32, "max.s": maxS32, "shl": shl32, "shr.u": shrU32, "shr.s": shrS32,
	"add.f": addF32, "sub.f": subF32, "mul.f": mulF32, "div.f": divF32, "fma.f": fmaF32, "sqrt.f": sqrtF32,
	"rcp.f":   rcpF32,
	"rsqrt.f": rsqrtF32, "cvt.f32.s32": cvtS32F32,
}

var twins64 = map[string]fn64{
	"add": add64, "sub": sub64, "and": and64, "or": or64, "xor": xor64,
	"add.f": addF64, "sub.f": subF64, "mul.f": mulF64, "div.f": divF64, "fma.f": fmaF64,
}

func TestAccelerated32(t *testing.T) {
	s := newSource(1)
	for name, slow := range twins32 {
		fast := fast32(name, slow)
		for range 2000 {
			a, b, c := s.row32(), s.row32(), s.row32()
			var x, y v32
			slow(&x, &a, &b, &c)
			fast(&y, &a, &b, &c)
			if x != y {
				for i := range x {
					if x[i] != y[i] {
						t.Fatalf("%s(%#x, %#x, %#x) = %#x, the Go form gives %#x", name, a[i], b[i], c[i], y[i], x[i])
					}
				}
			}
			fast(&a, &a, &b, &c) // the destination may be a source
			if a != x {
				t.Fatalf("%s in place differs", name)
			}
		}
	}
}

func TestAccelerated64(t *testing.T) {
	s := newSource(2)
	for name, slow := range twins64 {
		fast := fast64(name, slow)
		for range 2000 {
			a, b, c := s.row64(), s.row64(), s.row64()
			var x, y v64
			slow(&x, &a, &b, &c)
			fast(&y, &a, &b, &c)
			for i := range x {
				if x[i] != y[i] {
					t.Fatalf("%s(%#x, %#x, %#x) = %#x, the Go form gives %#x", name, a[i], b[i], c[i], y[i], x[i])
				}
			}
		}
	}
}

func TestAcceleratedMixed(t *testing.T) {
	s := newSource(3)
	wides := map[string]fnWide{
		"mul.s": mulWideS, "mul.u": mulWideU, "mad.s": madWideS, "mad.u": madWideU,
		"cvt.s64.s32": cvtS32S64, "cvt.u64.u32": cvtU32U64,
	}
	shifts := map[string]fnShift{"shl": shl64, "shr.u": shrU64}
	for range 2000 {
		a, b, c, d := s.row32(), s.row32(), s.row64(), s.row64()
		for name, slow := range wides {
			var x, y v64
			slow(&x, &a, &b, &c)
			fastWide(name, slow)(&y, &a, &b, &c)
			if x != y {
				t.Fatalf("%s: %x, want %x", name, y, x)
			}
		}
		for name, slow := range shifts {
			var x, y v64
			slow(&x, &c, &a, &b)
			fastShift(name, slow)(&y, &c, &a, &b)
			if x != y {
				t.Fatalf("%s: %x, want %x", name, y, x)
			}
		}
		var x, y v32
		cvt64U32(&x, &c, &d)
		fastNarrow("cvt.u32.u64", cvt64U32)(&y, &c, &d)
		if x != y {
			t.Fatalf("cvt.u32.u64: %x, want %x", y, x)
		}
		mask := s.Uint32()
		x, y = a, a
		blend32Go(&x, &b, mask)
		blend32(&y, &b, mask)
		p, q := c, c
		blend64Go(&p, &d, mask)
		blend64(&q, &d, mask)
		if x != y || p != q {
			t.Fatalf("blend with %#x", mask)
		}
		start, limit := s.bits64(), s.bits64()
		offset64Go(&p, &c, start)
		offset64(&q, &c, start)
		if p != q {
			t.Fatal("offset64")
		}
		all1, over1 := bounds64Go(&p, &c, start, limit)
		all2, over2 := bounds64(&q, &c, start, limit)
		if p != q || all1 != all2 || over1 != over2 {
			t.Fatalf("bounds64: %x %v, want %x %v", all2, over2, all1, over1)
		}
	}
}

func TestAcceleratedCompare(t *testing.T) {
	s := newSource(4)
	ops := []string{
		"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu",
		"geu", "num", "nan",
	}
	for range 500 {
		a, b := s.row32(), s.row32()
		for i := 0; i < 32; i += 5 {
			b[i] = a[i]
		}
		for i, op := range ops {
			f := compare[float32](op)
			slow := func(a, b *v32) uint32 { return f(fl(a), fl(b)) }
			if x, y := slow(&a, &b), fastCompare("f", op, slow)(&a, &b); x != y {
				t.Fatalf("%s.f32: %#x, want %#x", op, y, x)
			}
			if i >= 10 {
				continue
			}
			u := compare[uint32](op)
			if op == "ne" {
				u = compare[uint32]("neu")
			}
			if x, y := u(&a, &b), fastCompare("u", op, u)(&a, &b); x != y {
				t.Fatalf("%s.u32: %#x, want %#x", op, y, x)
			}
			if i >= 6 {
				continue
			}
			g := compare[int32](op)
			slow = func(a, b *v32) uint32 { return g(si(a), si(b)) }
			if x, y := slow(&a, &b), fastCompare("s", op, slow)(&a, &b); x != y {
				t.Fatalf("%s.s32: %#x, want %#x", op, y, x)
			}
		}
	}
}

// TestFMA32 compares the pure Go fma with exact arithmetic, on random and on
// deliberately tied or tiny sums.
func TestFMA32(t *testing.T) {
	s := newSource(5)
	for range 300000 {
		x, y, z := s.bits32(), s.bits32(), s.bits32()
		if s.IntN(3) == 0 { // make the sum fall near a tie
			p := float64(math.Float32frombits(x)) * float64(math.Float32frombits(y))
			z = math.Float32bits(float32(p * math.Ldexp(1, s.IntN(30)) * (1 + 0x1p-24)))
		}
		got := math.Float32bits(c32(fma32(math.Float32frombits(x), math.Float32frombits(y), math.Float32frombits(z))))
		want := uint32(fmt32.fma(uint64(x), uint64(y), uint64(z), rn))
		if got != want {
			t.Fatalf("fma(%#x, %#x, %#x) = %#x, want %#x", x, y, z, got, want)
		}
	}
}

var modes = map[rounding]big.RoundingMode{
	rn: big.ToNearestEven, rz: big.ToZero, rm: big.ToNegativeInf,
	rp: big.ToPositiveInf,
}

// TestSoftAgainstBig compares the rounding of normal results with math/big, whose
// exponent range has no limits.
func TestSoftAgainstBig(t *testing.T) {
	s := newSource(6)
	for range 20000 {
		a, b, c := s.Float64()+0.5, s.Float64()-0.5, s.Float64()*math.Ldexp(1, s.IntN(80)-40)
		exact := func(f *big.Float) *big.Float { return f.SetPrec(2000) }
		A, B, C := exact(big.NewFloat(a)), exact(big.NewFloat(b)), exact(big.NewFloat(c))
		bits := math.Float64bits
		for m, bm := range modes {
			round := func(f *big.Float) uint64 {
				v, _ := new(big.Float).SetMode(bm).SetPrec(53).Set(f).Float64()
				return bits(v)
			}
			check := func(name string, got uint64, want *big.Float) {
				if w := round(want); got != w {
					t.Fatalf("%s mode %d of %v %v %v: %x, want %x", name, m, a, b, c, got, w)
				}
			}
			check("add", fmt64.add(bits(a), bits(c), m), exact(new(big.Float)).Add(A, C))
			check("mul", fmt64.mul(bits(a), bits(b), m), exact(new(big.Float)).Mul(A, B))
			p := exact(new(big.Float)).Mul(A, B)
			check("fma", fmt64.fma(bits(a), bits(b), bits(c), m), exact(new(big.Float)).Add(p, C))
			check("div", fmt64.div(bits(a), bits(b), m), exact(new(big.Float)).Quo(A, B))
			check("sqrt", fmt64.sqrt(bits(a), m), exact(new(big.Float)).Sqrt(A))
		}
	}
}

// TestSoftNearest compares the exact arithmetic with the host's on all classes of
// numbers, subnormal results and overflow included.
func TestSoftNearest(t *testing.T) {
	s := newSource(7)
	for range 200000 {
		a, b, c := s.bits64(), s.bits64(), s.bits64()
		x, y, z := math.Float64frombits(a), math.Float64frombits(b), math.Float64frombits(c)
		for name, v := range map[string][2]uint64{
			"add":  {fmt64.add(a, b, rn), math.Float64bits(c64(x + y))},
			"mul":  {fmt64.mul(a, b, rn), math.Float64bits(c64(x * y))},
			"div":  {fmt64.div(a, b, rn), math.Float64bits(c64(x / y))},
			"fma":  {fmt64.fma(a, b, c, rn), math.Float64bits(c64(math.FMA(x, y, z)))},
			"sqrt": {fmt64.sqrt(a, rn), math.Float64bits(c64(math.Sqrt(x)))},
			"cvt":  {convertFloat(&fmt64, &fmt32, a, rn), uint64(math.Float32bits(c32(float32(x))))},
		} {
			if v[0] != v[1] {
				t.Fatalf("%s(%x, %x, %x) = %x, want %x", name, a, b, c, v[0], v[1])
			}
		}
		f, g := uint64(s.bits32()), uint64(s.bits32())
		p, q := math.Float32frombits(uint32(f)), math.Float32frombits(uint32(g))
		if got, want := fmt32.mul(f, g, rn), uint64(math.Float32bits(c32(p*q))); got != want {
			t.Fatalf("mul.f32(%x, %x) = %x, want %x", f, g, got, want)
		}
		if got, want := fmt32.div(f, g, rn), uint64(math.Float32bits(c32(p/q))); got != want {
			t.Fatalf("div.f32(%x, %x) = %x, want %x", f, g, got, want)
		}
	}
}

// TestDirected checks that the modes bracket the exact result: rm <= rn <= rp, and
// the bracket is empty or one unit wide.
func TestDirected(t *testing.T) {
	s := newSource(8)
	for range 100000 {
		a, b := uint64(s.bits32()), uint64(s.bits32())
		down, near, up := fmt32.mul(a, b, rm), fmt32.mul(a, b, rn), fmt32.mul(a, b, rp)
		x, y, z := math.Float32frombits(uint32(down)), math.Float32frombits(uint32(near)),
			math.Float32frombits(uint32(up))
		if y != y {
			continue
		}
		if !(x <= y && y <= z) || x != z && math.Nextafter32(x, float32(math.Inf(1))) != z {
			t.Fatalf("%x * %x: %v %v %v", a, b, x, y, z)
		}
		zero := fmt32.mul(a, b, rz)
		if want := down; y < 0 && zero != up || y > 0 && zero != want {
			t.Fatalf("%x * %x toward zero: %x, down %x, up %x", a, b, zero, down, up)
		}
	}
}

// TestHalfRoundTrip converts every f16 and bf16 to f32 and back.
func TestHalfRoundTrip(t *testing.T) {
	for v := range uint64(1 << 16) {
		for _, f := range []*format{&fmt16, &fmtB} {
			if f.unpack(v).class == nan {
				continue
			}
			if got := convertFloat(&fmt32, f, convertFloat(f, &fmt32, v, rn), rn); got != v {
				t.Fatalf("%x becomes %x", v, got)
			}
		}
	}
}

func TestToInt(t *testing.T) {
	bits := func(f float32) uint64 { return uint64(math.Float32bits(f)) }
	for _, c := range []struct {
		v      float32
		n      int
		signed bool
		mode   rounding
		want   int64
	}{
		{2.5, 32, true, rn, 2},
		{3.5, 32, true, rn, 4},
		{-2.5, 32, true, rn, -2},
		{2.5, 32, true, rz, 2},
		{-2.5, 32, true, rm, -3},
		{2.5, 32, true, rp, 3},
		{-0.5, 32, true, rn, 0},
		{0.5, 32, true, rp, 1},
		{-0.1, 32, true, rm, -1},
		{-0.1, 32, false, rm, 0},
		{3e9, 32, true, rz, math.MaxInt32},
		{-3e9, 32, true, rz, math.MinInt32},
		{5e9, 32, false, rz, math.MaxUint32},
		{-5, 32, false, rz, 0},
		{300, 8, false, rz, 255},
		{-200, 8, true, rz, -128},
		{1e20, 64, true, rz, math.MaxInt64},
		{float32(math.NaN()), 32, true, rz, 0},
		{float32(math.Inf(1)), 16, true, rz, 32767},
		{0x1p62, 64, true, rz, 1 << 62},
		{0, 32, true, rn, 0},
	} {
		if got := fmt32.toInt(bits(c.v), c.n, c.signed, c.mode); int64(got) != c.want {
			t.Errorf("%v to %d bits (signed %v, mode %d): %d, want %d", c.v, c.n, c.signed, c.mode, int64(got), c.want)
		}
	}
}

// apply runs a row function on one value.
func apply(f fn32, v uint32) uint32 {
	var d, a v32
	fill(&a, v)
	f(&d, &a, &a, &a)
	return d[31]
}

// TestExactPowers: ex2 of an integer and lg2 of a power of two are exact.
func TestExactPowers(t *testing.T) {
	bits := math.Float32bits
	for e := -149; e < 128; e++ {
		p := float32(math.Ldexp(1, e))
		if got := apply(ex2F32, bits(float32(e))); got != bits(p) {
			t.Errorf("ex2(%d) = %#x, want %g", e, got, p)
		}
		if got := apply(lg2F32, bits(p)); got != bits(float32(e)) {
			t.Errorf("lg2(2^%d) = %#x", e, got)
		}
	}
	inf := bits(float32(math.Inf(1)))
	for f, cases := range map[string][][2]uint32{
		"ex2": {
			{inf, inf},
			{inf | 1<<31, 0},
			{0x7fc00000, canonNaN32},
			{0, bits(1)},
			{1 << 31, bits(1)},
			{bits(128), inf},
			{bits(-150.5), 0},
			{bits(-149.5), 1},
		},
		"lg2": {
			{inf, inf},
			{inf | 1<<31, canonNaN32},
			{0x7fc00000, canonNaN32},
			{0, inf | 1<<31},
			{1 << 31, inf | 1<<31},
			{bits(-1), canonNaN32},
			{1, bits(-149)},
		},
	} {
		row := map[string]fn32{"ex2": ex2F32, "lg2": lg2F32}[f]
		for _, c := range cases {
			if got := apply(row, c[0]); got != c[1] {
				t.Errorf("%s(%#x) = %#x, want %#x", f, c[0], got, c[1])
			}
		}
	}
}

// TestApproximations holds ex2 and lg2 to one unit in the last place of the exact
// value (the ISA allows 2^-22 relative for ex2 and 2^-22.6 absolute near 1 for lg2).
func TestApproximations(t *testing.T) {
	s := newSource(10)
	for range 200000 {
		x := float32(s.NormFloat64() * 20)
		got := math.Float32frombits(apply(ex2F32, math.Float32bits(x)))
		if want := math.Exp2(float64(x)); math.Abs(float64(got)-want) > want*0x1p-23 {
			t.Fatalf("ex2(%g) = %g, want %g", x, got, want)
		}
		y := float32(math.Exp(s.NormFloat64() * 10))
		got = math.Float32frombits(apply(lg2F32, math.Float32bits(y)))
		if want := math.Log2(float64(y)); math.Abs(float64(got)-want) > math.Abs(want)*0x1p-23 {
			t.Fatalf("lg2(%g) = %g, want %g", y, got, want)
		}
	}
}

func TestBitFields(t *testing.T) {
	s := newSource(9)
	ref := func(a uint64, pos, n, width uint32, signed bool) (d uint64) {
		pos, n = pos&0xff, n&0xff
		sign := uint64(0)
		if signed && n > 0 {
			sign = a >> min(pos+n-1, width-1) & 1
		}
		for i := range width {
			b := sign
			if i < n && pos+i < width {
				b = a >> (pos + i) & 1
			}
			d |= b << i
		}
		return d
	}
	for range 100000 {
		a, pos, n := s.Uint64(), uint32(s.IntN(80)), uint32(s.IntN(80))
		if s.IntN(20) == 0 {
			pos = s.Uint32()
		}
		low := a & 0xffffffff
		for _, c := range [][2]uint64{
			{bfeU64(a, pos, n, 64), ref(a, pos, n, 64, false)},
			{bfeS64(a, pos, n, 64), ref(a, pos, n, 64, true)},
			{uint64(uint32(bfeU64(low, pos, n, 32))), ref(low, pos, n, 32, false)},
			{uint64(uint32(bfeS64(low, pos, n, 32))), ref(low, pos, n, 32, true)},
		} {
			if c[0] != c[1] {
				t.Fatalf("bfe(%x, %d, %d) = %x, want %x", a, pos, n, c[0], c[1])
			}
		}
	}
}
