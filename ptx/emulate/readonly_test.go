package emulate

import (
	"encoding/binary"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// add loads from a (line 14) and b (line 15, bypassing the L1 in line 16), and stores to out.
const marking1 = `.version 6.4
.target sm_70
.address_size 64
.global .align 8 .b8 table[64];
.visible .entry add(.param .u64 out, .param .u64 a, .param .align 8 .b8 s[16], .param .u32 n) {
	.reg .b32 %r<5>; .reg .b64 %rd<5>;
	ld.param.u64 %rd1, [out];
	ld.param.u64 %rd2, [a];
	ld.param.u64 %rd3, [s+8];
	cvta.to.global.u64 %rd1, %rd1;
	cvta.to.global.u64 %rd2, %rd2;
	cvta.to.global.u64 %rd3, %rd3;

	ld.global.u32 %r1, [%rd2];
	ld.global.u32 %r2, [%rd3+4];
	ld.global.cg.u32 %r3, [%rd3];
	add.s32 %r1, %r1, %r2;
	add.s32 %r1, %r1, %r3;
	st.global.u32 [%rd1], %r1;
	ret;
}
`

// Loads of what a kernel only reads are marked as the launch's pointers allow: two parameters in
// one allocation are one, and a pointer to nothing that is written may be anything.
func TestMarkedLoads(t *testing.T) {
	m, err := Load("k.ptx", []byte(marking1))
	if err != nil {
		t.Fatal(err)
	}
	space := mem.NewSpace(0)
	in, err := m.Bind(space)
	if err != nil {
		t.Fatal(err)
	}
	alloc := func() uint64 {
		r, err := space.Alloc(256, mem.Device, "")
		if err != nil {
			t.Fatal(err)
		}
		return r.Base
	}
	x, y, z := alloc(), alloc(), alloc()
	table, err := in.Symbol("table")
	if err != nil {
		t.Fatal(err)
	}
	k := m.Kernels()[0]
	launch := func(out, a, first, second uint64, mark bool) *isa.Code {
		var p []byte
		for _, v := range []uint64{out, a, first, second} {
			p = binary.LittleEndian.AppendUint64(p, v)
		}
		p = append(p, 0, 0, 0, 0)
		one := [3]uint32{1, 1, 1}
		g, err := in.Grid(k, Launch{Grid: one, Block: one, Params: p, ReadOnly: mark})
		if err != nil {
			t.Fatal(err)
		}
		return g.Code()
	}
	for _, c := range []struct {
		name                  string
		out, a, first, second uint64
		line14, line15        bool
	}{
		{"apart", x, y, 0, z, true, true},
		{"the output is an input", y, y, 0, z, false, true},
		{"two halves of one allocation", y, y + 128, 0, z, false, true},
		{"the structure holds the output", x, y, x, z, true, false},
		{"a number in the structure", x, y, 7, z, true, true},
		{"inputs may be one", x, y, 0, y, true, true},
		{"the input is nowhere", x, 1 << 39, 0, z, false, true},
		{"the output is nowhere", 1 << 39, y, 0, z, false, false},
		{"null", x, 0, 0, z, true, true},
		{"a variable of the module", x, table.Base, 0, z, false, true},
	} {
		code := launch(c.out, c.a, c.first, c.second, true)
		for i, ins := range code.Instr {
			want := k.Code.Instr[i]
			if ins.Line == 14 && c.line14 || ins.Line == 15 && c.line15 {
				want.Cache = isa.CacheReadOnly
			}
			if ins != want {
				t.Errorf("%s, line %d: %+v, want %+v", c.name, ins.Line, ins, want)
			}
		}
		if again := launch(c.out, c.a, c.first, c.second, true); again != code {
			t.Errorf("%s: the same launch makes its code anew", c.name)
		}
	}
	if launch(x, y, 0, z, false) != k.Code {
		t.Error("a launch that does not ask gets other code")
	}
}
