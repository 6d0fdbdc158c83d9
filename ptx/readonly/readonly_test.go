package readonly

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/ptx/parse"
)

var update = flag.Bool("update", false, "write the golden files")

// head declares three parameters (two pointers and a number of 64 bits) and registers.
const head = `.version 7.8
.target sm_80
.address_size 64
.global .align 8 .b64 gv[4];
.const .align 8 .b64 cv[4];
.shared .align 8 .b8 sv[64];
`

const registers = `.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<12>; .reg .f32 %f<8>; .reg .b64 %rd<20>; .reg .f64 %d<4>;
.local .align 8 .b8 lv[32];
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd11, %rd1; cvta.to.global.u64 %rd12, %rd2;
`

func module(t testing.TB, src string) *parse.Module {
	t.Helper()
	m, err := parse.File("test.ptx", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return m
}

// verdicts writes a letter per parameter: s scalar, r read-only, w written alone, b both.
func verdicts(r *Report) string {
	s := ""
	for _, p := range r.Params {
		switch {
		case !p.Pointer:
			s += "s"
		case p.ReadOnly:
			s += "r"
		case p.Read:
			s += "b"
		default:
			s += "w"
		}
	}
	return s
}

// Every construct once. a (%rd1, %rd11) and b (%rd2, %rd12) are converted by cvta and therefore
// pointers; c (%rd3) is one where it is used as one, n (%r1) never.
func TestConstructs(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"nothing", "", "rrss"},
		{"load", "ld.global.u32 %r2, [%rd11];", "rrss"},
		{"store", "st.global.u32 [%rd11], %r2;", "wrss"},
		{"both", "ld.global.u32 %r2, [%rd11]; st.global.u32 [%rd11+4], %r2;", "brss"},
		{"vectors", "ld.global.v2.u32 {%r2, %r3}, [%rd11]; st.global.v4.u32 [%rd12], {%r2, %r3, %r2, %r3};", "rwss"},
		{"guarded store", "setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd11], %r2;", "wrss"},
		{"generic store", "st.u32 [%rd1], %r2;", "wrss"},
		{"no cvta", "st.global.u32 [%rd3], %r2;", "rrws"},
		{"atom", "atom.global.add.u32 %r2, [%rd12], 1;", "rbss"},
		{"red", "red.global.add.u32 [%rd12], 1;", "rbss"},
		{"nc", "ld.global.nc.u32 %r2, [%rd11]; st.global.u32 [%rd12], %r2;", "rwss"},
		{"cp.async", "mov.u32 %r2, sv; cp.async.ca.shared.global [%r2], [%rd11], 4;", "rrss"},
		{"prefetch", "prefetch.global.L2 [%rd3];", "rrss"},
		{"texture", "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd3, {%r1}];", "rrrs"},
		{"surface", "sust.b.1d.b32.trap [%rd3, {%r1}], {%r1};", "rrws"},

		{"index", "mul.wide.s32 %rd4, %r1, 4; add.s64 %rd5, %rd11, %rd4; st.global.u32 [%rd5], %r1;", "wrss"},
		{"index from memory", "ld.global.u32 %r2, [%rd12]; mul.wide.u32 %rd4, %r2, 4; add.s64 %rd5, %rd11, %rd4;" +
			"st.global.u32 [%rd5], %r1;", "wrss"},
		{"bytes from memory", "ld.global.u32 %r2, [%rd12]; cvt.u64.u32 %rd4, %r2; add.s64 %rd5, %rd11, %rd4;" +
			"st.global.u32 [%rd5], %r1;", "wrss"},
		{
			"long index from memory", "ld.global.u64 %rd4, [%rd12]; add.s64 %rd5, %rd4, %rd11; st.global.u8 [%rd5], 1;",
			"wrss",
		},
		{"number as index", "add.s64 %rd5, %rd3, %rd11; st.global.u8 [%rd5], 1;", "wrss"},
		{"scaled number", "shl.b64 %rd4, %rd3, 2; add.s64 %rd5, %rd4, %rd11; st.global.u8 [%rd5], 1;", "wrss"},
		{"mad", "cvt.s64.s32 %rd6, %r1; mad.lo.s64 %rd5, %rd6, 4, %rd11; st.global.u8 [%rd5], 1;", "wrss"},
		{"sub", "sub.s64 %rd5, %rd11, 4; st.global.u8 [%rd5], 1;", "wrss"},
		{"difference", "sub.s64 %rd5, %rd11, %rd12; add.s64 %rd6, %rd5, %rd2; st.global.u8 [%rd6], 1;", "wwss"},
		{"selp", "setp.eq.u32 %p1, %r1, 0; selp.b64 %rd5, %rd11, %rd3, %p1; st.global.u8 [%rd5], 1;", "wrws"},
		{"join", "mov.u64 %rd5, %rd11; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; mov.u64 %rd5, %rd12;" +
			"L: st.global.u8 [%rd5], 1;", "wwss"},
		{"loop", "mov.u64 %rd5, %rd11; L: st.global.u8 [%rd5], 1; add.s64 %rd5, %rd5, 1;" +
			"setp.eq.u64 %p1, %rd5, %rd12; @!%p1 bra L;", "wrss"},
		{"minimum", "min.u64 %rd5, %rd11, %rd12; st.global.u8 [%rd5], 1;", "wwss"},
		{
			"masks", "and.b64 %rd5, %rd11, -16; or.b64 %rd5, %rd5, 4; xor.b64 %rd6, %rd5, 4; st.global.u8 [%rd6], 1;",
			"wrss",
		},
		{"swapped by xor", "xor.b64 %rd5, %rd11, %rd12; xor.b64 %rd6, %rd5, %rd11; st.global.u8 [%rd6], 1;", "wwss"},
		{"halves", "mov.b64 {%r2, %r3}, %rd11; mov.b64 %rd5, {%r2, %r3}; st.global.u8 [%rd5], 1;", "wrss"},
		{"shuffled halves", "mov.b64 {%r2, %r3}, %rd11; shfl.sync.idx.b32 %r4, %r2, 0, 31, -1;" +
			"shfl.sync.idx.b32 %r5, %r3, 0, 31, -1; mov.b64 %rd5, {%r4, %r5}; st.global.u8 [%rd5], 1;", "wrss"},
		{"halves by prmt", "mov.b64 {%r2, %r3}, %rd11; prmt.b32 %r4, %r2, %r3, 12816; mov.b64 %rd5, {%r4, %r3};" +
			"st.global.u8 [%rd5], 1;", "wrss"},
		{"halves by bfi", "cvt.u32.u64 %r2, %rd11; shr.u64 %rd5, %rd11, 32; cvt.u64.u32 %rd6, %r2;" +
			"bfi.b64 %rd7, %rd5, %rd6, 32, 32; st.global.u8 [%rd7], 1;", "wrss"},
		{"halves by shift", "cvt.u32.u64 %r2, %rd11; shr.u64 %rd5, %rd11, 32; shl.b64 %rd5, %rd5, 32;" +
			"cvt.u64.u32 %rd6, %r2; add.s64 %rd7, %rd5, %rd6; add.s64 %rd7, %rd7, %rd3;" +
			"st.global.u8 [%rd7], 1;", "wrss"},
		{"chosen by a product", "sub.s64 %rd5, %rd12, %rd11; mul.lo.s64 %rd5, %rd5, %rd3; add.s64 %rd6, %rd11, %rd5;" +
			"st.global.u8 [%rd6], 1;", "wwss"},
		{"as a double", "mov.b64 %d1, %rd11; mov.b64 %rd5, %d1; st.global.u8 [%rd5], 1;", "wrss"},
		{"through 64-bit cvt", "cvt.u64.s64 %rd5, %rd11; st.global.u8 [%rd5], 1;", "wrss"},

		{"pointer from memory", "ld.global.u64 %rd5, [%rd11]; st.global.u8 [%rd5], 1;", "bwss"},
		{"halves from memory", "ld.global.v2.u32 {%r2, %r3}, [%rd11]; mov.b64 %rd5, {%r2, %r3};" +
			"add.s64 %rd5, %rd5, %rd3; st.global.u8 [%rd5], 1;", "bwws"},
		{"load of unknown origin", "ld.global.u64 %rd5, [%rd11]; ld.global.u32 %r2, [%rd5];", "rrss"},
		{"atomic of unknown origin", "ld.global.u64 %rd5, [%rd11]; red.global.add.u32 [%rd5], 1;", "bwss"},
		{"absolute address", "st.global.u8 [4096], 1;", "wwss"},
		{"never written register", "st.global.u8 [%rd19], 1;", "wwss"},
		{"pointer from a constant", "ld.const.u64 %rd5, [cv]; st.global.u8 [%rd5], 1;", "wwss"},
		{"variable of the module", "mov.u64 %rd5, gv; st.global.u8 [%rd5], 1; st.global.u8 [gv], 1;", "rrss"},
		{"pointer from a variable", "ld.global.u64 %rd5, [gv]; st.global.u8 [%rd5], 1;", "wwss"},

		{"stored in local", "st.local.u64 [lv], %rd11; ld.local.u64 %rd5, [lv]; st.global.u8 [%rd5], 1;", "wrss"},
		{"stored in local, generic", "mov.u64 %rd4, lv; cvta.local.u64 %rd5, %rd4; st.u64 [%rd5+8], %rd11;" +
			"ld.u64 %rd6, [%rd5+8]; st.global.u8 [%rd6], 1;", "wrss"},
		{"halves in local", "mov.b64 {%r2, %r3}, %rd11; st.local.u32 [lv], %r2; st.local.u32 [lv+4], %r3;" +
			"ld.local.u64 %rd5, [lv]; st.global.u8 [%rd5], 1;", "wrss"},
		{"stored in shared", "st.shared.u64 [sv], %rd11; mov.u32 %r2, sv; ld.shared.u64 %rd5, [%r2];" +
			"st.global.u8 [%rd5], 1;", "wrss"},
		{"exchanged in shared", "atom.shared.exch.b64 %rd5, [sv], %rd11; atom.shared.exch.b64 %rd6, [sv], 0;" +
			"st.global.u8 [%rd6], 1;", "wrss"},
		{"copied to shared", "cp.async.ca.shared.global [sv], [%rd11], 8; ld.shared.u64 %rd5, [sv];" +
			"st.global.u8 [%rd5], 1;", "bwss"},
		{"store to shared", "st.shared.u32 [%r2], %r1; st.local.u32 [%r2], %r1;", "rrss"},
		{"generic store to shared", "mov.u64 %rd4, sv; cvta.shared.u64 %rd5, %rd4; st.u32 [%rd5], %r1;", "rrss"},
		{"address of a parameter", "mov.b64 %rd4, c; ld.param.u64 %rd5, [%rd4]; st.global.u8 [%rd5], 1;", "rrws"},

		{"unknown callee", "call ext, ();", "wwss"},
		{"through a register", "call %rd5, (), P; P: .callprototype _ ();", "wwss"},
		{"callee stores", "{.param .b64 p0; .param .b64 p1; st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2;" +
			"call copy, (p0, p1);}", "wrss"},
		{"callee returns", "{.param .b64 p0; .param .b64 q; st.param.b64 [p0], %rd2; call (q), next, (p0);" +
			"ld.param.b64 %rd5, [q];} st.global.u8 [%rd5], 1;", "rwss"},
		{"callee in registers", "call (%rd5), same, (%rd2); st.global.u8 [%rd5], 1;", "rwss"},
		{"recursion", "call (%rd5), again, (%rd2); st.global.u8 [%rd5], 1;", "rwss"},
		{"printf", "{.param .b64 p0; .param .b64 p1; .param .b32 q; call (q), vprintf, (p0, p1);}", "rrss"},
		{"bulk copy", "cp.async.bulk.global.shared::cta.bulk_group [%rd12], [sv], 16;", "rbss"},
		{"tensor store", "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd3, {%r1}], [sv];", "rrbs"},
		{"not known here", "frobnicate.global.u32 [%rd11];", "brss"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := head + ".extern .func ext();\n" +
				".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n" +
				`.func copy(.param .b64 to, .param .b64 from) { .reg .b64 %x<3>; .reg .b32 %v;
ld.param.b64 %x1, [to]; ld.param.b64 %x2, [from]; ld.u32 %v, [%x2]; st.u32 [%x1], %v; ret; }
.func (.param .b64 q) next(.param .b64 p) { .reg .b64 %x<3>;
ld.param.b64 %x1, [p]; add.s64 %x2, %x1, 8; st.param.b64 [q], %x2; ret; }
.func (.reg .b64 q) same(.reg .b64 p) { mov.b64 q, p; ret; }
.func (.reg .b64 q) again(.reg .b64 p) { call (q), again, (p); mov.b64 q, p; ret; }
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
` + registers + c.body + "\nret; }\n"
			r := Module(module(t, src))[0]
			if got := verdicts(r); got != c.want {
				t.Errorf("%s, want %s: %+v", got, c.want, r.Params)
			}
		})
	}
}

