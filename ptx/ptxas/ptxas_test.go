package ptxas

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// assembled is the machine code of a function with a body, an op a line: how many instructions, what, of which
// instruction, and what it waits for.
func assembled(t *testing.T, body string) []string {
	t.Helper()
	m, err := parse.File("t.ptx", []byte(`.version 7.0
.target sm_70
.address_size 64
.func f(.reg .b64 %g, .reg .b32 %n) {
	.reg .pred %p<9>;
	.reg .b32 %r<40>;
	.reg .f32 %f<40>;
	.reg .f64 %d<9>;
	.reg .b64 %rd<40>;
	.shared .align 4 .b8 s[256];
`+body+`
	ret;
}`))
	if err != nil {
		t.Fatal(err)
	}
	g := analyze.Build(m.Func("f"))
	r := Assemble(Input{
		Graph: g, Spans: analyze.Live(g).Spans(), Shared: func(*parse.Var) int64 { return 512 },
		Together: func(i int) bool { return g.Func.Instrs[i].Op == "bar" },
	})
	var out []string
	for _, o := range r.Ops {
		text := g.Func.Instrs[o.Of].Text
		if o.Marks&isa.Vanishes != 0 || strings.HasPrefix(text, "ret") {
			continue
		}
		line := fmt.Sprintf("%d ", o.Times)
		if o.Made != Itself {
			line += [...]string{"", "sum ", "product ", "bits "}[o.Made]
		}
		if o.Width > 0 {
			line += fmt.Sprintf("%d bytes from %d before: ", o.Width, o.Back)
		}
		if o.Marks&isa.Elected != 0 {
			line += "elected "
		}
		line += strings.TrimSuffix(text, ";") + " <-"
		for _, v := range o.Reads {
			line += " " + v.Name
		}
		out = append(out, line)
	}
	return out
}

