package analyze

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/ptx/parse"
)

func function(t testing.TB, body string) *parse.Func {
	t.Helper()
	m, err := parse.File("t.ptx",
		[]byte(".version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n{\n.reg .pred %p<4>;\n.reg .b32 "+
			"%r<9>;\n.reg .b64 %rd<4>;\n"+body+"\n}"))
	if err != nil {
		t.Fatal(err)
	}
	return m.Func("k")
}

// TestReconvergence: the branch of a diamond meets at its join, that of a loop at the
// loop's exit, one that returns on a side nowhere.
func TestReconvergence(t *testing.T) {
	f := function(t, `
	@%p1 bra A;
	mov.u32 %r1, 1;
	bra B;
A:	mov.u32 %r1, 2;
B:	add.u32 %r2, %r1, 1;
L:	add.u32 %r2, %r2, 1;
	@%p2 bra L;
	@%p3 bra C;
	ret;
C:	mov.u32 %r3, 1;
	ret;`)
	g := Build(f)
	for i, want := range map[int]int{0: 4, 6: 7, 7: -1} {
		if got := g.Reconverge(i); got != want {
			t.Errorf("%s reconverges at %d, want %d", f.Instrs[i].Text, got, want)
		}
	}
}

// randomBody makes n blocks that branch anywhere.
func randomBody(r *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "L%d: add.u32 %%r%d, %%r%d, %%r%d;\n", i, r.IntN(9), r.IntN(9), r.IntN(9))
		switch r.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "@%%p1 bra L%d;\n", r.IntN(n))
		case 1:
			fmt.Fprintf(&b, "bra L%d;\n", r.IntN(n))
		case 2:
			fmt.Fprintf(&b, "@%%p2 ret;\n")
		}
	}
	return b.String() + "ret;"
}

// TestPostDominators compares with the definition: d post-dominates b when b cannot
// reach the exit without d; the immediate one is the nearest.
func TestPostDominators(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		g := Build(function(t, randomBody(r, 2+r.IntN(10))))
		n := len(g.Blocks)
		reaches := func(b, without int) bool { // can b reach the exit avoiding a block?
			seen := make([]bool, n)
			work := []int{b}
			for len(work) > 0 {
				x := work[len(work)-1]
				work = work[:len(work)-1]
				if x == without || seen[x] {
					continue
				}
				seen[x] = true
				if g.leaves(x) == returns {
					return true
				}
				work = append(work, g.Blocks[x].Succ...)
			}
			return false
		}
		for b := range n {
			if !reaches(b, -1) {
				continue // endless: its post-dominators are by convention
			}
			d := g.IPDom[b]
			for x := range n {
				dominates := x != b && reaches(x, -1) && !reaches(b, x)
				if d == n && dominates {
					t.Fatalf("block %d is post-dominated by %d but has none", b, x)
				}
				if d < n && dominates && x != d && reaches(d, x) {
					t.Fatalf("block %d: %d is nearer than %d", b, x, d)
				}
			}
			if d < n && reaches(b, d) {
				t.Fatalf("block %d reaches the exit without %d", b, d)
			}
		}
	}
}

// TestSpans: registers that are live together never have disjoint spans.
func TestSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for range 200 {
		g := Build(function(t, randomBody(r, 2+r.IntN(10))))
		l := liveDense(g)
		spans := Live(g).Spans()
		for b, blk := range g.Blocks {
			for x := range g.Func.Regs {
				if l.In[b].Has(x) && (spans[x].First > blk.First || spans[x].Last < blk.First) {
					t.Fatalf("register %d is live into block %d outside its span %v", x, b, spans[x])
				}
				if l.Out[b].Has(x) && (spans[x].First > blk.Last || spans[x].Last < blk.Last) {
					t.Fatalf("register %d is live out of block %d outside its span %v", x, b, spans[x])
				}
			}
		}
	}
}

// TestLiveness: spans, pressure and registers read behind writes are those of the analysis
// with full sets.
func TestLiveness(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 500 {
		f := function(t, guarded(r, randomBody(r, 2+r.IntN(12))))
		if r.IntN(3) == 0 { // some registers are results
			f.Results = append(f.Results, f.Regs[4+r.IntN(9)])
		}
		g := Build(f)
		got, want := Live(g), liveDense(g)
		if !reflect.DeepEqual(got.Spans(), want.Spans()) || !reflect.DeepEqual(got.Pressure, want.Pressure) ||
			got.MaxRegs != want.MaxRegs {
			t.Fatalf("spans %v, want %v; pressure %v, want %v; %d registers, want %d", got.Spans(), want.Spans(),
				got.Pressure, want.Pressure, got.MaxRegs, want.MaxRegs)
		}
		a, b := g.ReadBehindWrites(), readBehindDense(g)
		for id := range f.Regs {
			if a.Has(id) != b.Has(id) {
				t.Fatalf("register %d: %v, want %v", id, a.Has(id), b.Has(id))
			}
		}
	}
}

