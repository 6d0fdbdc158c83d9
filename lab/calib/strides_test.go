package calib

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/machine"
)

// TestHowItRuns: in strides or in lockstep it is the same cycles, the same value of every counter of every
// component, and the same bytes.
func TestHowItRuns(t *testing.T) {
	specs, m := reference(t)
	var strode uint64
	for _, s := range specs {
		if s.Group != "macro" {
			continue
		}
		of := func(o machine.Options) *Outcome {
			out, err := Run(dir, s, m, o)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		one := of(machine.Options{Lockstep: true})
		for how, o := range map[string]machine.Options{
			"in strides": {}, "visiting everything": {Every: true},
		} {
			two := of(o)
			if one.Cycles != two.Cycles || !reflect.DeepEqual(one.Counts, two.Counts) {
				t.Errorf("%s: %d cycles, %d %s: %+v %+v", s.Name, one.Cycles, two.Cycles, how, one.Counts, two.Counts)
			}
			for i, a := range one.GPU.Tables {
				if b := two.GPU.Tables[i]; !reflect.DeepEqual(a, b) {
					t.Errorf("%s, %s: counters of %s differ", s.Name, how, a.Owner)
				}
			}
			strode += two.GPU.StrideCycles()
			for i := range one.Data {
				if !bytes.Equal(one.Data[i], two.Data[i]) {
					t.Errorf("%s, %s: buffer %s differs", s.Name, how, s.Buffers[i].Name)
				}
			}
		}
	}
	if strode == 0 {
		t.Error("no cycle ran in strides")
	}
}
