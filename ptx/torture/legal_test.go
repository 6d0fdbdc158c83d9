package torture

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// runText loads a module given as text and launches its kernel k on one block of 32 threads
// with the address of 32 zeroed words, which it returns.
func runText(t *testing.T, src string) []uint32 {
	t.Helper()
	return runWords(t, src, 32)
}

// runWords is runText with n words.
func runWords(t *testing.T, src string, n int) []uint32 {
	t.Helper()
	m, err := emulate.Load("legal.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return runModule(t, m, n)
}

func runModule(t *testing.T, m *emulate.Module, n int) []uint32 {
	t.Helper()
	space := mem.NewSpace(0)
	inst, err := m.Bind(space)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	r, err := space.Alloc(int64(4*n), mem.Device, "out")
	if err != nil {
		t.Fatal(err)
	}
	g, err := inst.Grid(k, emulate.Launch{
		Grid: d1(1), Block: d1(32), Params: binary.LittleEndian.AppendUint64(nil, r.Base)[:k.ParamBytes],
	})
	if err == nil {
		_, err = emulate.Run(g, limit)
	}
	if err != nil {
		t.Fatal(err)
	}
	words := make([]uint32, n)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(r.Data[4*i:])
	}
	return words
}

const (
	legalHead = ".version 7.8\n.target sm_80\n.address_size 64\n"
	// legalEntry leaves the thread's number in %t and the address of its word in %o.
	legalEntry = `
.visible .entry k(.param .u64 out)
{
	.reg .b32 %t, %a, %b;
	.reg .b64 %o, %w;
	.reg .f32 %f, %g;
	.reg .pred %p;
	ld.param.u64 %o, [out];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %w, %t, 4;
	add.u64 %o, %o, %w;
`
	legalStore = "\n\tst.global.u32 [%o], %a;\n\tret;\n}\n"
)

