package torture

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"testing"
)

// pick is the part of v that a selector names, extended by the sign of its type.
func pick(v uint32, selector string, signed bool) *big.Int {
	shift, width := 0, 32
	switch {
	case selector == "":
	case selector[1] == 'b':
		shift, width = 8*int(selector[2]-'0'), 8
	default:
		shift, width = 16*int(selector[2]-'0'), 16
	}
	x := big.NewInt(int64(v) >> shift & (1<<width - 1))
	if signed && x.Bit(width-1) == 1 {
		x.Sub(x, big.NewInt(1<<width))
	}
	return x
}

// clampBig clamps to a number of bits.
func clampBig(x *big.Int, width uint, signed bool) *big.Int {
	lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), width)
	if signed {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	hi.Sub(hi, big.NewInt(1))
	switch {
	case x.Cmp(lo) < 0:
		return lo
	case x.Cmp(hi) > 0:
		return hi
	}
	return x
}

// word32 is the low word of a number.
func word32(x *big.Int) uint32 {
	return uint32(new(big.Int).And(x, big.NewInt(math.MaxUint32)).Uint64())
}

var types32 = []string{"u32", "s32"}

// TestVideoScalar: the scalar video instructions with each selector, with saturation, second operations and merges.
func TestVideoScalar(t *testing.T) {
	ops := map[string]func(a, b *big.Int) *big.Int{
		"vadd":     func(a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) },
		"vsub":     func(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) },
		"vabsdiff": func(a, b *big.Int) *big.Int { return new(big.Int).Abs(new(big.Int).Sub(a, b)) },
		"vmin": func(a, b *big.Int) *big.Int {
			if a.Cmp(b) < 0 {
				return a
			}
			return b
		},
		"vmax": func(a, b *big.Int) *big.Int {
			if a.Cmp(b) > 0 {
				return a
			}
			return b
		},
		"vshl": func(a, b *big.Int) *big.Int { return new(big.Int).Lsh(a, uint(min(b.Uint64(), 32))) },
		"vshr": func(a, b *big.Int) *big.Int { return new(big.Int).Rsh(a, uint(min(b.Uint64(), 32))) },
	}
	selectors := []string{"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"}
	n := 0
	for _, op := range slices.Sorted(maps.Keys(ops)) {
		f := ops[op]
		for _, to := range types32 {
			signed := to == "s32"
			for _, ta := range types32 {
				sa := ta == "s32"
				for _, tb := range types32 {
					sb := tb == "s32"
					shift := op == "vshl" || op == "vshr"
					if shift && sb {
						continue
					}
					n++
					asel, bsel, dsel := selectors[n%7], selectors[n/7%7], selectors[1+n%6]
					clamp := map[bool]string{true: ".clamp"}[shift]
					form := fmt.Sprintf("%s.%s.%s.%s", op, to, ta, tb)
					value := func(x, y uint32) *big.Int { return f(pick(x, asel, sa), pick(y, bsel, sb)) }
					runSamples(t, fmt.Sprintf("%s%s %%a, %%x%s, %%y%s;", form, clamp, asel, bsel),
						func(x, y, _ uint32) uint32 { return word32(value(x, y)) })
					runSamples(t, fmt.Sprintf("%s.sat%s.max %%a, %%x%s, %%y%s, %%z;", form, clamp, asel, bsel),
						func(x, y, z uint32) uint32 {
							v := word32(clampBig(value(x, y), 32, signed))
							if signed {
								return uint32(max(int32(v), int32(z)))
							}
							return max(v, z)
						})
					runSamples(t, fmt.Sprintf("%s%s.add %%a, %%x%s, %%y%s, %%z;", form, clamp, asel, bsel),
						func(x, y, z uint32) uint32 { return word32(value(x, y)) + z })
					runSamples(t, fmt.Sprintf("%s.sat%s %%a%s, %%x%s, %%y%s, %%z;", form, clamp, dsel, asel, bsel),
						func(x, y, z uint32) uint32 {
							width, shift := uint(8), 8*uint(dsel[2]-'0')
							if dsel[1] == 'h' {
								width, shift = 16, 16*uint(dsel[2]-'0')
							}
							v := word32(clampBig(value(x, y), width, signed)) & (1<<width - 1)
							return z&^((1<<width-1)<<shift) | v<<shift
						})
				}
			}
		}
	}
	runSamples(t, "vshl.u32.u32.u32.wrap %a, %x, %y;", func(x, y, _ uint32) uint32 { return x << (y & 31) })
	runSamples(t, "vshr.s32.s32.u32.wrap %a, %x.h1, %y.b2;", func(x, y, _ uint32) uint32 {
		return uint32(int32(x) >> 16 >> (y >> 16 & 31))
	})
	runSamples(t, "vset.s32.u32.lt %a, %x.b3, %y.h0;", func(x, y, _ uint32) uint32 {
		return flag(int32(x)>>24 < int32(y&0xffff))
	})
	runSamples(t, "vset.u32.u32.ge.add %a, %x, %y, %z;", func(x, y, z uint32) uint32 { return flag(x >= y) + z })
	runSamples(t, "vset.u32.u32.ne %a.b1, %x, %y, %z;", func(x, y, z uint32) uint32 {
		return z&^0xff00 | flag(x != y)<<8
	})
	refuses(t, "", "vadd.s32.s32.s32 %a, %a.b4, %b;", "takes the selectors .b0 to .b3, .h0 and .h1, not .b4")
	refuses(t, "", "vadd.s32.s32 %a, %a, %b;", "vadd has 2 types, it takes 3 of .u32 and .s32")
	refuses(t, "", "vadd.s32.s32.s32.add %a.b0, %a, %b, %b;", "not both")
	refuses(t, "", "vadd.s32.s32.s32 %a.b0, %a, %b;", "vadd has 3 operands, it takes 4")
	refuses(t, "", "vshl.s32.s32.u32 %a, %a, %b;", "says .clamp or .wrap")
	refuses(t, "", "vset.s32.s32 %a, %a, %b;", "vset has no comparison: add .eq")
	refuses(t, "", "add.s32 %a, %a.b0, %b;", "%a.b0 selects a part of a register, which video instructions do")
	refuses(t, "", "vadd.s32.s32.f32 %a, %a, %b;", "PTX has no vadd.f32")
}

