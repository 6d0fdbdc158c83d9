package machine

import (
	"bytes"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/machine/stride"
	"github.com/heddle-sim/heddle/mem"
)

// On any number of cores a program computes the same bytes in the same cycles, even if its SMs store to the same words
// and read what others store. Without such data races it does so in lockstep, too.
func TestCoresDoNotChangeResults(t *testing.T) {
	type outcome struct {
		now   uint64
		bytes []byte
		sums  []uint64
	}
	of := func(kernel string, o Options) (out outcome, strode uint64, cores int) {
		r := newRig(t, "qv100", o, nil, tenant("a", upTo(80)))
		a, b := r.alloc(0, 1<<20, mem.Device), r.alloc(0, 1<<20, mem.Device)
		for i := range a.Data {
			a.Data[i] = byte(i*i>>3 + i)
		}
		k := r.launch(0, kernel, 120, 128, a.Base, b.Base)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		p := k.Progress()
		out = outcome{
			r.g.Now(), slices.Concat(a.Data, b.Data),
			append(r.g.sms.Counters.Totals(0, nil), p.WarpInsts, p.CTACycles, p.Stall[0]),
		}
		return out, r.g.StrideCycles(), r.g.CoresUsed()
	}
	same := func(a, b outcome) bool {
		return a.now == b.now && bytes.Equal(a.bytes, b.bytes) && slices.Equal(a.sums, b.sums)
	}
	for _, kernel := range []string{"race", "relay"} {
		want, strode, _ := of(kernel, Options{})
		if strode == 0 {
			t.Errorf("%s took no strides", kernel)
		}
		for _, n := range []int{2, 3, 8} {
			got, _, cores := of(kernel, Options{Cores: stride.NewCores(n - 1)})
			if !same(got, want) {
				t.Errorf("%s: on %d cores the results are others than on one", kernel, n)
			}
			if cores != n {
				t.Errorf("%s: %d cores were used of %d", kernel, cores, n)
			}
		}
		if got, _, _ := of(kernel, Options{Lockstep: true}); kernel == "relay" && !same(got, want) {
			t.Errorf("%s: in lockstep the results are others than in strides", kernel)
		}
	}
}
