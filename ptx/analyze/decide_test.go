package analyze

import (
	"maps"
	"slices"
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
		list, _ := Live(Build(function(t, c.body))).Deciders()
		for _, d := range list {
			got = append(got, d.Var.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.body, got, c.want)
		}
	}
}

// A decider is carried by a loop, loaded in it, or the time; what is in a loop is at one place, that of the outermost.
func TestDecidersAndPlaces(t *testing.T) {
	const body = "mov.u32 %r4, 0;\n" + // 0
		"L: ld.volatile.u32 %r1, [%rd1]; setp.ne.u32 %p2, %r1, 0; @%p2 bra E;\n" + // 1 to 3
		"mov.u32 %r2, %clock; add.u32 %r4, %r4, 1;\n" + // 4, 5
		"C: mov.u32 %r3, %clock; sub.u32 %r3, %r3, %r2; setp.lt.u32 %p1, %r3, 500; @%p1 bra C;\n" + // 6 to 9
		"setp.lt.u32 %p3, %r4, 99; @%p3 bra L;\n" + // 10, 11
		"E: ret;" // 12
	list, places := Live(Build(function(t, body))).Deciders()
	got := map[string]How{}
	for _, d := range list {
		got[d.Var.Name] = d.By
	}
	want := map[string]How{"%r1": Loaded, "%r2": Time, "%r3": Time, "%r4": Carried}
	if !maps.Equal(got, want) {
		t.Errorf("deciders %v, want %v", got, want)
	}
	if want := []int32{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 12}; !slices.Equal(places, want) {
		t.Errorf("places %v, want %v", places, want)
	}
}

// What decides only how long a loop takes that does nothing, inside of a loop that waits, is a delay: who backs off for
// a time of its own each time comes no nearer to the end. A loop that does something, or is by itself, is none.
func TestDelays(t *testing.T) {
	const poll, again = "L: xor.b32 %r2, %r2, 99; mov.u32 %r3, 0;\n",
		"ld.volatile.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; ret;"
	const count = "add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, %r2; @%p2 bra D;\n"
	for _, c := range []struct {
		name, body string
		want       map[string]How
	}{
		{"backs off", poll + "D: nanosleep.u32 20; " + count + again, map[string]How{
			"%r1": Loaded, "%r2": Delay, "%r3": Delay,
		}},
		{
			"until a time", poll + "D: mov.u32 %r3, %clock; setp.lt.u32 %p2, %r3, %r2; @%p2 bra D;\n" + again,
			map[string]How{"%r1": Loaded, "%r2": Delay, "%r3": Time},
		},
		{"stores", poll + "D: st.global.u32 [%rd2], %r3; " + count + again, map[string]How{
			"%r1": Loaded, "%r2": Carried, "%r3": Carried,
		}},
		{"sums up", poll + "D: add.u32 %r4, %r4, %r3; " + count + "st.global.u32 [%rd2], %r4; " + again, map[string]How{
			"%r1": Loaded, "%r2": Carried, "%r3": Carried,
		}},
		// as a compiler lays it out: the outer loop goes back from the middle of the inner one
		{
			"inside out", "P: ld.volatile.u32 %r1, [%rd1]; setp.ne.u32 %p1, %r1, 0; @%p1 bra E;\n" +
				"xor.b32 %r2, %r2, 99; and.b32 %r3, %r2, 63; setp.eq.u32 %p3, %r3, 0; @%p3 bra P;\n" +
				"D: nanosleep.u32 20; sub.u32 %r3, %r3, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra P; bra.uni D;\nE: ret;",
			map[string]How{"%r1": Loaded, "%r2": Delay, "%r3": Delay},
		},
		{"by itself", "mov.u32 %r3, 0; D: nanosleep.u32 20; " + count + "ret;", map[string]How{"%r3": Carried}},
		{
			"in a loop that counts", "L: add.u32 %r4, %r4, 1; mov.u32 %r3, 0;\n" +
				"D: nanosleep.u32 20; " + count + "setp.lt.u32 %p1, %r4, 9; @%p1 bra L; ret;",
			map[string]How{"%r4": Carried, "%r3": Delay},
		},
	} {
		list, _ := Live(Build(function(t, c.body))).Deciders()
		got := map[string]How{}
		for _, d := range list {
			got[d.Var.Name] = d.By
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
