package sim

import (
	"context"
	"testing"

	"github.com/heddle-sim/heddle/control"
)

// Channel groups change hands, and pages come and go, in one run: right results, and (with the
// invariants tag) no access to a frame that is not its tenant's.
func TestUnifiedRepartition(t *testing.T) {
	u := Unified{All: true, Capacity: "75%", Evict: "tbn", WriteBack: "dirty"}
	s := unifiedSpec(u, "micro/randomaccess", "micro/triad")
	s.Machine = "ugpu"
	s.Set = map[string]string{"uvm.fault": "2"}
	s.Apps[0].Args = map[string]string{"n": "65536"}
	s.Apps[1].Args = map[string]string{"n": "65536", "passes": "4"}
	s.Sharing.Mode, s.Sharing.Epoch, s.Sharing.Params = "ugpu", 3000, control.Params{}
	for i := range s.Apps {
		s.Apps[i].Repeat = true
	}
	r, err := Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Checks {
		if !c.OK {
			t.Error(c)
		}
	}
	moves := 0
	for _, d := range r.Decisions {
		moves += len(d.SMs)
	}
	n := totals(r, "uvm")
	t.Logf("%d cycles, %d decisions, %d SMs moved, %v", r.Cycles, len(r.Decisions), moves, n)
	if n["evicted_pages"] == 0 || len(r.Checks) == 0 || moves == 0 {
		t.Errorf("%v", n)
	}
}
