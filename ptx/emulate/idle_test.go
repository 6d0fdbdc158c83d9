package emulate

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/mem"
)

// TestHangs: a loop of few instructions is a hang after so many of them, also one that stores;
// one of many is work.
func TestHangs(t *testing.T) {
	const most = 100_000
	for _, c := range []struct {
		name, body string
		hangs      bool
	}{
		{"branch to itself", "L: bra L;", true},
		{"flag", "L: ld.volatile.global.u32 %r1, [%rd0]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;", true},
		{"stores", "L: add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; bra L;", true},
		{
			"long loop", "mov.u32 %r2, 0; L: " + strings.Repeat("add.u32 %r1, %r1, 1; ", 100) +
				"add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 3000; @%p1 bra L;", false,
		},
	} {
		m, err := Load("t.ptx", []byte(fuzzHead+".visible .entry k(.param .u64 out)\n{\n"+regs+
			"ld.param.u64 %rd0, [out]; mov.u64 %rd1, %rd0;\n"+c.body+"\nret;\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		sp := mem.NewSpace(0)
		out, err := sp.Alloc(4, mem.Device, "out")
		if err != nil {
			t.Fatal(err)
		}
		in, err := m.Bind(sp)
		if err != nil {
			t.Fatal(err)
		}
		g, err := in.Grid(m.Kernels()[0], Launch{
			Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{64, 1, 1},
			Params: binary.LittleEndian.AppendUint64(nil, out.Base),
		})
		if err != nil {
			t.Fatal(err)
		}
		n, err := RunWithin(g, Limits{Idle: most})
		if (err != nil) != c.hangs {
			t.Errorf("%s: error %v", c.name, err)
		}
		if c.hangs && (n.WarpInsts < most || n.WarpInsts > most*3/2 ||
			!strings.Contains(err.Error(), "no block has ended")) {
			t.Errorf("%s: %d instructions, %v", c.name, n.WarpInsts, err)
		}
		if !c.hangs && n.WarpInsts < 10*most {
			t.Errorf("%s: %d instructions: too few to tell", c.name, n.WarpInsts)
		}
	}
}