// TestVideoMultiply: vmad by the pseudo code of the ISA, in numbers of any size.
func TestVideoMultiply(t *testing.T) {
	for _, c := range []struct {
		form, sources string
		sa, sb        bool
		selA, selB    string
		product, add  int64 // signs
		po, sat       bool
		shift         uint
	}{
		{"vmad.s32.s32.u32", "%x.h0, %y.b1, %z", true, false, ".h0", ".b1", 1, 1, false, false, 0},
		{"vmad.u32.u32.u32", "%x, %y, %z", false, false, "", "", 1, 1, false, false, 0},
		{"vmad.u32.u32.u32.sat", "%x.h1, %y.h0, %z", false, false, ".h1", ".h0", 1, 1, false, true, 0},
		{"vmad.s32.u32.u32.shr7", "%x.h1, -%y.h0, %z", false, false, ".h1", ".h0", -1, 1, false, false, 7},
		{"vmad.s32.s32.s32.sat.shr15", "%x.h1, %y, -%z", true, true, ".h1", "", 1, -1, false, true, 15},
		{"vmad.u32.u32.u32.po.shr15", "%x.h0, %y.h1, %z", false, false, ".h0", ".h1", 1, 1, true, false, 15},
		{"vmad.s32.s32.s32.po.sat", "%x.b0, %y.h1, %z", true, true, ".b0", ".h1", 1, 1, true, true, 0},
	} {
		runSamples(t, c.form+" %a, "+c.sources+";", func(x, y, z uint32) uint32 {
			signed := c.sa || c.sb || c.product < 0 || c.add < 0
			third := pick(z, "", signed)
			if c.add < 0 { // ~c + 1 by the words: the complement is extended
				third = pick(^z, "", true)
				third.Add(third, big.NewInt(1))
			}
			r := new(big.Int).Mul(pick(x, c.selA, c.sa), pick(y, c.selB, c.sb))
			r.Mul(r, big.NewInt(c.product))
			r.Add(r, third)
			if c.po {
				r.Add(r, big.NewInt(1))
			}
			r.Rsh(r, c.shift)
			if c.sat {
				r = clampBig(r, 32, signed)
			}
			return word32(r)
		})
	}
	refuses(t, "", "vmad.s32.s32.s32 %a, -%a, %b, -%b;", "negates the product or the third source")
	refuses(t, "", "vmad.s32.s32.s32.po %a, -%a, %b, %b;", "neither with .po")
	refuses(t, "", "vmad.s32.s32.s32 %a, %a, %b, %b.h0;", "selectors on its first two sources only")
}