// guarded puts guards before some of the sums.
func guarded(r *rand.Rand, body string) string {
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		if at := strings.Index(l, "add"); at >= 0 && r.IntN(3) == 0 {
			lines[i] = l[:at] + "@%p3 " + l[at:] + " @!%p1 add.u64 %rd1, %rd2, %rd1;"
		}
	}
	return strings.Join(lines, "\n")
}

// TestReadBehindWrites: a value that no instruction of its block waits for may still be
// on its way anywhere.
func TestReadBehindWrites(t *testing.T) {
	f := function(t, `
	ld.global.u32 %r1, [%rd1];
	add.u32 %r2, %r1, 1;
	ld.global.u32 %r3, [%rd1+4];
	ld.global.u32 %r4, [%rd1+8];
	@%p1 bra A;
	add.u32 %r5, %r4, %r2;
	st.global.u32 [%rd1], %r5;
	add.u32 %r6, %r5, 1;
	mov.u32 %r6, 2;
A:	@%p2 add.u32 %r7, %r7, 1;
	@%p2 st.global.u32 [%rd1], %r7;
	ret;`)
	ok := Build(f).ReadBehindWrites()
	want := map[string]bool{
		"%r1": true,  // read at once
		"%r2": false, // in another block
		"%r3": false, // nowhere
		"%r4": false, // on one side
		"%r5": true,
		"%r6": false,
		"%r7": true, // a guarded read waits whatever the guard says
		"%p1": true, // not written
	}
	for _, v := range f.Regs {
		if w, there := want[v.Name]; there && ok.Has(v.ID) != w {
			t.Errorf("%s: %v, want %v", v.Name, ok.Has(v.ID), w)
		}
	}
}

func TestPressure(t *testing.T) {
	f := function(t, `
	mov.u32 %r1, 1;
	mov.u32 %r2, 2;
	mov.u64 %rd1, 3;
	add.u32 %r3, %r1, %r2;
	cvt.u64.u32 %rd2, %r3;
	add.u64 %rd3, %rd1, %rd2;
	st.global.u64 [%rd3], %rd1;
	ret;`)
	l := Live(Build(f))
	// after the third move r1, r2 (1 each) and rd1 (2) are live; after the sum rd1 and
	// rd3; cvt: rd1, rd2; the largest is 4
	if l.MaxRegs != 4 {
		t.Errorf("%d registers, want 4: %v", l.MaxRegs, l.Pressure)
	}
	f = function(t, "mov.u32 %r1, 1;\n@%p1 mov.u32 %r1, 2;\nst.global.u32 [%rd1], %r1;\nret;")
	spans := Live(Build(f)).Spans()
	for id, v := range f.Regs {
		if v.Name == "%r1" && spans[id] != (Span{0, 2}) {
			t.Errorf("%%r1 %v: a guarded write keeps the old value alive", spans[id])
		}
		if (v.Name == "%p1" || v.Name == "%rd1") && spans[id].First != -1 {
			t.Errorf("%s is read before it is written: %v", v.Name, spans[id])
		}
	}
}

func TestSpins(t *testing.T) {
	for body, want := range map[string]bool{
		"L: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra L; ret;":                   true,
		"L: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; ret;":                      true,
		"L: ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L; ret;":                               false,
		"L: atom.global.add.u32 %r1, [%rd1], 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9; @%p1 bra L; ret;": false,
		"L: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra D; bra L; D: ret;":         true,
	} {
		f := function(t, body)
		got := false
		for _, s := range Build(f).Spins() {
			got = got || s
		}
		if got != want {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
}

func TestSummary(t *testing.T) {
	s := Summarize(function(t, "@%p1 bra A;\nadd.u32 %r1, %r1, 1;\nA: add.u32 %r1, %r1, 2;\nret;"))
	if len(s.Blocks) != 3 || len(s.Branches) != 1 || s.Branches[0].Reconverge != 11 ||
		s.Forms[0] != (FormCount{"add.u32", 2}) || s.Instructions != 4 {
		t.Errorf("%+v", s)
	}
}

// BenchmarkLive: the cost per instruction must not grow with the function.
func BenchmarkLive(b *testing.B) {
	for _, blocks := range []int{500, 5000} {
		var body strings.Builder
		fmt.Fprintf(&body, ".reg .b32 %%v<%d>;\n", 8*blocks+1)
		for i := range blocks {
			for k := range 8 {
				fmt.Fprintf(&body, "add.u32 %%v%d, %%v%d, %%v%d;\n", 8*i+k+1, 8*i+k, max(0, 8*i+k-60))
			}
			fmt.Fprintf(&body, "@%%p1 bra L%d;\nadd.u32 %%r1, %%r1, 1;\nL%d:\n", i, i)
		}
		f := function(b, body.String()+"ret;")
		b.Run(fmt.Sprint(len(f.Instrs)), func(b *testing.B) {
			for b.Loop() {
				g := Build(f)
				Live(g)
				g.Spins()
				g.ReadBehindWrites()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(f.Instrs)), "ns/instruction")
		})
	}
}
