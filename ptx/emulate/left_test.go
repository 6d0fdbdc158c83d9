package emulate

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// However a warp goes, it executes at least as many instructions as its kernel's Left
// says, from every one of them on.
func TestLeftIsALowerBound(t *testing.T) {
	for body, first := range map[string]int{
		"": 4,
		"setp.gt.u32 %p1, %r0, 40; @%p1 ret; add.u32 %r1, %r0, 1; add.u32 %r1, %r1, 1;":                             5,
		"mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r0; @%p1 bra L; st.global.u32 [%rd1], %r1;": 9,
	} {
		src := fuzzHead + ".visible .entry k(.param .u64 out)\n{\n" + regs +
			"ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mad.wide.u32 %rd1, %r0, 4, %rd0;\n" + body + "\nret;\n}\n"
		m, err := Load("t.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Kernels()[0].Code.AtLeast(0); got != first {
			t.Errorf("%q: at least %d instructions, want %d", body, got, first)
		}
		hold(t, m, m.Kernels()[0])
	}
}

// hold runs a block of 64 threads of k and compares each warp's way with Left.
func hold(t *testing.T, m *Module, k *Kernel) {
	t.Helper()
	g := blockOf64(t, m, k)
	c := g.Start(0, isa.Place{})
	var st isa.Step
	for w := range g.Geometry().Warps {
		var way []int32
		for pc := int32(0); pc >= 0; pc = st.Next {
			way = append(way, pc)
			if err := c.Step(w, 0, &st); err != nil {
				t.Fatal(err)
			}
		}
		for i, pc := range way {
			if n := len(way) - i; n < k.Code.AtLeast(pc) {
				t.Errorf("warp %d ends %d instructions behind %q, at least %d were promised", w, n, k.Code.Text[pc],
					k.Code.AtLeast(pc))
			}
		}
	}
}

// blockOf64 is a launch of one block of 64 threads, whose parameter is the address of a word for
// each.
func blockOf64(t *testing.T, m *Module, k *Kernel) isa.Grid {
	t.Helper()
	sp := mem.NewSpace(0)
	out, err := sp.Alloc(4*64, mem.Device, "out")
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.Bind(sp)
	if err != nil {
		t.Fatal(err)
	}
	g, err := in.Grid(k, Launch{
		Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{64, 1, 1},
		Params: binary.LittleEndian.AppendUint64(nil, out.Base),
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A caller that takes several instructions at once sees the same ones, executed by the same lanes.
func TestBatch(t *testing.T) {
	long := strings.Repeat("add.u32 %r1, %r1, %r0;\n", 2*longestRun+3)
	for _, body := range []string{
		long,
		"setp.gt.u32 %p1, %r0, 40; add.u32 %r1, %r0, 1; @%p1 add.u32 %r1, %r1, 1; @!%p1 add.u32 %r1, %r1, 2; " +
			"add.u32 %r1, %r1, 3; add.u32 %r1, %r1, 4;",
		"setp.gt.u32 %p1, %r0, 40; @%p1 bra L; add.u32 %r1, %r0, 1; add.u32 %r1, %r1, 2; L: add.u32 %r1, %r1, 3;" +
			"add.u32 %r1, %r1, 4; bar.warp.sync 0xffffffff; add.u32 %r1, %r1, 5;",
		"and.b32 %r2, %r0, 3; mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; " + long +
			"setp.lt.u32 %p1, %r1, %r2; @%p1 bra L; add.u32 %r1, %r1, %r2; st.global.u32 [%rd1], %r1;",
	} {
		src := fuzzHead + ".visible .entry k(.param .u64 out)\n{\n" + regs +
			"ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mad.wide.u32 %rd1, %r0, 4, %rd0;\n" + body + "\nret;\n}\n"
		m, err := Load("t.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		g := blockOf64(t, m, m.Kernels()[0])
		for w := range g.Geometry().Warps {
			one, several := way(t, g, w, false), way(t, g, w, true)
			if !slices.Equal(one, several) {
				t.Errorf("%q: warp %d goes\n%v one by one,\n%v otherwise", body, w, one, several)
			}
		}
	}
}

// executed is an instruction and the lanes that executed it.
type executed struct {
	pc   int32
	mask uint32
}

// way runs a warp of the first CTA of g.
func way(t *testing.T, g isa.Grid, w int, batch bool) (list []executed) {
	t.Helper()
	c := g.Start(0, isa.Place{})
	defer c.Release()
	calls := 0
	for pc := int32(0); pc >= 0; calls++ {
		s := isa.Step{Batch: batch}
		if err := c.Step(w, 0, &s); err != nil {
			t.Fatal(err)
		}
		list = append(list, executed{pc, s.Mask})
		for pc = s.Next; s.Ahead > 0; s.Ahead-- {
			list = append(list, executed{pc, s.Mask})
			pc++
		}
	}
	if batch && calls == len(list) {
		t.Error("no step took several instructions")
	}
	return list
}
