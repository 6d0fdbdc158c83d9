package readonly_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/ptx/parse"
	"github.com/heddle-sim/heddle/ptx/readonly"
)

// module of random programs: what readonly_test.go's begin with.
const head = `.version 7.8
.target sm_80
.address_size 64
.global .align 8 .b64 gv[4];
.const .align 8 .b64 cv[4];
.shared .align 8 .b8 sv[64];
`

func module(t testing.TB, src string) *parse.Module {
	t.Helper()
	m, err := parse.File("test.ptx", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return m
}

// observed tells the regions that a grid writes.
type observed struct {
	isa.Grid
	space   *mem.Space
	written map[*mem.Region]bool
	marked  map[*mem.Region]bool // read by loads marked as read-only
}

func (g *observed) Start(cta int, at isa.Place) isa.CTA {
	return &observedCTA{g.Grid.Start(cta, at), g}
}

type observedCTA struct {
	isa.CTA
	g *observed
}

func (c *observedCTA) Step(w int, now uint64, s *isa.Step) error {
	in := &c.g.Code().Instr[c.PC(w)]
	err := c.CTA.Step(w, now, s)
	at := c.g.written
	switch {
	case err != nil || s.Space != isa.Global:
		return err
	case in.Kind == isa.Load && in.Cache == isa.CacheReadOnly:
		at = c.g.marked
	case in.Kind == isa.Load:
		return nil
	}
	for lane := range isa.Lanes {
		if s.Mask>>lane&1 != 0 {
			at[c.g.space.Find(s.Addr[lane])] = true
		}
	}
	return nil
}

// The pointers of a random program: each of these registers always holds the address of something
// in one of the buffers.
const (
	rndParams   = 6
	rndPointers = 8
	rndBytes    = 1 << 14
)

// randomModule is a kernel that moves pointers in every way a compiler or a person may, and at
// times reads or writes through one.
func randomModule(rng *rand.Rand) string {
	var w strings.Builder
	w.WriteString(head + `.func (.reg .b64 q) same(.reg .b64 p) { mov.b64 q, p; ret; }
.func (.param .b64 q) pick(.param .b64 p, .param .b64 o) { .reg .b64 %x<3>; .reg .pred %s;
ld.param.b64 %x1, [p]; ld.param.b64 %x2, [o]; setp.lt.u64 %s, %x1, %x2; @%s mov.b64 %x1, %x2;
st.param.b64 [q], %x1; ret; }
.visible .entry k(.param .u64 a0, .param .u64 a1, .param .u64 a2, .param .u64 a3, .param .u64 a4, .param .u64 a5) {
.reg .pred %c<9>; .reg .b32 %r<10>; .reg .b64 %p<9>, %t<9>; .reg .f64 %d;
.local .align 8 .b8 lv[64];
mov.u32 %r1, 0;
`)
	for i := range rndPointers {
		fmt.Fprintf(&w, "ld.param.u64 %%p%d, [a%d];\n", i, rng.IntN(rndParams))
		if rng.IntN(2) == 0 {
			fmt.Fprintf(&w, "cvta.to.global.u64 %%p%d, %%p%d;\n", i, i)
		}
		fmt.Fprintf(&w, "setp.eq.u32 %%c%d, %%r1, %d;\n", i, rng.IntN(2))
		fmt.Fprintf(&w, "st.shared.u64 [sv+%d], %%p%d; st.local.u64 [lv+%d], %%p%d;\n", 8*i, rng.IntN(i+1), 8*i,
			rng.IntN(i+1))
	}
	n := 4 + rng.IntN(20)
	for i := range n {
		randomStep(&w, rng, i)
	}
	w.WriteString("ret;\n}\n")
	return w.String()
}

// The ways to move the pointers B and C to A; S is a slot, K a small number, G a guard, L a label.
var moves = []string{
	"mov.u64 %pA, %pB;",
	"@%cG mov.u64 %pA, %pB;",
	"selp.b64 %pA, %pB, %pC, %cG;",
	"add.s64 %pA, %pB, K;",
	"max.u64 %pA, %pB, %pC;",
	"sub.s64 %t1, %pB, %pC; add.s64 %pA, %pC, %t1;",
	"sub.s64 %t1, %pB, %pC; neg.s64 %t1, %t1; sub.s64 %pA, %pC, %t1;",
	"xor.b64 %t8, %pB, %pC; xor.b64 %pA, %t8, %pC;",
	"not.b64 %t1, %pB; not.b64 %pA, %t1;",
	"mov.b64 {%r2, %r3}, %pB; mov.b64 %pA, {%r2, %r3};",
	"mov.b64 {%r2, %r3}, %pB; mov.b64 {%r4, %r5}, %pC; selp.b32 %r2, %r2, %r4, %cG; selp.b32 %r3, %r3, %r5, %cG;" +
		"mov.b64 %pA, {%r2, %r3};",
	"cvt.u32.u64 %r2, %pB; shr.u64 %t1, %pB, 32; shl.b64 %t1, %t1, 32; cvt.u64.u32 %t2, %r2; or.b64 %pA, %t1, %t2;",
	"cvt.u32.u64 %r2, %pB; shr.u64 %t1, %pB, 32; cvt.u64.u32 %t2, %r2; bfi.b64 %pA, %t1, %t2, 32, 32;",
	"mov.b64 {%r2, %r3}, %pB; mul.wide.u32 %t1, %r3, 65536; mul.lo.s64 %t1, %t1, 65536; cvt.u64.u32 %t2, %r2;" +
		"add.s64 %pA, %t1, %t2;",
	"and.b64 %pA, %pB, -8;",
	"shl.b64 %t1, %pB, 1; shr.u64 %pA, %t1, 1;",
	"mul.lo.s64 %t1, %pB, 3; mul.lo.s64 %t2, %pB, 2; sub.s64 %pA, %t1, %t2;",
	"mov.b64 %d, %pB; mov.b64 %pA, %d;",
	"selp.b64 %t1, 1, 0, %cG; sub.s64 %t2, %pB, %pC; mad.lo.s64 %pA, %t1, %t2, %pC;",
	"st.local.u64 [lv+S], %pB;", "ld.local.u64 %pA, [lv+S];",
	"st.shared.u64 [sv+S], %pB;", "ld.shared.u64 %pA, [sv+S];",
	"mov.b64 {%r2, %r3}, %pB; st.shared.v2.u32 [sv+S], {%r2, %r3};",
	"mov.u64 %t3, lv; cvta.local.u64 %t3, %t3; st.u64 [%t3+S], %pB; ld.u64 %pA, [%t3+S];",
	"mov.u32 %r9, sv; cvt.u64.u32 %t4, %r9; cvta.shared.u64 %t4, %t4; st.u64 [%t4+S], %pB; ld.u64 %pA, [%t4+S];",
	"atom.shared.exch.b64 %pA, [sv+S], %pB;",
	"call (%pA), same, (%pB);",
	"{.param .b64 x; .param .b64 y; .param .b64 z; st.param.b64 [x], %pB; st.param.b64 [y], %pC;" +
		"call (z), pick, (x, y); ld.param.b64 %pA, [z];}",
	"mov.b64 %t5, aP; ld.param.u64 %pA, [%t5];",
	"ld.global.u32 %r8, [%pB]; and.b32 %r8, %r8, 7; mul.wide.u32 %t6, %r8, 8; add.s64 %pA, %pC, %t6;",
	"@%cG bra L; mov.u64 %pA, %pB; L:",
}

// What is done through the pointer A.
var uses = []string{
	"ld.global.u32 %r6, [%pA];", "ld.u32 %r6, [%pA];", "ld.global.v2.u32 {%r6, %r7}, [%pA];",
	"st.global.u32 [%pA], %r1;", "st.u8 [%pA], %r1;", "@%cG st.global.v2.u32 [%pA], {%r1, %r1};",
	"atom.global.add.u32 %r6, [%pA], 1;", "red.add.u32 [%pA], 1;",
}

// Through memory the analysis does not follow a pointer.
const throughMemory = "st.global.u64 [%pB], %pC; ld.global.u64 %pA, [%pB]; mov.u64 %t7, 0; st.global.u64 [%pB], %t7;"

func randomStep(w *strings.Builder, rng *rand.Rand, i int) {
	text := moves[rng.IntN(len(moves))]
	switch rng.IntN(40) {
	case 0:
		text = throughMemory
	case 1, 2, 3, 4, 5:
		text = uses[rng.IntN(len(uses))]
	}
	pick := func(n int) string { return fmt.Sprint(rng.IntN(n)) }
	text = strings.NewReplacer("%pA", "%p"+pick(rndPointers), "%pB", "%p"+pick(rndPointers),
		"%pC", "%p"+pick(rndPointers), "%cG", "%c"+pick(rndPointers),
		"+S]", "+"+fmt.Sprint(8*rng.IntN(8))+"]", ", K;", ", "+fmt.Sprint(8*rng.IntN(9))+";",
		"aP", "a"+pick(rndParams), "bra L;", fmt.Sprintf("bra L%d;", i), " L:", fmt.Sprintf(" L%d:", i)).Replace(text)
	w.WriteString(text + "\n")
}

// No buffer is written whose parameter is called read-only, and the analysis still says so of most
// of those that are not.
func TestRandomPrograms(t *testing.T) {
	kept, possible, writes := 0, 0, 0
	for seed := range uint64(2000) {
		src := randomModule(rand.New(rand.NewPCG(seed, 1)))
		r := readonly.Module(module(t, src))[0]
		for i, wrote := range execute(t, src, nil) {
			switch {
			case wrote && r.Params[i].ReadOnly:
				t.Fatalf("seed %d: parameter %d is written and called read-only: %s\n%s", seed, i, r.Params[i].Why, src)
			case wrote:
				writes++
			case r.Params[i].Pointer:
				possible++
				if r.Params[i].ReadOnly {
					kept++
				}
			}
		}
	}
	t.Logf("%d parameters were written, %d of %d others are called read-only", writes, kept, possible)
	if writes < 1000 || kept < possible/3 {
		t.Errorf("%d parameters were written, %d of %d others are called read-only: the test says little", writes, kept,
			possible)
	}
}

// What is rewritten can be executed.
func TestRewrittenLoads(t *testing.T) {
	files, err := filepath.Glob("../../apps/*/*/kernel.ptx")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d modules, %v", len(files), err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out, err := readonly.Rewrite(module(t, string(src)), src)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := emulate.Load(file, out); err != nil {
			t.Error(err)
		}
	}
}

