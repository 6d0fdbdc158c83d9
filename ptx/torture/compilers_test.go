package torture

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/ptx/emulate"
)

// latest is the head of modules with the newest forms.
const latest = ".version 8.8\n.target sm_100a\n.address_size 64\n"

// legalSource is a module whose kernel k executes body; each thread stores %a.
func legalSource(decl, body string) string { return latest + decl + legalEntry + body + legalStore }

// sample gives thread i one of the words a form has to be right for: special patterns, then scrambled ones.
func sample(i int, seed uint32) uint32 {
	special := []uint32{
		0, 1 << 31, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00400000, 0x80400000, 0x7f7fffff,
		0x3c003c00, 0xbc007c00, 0x7e017e01, 0x000183ff, 0x04008400, 0x33800001,
	}
	if i < len(special) {
		return special[(i+int(seed))%len(special)]
	}
	return mix(uint32(i) + seed*1001)
}

// loadSamples declares tables of samples x, y and z and reads the thread's words into %x, %y and %z.
func loadSamples() (decl, body string) {
	for n, name := range []string{"x", "y", "z"} {
		var list []string
		for i := range 32 {
			list = append(list, fmt.Sprint(sample(i, uint32(n*5))))
		}
		decl += fmt.Sprintf(".global .u32 %s[32] = {%s};\n", name, strings.Join(list, ", "))
		body += fmt.Sprintf("\t.reg .b32 %%%[1]s;\n\tld.global.u32 %%%[1]s, [%[1]s[%%t]];\n", name)
	}
	return decl, body
}

// runSamples executes body with %x, %y and %z set and compares what the threads leave in %a.
func runSamples(t *testing.T, body string, want func(x, y, z uint32) uint32) {
	t.Helper()
	decl, load := loadSamples()
	for i, v := range runText(t, legalSource(decl, load+body)) {
		x, y, z := sample(i, 0), sample(i, 5), sample(i, 10)
		if w := want(x, y, z); v != w {
			t.Fatalf("thread %d of x 0x%x y 0x%x z 0x%x: 0x%x, want 0x%x", i, x, y, z, v, w)
		}
	}
}

// refuses loads a module with body and looks for words of the error.
func refuses(t *testing.T, decl, body, want string) {
	t.Helper()
	_, err := emulate.Load("a.ptx", []byte(legalSource(decl, body)))
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", body, err, want)
	}
}

func float(v uint32) float64 { return float64(math.Float32frombits(v)) }

// bits32 is the pattern of a result of the hardware: a NaN has all bits but the sign.
func bits32(v float64) uint32 {
	if math.IsNaN(v) {
		return 0x7fffffff
	}
	return math.Float32bits(float32(v))
}

func flushed(v uint32) uint32 {
	if v&0x7f800000 == 0 {
		return v & (1 << 31)
	}
	return v
}

// TestPairsOfFloats: each half of .f32x2 is what the same operation on an f32 gives, in every rounding mode.
func TestPairsOfFloats(t *testing.T) {
	exact := map[string]func(a, b, c float64, m mode) float64{
		"add": func(a, b, _ float64, m mode) float64 { return single.add(a, b, m) },
		"sub": func(a, b, _ float64, m mode) float64 { return single.add(a, -b, m) },
		"mul": func(a, b, _ float64, m mode) float64 { return single.mul(a, b, m) },
		"fma": single.fma,
	}
	for op, f := range exact {
		for name, m := range map[string]mode{".rn": rn, ".rz": rz, ".rm": rm, ".rp": rp, "": rn} {
			for _, ftz := range []string{"", ".ftz"} {
				if name == "" && op == "fma" {
					continue
				}
				fl := func(v uint32) uint32 {
					if ftz != "" {
						return flushed(v)
					}
					return v
				}
				third := map[bool]string{true: ", %k"}[op == "fma"]
				ref := func(a, b, c uint32) uint32 {
					return fl(bits32(f(float(fl(a)), float(fl(b)), float(fl(c)), m)))
				}
				for part, want := range []func(x, y, z uint32) uint32{
					func(x, y, z uint32) uint32 { return ref(x, z, y) },
					func(x, y, z uint32) uint32 { return ref(y, x, z) },
				} {
					runSamples(t, fmt.Sprintf(`
	.reg .b64 %%u, %%v, %%k;
	.reg .b32 %%half<2>;
	mov.b64 %%u, {%%x, %%y};
	mov.b64 %%v, {%%z, %%x};
	mov.b64 %%k, {%%y, %%z};
	%s%s%s.f32x2 %%u, %%u, %%v%s;
	mov.b64 {%%half0, %%half1}, %%u;
	mov.b32 %%a, %%half%d;`, op, name, ftz, third, part), want)
				}
			}
		}
	}
	refuses(t, "", "fma.f32x2 %w, %w, %w, %w;", "no rounding mode: add .rn")
	refuses(t, "", "add.rn.f32x2 %a, %a, %a;", "this operand needs 64 bits")
}

