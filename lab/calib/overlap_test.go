package calib

import (
	"bytes"
	"reflect"
	"testing"

	"heddle/machine"
)

// TestTwoCores: SMs and memory on a core each give the same cycles, the same value of
// every counter of every component, and the same bytes.
func TestTwoCores(t *testing.T) {
	specs, m := reference(t)
	var overlapped uint64 // few on a computer with other work
	for _, s := range specs {
		if s.Group != "macro" {
			continue
		}
		one, err := Run(dir, s, m, machine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		two, err := Run(dir, s, m, machine.Options{Cores: 2})
		if err != nil {
			t.Fatal(err)
		}
		if one.Cycles != two.Cycles || one.Totals != two.Totals {
			t.Errorf("%s: %d cycles on one core, %d on two: %+v %+v", s.Name, one.Cycles, two.Cycles, one.Totals, two.Totals)
		}
		for i, a := range one.GPU.Tables {
			if b := two.GPU.Tables[i]; !reflect.DeepEqual(a, b) {
				t.Errorf("%s: counters of %s differ", s.Name, a.Owner)
			}
		}
		overlapped += two.GPU.Overlapped
		for i := range one.Data {
			if !bytes.Equal(one.Data[i], two.Data[i]) {
				t.Errorf("%s: buffer %s differs", s.Name, s.Buffers[i].Name)
			}
		}
	}
	if overlapped == 0 {
		t.Error("nothing ran on two cores")
	}
}
