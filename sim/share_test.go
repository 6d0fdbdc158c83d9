package sim

import "testing"

// Of two applications under ugpu-qos the one with the target begins with the large
// slice, wherever it stands.
func TestTargetFirst(t *testing.T) {
	big, small := Share{SMs: 60, Groups: 6}, Share{SMs: 20, Groups: 2}
	for _, c := range []struct {
		qos  [2]float64
		want Share // of the first
	}{{[2]float64{0, 0}, big}, {[2]float64{5, 0}, big}, {[2]float64{0, 5}, small}, {[2]float64{5, 5}, big}} {
		shares := []Share{big, small}
		targetFirst([]App{{QoS: c.qos[0]}, {QoS: c.qos[1]}}, shares)
		if shares[0] != c.want {
			t.Errorf("targets %v: the first begins with %v, want %v", c.qos, shares[0], c.want)
		}
	}
}