// Each rule has a case: what a function becomes.
func TestRules(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{
			"moves, constants and conversions of addresses vanish, and users wait for what they come from",
			"mov.u32 %r1, %n; mov.b32 %r2, 7; add.s32 %r3, %r1, %r2; cvta.to.global.u64 %rd1, %g; " +
				"st.global.u32 [%rd1], %r3;",
			"1 add.s32 %r3, %r1, %r2 <- %n\n1 st.global.u32 [%rd1], %r3 <- %g %r3",
		},
		{
			"a constant that is stored needs a register",
			"mov.b32 %r2, 7; st.global.u32 [%g], %r2;",
			"1 mov.b32 %r2, 7 <-\n1 st.global.u32 [%g], %r2 <- %g %r2",
		},
		{
			"what nobody uses is not computed, but loaded",
			"ld.global.u32 %r1, [%g]; add.s32 %r2, %r1, 1; ld.volatile.global.u32 %r3, [%g];",
			"1 ld.global.u32 %r1, [%g] <- %g\n1 ld.volatile.global.u32 %r3, [%g] <- %g",
		},
		{
			"a constant that is added to an address is the access's",
			"add.s64 %rd1, %g, 64; st.global.u32 [%rd1+4], %n; st.global.u32 [%rd1], %n;",
			"1 st.global.u32 [%rd1+4], %n <- %g %n\n1 st.global.u32 [%rd1], %n <- %g %n",
		},
		{
			"but not where it is a value, too",
			"add.s64 %rd1, %g, 64; st.global.u64 [%rd1], %rd1;",
			"2 add.s64 %rd1, %g, 64 <- %g\n1 st.global.u64 [%rd1], %rd1 <- %rd1",
		},
		{
			"an index times the size of an element, and a base, are one instruction",
			"mul.wide.s32 %rd1, %n, 4; add.s64 %rd2, %g, %rd1; st.global.u32 [%rd2], %n;",
			"1 product add.s64 %rd2, %g, %rd1 <- %g %n\n1 st.global.u32 [%rd2], %n <- %rd2 %n",
		},
		{
			"so is a shifted index of 32 bits",
			"cvt.s64.s32 %rd1, %n; shl.b64 %rd2, %rd1, 2; add.s64 %rd3, %g, %rd2; st.global.u32 [%rd3], %n;",
			"1 product add.s64 %rd3, %g, %rd2 <- %g %n\n1 st.global.u32 [%rd3], %n <- %rd3 %n",
		},
		{
			"one of 64 bits is shifted and added by two",
			"ld.global.u64 %rd1, [%g]; shl.b64 %rd2, %rd1, 2; add.s64 %rd3, %g, %rd2; st.global.u32 [%rd3], %n;",
			"1 ld.global.u64 %rd1, [%g] <- %g\n2 add.s64 %rd3, %g, %rd2 <- %g %rd1\n" +
				"1 st.global.u32 [%rd3], %n <- %rd3 %n",
		},
		{
			"a product that is added, a sum of three",
			"mul.lo.s32 %r1, %n, %n; add.s32 %r2, %r1, %n; add.s32 %r3, %n, 1; add.s32 %r4, %r3, %r2; " +
				"st.global.u32 [%g], %r4;",
			"1 product add.s32 %r2, %r1, %n <- %n\n1 add.s32 %r4, %r3, %r2 <- %n %r2\n" +
				"1 st.global.u32 [%g], %r4 <- %g %r4",
		},
		{
			"logic of three, and a comparison of logic with zero",
			"and.b32 %r1, %n, 3; or.b32 %r2, %r1, %n; xor.b32 %r3, %r2, 5; setp.eq.s32 %p1, %r3, 0; " +
				"@%p1 st.global.u32 [%g], %n;",
			"1 or.b32 %r2, %r1, %n <- %n\n1 setp.eq.s32 %p1, %r3, 0 <- %r2\n1 @%p1 st.global.u32 [%g], %n <- %p1 %g %n",
		},
		{
			"predicates that are joined with a comparison",
			"setp.lt.s32 %p1, %n, 5; setp.gt.s32 %p2, %n, 1; and.pred %p3, %p1, %p2; @%p3 st.global.u32 [%g], %n;",
			"1 setp.lt.s32 %p1, %n, 5 <- %n\n1 setp.gt.s32 %p2, %n, 1 <- %n\n" +
				"1 @%p3 st.global.u32 [%g], %n <- %p1 %p2 %g %n",
		},
		{
			"sequences",
			"cvt.rn.f32.s32 %f1, %n; div.rn.f32 %f2, %f1, %f1; sqrt.rn.f32 %f3, %f2; ex2.approx.f32 %f4, %f3; " +
				"ex2.approx.ftz.f32 %f5, %f4; st.global.f32 [%g], %f5;",
			"1 cvt.rn.f32.s32 %f1, %n <- %n\n10 div.rn.f32 %f2, %f1, %f1 <- %f1\n10 sqrt.rn.f32 %f3, %f2 <- %f2\n" +
				"4 ex2.approx.f32 %f4, %f3 <- %f3\n1 ex2.approx.ftz.f32 %f5, %f4 <- %f4\n" +
				"1 st.global.f32 [%g], %f5 <- %g %f5",
		},
		{
			"a second division by the same finds the reciprocal",
			"div.u32 %r1, 9, %n; rem.u32 %r2, 11, %n; st.global.v2.u32 [%g], {%r1, %r2};",
			"19 div.u32 %r1, 9, %n <- %n\n9 rem.u32 %r2, 11, %n <- %n\n" +
				"1 st.global.v2.u32 [%g], {%r1, %r2} <- %g %r1 %r2",
		},
		{
			"64-bit integers are pairs",
			"ld.global.u64 %rd1, [%g]; add.s64 %rd2, %rd1, %g; mul.lo.s64 %rd3, %rd2, %rd1; " +
				"setp.lt.s64 %p1, %rd3, %rd1; selp.b64 %rd4, %rd3, %rd1, %p1; st.global.u64 [%g], %rd4;",
			"1 ld.global.u64 %rd1, [%g] <- %g\n2 add.s64 %rd2, %rd1, %g <- %rd1 %g\n" +
				"4 mul.lo.s64 %rd3, %rd2, %rd1 <- %rd2 %rd1\n2 setp.lt.s64 %p1, %rd3, %rd1 <- %rd3 %rd1\n" +
				"2 selp.b64 %rd4, %rd3, %rd1, %p1 <- %rd3 %rd1 %p1\n" +
				"1 st.global.u64 [%g], %rd4 <- %g %rd4",
		},
		{
			"but addresses of shared memory are not",
			"mul.wide.u32 %rd1, %n, 4; mov.u64 %rd2, s; add.s64 %rd3, %rd2, %rd1; add.s64 %rd4, %rd3, %rd1; " +
				"st.shared.u32 [%rd4], %n;",
			"2 mov.u64 %rd2, s <-\n1 product add.s64 %rd3, %rd2, %rd1 <- %rd2 %n\n" +
				"1 product add.s64 %rd4, %rd3, %rd1 <- %rd3 %n\n1 st.shared.u32 [%rd4], %n <- %rd4 %n",
		},
	} {
		if got := strings.Join(assembled(t, strings.ReplaceAll(c.body, "; ", ";\n")), "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// Branches that only skip another vanish, and lanes that part are brought together.
func TestFlow(t *testing.T) {
	got := strings.Join(assembled(t, `	mov.u32 %r1, %tid.x;
	setp.lt.s32 %p1, %r1, 5;
	@%p1 bra A;
	bra.uni B;
A:
	st.global.u32 [%g], %r1;
B:
	st.global.u32 [%g], %n;`), "\n")
	want := `1 mov.u32 %r1, %tid.x <-
1 setp.lt.s32 %p1, %r1, 5 <- %r1
1 @%p1 bra A <- %p1
1 st.global.u32 [%g], %r1 <- %g %r1
2 bits st.global.u32 [%g], %n <-
1 st.global.u32 [%g], %n <- %g %n`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Loads of neighbours in shared memory are one where their place is known; across a store they are not.
func TestVectors(t *testing.T) {
	load := "ld.shared.f32 %f1, [s+8]; ld.shared.f32 %f2, [s]; ld.shared.f32 %f3, [s+4]; ld.shared.f32 %f4, [s+12]; "
	use := "add.f32 %f5, %f1, %f2; add.f32 %f6, %f3, %f4; st.global.v2.f32 [%g], {%f5, %f6};"
	tail := "\n1 add.f32 %f5, %f1, %f2 <- %f1 %f2\n1 add.f32 %f6, %f3, %f4 <- %f3 %f4\n" +
		"1 st.global.v2.f32 [%g], {%f5, %f6} <- %g %f5 %f6"
	for _, c := range []struct{ name, body, want string }{
		{"four", load + use, "1 16 bytes from 8 before: ld.shared.f32 %f1, [s+8] <-" + tail},
		{
			"two and two", strings.Replace(load, "[s+12]; ", "[s+16]; ", 1) + use,
			"1 ld.shared.f32 %f1, [s+8] <-\n1 8 bytes from 0 before: ld.shared.f32 %f2, [s] <-\n" +
				"1 ld.shared.f32 %f4, [s+16] <-" + tail,
		},
		{
			"a store between", "ld.shared.f32 %f1, [s]; st.shared.u32 [s+64], %n; ld.shared.f32 %f2, [s+4]; " +
				"add.f32 %f3, %f1, %f2; st.global.f32 [%g], %f3;",
			"1 ld.shared.f32 %f1, [s] <-\n1 st.shared.u32 [s+64], %n <- %n\n1 ld.shared.f32 %f2, [s+4] <-\n" +
				"1 add.f32 %f3, %f1, %f2 <- %f1 %f2\n1 st.global.f32 [%g], %f3 <- %g %f3",
		},
		{
			"a place that is a multiple of 8",
			"mul.wide.u32 %rd1, %n, 8; mov.u64 %rd2, s; add.s64 %rd3, %rd2, %rd1; ld.shared.f32 %f1, [%rd3]; " +
				"ld.shared.f32 %f2, [%rd3+4]; add.f32 %f3, %f1, %f2; st.global.f32 [%g], %f3;",
			"2 mov.u64 %rd2, s <-\n1 product add.s64 %rd3, %rd2, %rd1 <- %rd2 %n\n" +
				"1 8 bytes from 0 before: ld.shared.f32 %f1, [%rd3] <- %rd3\n1 add.f32 %f3, %f1, %f2 <- %f1 %f2\n" +
				"1 st.global.f32 [%g], %f3 <- %g %f3",
		},
	} {
		if got := strings.Join(assembled(t, strings.ReplaceAll(c.body, "; ", ";\n")), "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// Loads go before what does not need them, with their addresses, but never past what they wait for or a write.
func TestLoadsGoFirst(t *testing.T) {
	got := strings.Join(assembled(t, `	ld.global.f32 %f1, [%g];
	add.f32 %f2, %f1, %f1;
	add.s64 %rd1, %g, %g;
	ld.global.f32 %f3, [%rd1];
	add.f32 %f4, %f2, %f3;
	st.global.f32 [%g], %f4;
	ld.global.f32 %f5, [%g];
	st.global.f32 [%g+4], %f5;`), "\n")
	want := `1 ld.global.f32 %f1, [%g] <- %g
2 add.s64 %rd1, %g, %g <- %g
1 ld.global.f32 %f3, [%rd1] <- %rd1
1 add.f32 %f2, %f1, %f1 <- %f1
1 add.f32 %f4, %f2, %f3 <- %f2 %f3
1 st.global.f32 [%g], %f4 <- %g %f4
1 ld.global.f32 %f5, [%g] <- %g
1 st.global.f32 [%g+4], %f5 <- %g %f5`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Loads of global memory go before stores to shared memory, which then issue late; those of shared memory do not.
func TestLoadsGoBeforeSharedStores(t *testing.T) {
	got := strings.Join(assembled(t, `	ld.global.f32 %f1, [%g];
	st.shared.f32 [s], %f1;
	ld.global.f32 %f2, [%g+4];
	st.shared.f32 [s+4], %f2;
	ld.shared.f32 %f3, [s+8];
	ld.global.f32 %f4, [%g+8];
	add.f32 %f5, %f3, %f4;
	st.global.f32 [%g], %f5;`), "\n")
	want := `1 ld.global.f32 %f1, [%g] <- %g
1 ld.global.f32 %f2, [%g+4] <- %g
1 st.shared.f32 [s], %f1 <- %f1
1 st.shared.f32 [s+4], %f2 <- %f2
1 ld.shared.f32 %f3, [s+8] <-
1 ld.global.f32 %f4, [%g+8] <- %g
1 add.f32 %f5, %f3, %f4 <- %f3 %f4
1 st.global.f32 [%g], %f5 <- %g %f5`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// An addition to one address of all lanes is one request; to addresses that differ, or of floats, it is none.
func TestElected(t *testing.T) {
	got := strings.Join(assembled(t, `	mov.u32 %r1, %tid.x;
	red.global.add.u32 [%g], 1;
	atom.global.add.u32 %r2, [%g], %n;
	red.global.add.u32 [%g], %r1;
	mul.wide.u32 %rd1, %r1, 4;
	add.s64 %rd2, %g, %rd1;
	red.global.add.u32 [%rd2], %r2;`), "\n")
	want := `1 mov.u32 %r1, %tid.x <-
6 bits red.global.add.u32 [%g], 1 <-
1 elected red.global.add.u32 [%g], 1 <- %g
10 bits atom.global.add.u32 %r2, [%g], %n <-
1 elected atom.global.add.u32 %r2, [%g], %n <- %g %n
1 red.global.add.u32 [%g], %r1 <- %g %r1
1 product add.s64 %rd2, %g, %rd1 <- %g %r1
1 red.global.add.u32 [%rd2], %r2 <- %rd2 %r2`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
