package emulate

import (
	"encoding/binary"
	"testing"

	"heddle/isa"
	"heddle/mem"
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
