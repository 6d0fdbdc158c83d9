//go:build amd64 && !purego

package emulate

import "golang.org/x/sys/cpu"

// The AVX2 forms of row functions (rows_amd64.s), chosen at decoding by name. Every
// one has the semantics of its pure Go twin, bit for bit.

func hasAVX2() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

//go:noescape
func add32AVX2(d, a, b, c *v32)

//go:noescape
func sub32AVX2(d, a, b, c *v32)

//go:noescape
func mulLo32AVX2(d, a, b, c *v32)

//go:noescape
func madLo32AVX2(d, a, b, c *v32)

//go:noescape
func and32AVX2(d, a, b, c *v32)

//go:noescape
func or32AVX2(d, a, b, c *v32)

//go:noescape
func xor32AVX2(d, a, b, c *v32)

//go:noescape
func minU32AVX2(d, a, b, c *v32)

//go:noescape
func maxU32AVX2(d, a, b, c *v32)

//go:noescape
func minS32AVX2(d, a, b, c *v32)

//go:noescape
func maxS32AVX2(d, a, b, c *v32)

//go:noescape
func shl32AVX2(d, a, b, c *v32)

//go:noescape
func shrU32AVX2(d, a, b, c *v32)

//go:noescape
func shrS32AVX2(d, a, b, c *v32)

//go:noescape
func addF32AVX2(d, a, b, c *v32)

//go:noescape
func subF32AVX2(d, a, b, c *v32)

//go:noescape
func mulF32AVX2(d, a, b, c *v32)

//go:noescape
func divF32AVX2(d, a, b, c *v32)

//go:noescape
func fmaF32AVX2(d, a, b, c *v32)

//go:noescape
func sqrtF32AVX2(d, a, b, c *v32)

//go:noescape
func rcpF32AVX2(d, a, b, c *v32)

//go:noescape
func rsqrtF32AVX2(d, a, b, c *v32)

//go:noescape
func cvtS32F32AVX2(d, a, b, c *v32)

//go:noescape
func add64AVX2(d, a, b, c *v64)

//go:noescape
func sub64AVX2(d, a, b, c *v64)

//go:noescape
func and64AVX2(d, a, b, c *v64)

//go:noescape
func or64AVX2(d, a, b, c *v64)

//go:noescape
func xor64AVX2(d, a, b, c *v64)

//go:noescape
func addF64AVX2(d, a, b, c *v64)

//go:noescape
func subF64AVX2(d, a, b, c *v64)

//go:noescape
func mulF64AVX2(d, a, b, c *v64)

//go:noescape
func divF64AVX2(d, a, b, c *v64)

//go:noescape
func fmaF64AVX2(d, a, b, c *v64)

//go:noescape
func mulWideSAVX2(d *v64, a, b *v32, c *v64)

//go:noescape
func mulWideUAVX2(d *v64, a, b *v32, c *v64)

//go:noescape
func madWideSAVX2(d *v64, a, b *v32, c *v64)

//go:noescape
func madWideUAVX2(d *v64, a, b *v32, c *v64)

//go:noescape
func cvtS32S64AVX2(d *v64, a, b *v32, c *v64)

//go:noescape
func cvtU32U64AVX2(d *v64, a, b *v32, c *v64)

//go:noescape
func cvt64U32AVX2(d *v32, a, b *v64)

//go:noescape
func shl64AVX2(d, a *v64, b, c *v32)

//go:noescape
func shrU64AVX2(d, a *v64, b, c *v32)

//go:noescape
func eq32AVX2(a, b *v32) uint32

//go:noescape
func gtS32AVX2(a, b *v32) uint32

//go:noescape
func gtU32AVX2(a, b *v32) uint32

//go:noescape
func eqF32AVX2(a, b *v32) uint32

//go:noescape
func ltF32AVX2(a, b *v32) uint32

//go:noescape
func leF32AVX2(a, b *v32) uint32

//go:noescape
func numF32AVX2(a, b *v32) uint32

//go:noescape
func blend32AVX2(d, s *v32, mask uint32)

//go:noescape
func blend64AVX2(d, s *v64, mask uint32)

//go:noescape
func offset64AVX2(d, a *[32]uint64, n uint64)

//go:noescape
func bounds64AVX2(d, a *[32]uint64, start, limit uint64) (all uint64, over bool)

// blend32 copies the lanes of mask from s to d.
func blend32(d, s *v32, mask uint32) {
	if hasAVX2() {
		blend32AVX2(d, s, mask)
		return
	}
	blend32Go(d, s, mask)
}

// blend64 is the same for 64-bit rows.
func blend64(d, s *v64, mask uint32) {
	if hasAVX2() {
		blend64AVX2(d, s, mask)
		return
	}
	blend64Go(d, s, mask)
}

// offset64 adds n to every lane.
func offset64(d, a *[32]uint64, n uint64) {
	if hasAVX2() {
		offset64AVX2(d, a, n)
		return
	}
	offset64Go(d, a, n)
}

// bounds64 stores a-start in d; all is the OR of these offsets, over tells that one
// of them exceeds limit.
func bounds64(d, a *[32]uint64, start, limit uint64) (all uint64, over bool) {
	if hasAVX2() {
		return bounds64AVX2(d, a, start, limit)
	}
	return bounds64Go(d, a, start, limit)
}