// In a module of 32-bit addresses a register of 32 bits holds one.
func TestShortAddresses(t *testing.T) {
	src := `.version 7.0
.target sm_70
.address_size 32
.visible .entry k(.param .u32 a, .param .u32 b, .param .u32 n) {
.reg .b32 %r<9>;
ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b]; ld.param.u32 %r3, [n]; cvta.to.global.u32 %r1, %r1;
shl.b32 %r4, %r3, 2; add.u32 %r5, %r2, %r4; ld.global.u32 %r6, [%r1]; st.global.u32 [%r5], %r6; ret; }
`
	if r := Module(module(t, src))[0]; verdicts(r) != "rws" || r.LoadsReadOnly != 1 {
		t.Errorf("%+v", r)
	}
}

// A structure is one parameter, whatever it holds; its numbers are no pointers.
func TestStructure(t *testing.T) {
	src := head + `.visible .entry k(.param .align 8 .b8 s[24], .param .u64 out) {
.reg .b64 %rd<9>; .reg .b32 %r<4>;
ld.param.u64 %rd1, [s]; ld.param.u64 %rd2, [s+8]; ld.param.u32 %r1, [s+16]; ld.param.u64 %rd3, [out];
mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd3, %rd4;
ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd5], %r2; %s
ret; }`
	for store, want := range map[string]string{"": "rw", "st.global.u32 [%rd2], 1;": "bw"} {
		r := Module(module(t, strings.Replace(src, "%s", store, 1)))[0]
		if got := verdicts(r); got != want || len(r.Params) != 2 {
			t.Errorf("%q: %s, want %s", store, got, want)
		}
	}
}

