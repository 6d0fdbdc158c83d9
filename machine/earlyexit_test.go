package machine

import (
	"testing"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// scaleEnd runs a kernel that stores n words, 128 from each CTA, and returns the cycle of its end.
func scaleEnd(t *testing.T, n int, early bool, o Options) uint64 {
	t.Helper()
	r := newRig(t, "qv100", o, func(m *sheets.Machine) { m.SM.EarlyExit = early },
		&sharing.Tenant{Name: "a", SMs: upTo(80), Groups: upTo(32)})
	k, check := r.scale(0, n, mem.Device)
	if err := r.finish(); err != nil {
		t.Fatal(err)
	}
	check()
	if left := k.Progress().Posted; left != 0 {
		t.Errorf("the kernel ended before %d of its stores were acknowledged", left)
	}
	return k.End
}

// A kernel of one CTA ends with its last store, whether or not its warps leave before: both ways take the same time.
func TestEarlyExitKernelEndsWithItsStores(t *testing.T) {
	kept, early := scaleEnd(t, 128, false, Options{}), scaleEnd(t, 128, true, Options{})
	if kept != early {
		t.Errorf("one CTA ends in cycle %d where warps keep their places, in %d where they do not", kept, early)
	}
}

// Of many CTAs the next ones begin before the stores of the last ones are acknowledged, in strides and in lockstep
// alike.
func TestEarlyExitIsFaster(t *testing.T) {
	const words = 1 << 20
	kept, early := scaleEnd(t, words, false, Options{}), scaleEnd(t, words, true, Options{})
	if early >= kept {
		t.Errorf("%d words take %d cycles where warps keep their places, %d where they leave early", words, kept, early)
	}
	if every := scaleEnd(t, words, true, Options{Every: true}); every != early {
		t.Errorf("in lockstep the kernel ends in cycle %d, otherwise in %d", every, early)
	}
}
