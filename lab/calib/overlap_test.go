package calib

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/machine"
)

// TestHowItRuns: in strides or in lockstep, on one core or with SMs and memory on a core
// each, it is the same cycles, the same value of every counter of every component, and
// the same bytes.
func TestHowItRuns(t *testing.T) {
	specs, m := reference(t)
	var overlapped, strode uint64 // the first: few on a computer with other work
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
			"in strides": {}, "on two cores": {Cores: 2},
			"on two cores in lockstep": {Cores: 2, Lockstep: true}, "visiting everything": {Every: true},
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
			overlapped += two.GPU.TwoCoreCycles()
			strode += two.GPU.StrideCycles()
			for i := range one.Data {
				if !bytes.Equal(one.Data[i], two.Data[i]) {
					t.Errorf("%s, %s: buffer %s differs", s.Name, how, s.Buffers[i].Name)
				}
			}
		}
	}
	if overlapped == 0 || strode == 0 {
		t.Errorf("%d cycles ran on two cores, %d in strides", overlapped, strode)
	}
}