// What may get .nc: plain loads of read-only memory, and nothing else changes.
func TestRewrite(t *testing.T) {
	src := head + `.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
` + registers + `// ld.global.u32 in a comment
ld.global.u32 %r2, [%rd11]; ld.global.ca.v2.f32 {%f1,%f2}, [%rd11+8]; @%p1 ld /* .global */ .global .cg .u32 %r3,[%rd11];
ld.global.L1::evict_last.u32 %r2, [%rd11]; ld.global.nc.u32 %r2, [%rd11];
ld.volatile.global.u32 %r2, [%rd11]; ld.acquire.gpu.global.u32 %r2, [%rd11]; ld.relaxed.gpu.global.u32 %r2, [%rd11];
ld.global.cv.u32 %r2, [%rd11]; ld.global.lu.u32 %r2, [%rd11]; ld.weak.global.u32 %r2, [%rd11]; ld.u32 %r2, [%rd1];
ld.global.u32 %r2, [%rd12]; ld.global.u32 %r2, [gv]; st.global.u32 [%rd12], %r2;
ret; }
`
	want := strings.NewReplacer("\nld.global.u32 %r2, [%rd11]; ld.global.ca",
		"\nld.global.nc.u32 %r2, [%rd11]; ld.global.ca.nc", ".global .cg .u32", ".global .cg.nc .u32",
		"ld.global.L1", "ld.global.nc.L1").Replace(src)
	got := rewritten(t, []byte(src))
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
	if r := Module(module(t, src))[0]; r.Loads != 13 || r.LoadsReadOnly != 5 {
		t.Errorf("%d loads, %d read-only", r.Loads, r.LoadsReadOnly)
	}
	old := strings.Replace(src, "sm_80", "sm_20", 1)
	if _, err := Rewrite(module(t, old), []byte(old)); err == nil || !strings.Contains(err.Error(), "test.ptx:13: ") {
		t.Errorf("a module for sm_20: %v", err)
	}
}

