package reference

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// TestNetworkLayersByHand holds results small enough to work out on paper.
func TestNetworkLayersByHand(t *testing.T) {
	f := func(v ...float32) []float32 { return v }
	n := func(v int) any { return int64(v) }
	for _, c := range []struct {
		args []any
		want any
	}{
		// 3 x 3 ones over 2 x 2, one pixel of border: every output sees all four.
		{
			[]any{"conv", f(1, 2, 3, 4), f(1, 1, 1, 1, 1, 1, 1, 1, 1), f(-9), n(1), n(2), n(1), n(3), n(1), n(1), n(1)},
			f(1, 1, 1, 1),
		},
		{
			[]any{
				"conv", f(1, 2, 3, 4), f(1, 1, 1, 1, 1, 1, 1, 1, 1), f(-11),
				n(1), n(2), n(1), n(3), n(1), n(1), n(1),
			},
			f(0, 0, 0, 0),
		},
		{
			[]any{"filter", f(1, 2, 3, 4), f(1, 2, 3, 4, 5, 6, 7, 8, 9), n(1), n(2), n(1), n(3), n(2), n(1), n(1)},
			f(5 + 2*6 + 3*8 + 4*9),
		},
		// Two groups: each filter sees its own channel only.
		{[]any{"filter", f(3, 5), f(10, 100), n(2), n(1), n(2), n(1), n(1), n(0), n(2)}, f(30, 500)},
		{[]any{"filter", f(3, 5), f(10, 100), n(2), n(1), n(1), n(1), n(1), n(0), n(1)}, f(530)},
		{[]any{"maxpool", f(1, 2, 3, 4, 9, 5, 6, 7, 8), n(1), n(3), n(2), n(1), n(0)}, f(9, 9, 9, 9)},
		{[]any{"maxpool", f(-1, -2, -3, -4), n(1), n(2), n(3), n(2), n(1)}, f(-1)},
		{[]any{"meanpool", f(1, 3, 10, 30), n(2), 0.5}, f(2, 20)},
		{[]any{"lrn", f(32, 0, 7), n(3), n(0), 16.0, 0.0}, f(4, 0, 0.875)}, // 16^(3/4) = 8
		{[]any{"norm", f(1, -1), f(2), f(1), true}, f(3, 0)},
		{[]any{"norm+shortcut", f(1, -1), f(2), f(1), false, f(10, 20)}, f(13, 19)},
		{[]any{"dense", f(1, 2, 3, 4), f(1, 10), f(0, -50)}, f(21, -7)},
		{[]any{"dense_relu", f(1, 2, 3, 4), f(1, 10), f(0, -50)}, f(21, 0)},
		{[]any{"softmax", f(0, 0, 5, 5), n(2)}, f(0.5, 0.5, 0.5, 0.5)},
		{[]any{"layernorm", f(1, 3), f(1, 2), f(0, 10), 0.5, 0.0}, f(-1, 12)},
		{[]any{"linear", f(1, 2), f(3, 4, 5, 6), f(0, 1), n(1)}, f(11, 18)},
		{[]any{"linear+residual", f(1, 2), f(3, 4, 5, 6), f(0, 1), n(1), f(100, 200)}, f(111, 218)},
		{[]any{"linear8", []int8{1, -2}, []int8{3, 4, 127, 0}, f(0, 1), n(1), 0.5}, f(-2.5, 64.5)},
		{[]any{"quantize", f(0.5, 1.5, -1.5, 100, -100), 2.0}, []int8{1, 3, -3, 127, -127}},
		{[]any{"quantize", f(0.25, 0.75), 2.0}, []int8{0, 2}}, // ties to even
		// Two tokens, two heads of one column.
		{[]any{"scores", f(1, 2, 3, 4), f(5, 6, 7, 8), n(2), n(2), 0.5}, f(2.5, 3.5, 7.5, 10.5, 6, 8, 12, 16)},
		{[]any{"context", f(1, 0, 0, 1, 0, 1, 1, 0), f(1, 2, 3, 4), n(2), n(2)}, f(1, 4, 3, 2)},
		// All gates at 1/2, the candidate 0: an LSTM stays at zero, so does a GRU.
		{[]any{"lstm", f(0, 0, 0, 0), f(1, 1, 1, 1), f(0, 0, 0, 0)}, f(0, 0)},
		{[]any{"gru", f(0, 0, 0), f(1, 1, 1), f(0, 0, 0)}, f(0, 0)},
		// Gates wide open, candidates at 1: the LSTM's cell counts steps, the GRU (update 0) shows the candidate.
		{[]any{"lstm", f(99, 99, 99, 99), f(0, 0, 0, 0), f(0, 0, 0, 0)}, f(0, float32(math.Tanh(1)))},
		{[]any{"gru", f(99, -99, 99), f(0, 0, 0), f(0, 0, 0)}, f(0, 1)},
	} {
		got, err := dnnLayer(c.args)
		if err != nil || !near(got, c.want) {
			t.Errorf("%v = %v, %v, want %v", c.args, got, err, c.want)
		}
	}
	if v := gelu32(1); math.Abs(float64(v)-0.8413) > 3e-4 { // x times the normal distribution
		t.Errorf("gelu(1) = %v", v)
	}
}

// near: floats within 2 units of 2^-23 (the exponentials round), all else equal.
func near(got, want any) bool {
	g, ok := got.([]float32)
	w, wok := want.([]float32)
	if !ok || !wok || len(g) != len(w) {
		return reflect.DeepEqual(got, want)
	}
	for i := range g {
		if math.Abs(float64(g[i]-w[i])) > 2.4e-7*math.Abs(float64(w[i])) {
			return false
		}
	}
	return true
}

func TestNetworkLayersRefuse(t *testing.T) {
	for _, c := range []struct {
		args []any
		want string
	}{
		{[]any{"convolution"}, "not one of apps/dnn"},
		{[]any{
			"conv",
			[]float32{1},
			[]float32{1},
			[]float32{1},
			int64(1), int64(1), int64(1), int64(3), int64(1),
			int64(0), int64(1),
		}, "must hold the kernel"},
		{[]any{
			"filter",
			[]float32{1},
			[]float32{1, 2},
			int64(1), int64(1), int64(1), int64(1), int64(1), int64(0),
			int64(1),
		}, "the weights has 2"},
		{[]any{"maxpool", []float32{1, 2}, int64(1), int64(1), int64(1), int64(1), int64(0)}, "the image has 2"},
		{[]any{"meanpool", []float32{1}, int64(0), 1.0}, "no multiple"},
		{[]any{"softmax", []float32{1}, int64(0)}, "rows of 0"},
		{[]any{"scores", []float32{1}, []float32{1}, int64(0), int64(1), 1.0}, "0 tokens"},
		{[]any{"lstm", []float32{1}, []float32{1}, []float32{1}}, "steps x 4"},
		{[]any{"norm", []float32{1}, []float32{1}, []float32{1}, int64(1)}, "a bool"},
	} {
		if _, err := dnnLayer(c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.args, err, c.want)
		}
	}
}