// TestLegal: forms that the ISA has and that few compilers emit.
func TestLegal(t *testing.T) {
	word := func(f func(i uint32) uint32) func(i int) uint32 { return func(i int) uint32 { return f(uint32(i)) } }
	plus := func(n uint32) func(i int) uint32 { return word(func(i uint32) uint32 { return i + n }) }
	for _, c := range []struct {
		name, decl, body string
		want             func(i int) uint32
	}{
		{"WARP_SZ", ".global .u32 pad[WARP_SZ*2] = {WARP_SZ};", "add.u32 %a, %t, WARP_SZ;", plus(32)},
		{"constant expressions", ".global .u32 v[2] = {(1<<4)|3, 7/2 == 3 ? 5 : 6};", `
	ld.global.u32 %a, [v+4*1];
	ld.global.u32 %b, [v];
	mad.lo.u32 %a, %a, 100, %b;
	add.u32 %a, %a, (2+3)*-1 + ~0;
	add.u32 %a, %a, %t;`, plus(500 + 19 - 6)},
		{"a negative quotient is signed", "", "add.s32 %a, %t, -7/2;", plus(^uint32(2))},
		{"an unsigned shift", "", "add.u32 %a, %t, (0xFFFFFFFFFFFFFFFF >> 60) + (.u64)-1 / (1 << 60);", plus(30)},
		{"dotted words without blanks", ".global.align 4 .u32 g[1]={9};.shared.v2.b16 s;", `
	.reg.b32 %c;.reg.u64 %d;
	ld.global .u32 %c, [g];
	add.u32 %a, %t, %c;`, plus(9)},
		{"an index is an element", ".global .u32 g[4] = {1, 2, 3, 4};", `
	.local .align 4 .b8 depot[16];
	.local .u32 loc[4];
	mov.u64 %w, depot[0];
	st.local.u32 [%w+4], %t;
	mov.u64 %w, depot[4];
	ld.local.u32 %a, [%w];
	mov.u64 %w, loc[3];
	st.local.u32 [%w], 10;
	ld.local.u32 %b, loc[3];
	add.u32 %a, %a, %b;
	ld.global.u32 %b, g[2];
	add.u32 %a, %a, %b;`, plus(13)},
		{"a register counts elements", ".global .u32 g[3][2] = {{1, 2}, {3, 4}, {5, 6}};.shared .u16 s[33];", `
	.reg .b16 %h;
	and.b32 %b, %t, 1;
	ld.global.u32 %a, g[%b+1][1];
	cvt.u16.u32 %h, %t;
	st.shared.u16 s[%t+1], %h;
	mov.u32 %b, s[1];
	ld.shared.u16 %b, [%b];
	bar.sync 0;
	ld.shared.u16 %b, [s[%t+1]];
	add.u32 %a, %a, %b;`, word(func(i uint32) uint32 { return i + 4 + 2*(i&1) })},
		{"a register plus a constant", "", `
	mov.u32 %a, %t+5;
	mov.u64 %w, %o+-4;
	sub.u64 %w, %o, %w;
	cvt.u32.u64 %b, %w;
	add.u32 %a, %a, %b;`, plus(9)},
		{"vectors of registers", ".global .v4 .u32 v = {1, 2, 3, 4};.global .align 8 .v2 .b16 w[2] = {1, 2, 3, 4};", `
	.reg .v4 .u32 V;
	.reg .v2 .b16 H<2>;
	ld.global.v4.u32 V, [v];
	add.u32 V.x, V.r, V.w;
	add.u32 %a, V.x, V.b;
	mov.b32 H1, %t;
	mov.b32 %b, {H1.x, H1.y};
	add.u32 %a, %a, %b;`, plus(8)},
		{"functions with registers", `
.func (.reg .u32 r, .reg .u64 s) twice(.reg .u32 x, .reg .u64 y, .reg .pred q)
{
	add.u32 r, x, x;
	@q add.u32 r, r, 1000;
	add.u64 s, y, 1;
	ret;
}
.func (.param .b32 r) next(.param .b32 x)
{
	.reg .b32 %v;
	ld.param.u32 %v, [x];
	add.u32 %v, %v, 1;
	st.param.u32 [r], %v;
	ret;
}
.func leaf(.reg .f32 x) { ret; }`, `
	setp.gt.u32 %p, %t, 15;
	@%p bra B;
	call (%a, %w), twice, (%t, 41, %p);
	call leaf, (1.5);
	bra C;
B:	call.uni (%a, %w), twice, (7, 1, %p);
C:	cvt.u32.u64 %b, %w;
	add.u32 %a, %a, %b;
	call (%a), next, (%a);`, word(func(i uint32) uint32 {
			if i > 15 {
				return 14 + 1000 + 2 + 1
			}
			return 2*i + 42 + 1
		})},
		{"min and max above zero", "", `
	sub.s32 %a, %t, 20;
	max.relu.s32 %b, %a, -5;
	min.s32.relu %a, %a, 3;
	mad.lo.u32 %a, %a, 100, %b;`, word(func(i uint32) uint32 {
			v := max(int32(i)-20, 0)
			return uint32(100*min(v, 3) + v)
		})},
		{"stack memory", `
.func (.reg .u32 r) sum(.reg .u32 n)
{
	.reg .b64 %q, %p, %s;
	.reg .u32 i;
	.reg .pred %c;
	.local .u32 last;
	cvt.u64.u32 %q, n;
	mad.lo.u64 %q, %q, 4, 4;
	alloca.u64 %p, %q, 16;
	cvta.local.u64 %p, %p;
	mov.u32 i, 0;
	mov.u32 r, 0;
L:	mad.wide.u32 %q, i, 4, %p;
	st.u32 [%q], i;
	stacksave.u64 %s;
	alloca.u64 %q, 64;
	st.local.u32 [%q], 77;
	stackrestore.u64 %s;
	st.local.u32 [last], i;
	add.u32 i, i, 1;
	setp.le.u32 %c, i, n;
	@%c bra L;
	mad.wide.u32 %q, n, 4, %p;
	mov.u64 %s, last;
	cvta.local.u64 %s, %s;
	and.b32 i, n, 1;
	setp.eq.u32 %c, i, 0;
	selp.b64 %q, %q, %s, %c;         // some lanes on the stack, some in a variable
	ld.u32 r, [%q];
	ret;
}`, `
	.reg .u32 %i;
	mov.u32 %a, 0;
	mov.u32 %i, 0;
L:	call (%b), sum, (%t);
	add.u32 %a, %a, %b;
	add.u32 %i, %i, 1;
	setp.lt.u32 %p, %i, 10000;
	@%p bra L;`, word(func(i uint32) uint32 { return 10000 * i })},
		{"a prototype with registers", `
.func (.reg .u32 r) three(.reg .u32 x) { mul.lo.u32 r, x, 3; ret; }`, `
	mov.u64 %w, three;
	call (%a), %w, (%t), P;
P:	.callprototype (.reg .u32 _) _ (.reg .u32 _);`, word(func(i uint32) uint32 { return 3 * i })},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := runText(t, legalHead+c.decl+legalEntry+c.body+legalStore)
			for i, v := range got {
				if v != c.want(i) {
					t.Fatalf("thread %d: %d, want %d", i, v, c.want(i))
				}
			}
		})
	}
}