// A function that kernels share keeps its load where one of them writes what it reads.
func TestRewriteShared(t *testing.T) {
	const text = `.func (.reg .b32 v) get(.reg .b64 p) { ld.global.u32 v, [p]; ret; }
.visible .entry k1(.param .u64 a) { .reg .b64 %rd<3>; .reg .b32 %r<3>;
ld.param.u64 %rd1, [a]; call (%r1), get, (%rd1); ret; }
.visible .entry k2(.param .u64 a) { .reg .b64 %rd<3>; .reg .b32 %r<3>;
ld.param.u64 %rd1, [a]; call (%r1), get, (%rd1); EXTRA ret; }
`
	for extra, want := range map[string]int{
		"": 1, "st.global.u32 [%rd1], 1;": 0, "call %rd2, (), P; P: .callprototype _ ();": 0,
	} {
		src := head + strings.Replace(text, "EXTRA", extra, 1)
		if n := bytes.Count(rewritten(t, []byte(src)), []byte(".nc")); n != want {
			t.Errorf("%q: %d loads rewritten, want %d", extra, n, want)
		}
	}
	visible := head + ".visible " + strings.Replace(text, "EXTRA", "", 1)
	if n := bytes.Count(rewritten(t, []byte(visible)), []byte(".nc")); n != 0 {
		t.Errorf("other modules may call the function, and %d of its loads are rewritten", n)
	}
}

