package sharing

import (
	"testing"

	"github.com/heddle-sim/heddle/ptx/emulate"
)

// Whatever makes the order of accesses of different CTAs visible counts as talk; what
// stays within a CTA does not.
func TestTalks(t *testing.T) {
	for body, want := range map[string]bool{
		"ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1], %r1;": false,
		"ld.global.cg.u32 %r1, [%rd1];":                         false,
		"bar.sync 0;":                                           false,
		"atom.shared.add.u32 %r1, [s], 1;":                      false,
		"ld.volatile.shared.u32 %r1, [s];":                      false,
		"ld.volatile.global.u32 %r1, [%rd1];":                   true,
		"ld.acquire.gpu.global.u32 %r1, [%rd1];":                true,
		"st.release.gpu.global.u32 [%rd1], %r1;":                true,
		"ld.relaxed.gpu.u32 %r1, [%rd1];":                       true,
		"membar.gl;":                                            true,
		"fence.acq_rel.gpu;":                                    true,
		"red.global.add.u32 [%rd1], 1;":                         true,
		"atom.global.exch.b32 %r1, [%rd1], %r1;":                true,
		"atom.add.u32 %r1, [%rd1], 1;":                          true,
	} {
		src := ".version 6.4\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.reg .b32 " +
			"%r<3>; .reg .b64 %rd<3>; .shared .align 4 .b8 s[4];\nld.param.u64 %rd1, [out]; mov.u32 %r1, 0;\n" + body +
			"\nret;\n}\n"
		m, err := emulate.Load("k.ptx", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		if got := hasInterCTASync(m.Kernels()[0].Code); got != want {
			t.Errorf("%s interCTASync: %v, want %v", body, got, want)
		}
	}
}
