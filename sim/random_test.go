package sim_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/lab/facts"
	"github.com/heddle-sim/heddle/sim"
)

var machines = flag.Int("machines", 12, "random machines TestRandomMachines tries")

// Whatever the machine: a run ends without getting stuck, and visiting everything in
// every cycle or taking no strides changes nothing. With the invariants tag it is also
// held to those.
func TestRandomMachines(t *testing.T) {
	n := *machines
	if testing.Short() {
		n = (n + 2) / 3
	}
	for seed := range uint64(n) {
		s := facts.Random(rand.New(rand.NewPCG(seed, 0)), "../apps")
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			of := func(s sim.Spec) string {
				r, err := sim.Run(context.Background(), s, nil)
				if err != nil {
					t.Fatalf("%v\n%+v", err, s)
				}
				return text(t, r)
			}
			want := of(s)
			every, lockstep := s, s
			every.NoSkip, lockstep.Lockstep = true, true
			if of(every) != want {
				t.Errorf("idle skipping changes the result of %+v", s)
			}
			if of(lockstep) != want {
				t.Errorf("lockstep changes the result of %+v", s)
			}
		})
	}
}