// rewritten rewrites, and checks that doing so again changes nothing.
func rewritten(t testing.TB, src []byte) []byte {
	t.Helper()
	out, err := Rewrite(module(t, string(src)), src)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Rewrite(module(t, string(out)), out)
	if err != nil || !bytes.Equal(again, out) {
		t.Fatalf("rewriting twice differs (%v):\n%s\n%s", err, out, again)
	}
	if !bytes.Equal(bytes.ReplaceAll(out, []byte(".nc"), nil), bytes.ReplaceAll(src, []byte(".nc"), nil)) {
		t.Fatalf("more than .nc has changed:\n%s", out)
	}
	return out
}

// The verdicts on the applications, by hand where a name says so and by golden for all: a kernel
// that becomes less precise shows.
func TestApplications(t *testing.T) {
	files, err := filepath.Glob("../../apps/*/*/kernel.ptx")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d modules, %v", len(files), err)
	}
	var got strings.Builder
	all := map[string]string{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range Module(module(t, string(src))) {
			dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../../apps/")
			fmt.Fprintf(&got, "%s %s %s %d/%d\n", dir, r.Name, verdicts(r), r.LoadsReadOnly, r.Loads)
			all[r.Name] = verdicts(r)
		}
		rewritten(t, src)
	}
	for name, want := range map[string]string{
		"vecadd": "rrws", "triad": "wrrss", "matrixmul": "rrwss", "spmv_scalar": "rrrrws",
		"conv2d": "rwss", "lud_diagonal": "bss",
	} {
		if all[name] != want {
			t.Errorf("%s: %s, want %s", name, all[name], want)
		}
	}
	if *update {
		if err := os.WriteFile("testdata/apps.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/apps.txt")
	if err != nil || string(want) != got.String() {
		t.Errorf("%v: verdicts differ from testdata/apps.txt (-update writes it):\n%s", err, got.String())
	}
}

// FuzzRewrite: no module makes the analysis panic, and rewriting it again changes nothing.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte(head + ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {\n" +
		registers + "ld.global .ca.u32 %r2, [%rd11]; st.global.u32 [%rd12], %r2; L: bra L; }\n"))
	for _, name := range []string{"sdk-like/matrixmul", "lonestar-like/sssp", "micro/histogram"} {
		src, err := os.ReadFile("../../apps/" + name + "/kernel.ptx")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := parse.File("fuzz.ptx", src)
		if err != nil {
			return
		}
		if _, err := Rewrite(m, src); err == nil {
			rewritten(t, src)
		}
	})
}

// long is a kernel of n instructions that all hang together.
func long(n int) string {
	var body strings.Builder
	for range n / 4 {
		body.WriteString("mul.wide.u32 %rd4, %r1, 4; add.s64 %rd11, %rd11, %rd4; ld.global.u32 %r2, [%rd11];" +
			"add.u32 %r1, %r1, %r2;\n")
	}
	return head + ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {\n" + registers +
		body.String() + "}\n"
}

// The work grows with the instructions and no faster.
func TestLinear(t *testing.T) {
	looks := func(n int) int {
		m := module(t, long(n))
		s := newSolver(m, m.Funcs[0])
		s.solve()
		return s.looks
	}
	if a, b := looks(1000), looks(16000); a < 1000 || b > 17*a {
		t.Errorf("%d instructions looked at in a kernel of 1000, %d in one of 16000", a, b)
	}
}

// BenchmarkKernel: ns/inst stays the same as kernels grow.
func BenchmarkKernel(b *testing.B) {
	for _, n := range []int{1000, 4000, 16000} {
		m := module(b, long(n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Module(m)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/inst")
		})
	}
}
