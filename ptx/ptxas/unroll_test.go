package ptxas

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// sum is a loop over a row of words, with a line more in its body.
func sum(more string) string {
	return `.version 7.0
.target sm_70
.address_size 64
.global .f32 words[64];
.entry k(.param .u64 a, .param .u32 n) {
	.reg .pred %p<9>;
	.reg .b32 %r<40>;
	.reg .f32 %f<40>;
	.reg .b64 %rd<40>;
	ld.param.u64 %rd1, [a];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, 0;
	mov.f32 %f1, 0f00000000;
Loop:
` + more + `
	ld.global.f32 %f2, [%rd1];
	add.f32 %f1, %f1, %f2;
	add.s64 %rd1, %rd1, 128;
	add.s32 %r2, %r2, 32;
	setp.lt.s32 %p1, %r2, %r1;
	@%p1 bra Loop;
	st.global.f32 [%rd1], %f1;
	ret;
}`
}

func unroll(t *testing.T, text string) (from, to *parse.Func) {
	t.Helper()
	m, err := parse.File("t.ptx", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	from = m.Func("k")
	return from, Unroll(analyze.Build(from))
}

// Four turns load from four addresses into four registers, in one block, and count once.
func TestUnroll(t *testing.T) {
	_, to := unroll(t, sum(""))
	g := analyze.Build(to)
	var offsets []int64
	targets := map[*parse.Var]bool{}
	for _, b := range g.Blocks {
		n := 0
		for i := b.First; i <= b.Last; i++ {
			if in := to.Instrs[i]; in.Op == "ld" && in.Has("global") {
				offsets = append(offsets, in.Args[1].Off)
				targets[in.Args[0].Var] = true
				n++
			}
		}
		if size := b.Last - b.First + 1; n == 4 && size != 4*2+2+2 {
			t.Errorf("four turns take %d instructions, want four loads and additions, two counts, test and branch",
				size)
		}
	}
	if want := []int64{0, 128, 256, 384, 0}; len(offsets) != 5 || len(targets) != 4 {
		t.Errorf("loads from %d into %d registers, want %d into 4", offsets, len(targets), want)
	} else {
		for i := range want {
			if offsets[i] != want[i] {
				t.Errorf("loads from %d, want %d", offsets, want)
				break
			}
		}
	}
}

// What must stay as it is: a loop that asks for it, a long one, and those in which an instruction waits, reads what
// changes by itself, or ends the loop in another way.
func TestKeptLoops(t *testing.T) {
	for name, text := range map[string]string{
		"pragma":   sum(`.pragma "nounroll";`),
		"long":     sum(strings.Repeat("add.s32 %r3, %r2, 1;\n", 20)),
		"barrier":  sum("bar.sync 0;"),
		"volatile": sum("ld.volatile.global.u32 %r3, [%rd1];"),
		"clock":    sum("mov.u32 %r3, %clock;"),
		"shuffle":  sum("shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;"),
		"atomic":   sum("atom.global.add.u32 %r3, [%rd1], 1;"),
		"exit":     sum("setp.eq.s32 %p2, %r2, 7;\n@%p2 bra Out;\n"),
		"bound":    sum("add.s32 %r1, %r1, 1;"),
		"counter":  sum("xor.b32 %r2, %r2, 5;"),
		"index":    sum("st.global.f32 [words[%r2]], %f1;"),
	} {
		text = strings.Replace(text, "st.global.f32 [%rd1], %f1;", "Out: st.global.f32 [%rd1], %f1;", 1)
		if from, to := unroll(t, text); from != to {
			t.Errorf("%s: unrolled", name)
		}
	}
}
