package parse

import (
	"errors"
	"os"
	"strings"
	"testing"
)

const head = ".version 7.0\n.target sm_70\n.address_size 64\n"

func TestModule(t *testing.T) {
	src := head + `
.file 1 "a.cu"
.global .align 8 .u64 table[3] = {f, generic(data)+4, 7};
.const .align 4 .b8 data[8] = {1, 2, 0xFF(table), 0xFF00(table)};
.extern .shared .align 16 .b8 dyn[];
.global .f32 grid[2][3] = {{0f3F800000, 2.0}, {3.0}};
.func (.param .b32 r) f(.param .b32 x) ;
.visible .entry k(.param .u64 .ptr .global .align 4 k_0, .param .align 4 .b8 k_1[12])
.maxntid 64, 2, 1
.minnctapersm 2
{
	.reg .pred %p<2>;
	.reg .b32 %r<3>, a, b<2>;
	.reg .b64 %rd<2>;
	.loc 1 12 3
	ld.param.u64 %rd0, [k_0+-0];
	{ .reg .b32 %r0; mov.u32 %r0, -1; bra L; L: }
	@!%p1 bra $done;
	ld.global.v2.u32 {%r1, _}, [%rd0+-8];
	setp.lt.and.s32 %p0|%p1, %r1, 0x10, !%p1;
L:	bra.uni L;
$done: ret;
}
.func (.param .b32 r) f(.param .b32 x) { ret; }
`
	m, err := File("t.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	k := m.Func("k")
	if k == nil || !k.Entry || k.MaxNTid != [3]int{64, 2, 1} || k.MinCTAs != 2 || len(k.Params) != 2 {
		t.Fatalf("kernel %+v", k)
	}
	if p := k.Params[1]; p.Size != 12 || p.Align != 4 || p.Type != B8 {
		t.Errorf("parameter %+v", p)
	}
	if f := m.Func("f"); f == nil || f.Extern || len(f.Results) != 1 {
		t.Error("the definition of f must win over its declaration")
	}
	if n := len(k.Regs); n != 2+3+1+2+2+1 {
		t.Errorf("%d registers", n)
	}
	if v := m.Var("grid"); v.Size != 24 || len(v.Init) != 3 || v.Init[2].Offset != 12 {
		t.Errorf("grid %+v", v)
	}
	if v := m.Var("table"); v.Size != 24 || v.Init[1].Bits != 4 || !v.Init[1].Gen {
		t.Errorf("table %+v", v)
	}
	in := k.Instrs
	if in[0].Src != (SrcLoc{1, 12}) || in[0].Args[1].Off != 0 || in[0].Args[1].List[0].Var != k.Params[0] {
		t.Errorf("%+v", in[0])
	}
	if in[1].Args[0].Var.Owner != k || in[1].Args[0].Var == k.Regs[2] || int64(in[1].Args[1].Bits) != -1 {
		t.Errorf("the inner %%r0 hides the outer one: %+v", in[1].Args[0])
	}
	if in[2].Args[0].Label != 3 {
		t.Errorf("the inner L is the branch's: %+v", in[2].Args[0])
	}
	if !in[3].Neg || in[3].Pred == nil || in[3].Args[0].Label != 7 {
		t.Errorf("%+v", in[3])
	}
	if in[4].Args[1].Off != -8 || in[4].Args[0].List[1].Kind != KNone {
		t.Errorf("%+v", in[4])
	}
	if in[5].Args[0].Kind != KPair || !in[5].Args[3].Neg || in[5].Text != "setp.lt.and.s32 %p0|%p1, %r1, 0x10, !%p1;" {
		t.Errorf("%+v", in[5])
	}
	if in[6].Args[0].Label != 6 {
		t.Errorf("the outer L: %+v", in[6].Args[0])
	}
}

func TestLiterals(t *testing.T) {
	for s, want := range map[string]number{
		"12": {bits: 12}, "0x1F": {bits: 31}, "017": {bits: 15}, "0b101": {bits: 5}, "7U": {bits: 7, unsigned: true},
		"0f3F800000": {bits: 0x3f800000, float: true}, "0dBFF0000000000000": {
			bits: 0xbff0000000000000, float: true,
			wide: true,
		},
		"1.5": {bits: 0x3ff8000000000000, float: true, wide: true}, "2.5e-1": {
			bits: 0x3fd0000000000000, float: true,
			wide: true,
		},
		"18446744073709551615": {bits: ^uint64(0), unsigned: true},
	} {
		if got, ok := literal(s); !ok || got != want {
			t.Errorf("%s: %+v %v", s, got, ok)
		}
	}
	for _, s := range []string{
		"0f3F", "0f3F8000000", "0d1", "0x", "12abc", "1_000", "0b2", "99999999999999999999",
		"1.2.3",
	} {
		if got, ok := literal(s); ok {
			t.Errorf("%s is accepted as %+v", s, got)
		}
	}
}

// malformed lists wrong modules with a word of the message they must give.
var malformed = []struct{ src, want string }{
	{"", ".version"},
	{"hello", "module directive"},
	{".target sm_70", "begins with .version"},
	{".version x", "number"},
	{".version 7.0\n.address_size 48", "32 or 64"},
	{head + ".entry", "the name of a function"},
	{head + ".entry k(.param .u64 a", "between parameters"},
	{head + ".entry k(.reg .u64 a) { ret; }", "a .param declaration"},
	{head + ".func f(.reg .v2 .u32 a) { ret; }", "only scalars"},
	{head + ".entry k() {", "not closed"},
	{head + ".entry k() { ret }", "';' is missing after ret"},
	{head + ".entry k() { bra L; }", "L is not declared"},
	{head + ".entry k() { L: L: ret; }", "already defined"},
	{head + ".entry k() { .reg .b32 %r<2>; .reg .b32 %r1; }", "already declared on line 4"},
	{head + ".entry k() { .reg .b32 %r<99999999999>; }", "from 0 to"},
	{head + ".entry k() { mov.u32 %r1, 0; }", "neither a declared register"},
	{head + ".entry k() { @%p1 ret; }", "not declared"},
	{head + ".entry k() { .reg .b32 p; @p ret; }", "not a predicate"},
	{head + ".entry k() { .reg .v8 .f32 v; }", "2 or 4 elements"},
	{head + ".entry k() { .reg .v2 .pred v; }", "no predicates"},
	{head + ".entry k() { .reg .v2 .u32 v; .reg .v2 .u32 v; }", "already declared"},
	{head + ".global .u32 x[2 > ];", "an array extent"},
	{head + ".global .u32 x[1/0];", "division by zero"},
	{head + ".global .u32 x = (((.s64)1);", "expected"},
	{head + ".global .u32 x = " + strings.Repeat("(", 100), "too deeply"},
	{head + ".global .u32 x[2]; .entry k() { .reg .u32 r; ld.global.u32 r, x[1][0]; }", "more indices"},
	{head + ".entry k() { .reg .u32 r; ld.global.u32 r, y[1]; y: }", "has no elements"},
	{head + ".global .u32 x[2]; .entry k() { .reg .u16 r; ld.global.u16 r, x[r]; }", "32 or 64 bits"},
	{head + ".entry k() { .reg .b32 a; mov.u32 a, 0x; }", "not a PTX number"},
	{head + ".entry k() { .reg .b64 a; ld.u8 a, [a+; }", "an offset"},
	{head + ".entry k() { .reg .b64 a; ld.u8 a, [a+1.5]; }", "integer"},
	{head + ".entry k() {} .entry k() {}", "already defined"},
	{head + ".global .u32 k; .entry k() {}", "already a variable"},
	{head + ".global .u32 x[2] = {1, 2, 3};", "too many initial values"},
	{head + ".global .u32 x[2] = {{1}};", "more braces"},
	{head + ".global .u32 x[2] = 1;", "in braces"},
	{head + ".global .u8 x = 300;", "does not fit"},
	{head + ".global .u32 x[];", "no size"},
	{head + ".global .u32 x[4294967296][4294967296];", "larger than"},
	{head + ".global .u32 x[-1];", "from 0 to"},
	{head + ".shared .u32 x = 1;", "can be initialised"},
	{head + ".global .pred x;", "registers only"},
	{head + ".global .align 3 .u32 x;", "power of two"},
	{head + ".global .foo x;", "type"},
	{head + ".frobnicate", "module directive"},
	{head + "/* never closed", "comment is not closed"},
	{head + `.file 1 "abc` + "\n" + `.pragma "abc`, "string is not closed"},
	{head + ".section .debug { .b8 1", "not closed"},
	{head + ".loc", "module"},
	{head + "\x00", "does not belong"},
	{head + "\xff", "does not belong"},
	{head + ".entry k() " + strings.Repeat("{", 100), "too deeply"},
	{head + ".global .u32 x[2] = " + strings.Repeat("{", 100), "braces"},
	{head + ".entry k() { mov.u32 " + strings.Repeat("{", 100), "too deeply"},
	{head + ".entry k() .reqnctapercluster 2 { ret; }", "clusters"},
	{head + ".func f(.param .u32 a, .param .u32 a) { ret; }", "already declared"},
	{head + ".entry k() { L: .branchtargets A, B; ret; }", "neither a label nor a function"},
}

func TestMalformed(t *testing.T) {
	for _, c := range malformed {
		_, err := File("bad.ptx", []byte(c.src))
		if c.want == "module" { // .loc at the end is harmless; only the absence of a panic counts
			continue
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: no *Error: %v", c.src, err)
			continue
		}
		if !strings.Contains(e.Msg, c.want) || e.Line < 1 || !strings.HasPrefix(e.Error(), "bad.ptx:") {
			t.Errorf("%q: %v, want a message with %q", c.src, e, c.want)
		}
	}
}

func TestErrorLine(t *testing.T) {
	_, err := File("x.ptx", []byte(head+".entry k()\n{\n\tret\n}\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "x.ptx:7:") && !strings.HasPrefix(err.Error(), "x.ptx:6:") {
		t.Errorf("%v", err)
	}
}

// FuzzParse: any input gives a module or an *Error, never a panic.
func FuzzParse(f *testing.F) {
	for _, c := range malformed {
		f.Add([]byte(c.src))
	}
	src, err := os.ReadFile("testdata/comments.ptx")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(src)
	f.Add([]byte(head + "/* one */ .entry k() { ret; /* two"))
	f.Add([]byte(head + ".visible .entry k(.param .u64 a){ .reg .b32 %r<4>; .reg .pred %p<2>; L: @%p1 bra L; " +
		"call.uni (x), f, (y); P: .callprototype (.param .b32 _) _ (.param .b64 _); ret; }"))
	f.Fuzz(func(t *testing.T, src []byte) {
		_, err := File("fuzz.ptx", src)
		if _, all := All("fuzz.ptx", src); (err == nil) != (len(all) == 0) {
			t.Fatalf("File says %v, All %v", err, all)
		}
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Msg == "" || e.Line < 1 {
				t.Fatalf("%v", err)
			}
		}
	})
}