// TestFirstISA: code for the first GPUs, without rounding modes and .address_size, flushes
// subnormals and fuses mad.
func TestFirstISA(t *testing.T) {
	const body = `
.entry k (.param .u64 out)
{
	.reg .u64 %o; .reg .u32 %t; .reg .f32 %f<4>; .reg .f64 %d; .reg .pred %p;
	ld.param.u64 %o, [out];
	mov.f32 %f1, 0f00400000;
	mov.f32 %f2, 0f3F800001;
	add.f32 %f0, %f1, 0f00000000;
	st.global.f32 [%o], %f0;
	mad.f32 %f0, %f2, %f2, 0fBF800002;
	st.global.f32 [%o+4], %f0;
	setp.gt.f32 %p, %f1, 0f00000000;
	selp.u32 %t, 1, 0, %p;
	st.global.u32 [%o+8], %t;
	cvt.f64.f32 %d, %f1;
	cvt.rn.f32.f64 %f0, %d;
	st.global.f32 [%o+12], %f0;
	exit;
}
`
	one := math.Float32frombits(0x3f800001)
	fused := math.Float32bits(float32(math.FMA(float64(one), float64(one), -float64(math.Float32frombits(0x3f800002)))))
	for head, want := range map[string][4]uint32{
		".version 1.4\n.target sm_13\n":                           {0, fused, 0, 0},
		".version 2.3\n.target sm_20\n.address_size 64\n":         {0x400000, fused, 1, 0x400000},
		".version 2.0\n.target sm_20, map_f64_to_f32 // a tag \n": {0x400000, fused, 1, 0x400000},
	} {
		got := runText(t, head+body)
		if got := [4]uint32(got[:4]); got != want {
			t.Errorf("%s: %08x, want %08x", head, got, want)
		}
	}
}

// TestShortModule: a module with 32-bit addresses runs, in every space.
func TestShortModule(t *testing.T) {
	for _, head := range []string{".version 2.3\n.target sm_20\n.address_size 32\n", ".version 2.0\n.target sm_20\n"} {
		got := runText(t, head+`
.global .u32 g[2] = {70, 80};
.global .u32 pg = g;
.const .u32 c = 5;
.func (.param .u32 r) f(.param .u32 x) {
	.reg .u32 %a;
	ld.param.u32 %a, [x];
	add.u32 %a, %a, 600;
	st.param.u32 [r], %a;
	ret;
}
.entry k(.param .u32 out)
{
	.reg .u32 %o, %t, %a, %b, %v;
	.reg .pred %p;
	.local .u32 loc[2];
	.shared .u32 sh[32];
	ld.param.u32 %o, [out];
	mov.u32 %t, %tid.x;
	mad.lo.u32 %o, %t, 4, %o;
	cvta.to.global.u32 %o, %o;
	ld.global.u32 %a, [pg];
	ld.u32 %v, [%a+4];             // generic, global
	mov.u32 %a, loc;
	st.local.u32 [%a+4], %t;
	cvta.local.u32 %a, %a;
	ld.u32 %b, [%a+4];             // generic, local
	add.u32 %v, %v, %b;
	isspacep.local %p, %a;
	@%p add.u32 %v, %v, 1000;
	mov.u32 %a, sh;
	cvta.shared.u32 %a, %a;
	mad.lo.u32 %a, %t, 4, %a;
	st.u32 [%a], 9;                // generic, shared
	cvta.to.shared.u32 %a, %a;
	ld.shared.u32 %b, [%a];
	add.u32 %v, %v, %b;
	ld.const.u32 %b, [c];
	add.u32 %v, %v, %b;
	{
	.param .u32 x;
	.param .u32 r;
	st.param.u32 [x], %v;
	mov.u32 %a, f;
	call (r), %a, (x), P;
P:	.callprototype (.param .u32 _) _ (.param .u32 _);
	ld.param.u32 %v, [r];
	}
	st.global.u32 [%o], %v;
	ret;
}
`)
		for i, v := range got {
			if want := uint32(80 + i + 1000 + 9 + 5 + 600); v != want {
				t.Fatalf("%sthread %d: %d, want %d", head, i, v, want)
			}
		}
	}
}