// TestVideoParallel: SIMD video instructions with selections, masks, saturation and sums.
func TestVideoParallel(t *testing.T) {
	ops := map[string]func(a, b int) int{
		"vadd": func(a, b int) int { return a + b }, "vsub": func(a, b int) int { return a - b },
		"vabsdiff": func(a, b int) int { return max(a-b, b-a) }, "vmin": func(a, b int) int { return min(a, b) },
		"vmax": func(a, b int) int { return max(a, b) },
		"vavrg": func(a, b int) int {
			return int(math.Copysign(math.Floor(math.Abs(float64(a+b))/2+.5), float64(a+b)))
		},
		"vset": func(a, b int) int { return int(flag(a <= b)) },
	}
	for _, op := range slices.Sorted(maps.Keys(ops)) {
		f := ops[op]
		for _, n := range []int{2, 4} {
			width := 32 / n
			for _, to := range types32 {
				signed := to == "s32"
				for _, ta := range types32 {
					sa := ta == "s32"
					for _, tb := range types32 {
						sb := tb == "s32"
						form := fmt.Sprintf("%s%d.%s.%s.%s", op, n, to, ta, tb)
						if op == "vset" {
							if signed {
								continue
							}
							form = fmt.Sprintf("vset%d.%s.%s.le", n, ta, tb)
						}
						selA, selB, mask := ".h10", ".h03", ".h1"
						fromA, fromB, parts := []int{0, 1}, []int{3, 0}, []bool{false, true}
						if n == 4 {
							selA, selB, mask = ".b7061", ".b2222", ".b310"
							fromA, fromB = []int{1, 6, 0, 7}, []int{2, 2, 2, 2}
							parts = []bool{true, true, false, true}
						}
						at := func(x, y uint32, i int, s bool) int {
							v := uint64(y)<<32 | uint64(x)
							v = v >> (width * i) << (64 - width)
							if s {
								return int(int64(v) >> (64 - width))
							}
							return int(v >> (64 - width))
						}
						place := func(out uint32, i, v int) uint32 {
							ones := uint32(1)<<width - 1
							return out&^(ones<<(width*i)) | uint32(v)&ones<<(width*i)
						}
						runSamples(t, form+" %a, %x, %y, %z;", func(x, y, _ uint32) (out uint32) {
							for i := range n {
								out = place(out, i, f(at(x, 0, i, sa), at(y, 0, i, sb)))
							}
							return out
						})
						runSamples(t, form+".add %a"+mask+", %x"+selA+", %y"+selB+", %z;", func(x, y, z uint32) uint32 {
							for i := range n {
								if parts[i] {
									z += uint32(f(at(x, y, fromA[i], sa), at(x, y, fromB[i], sb)))
								}
							}
							return z
						})
						if op == "vset" {
							continue
						}
						runSamples(t, form+".sat %a"+mask+", %x"+selA+", %y"+selB+", %z;", func(x, y, z uint32) uint32 {
							for i := range n {
								if !parts[i] {
									continue
								}
								v := big.NewInt(int64(f(at(x, y, fromA[i], sa), at(x, y, fromB[i], sb))))
								z = place(z, i, int(clampBig(v, uint(width), signed).Int64()))
							}
							return z
						})
					}
				}
			}
		}
	}
	refuses(t, "", "vadd2.s32.s32.s32 %a, %a.h1, %b, %b;", "take selectors of .h and 2 digits from 0 to 3, not .h1")
	refuses(t, "", "vadd4.s32.s32.s32 %a.b01, %a, %b, %b;", "takes a mask of .b and falling digits below 4, not .b01")
	refuses(t, "", "vadd4.s32.s32.s32 %a, %a, %b;", "vadd4 has 3 operands, it takes 4")
}