// TestExtremes: min and max of three, of magnitudes, and with the product of the signs.
func TestExtremes(t *testing.T) {
	pick := func(less, nan bool, a, b float64) float64 {
		switch {
		case math.IsNaN(a) && math.IsNaN(b), nan && (math.IsNaN(a) || math.IsNaN(b)):
			return math.NaN()
		case math.IsNaN(a):
			return b
		case math.IsNaN(b):
			return a
		case less:
			return math.Min(a, b)
		}
		return math.Max(a, b)
	}
	for _, op := range []string{"min", "max"} {
		for _, nan := range []string{"", ".NaN"} {
			one := func(a, b float64) float64 { return pick(op == "min", nan != "", a, b) }
			reg := ".reg .f32 %fx, %fy, %fz; mov.b32 %fx, %x; mov.b32 %fy, %y; mov.b32 %fz, %z;"
			run := func(form, sources string, want func(x, y, z uint32) uint32) {
				t.Helper()
				runSamples(t, reg+op+form+" %fx, "+sources+"; mov.b32 %a, %fx;", want)
			}
			run(nan+".f32", "%fx, %fy, %fz", func(x, y, z uint32) uint32 {
				return bits32(one(one(float(x), float(y)), float(z)))
			})
			run(".ftz"+nan+".abs.f32", "%fx, %fy, %fz", func(x, y, z uint32) uint32 {
				return bits32(one(one(math.Abs(float(flushed(x))), math.Abs(float(flushed(y)))),
					math.Abs(float(flushed(z)))))
			})
			run(nan+".xorsign.abs.f32", "%fx, %fy", func(x, y, _ uint32) uint32 {
				r := one(math.Abs(float(x)), math.Abs(float(y)))
				if math.IsNaN(r) {
					return 0x7fffffff
				}
				return bits32(math.Copysign(r, math.Copysign(1, float(x))*math.Copysign(1, float(y))))
			})
			half := func(x, y uint32) uint32 {
				a, b := fromHalf(uint16(x)), fromHalf(uint16(y))
				r := one(math.Abs(a), math.Abs(b))
				switch {
				case math.IsNaN(r):
					return 0x7fff
				case r == math.Abs(a):
					return x&0x7fff | (x^y)&0x8000
				}
				return y&0x7fff | (x^y)&0x8000
			}
			runSamples(t, op+nan+".xorsign.abs.f16x2 %a, %x, %y;", func(x, y, _ uint32) uint32 {
				return half(x&0xffff, y&0xffff) | half(x>>16, y>>16)<<16
			})
		}
	}
	refuses(t, "", "max.xorsign.f32 %f, %f, %g;", "takes .xorsign.abs and two sources")
	refuses(t, "", "max.abs.f32 %f, %f, %g;", "or .abs and three")
	refuses(t, "", "max.xorsign.f16x2 %a, %a, %a;", "takes .xorsign.abs together")
}