// fast32 gives the AVX2 form of a row function by its name, or f.
//
//heddle:table
func fast32(name string, f fn32) fn32 {
	if !hasAVX2() {
		return f
	}
	switch name {
	case "add":
		return add32AVX2
	case "sub":
		return sub32AVX2
	case "mul.lo":
		return mulLo32AVX2
	case "mad.lo":
		return madLo32AVX2
	case "and":
		return and32AVX2
	case "or":
		return or32AVX2
	case "xor":
		return xor32AVX2
	case "min.u":
		return minU32AVX2
	case "max.u":
		return maxU32AVX2
	case "min.s":
		return minS32AVX2
	case "max.s":
		return maxS32AVX2
	case "shl":
		return shl32AVX2
	case "shr.u":
		return shrU32AVX2
	case "shr.s":
		return shrS32AVX2
	case "add.f":
		return addF32AVX2
	case "sub.f":
		return subF32AVX2
	case "mul.f":
		return mulF32AVX2
	case "div.f":
		return divF32AVX2
	case "fma.f":
		return fmaF32AVX2
	case "sqrt.f":
		return sqrtF32AVX2
	case "rcp.f":
		return rcpF32AVX2
	case "rsqrt.f":
		return rsqrtF32AVX2
	case "cvt.f32.s32":
		return cvtS32F32AVX2
	}
	return f
}

//heddle:table
func fast64(name string, f fn64) fn64 {
	if !hasAVX2() {
		return f
	}
	switch name {
	case "add":
		return add64AVX2
	case "sub":
		return sub64AVX2
	case "and":
		return and64AVX2
	case "or":
		return or64AVX2
	case "xor":
		return xor64AVX2
	case "add.f":
		return addF64AVX2
	case "sub.f":
		return subF64AVX2
	case "mul.f":
		return mulF64AVX2
	case "div.f":
		return divF64AVX2
	case "fma.f":
		return fmaF64AVX2
	}
	return f
}

func fastWide(name string, f fnWide) fnWide {
	if !hasAVX2() {
		return f
	}
	switch name {
	case "mul.s":
		return mulWideSAVX2
	case "mul.u":
		return mulWideUAVX2
	case "mad.s":
		return madWideSAVX2
	case "mad.u":
		return madWideUAVX2
	case "cvt.s64.s32":
		return cvtS32S64AVX2
	case "cvt.u64.u32":
		return cvtU32U64AVX2
	}
	return f
}

func fastNarrow(name string, f fnNarrow) fnNarrow {
	if hasAVX2() && name == "cvt.u32.u64" {
		return cvt64U32AVX2
	}
	return f
}

func fastShift(name string, f fnShift) fnShift {
	if !hasAVX2() {
		return f
	}
	switch name {
	case "shl":
		return shl64AVX2
	case "shr.u":
		return shrU64AVX2
	}
	return f
}

// fastCompare gives the AVX2 form of a 32-bit comparison: kind is "s", "u" or "f".
//
//heddle:table
func fastCompare(kind, op string, f fnCmp32) fnCmp32 {
	if !hasAVX2() {
		return f
	}
	gt, eq := gtS32AVX2, eq32AVX2
	lt, le := ltF32AVX2, leF32AVX2
	if kind == "u" {
		gt = gtU32AVX2
	}
	switch op {
	case "lo", "ls", "hi", "hs":
		op = map[string]string{"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}[op]
	}
	if kind != "f" {
		switch op {
		case "eq":
			return eq
		case "ne", "neu":
			return func(a, b *v32) uint32 { return ^eq32AVX2(a, b) }
		case "gt":
			return gt
		case "lt":
			return func(a, b *v32) uint32 { return gt(b, a) }
		case "le":
			return func(a, b *v32) uint32 { return ^gt(a, b) }
		case "ge":
			return func(a, b *v32) uint32 { return ^gt(b, a) }
		}
		return f
	}
	switch op {
	case "eq":
		return eqF32AVX2
	case "lt":
		return lt
	case "le":
		return le
	case "gt":
		return func(a, b *v32) uint32 { return ltF32AVX2(b, a) }
	case "ge":
		return func(a, b *v32) uint32 { return leF32AVX2(b, a) }
	case "num":
		return numF32AVX2
	case "nan":
		return func(a, b *v32) uint32 { return ^numF32AVX2(a, b) }
	case "neu":
		return func(a, b *v32) uint32 { return ^eqF32AVX2(a, b) }
	case "ne":
		return func(a, b *v32) uint32 { return ^eqF32AVX2(a, b) & numF32AVX2(a, b) }
	case "equ":
		return func(a, b *v32) uint32 { return eqF32AVX2(a, b) | ^numF32AVX2(a, b) }
	case "ltu":
		return func(a, b *v32) uint32 { return ^leF32AVX2(b, a) }
	case "leu":
		return func(a, b *v32) uint32 { return ^ltF32AVX2(b, a) }
	case "gtu":
		return func(a, b *v32) uint32 { return ^leF32AVX2(a, b) }
	case "geu":
		return func(a, b *v32) uint32 { return ^ltF32AVX2(a, b) }
	}
	return f
}