// No allocation is written that a load marked at the launch reads, whichever of them share one.
func TestRandomLaunches(t *testing.T) {
	loads := 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		src := randomModule(rng)
		bound := make([]int, rndParams)
		for i := range bound {
			bound[i] = rng.IntN(i + 1)
		}
		execute(t, src, func(o *observed) {
			for r := range o.marked {
				if loads++; o.written[r] {
					t.Fatalf("seed %d, buffers %v: %s is written, and read as read-only\n%s", seed, bound, r.Name, src)
				}
			}
		}, bound...)
	}
	if loads < 200 {
		t.Errorf("%d buffers were read as read-only: the test says little", loads)
	}
}

// execute runs a random module and tells which parameters' buffers were written. With look, loads
// are marked; bound are the numbers of the buffers that parameters point into, by default their own.
func execute(t *testing.T, src string, look func(*observed), bound ...int) (wrote []bool) {
	t.Helper()
	m, err := emulate.Load("random.ptx", []byte(src))
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	space := mem.NewSpace(0)
	in, err := m.Bind(space)
	if err != nil {
		t.Fatal(err)
	}
	var params []byte
	var buffers []*mem.Region
	for range rndParams {
		r, err := space.Alloc(rndBytes, mem.Device, "buffer")
		if err != nil {
			t.Fatal(err)
		}
		buffers = append(buffers, r)
	}
	for i := range rndParams {
		to := i
		if bound != nil {
			to = bound[i]
		}
		params = binary.LittleEndian.AppendUint64(params, buffers[to].Base)
	}
	one := [3]uint32{1, 1, 1}
	g, err := in.Grid(m.Kernels()[0], emulate.Launch{Grid: one, Block: one, Params: params, ReadOnly: look != nil})
	if err != nil {
		t.Fatal(err)
	}
	o := &observed{g, space, map[*mem.Region]bool{}, map[*mem.Region]bool{}}
	if _, err := emulate.Run(o, 100_000); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	if look != nil {
		look(o)
	}
	for _, b := range buffers {
		wrote = append(wrote, o.written[b])
	}
	return wrote
}