// TestPackedComparisons: set and setp of halves and of pairs of them, with and without .ftz.
func TestPackedComparisons(t *testing.T) {
	brain := func(v uint16) float64 { return float(uint32(v) << 16) }
	flush16 := func(v uint16, exponent uint16) uint16 {
		if v&exponent == 0 {
			return v & 0x8000
		}
		return v
	}
	ops := map[string]func(a, b float64) bool{
		"eq": func(a, b float64) bool { return a == b }, "lt": func(a, b float64) bool { return a < b },
		"ne":  func(a, b float64) bool { return a < b || a > b },
		"geu": func(a, b float64) bool { return !(a < b) }, "num": func(a, b float64) bool { return a == a && b == b },
		"nan": func(a, b float64) bool { return a != a || b != b },
	}
	for op, f := range ops {
		for _, kind := range []string{"f16", "bf16"} {
			value, one := fromHalf, uint32(0x3c00)
			if kind == "bf16" {
				value, one = brain, 0x3f80
			}
			for _, ftz := range []string{"", ".ftz"} {
				if kind == "bf16" && ftz != "" {
					continue
				}
				cmp := func(x, y uint32) bool {
					a, b := uint16(x), uint16(y)
					if ftz != "" {
						a, b = flush16(a, 0x7c00), flush16(b, 0x7c00)
					}
					return f(value(a), value(b))
				}
				both := func(x, y, yes uint32) uint32 {
					return yes*flag(cmp(x, y)) | yes*flag(cmp(x>>16, y>>16))<<16
				}
				runSamples(t, "set."+op+ftz+"."+kind+"x2."+kind+"x2 %a, %x, %y;",
					func(x, y, _ uint32) uint32 { return both(x, y, one) })
				runSamples(t, "set."+op+ftz+".u32."+kind+"x2 %a, %x, %y;",
					func(x, y, _ uint32) uint32 { return both(x, y, 0xffff) })
				runSamples(t, `
	.reg .pred %q;
	setp.gt.u32 %p, %z, 0x7fffffff;
	setp.`+op+".and"+ftz+"."+kind+`x2 %p|%q, %x, %y, !%p;
	selp.u32 %a, 1, 0, %p;
	@%q or.b32 %a, %a, 2;`, func(x, y, z uint32) uint32 {
					if z > 0x7fffffff {
						return 0
					}
					return flag(cmp(x, y)) | 2*flag(cmp(x>>16, y>>16))
				})
				halves := ".reg .b16 %l<2>, %h<2>, %s; mov.b32 {%l0, %h0}, %x; mov.b32 {%l1, %h1}, %y;\n"
				runSamples(t, halves+"set."+op+ftz+".u32."+kind+" %a, %l0, %l1;",
					func(x, y, _ uint32) uint32 { return -flag(cmp(x, y)) })
				runSamples(t, halves+"set."+op+ftz+".s16."+kind+" %s, %l0, %l1; cvt.u32.u16 %a, %s;",
					func(x, y, _ uint32) uint32 { return 0xffff * flag(cmp(x, y)) })
				runSamples(t, halves+"set."+op+ftz+"."+kind+"."+kind+" %s, %h0, %h1; cvt.u32.u16 %a, %s;",
					func(x, y, _ uint32) uint32 { return one * flag(cmp(x>>16, y>>16)) })
				runSamples(t, halves+"setp."+op+ftz+"."+kind+" %p, %h0, %h1; selp.u32 %a, 1, 0, %p;",
					func(x, y, _ uint32) uint32 { return flag(cmp(x>>16, y>>16)) })
			}
		}
	}
	runSamples(t, "set.lt.f32.s32 %f, %x, %y; mov.b32 %a, %f;", func(x, y, _ uint32) uint32 {
		return 0x3f800000 * flag(int32(x) < int32(y))
	})
	refuses(t, "", "setp.lt.f16x2 %p, %a, %b;", "writes two predicates, one for each half: write p|q")
	refuses(t, "", "setp.lt.f16x2 %p|%p, %w, %b;", "this operand needs 32 bits")
}

// TestFloatLiterals: a decimal literal needs no point, and may begin or end with it.
func TestFloatLiterals(t *testing.T) {
	for text, want := range map[string]float32{
		"1e-3": 1e-3, "2E5": 2e5, "1e+2": 100, ".5": .5, ".25e1": 2.5, "-3.": -3, "6.02e23": 6.02e23, "0e0": 0,
		"1.5E-2": .015,
	} {
		got := runText(t, legalSource("", "mov.f32 %f, "+text+"; mov.b32 %a, %f;"))
		if got[0] != math.Float32bits(want) {
			t.Errorf("%s: 0x%x, want 0x%x", text, got[0], math.Float32bits(want))
		}
	}
	if got := runText(t, legalSource("", "mov.u32 %a, 0x1e-3;")); got[0] != 0x1b {
		t.Errorf("0x1e-3: %d", got[0])
	}
	refuses(t, "", "mov.f32 %f, 1e;", `"1e" is not a PTX number`)
}

