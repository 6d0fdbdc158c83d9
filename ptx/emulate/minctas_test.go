package emulate

import (
	"fmt"
	"strings"
	"testing"
)

// TestMinCTAs: where the author wants blocks beside each other on an SM, a thread has no more registers than leave
// room for them, as after ptxas.
func TestMinCTAs(t *testing.T) {
	var body strings.Builder
	for i := range 200 { // all live at once
		fmt.Fprintf(&body, "ld.global.u32 %%r%d, [%%a+%d];\n", i, 4*i)
	}
	for i := range 200 {
		fmt.Fprintf(&body, "st.global.u32 [%%a+%d], %%r%d;\n", 4*i, i)
	}
	for _, c := range []struct {
		bounds string
		want   int
	}{
		{"", 202},
		{".maxntid 256, 1, 1\n.minnctapersm 1", 202},
		{".maxntid 256, 1, 1\n.minnctapersm 2", 128},
		{".maxntid 192, 1, 1\n.minnctapersm 3", 112}, // 113.8
		{".maxntid 1024, 1, 1\n.minnctapersm 2", 32},
	} {
		m, err := Load("k.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n"+
			".visible .entry k(.param .u64 p)\n"+c.bounds+"\n{\n.reg .b32 %r<200>;\n.reg .b64 %a;\n"+
			"ld.param.u64 %a, [p];\n"+body.String()+"ret;\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Kernels()[0].Regs; got != c.want {
			t.Errorf("%q: %d registers a thread, want %d", c.bounds, got, c.want)
		}
	}
}
