package accelsim

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

// TestFences: a fence has the scope that its opcode names, that of the GPU if it names none.
func TestFences(t *testing.T) {
	for op, want := range map[string]isa.Scope{
		"MEMBAR.SC.GPU": isa.GPUScope, "MEMBAR.ALL.GPU": isa.GPUScope, "MEMBAR": isa.GPUScope,
		"MEMBAR.SC.SYS": isa.SystemScope, "MEMBAR.ALL.CTA": isa.CTAScope, "FENCE.VIEW.ASYNC": isa.GPUScope,
	} {
		d := static{op: op}
		if !d.decode() || d.in.Kind != isa.Fence || d.in.Scope != want {
			t.Errorf("%s: kind %d, scope %d, want a fence of scope %d", op, d.in.Kind, d.in.Scope, want)
		}
	}
	if d := (static{op: "LDGDEPBAR"}); !d.decode() || d.in.Kind != isa.Commit {
		t.Errorf("LDGDEPBAR: kind %d, want a commit", d.in.Kind)
	}
}
