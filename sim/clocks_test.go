package sim_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

const clocksPTX = `.version 6.4
.target sm_70
.address_size 64
.visible .entry clocks(.param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<6>;
	.reg .b64 %a<8>;
	ld.param.u64 %a0, [out];
	mov.u64 %a1, %globaltimer;
	mov.u32 %r1, %globaltimer_lo;
	mov.u32 %r2, %globaltimer_hi;
	mov.u64 %a2, %clock64;
	mov.u32 %r0, 0;
again:
	add.u32 %r0, %r0, 1;
	setp.lt.u32 %p, %r0, 5000;
	@%p bra again;
	mov.u64 %a3, %globaltimer;
	mov.u64 %a4, %clock64;
	sub.u64 %a5, %a3, %a1;
	sub.u64 %a6, %a4, %a2;
	st.global.u64 [%a0], %a5;
	st.global.u64 [%a0+8], %a6;
	mov.b64 %a7, {%r1, %r2};
	sub.u64 %a7, %a7, %a1;
	st.global.u64 [%a0+16], %a7;
	ret;
}
`

const clocksStar = `
def main(mhz = 1000):
    out = malloc(u64, 3)
    launch(module("kernel.ptx").kernel("clocks"), grid = 1, block = 1, args = [out])
    device_synchronize()
    ns, cycles, halves = out.to_list()
    print(ns, cycles, halves)
    if cycles < 5000:
        fail("the loop took %d cycles" % cycles)
    check(out.slice(0, 1), [cycles * 1000 // mhz], atol = 40, name = "ns")
    check(out.slice(2, 3), [0], atol = 40, name = "the halves")
`

// %globaltimer counts nanoseconds of the core clock, whichever it is, and %clock64 cycles.
func TestGlobalTimer(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"kernel.ptx": clocksPTX, "app.star": clocksStar} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, mhz := range []string{"250", "1132", "2000"} {
		s := sim.Spec{
			Machine: "qv100", Set: map[string]string{"clock.core": mhz}, Seed: 1,
			Apps: []sim.App{{Name: "clocks", Path: dir, Args: map[string]string{"mhz": mhz}}},
		}
		s.Sharing.Mode = "alone"
		r, err := sim.Run(context.Background(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Checks {
			if !c.OK {
				t.Errorf("%s MHz: %s: %s", mhz, c.What, c.Msg)
			}
		}
	}
}
