package sheets

import (
	"testing"

	"github.com/heddle-sim/heddle/internal/truncated"
)

// A sheet, a configuration of GPGPU-Sim and a setting that end anywhere are read to their end.
func TestTruncated(t *testing.T) {
	sheet := small("sm: # c\n  count: [4, SMs, me]\nmig:\n  profiles:\n  - {name: a, sms: [1, SMs, me], slices: [1, " +
		"slices, me], most: [1, instances, me]}\n")
	truncated.Each(t, []byte(sheet), func(part []byte) {
		if m, _, err := Parse("f.yaml", part); (m == nil) == (err == nil) {
			t.Errorf("%q: machine %v, error %v", part, m, err)
		}
	})
	truncated.Each(t, []byte(pascal), func(part []byte) {
		if im, err := importGPGPUSim("c", string(part)); (im == nil) == (err == nil) {
			t.Errorf("%q: %v, %v", part, im, err)
		}
	})
	truncated.Each(t, []byte("1,2,3,4,5,6"), func(part []byte) {
		m, _, err := Load("qv100")
		if err != nil {
			t.Error(err)
			return
		}
		if err := Apply(m, "sm.units", string(part)); (err == nil) != (len(part) == 11) {
			t.Errorf("%q: %v", part, err)
		}
	})
}
