package analyze

import (
	"strings"
	"testing"
)

// TestDeciders: what brings a loop nearer to its end, and nothing else.
func TestDeciders(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra L; ret;", "%r1"},
		// a counter that nothing asks for
		{"L: add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; bra L;", ""},
		{"L: add.u32 %r2, %r2, 1; ld.volatile.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; ret;", "%r1"},
		// asked for now and then, by a branch that stays in the loop
		{
			"L: add.u32 %r2, %r2, 1; and.b32 %r3, %r2, 7; setp.ne.u32 %p2, %r3, 0; @%p2 bra M; membar.gl;\n" +
				"M: ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; ret;", "%r1",
		},
		// that decides whether what ends the loop is written
		{
			"mov.u32 %r1, 0; L: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 99; @%p2 bra M; mov.u32 %r1, 1;\n" +
				"M: setp.eq.u32 %p1, %r1, 0; @%p1 bra L; ret;", "%r1 %r2",
		},
		// guarded ways out, selections, a walk through a list, the time, and a call
		{"L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @!%p1 exit; bra L;", "%r1"},
		{
			"L: setp.lt.u32 %p2, %r2, 7; selp.u32 %r1, %r1, %r3, %p2; add.u32 %r2, %r2, 1;\n" +
				"setp.lt.u32 %p1, %r1, 9; @%p1 bra L; ret;", "%r1 %r2",
		},
		{"L: ld.global.u64 %rd1, [%rd1]; setp.ne.u64 %p1, %rd1, 0; @%p1 bra L; ret;", "%rd1"},
		{"L: mov.u32 %r1, %clock; setp.lt.u32 %p1, %r1, 99999; @%p1 bra L; ret;", "%r1"},
		{"add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra L; ret; L: ret;", ""}, // no loop
	} {
		var got []string
		for _, d := range Live(Build(function(t, c.body))).Deciders() {
			got = append(got, d.Var.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.body, got, c.want)
		}
	}
}
