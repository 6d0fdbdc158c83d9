package machine

import (
	"errors"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
)

// Kernels of two applications, one of which ends and is launched again while the other
// runs, begin and end in the cycles of lockstep.
func TestStridesEndWhereLockstepDoes(t *testing.T) {
	type span struct{ from, to uint64 }
	of := func(o Options) (out []span, strode uint64) {
		r := newRig(t, "qv100", o, nil, tenant("a", upTo(40)), tenant("b", between(40, 80)))
		r.launch(0, "big", 40, 64, 0) // sends nothing, and is over before a stride were
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		out = append(out, span{0, r.g.Now()})
		k, check := r.scale(0, 200_000, mem.Device)
		list := []*sharing.Kernel{k}
		for _, n := range []int{10, 1, 60} {
			c, _ := r.count(1, 100, 256, n)
			list = append(list, c)
			for !c.Done {
				if _, err := r.g.Run(1 << 40); err != nil {
					t.Fatal(err)
				}
			}
			out = append(out, span{0, r.g.Now()})
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		check()
		for _, k := range list {
			out = append(out, span{k.Start, k.End})
		}
		return out, r.g.clock.InStrides
	}
	want, none := of(Options{Lockstep: true})
	got, strode := of(Options{})
	if none != 0 || strode == 0 {
		t.Errorf("%d cycles of strides in lockstep, %d without", none, strode)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("kernel %d: %v in strides, %v in lockstep", i, got[i], want[i])
		}
	}
}

// The fault that is reported is the first in time, not that of the SM that ran first.
func TestFirstFaultInAStride(t *testing.T) {
	of := func(o Options) (isa.Fault, uint64) {
		r := newRig(t, "qv100", o, nil, tenant("a", upTo(80)))
		in, out := r.alloc(0, 400_000, mem.Device), r.alloc(0, 300_000, mem.Device)
		r.launch(0, "scale", 800, 128, out.Base, in.Base, 100_000)
		var f *isa.Fault
		if err := r.finish(); !errors.As(err, &f) {
			t.Fatalf("error %v, want a fault", err)
		}
		if r.g.Faulted() != 0 {
			t.Errorf("tenant %d faulted", r.g.Faulted())
		}
		return *f, r.g.clock.InStrides
	}
	want, _ := of(Options{Lockstep: true})
	got, strode := of(Options{})
	if got != want || strode == 0 {
		t.Errorf("%+v in strides (%d cycles), %+v in lockstep", got, strode, want)
	}
}

// A kernel whose CTAs may wait for each other takes no strides.
func TestTalkingKernelsStayInLockstep(t *testing.T) {
	r := newRig(t, "qv100", Options{}, nil, tenant("a", upTo(80)))
	out := r.alloc(0, 64, mem.Device)
	r.launch(0, "pile", 800, 256, out.Base)
	if err := r.finish(); err != nil {
		t.Fatal(err)
	}
	if r.g.clock.InStrides != 0 {
		t.Errorf("%d cycles of strides beside atomics", r.g.clock.InStrides)
	}
}
