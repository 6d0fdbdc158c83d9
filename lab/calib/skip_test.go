package calib

import (
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/machine"
)

// TestIdleSkipping: visiting every component in every cycle changes nothing, also
// where L1, LD/ST queue and interconnect are full at once (transpose_naive_big).
func TestIdleSkipping(t *testing.T) {
	specs, m := reference(t)
	left := map[string]bool{"transpose_naive_big": true, "csr_gather": true, "hist_smem": true, "vadd": true}
	for _, s := range specs {
		if !left[s.Name] {
			continue
		}
		delete(left, s.Name)
		skip, err := Run(dir, s, m, machine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		every, err := Run(dir, s, m, machine.Options{Every: true})
		if err != nil {
			t.Fatal(err)
		}
		if skip.Cycles != every.Cycles || !reflect.DeepEqual(skip.Counts, every.Counts) {
			t.Errorf("%s: %d cycles skipping, %d without: %+v %+v", s.Name, skip.Cycles, every.Cycles, skip.Counts,
				every.Counts)
		}
	}
	if len(left) > 0 {
		t.Errorf("not in the reference set: %v", left)
	}
}