// TestStochasticRounding: cvt.rs against the definition in exact numbers: a value is rounded up in magnitude where the
// random bits and what is cut off reach the last place.
func TestStochasticRounding(t *testing.T) {
	round := func(v, random uint32, p int, largest float64, relu, finite bool) float64 {
		x := float(v)
		switch {
		case math.IsNaN(x):
			return x
		case relu && math.Signbit(x):
			return 0
		}
		lost := 24 - p
		if _, e := math.Frexp(x); !math.IsInf(x, 0) && x != 0 {
			ulp := math.Ldexp(1, e-p) // of the narrow format, which has the wide one's exponents here
			if p == 8 {
				ulp = math.Ldexp(1, max(e, -125)-p)
			}
			below := math.Ldexp(float64(random&(1<<lost-1)), -lost) * ulp
			x = math.Copysign(math.Floor((math.Abs(x)+below)/ulp)*ulp, x)
		}
		if math.Abs(x) > largest {
			x = math.Copysign(map[bool]float64{true: largest, false: math.Inf(1)}[finite], x)
		}
		return x
	}
	halfWord := func(v float64) uint32 {
		switch {
		case math.IsNaN(v):
			return 0x7fff
		case math.IsInf(v, 0):
			return 0x7c00 | flag(v < 0)<<15
		}
		for h := range uint32(0x7c00) {
			if fromHalf(uint16(h)) == math.Abs(v) {
				return h | flag(math.Signbit(v))<<15
			}
		}
		return 0xdead
	}
	brainWord := func(v float64) uint32 {
		if math.IsNaN(v) {
			return 0x7fff
		}
		return math.Float32bits(float32(v)) >> 16
	}
	largest := float(0x7f7f0000)
	for _, mods := range []string{"", ".relu", ".satfinite", ".relu.satfinite"} {
		relu, finite := mods == ".relu" || mods == ".relu.satfinite", mods == ".satfinite" || mods == ".relu.satfinite"
		load := "mov.b32 %f, %x; mov.b32 %g, %y;"
		runSamples(t, load+"cvt.rs"+mods+".bf16x2.f32 %a, %f, %g, %z;", func(x, y, z uint32) uint32 {
			return brainWord(round(x, z>>16, 8, largest, relu, finite))<<16 |
				brainWord(round(y, z, 8, largest, relu, finite))
		})
		// Values of f16's normal range, from its ends and between.
		scale := func(v uint32) uint32 { return v&0x807fffff | (113+v>>24&31)<<23 }
		runSamples(t, `
	.reg .b32 %e;
	bfe.u32 %e, %x, 24, 5; add.u32 %e, %e, 113; shl.b32 %e, %e, 23; and.b32 %x, %x, 0x807fffff; or.b32 %x, %x, %e;
	bfe.u32 %e, %y, 24, 5; add.u32 %e, %e, 113; shl.b32 %e, %e, 23; and.b32 %y, %y, 0x807fffff; or.b32 %y, %y, %e;
	mov.b32 %f, %x; mov.b32 %g, %y;
	cvt.rs`+mods+".f16x2.f32 %a, %f, %g, %z;", func(x, y, z uint32) uint32 {
			return halfWord(round(scale(x), z>>16, 11, 65504, relu, finite))<<16 |
				halfWord(round(scale(y), z, 11, 65504, relu, finite))
		})
	}
	refuses(t, "", "cvt.rs.f16x2.f32 %a, %f, %g;", "cvt has 3 operands, it takes 4")
	refuses(t, "", "cvt.rs.satfinite.e4m3x4.f32 %a, {%f, %g, %f, %g}, %b;", "not supported yet (PTX ISA 8.6, sm_100)")
}