// TestNewerForms: vectors, conversions and hints of later versions of the ISA.
func TestNewerForms(t *testing.T) {
	const head = ".version 8.8\n.target sm_100\n.address_size 64\n"
	bits := func(f float32) uint32 { return math.Float32bits(f) }
	for _, c := range []struct {
		name, decl, body string
		want             func(i int) uint32
	}{
		{"ld and st of 32 bytes", ".global .align 32 .u32 g[256];", `
	.reg .b32 %v<8>;
	.reg .b64 %x<4>, %gp;
	mov.u64 %gp, g;
	mad.wide.u32 %gp, %t, 32, %gp;
	st.global.v8.b32 [%gp], {1, 2, 3, 4, 5, 6, 7, %t};
	ld.global.v4.b64 {%x0, %x1, _, %x3}, [%gp];
	shr.u64 %x3, %x3, 32;
	cvt.u32.u64 %a, %x3;
	ld.global.L2::128B.v8.b32 {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}, [%gp];
	mad.lo.u32 %a, %v6, 100, %a;
	add.u32 %a, %a, %v1;`, func(i int) uint32 { return uint32(i) + 702 }},
		{"red and atom of vectors", ".global .align 16 .f32 g[4];.global .align 16 .b16 h[8];", `
	.reg .f32 %x<4>;
	.reg .b16 %h<8>;
	.reg .b64 %gp, %q;
	mov.u64 %gp, g;
	createpolicy.fractional.L2::evict_last.b64 %q, 1.0;
	cvt.rn.f32.u32 %f, %t;
	red.relaxed.gpu.global.add.L2::cache_hint.v4.f32 [%gp], {%f, 1.0, %f, 2.0}, %q;
	bar.sync 0;
	atom.global.v2.f32.add {%x0, _}, [%gp+8], {0f00000000, 0f00000000};
	ld.global.v4.f32 {%x0, %x1, %x2, %x3}, [%gp];
	add.f32 %x0, %x0, %x1;
	add.f32 %x2, %x2, %x3;
	add.f32 %x0, %x0, %x2;
	cvt.rzi.u32.f32 %a, %x0;
	mov.u64 %gp, h;
	cvt.rn.f16.u32 %h0, %t;
	red.global.max.noftz.v4.f16 [%gp], {%h0, %h0, %h0, %h0};
	bar.sync 0;
	ld.global.L2::cache_hint.b16 %h1, [%gp+6], %q;
	cvt.rzi.u32.f16 %b, %h1;
	mad.lo.u32 %a, %b, 10000, %a;`, func(int) uint32 { return 310000 + 2*496 + 32 + 64 }},
		{"pairs of 8-bit floats", "", `
	.reg .b16 %h; .reg .f32 %y;
	cvt.rn.f32.u32 %f, %t;
	mov.f32 %y, 0fC4000000;
	cvt.rn.satfinite.e4m3x2.f32 %h, %f, %y;
	cvt.rn.relu.f16x2.e4m3x2 %b, %h;
	cvt.rn.satfinite.e5m2x2.f16x2 %h, %b;
	cvt.u32.u16 %a, %h;`, func(i int) uint32 {
			codes := []uint32{0, 0x3c, 0x40, 0x42, 0x44, 0x45, 0x46, 0x47, 0x48}
			if i < len(codes) {
				return codes[i] << 8
			}
			return 1 // not compared
		}},
		{"cvt.pack", "", `
	sub.s32 %a, %t, 300;
	cvt.pack.sat.s8.s32.b32 %b, 7, %a, 0;
	cvt.pack.sat.s8.s32.b32 %a, -1, %t, %b;`, func(i int) uint32 { return 7<<24 | 0x80<<16 | 0xff<<8 | uint32(i) }},
		{"saturation to finite", "", `
	.reg .b16 %h;
	mov.f32 %f, 0f7F800000;
	cvt.rn.satfinite.bf16x2.f32 %a, %f, 0fFF800000;
	cvt.rn.satfinite.tf32.f32 %b, %f;
	xor.b32 %a, %a, %b;
	mov.f32 %f, 0fC2000000;
	cvt.rn.relu.f16.f32 %h, %f;
	cvt.u32.u16 %b, %h;
	add.u32 %a, %a, %b;`, func(int) uint32 { return 0x7f7fff7f ^ (bits(math.MaxFloat32) &^ (1<<13 - 1)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, v := range runText(t, head+c.decl+legalEntry+c.body+legalStore) {
				if want := c.want(i); want != 1 && v != want {
					t.Fatalf("thread %d: %#x, want %#x", i, v, want)
				}
			}
		})
	}
}

// TestLink: modules see each other's visible functions and variables, in every space, keep
// what is their own apart, and a strong definition replaces a weak one.
func TestLink(t *testing.T) {
	one := legalHead + `
.extern .func (.param .b32 r) twice(.param .b32 x);
.extern .global .u32 shared_word;
.extern .shared .u32 board[32];
.visible .global .u32 base = 1000;
.global .u32 own = 7;
.weak .func (.reg .u32 r) pick() { mov.u32 r, 1; ret; }
.func (.reg .u32 r) local() { ld.global.u32 r, [own]; ret; }
.visible .global .u64 pointer = shared_word;` + legalEntry + `
	call (%a), twice, (%t);
	call (%b), local;
	add.u32 %a, %a, %b;
	call (%b), pick;
	add.u32 %a, %a, %b;
	ld.global.u32 %b, [shared_word];
	add.u32 %a, %a, %b;
	ld.shared.u32 %b, [board];
	add.u32 %a, %a, %b;
	ld.global.u64 %w, [pointer];
	ld.global.u32 %b, [%w];
	add.u32 %a, %a, %b;` + legalStore
	two := legalHead + `
.extern .global .u32 base;
.visible .global .u32 shared_word = 500000;
.visible .shared .u32 board[32];
.global .u32 own = 30;
.func (.reg .u32 r) local() { ld.global.u32 r, [own]; ret; }
.visible .func (.reg .u32 r) pick() { mov.u32 r, 200; ret; }
.visible .func (.param .b32 r) twice(.param .b32 x)
{
	.reg .b32 %v, %w;
	ld.param.u32 %v, [x];
	add.u32 %v, %v, %v;
	call (%w), local;
	add.u32 %v, %v, %w;
	ld.global.u32 %w, [base];
	add.u32 %v, %v, %w;
	st.shared.u32 [board], 40000;
	st.param.u32 [r], %v;
	ret;
}`
	a, b := emulate.Source{File: "1", Text: []byte(one)}, emulate.Source{File: "2", Text: []byte(two)}
	for _, order := range [][]emulate.Source{{a, b}, {b, a}} {
		m, err := emulate.Link(order)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range runModule(t, m, 32) {
			if want := uint32(2*i + 30 + 1000 + 7 + 200 + 500000 + 40000 + 500000); v != want {
				t.Fatalf("thread %d: %d, want %d", i, v, want)
			}
		}
	}
	for want, src := range map[string]string{
		"2:4: base is already defined in 1": legalHead + ".visible .global .u32 base = 1;",
		"twice has no body":                 legalHead + ".func (.param .b32 r) twice(.param .b32 x) { ret; }",
		"2:1: addresses have 32 bits here":  ".version 7.0\n.target sm_70\n.address_size 32\n",
		"2:5: add.u33 is no form of add": legalHead +
			".visible .func (.param .b32 r) twice(.param .b32 x) {\n add.u33 1, 2, 3; }",
		"base is .const here and .global in 1": legalHead + ".extern .const .u32 base;",
		"2:4: k is already defined in 1, li":   legalHead + ".visible .entry k() { ret; }",
	} {
		_, err := emulate.Link([]emulate.Source{a, {File: "2", Text: []byte(src)}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