// TestVectorSinks: what _ stands for in a vector is neither read nor written.
func TestVectorSinks(t *testing.T) {
	decl := ".global .align 32 .u32 g[256];"
	for i, v := range runText(t, legalSource(decl, `
	.reg .b64 %gp, %d<4>;
	.reg .b32 %v<8>;
	mov.u64 %gp, g;
	mad.wide.u32 %gp, %t, 32, %gp;
	st.global.v8.b32 [%gp], {1, 2, 3, 4, 5, 6, 7, 8};
	st.global.v8.b32 [%gp], {_, %t, _, _, 50, _, _, %t};
	st.global.v4.u32 [%gp+16], {_, 60, _, _};
	mov.b64 %d0, {%t, 70};
	st.global.v4.b64 [%gp], {_, %d0, _, _};
	st.global.v2.b64 [%gp], {_, _};
	ld.global.v8.b32 {_, %v1, %v2, %v3, %v4, %v5, _, %v7}, [%gp];
	ld.global.v4.b64 {_, %d1, _, %d3}, [%gp];
	mov.b64 {%v6, %v0}, %d3;
	mov.u32 %a, %v0;
	mad.lo.u32 %a, %v6, 1000, %a;
	mad.lo.u32 %a, %v1, 3, %a;
	mad.lo.u32 %a, %v2, 5, %a;
	mad.lo.u32 %a, %v3, 7, %a;
	mad.lo.u32 %a, %v4, 11, %a;
	mad.lo.u32 %a, %v5, 13, %a;
	mad.lo.u32 %a, %v7, 17, %a;`)) {
		n := uint32(i)
		if want := n + 7000 + 3*n + 5*n + 7*70 + 11*50 + 13*60 + 17*n; v != want {
			t.Fatalf("thread %d: %d, want %d", i, v, want)
		}
	}
	refuses(t, decl, "st.global.u32 [g], _;", "operand is not a data register")
	refuses(t, decl, "st.global.v2.u32 [g], {%p, _};", "operand is not a data register")
	refuses(t, decl, "red.global.add.v2.f32 [g], {_, %f};", "operand is not a data register")
}

// TestAsyncCopyLess: cp.async fills with zeros what it does not read, be it by size or by predicate. Lanes that
// read nothing may have any address.
func TestAsyncCopyLess(t *testing.T) {
	decl := ".global .align 16 .u32 g[4] = {1, 10, 100, 1000};.shared .align 16 .u32 s[128];"
	begin := `
	.reg .b64 %gp;
	.reg .b32 %n, %v<4>;
	mad.lo.u32 %b, %t, 16, 0;
	mov.u32 %a, s;
	add.u32 %b, %b, %a;
	st.shared.v4.u32 [%b], {9, 9, 9, 9};
	mov.u64 %gp, g;
	setp.gt.u32 %p, %t, 20;
	@%p mov.u64 %gp, 64;
`
	end := `
	cp.async.wait_all;
	ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [%b];
	add.u32 %a, %v0, %v1;
	add.u32 %a, %a, %v2;
	add.u32 %a, %a, %v3;`
	all := func(int) uint32 { return 16 }
	for form, bytes := range map[string]func(i int) uint32{
		"cp.async.ca.shared.global [%b], [%gp], 16, %p;":                        all,
		"cp.async.cg.shared::cta.global.L2::128B [%b], [%gp], 16, %p;":          all,
		"not.pred %p, %p; cp.async.cg.shared.global [%b], [%gp], 16, !%p;":      all,
		"selp.u32 %n, 0, 8, %p; cp.async.ca.shared.global [%b], [%gp], 16, %n;": func(int) uint32 { return 8 },
		"@!%p cp.async.ca.shared.global [%b], [%gp], 16, 4;" +
			"@%p st.shared.v4.u32 [%b], {0, 0, 0, 0};": func(int) uint32 { return 4 },
	} {
		for i, v := range runText(t, legalSource(decl, begin+form+end)) {
			want := uint32(0)
			for k, x := range []uint32{1, 10, 100, 1000} {
				if i <= 20 && uint32(4*k) < bytes(i) {
					want += x
				}
			}
			if v != want {
				t.Fatalf("%s thread %d: %d, want %d", form, i, v, want)
			}
		}
	}
	refuses(t, decl, "cp.async.ca.shared.global [s], [g], 8, 16;", "16 source bytes are more than the copy size, 8")
	refuses(t, decl, "cp.async.ca.shared.global [s], [g], 8, %w;", "this operand needs 32 bits")
}

// TestCompilers: modules as Triton, tinygrad and nvcc 13 write them are accepted whole.
func TestCompilers(t *testing.T) {
	for file, kernel := range map[string]string{
		"triton": "matmul_kernel", "tinygrad": "r_32_4", "nvcc13": "_Z1kPfPKfi",
	} {
		path := filepath.Join("testdata", "compilers", file+".ptx")
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, problems := emulate.Check(path, src)
		for _, e := range problems {
			t.Error(e)
		}
		if m == nil {
			continue
		}
		if _, err := m.Kernel(kernel); err != nil {
			t.Error(err)
		}
	}
}
