package host

import (
	"math"
	"testing"
)

func TestCheck(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name      string
		got, want any
		tol       Tolerance
		msg, err  string
	}{
		{name: "equal", got: []float32{1, 2}, want: []float32{1, 2}},
		{
			name: "special values", got: []float32{nan, inf, -inf, 0},
			want: []float32{nan, inf, -inf, float32(math.Copysign(0, -1))},
		},
		{name: "within rtol", got: []float32{100.5}, want: []float32{100}, tol: Tolerance{Rel: 0.01}},
		{
			name: "relative to the expected value", got: []float32{100}, want: []float32{0}, tol: Tolerance{Rel: 2},
			msg: "1 of 1 elements differ; first at [0]: got 100, expected 0; max abs error 100 (rtol 2, atol 0)",
		},
		{name: "within atol", got: []float64{1e-9}, want: []float64{0}, tol: Tolerance{Abs: 1e-8}},
		{
			name: "beyond", got: []float32{1, 1.5, 3, 7}, want: []float32{1, 1.25, 3, 4}, tol: Tolerance{Rel: 1e-5},
			msg: "2 of 4 elements differ; first at [1]: got 1.5, expected 1.25; max abs error 3 (rtol 1e-05, atol 0)",
		},
		{
			name: "NaN is not a number", got: []float32{nan}, want: []float32{1}, tol: Tolerance{Abs: 1e30},
			msg: "1 of 1 elements differ; first at [0]: got NaN, expected 1; max abs error 0 (rtol 0, atol 1e+30)",
		},
		{
			name: "infinity is not near", got: []float32{inf}, want: []float32{1}, tol: Tolerance{Rel: 10},
			msg: "1 of 1 elements differ; first at [0]: got +Inf, expected 1; max abs error 0 (rtol 10, atol 0)",
		},
		{
			name: "exact integers", got: []uint64{math.MaxUint64}, want: []uint64{math.MaxUint64 - 1},
			msg: "1 of 1 elements differ; first at [0]: got 18446744073709551615, expected 18446744073709551614; max " +
				"abs error 1 (rtol 0, atol 0)",
		},
		{
			name: "other integer type", got: []int64{5, -1}, want: []uint8{5, 255},
			msg: "1 of 2 elements differ; first at [1]: got -1, expected 255; max abs error 256 (rtol 0, atol 0)",
		},
		{
			name: "far apart", got: []int64{math.MinInt64}, want: []uint64{math.MaxUint64},
			msg: "1 of 1 elements differ; first at [0]: got -9223372036854775808, expected 18446744073709551615; max " +
				"abs error 1.84467e+19 (rtol 0, atol 0)",
		},
		{name: "integers with tolerance", got: []int32{103}, want: []int32{100}, tol: Tolerance{Rel: 0.03}},
		{
			name: "lengths", got: []int32{1}, want: []int32{1, 2},
			err: "check: the array has 1 elements, the expected values 2",
		},
		{
			name: "sorts", got: []int32{1}, want: []float32{1},
			err: "check: the array has elements of i32, the expected values are f32",
		},
		{
			name: "tolerance", got: []int32{1}, want: []int32{1}, tol: Tolerance{Rel: -1},
			err: "check: rtol = -1 and atol = 0 must not be negative",
		},
		{
			name: "not numbers", got: []int32{1}, want: "x",
			err: "string is not a slice of numbers ([]float32, []int32, ...)",
		},
	} {
		ctx, _ := newSlow()
		d := must[*Data](t)(NewData(c.got))
		a := must[*Array](t)(ctx.Malloc(d.Type, d.Len(), ""))
		noError(t, a.Set(d))
		k, err := ctx.Check(a, c.want, c.tol, c.name)
		if c.err != "" {
			wantError(t, err, c.err)
			continue
		}
		noError(t, err)
		if k.OK != (c.msg == "") || k.Msg != c.msg {
			t.Errorf("%s: ok %v, %q\nwant %q", c.name, k.OK, k.Msg, c.msg)
		}
		if e := ctx.CheckErr(); (e != nil) != (c.msg != "") || len(ctx.Checks()) != 1 {
			t.Errorf("%s: the record says %v", c.name, e)
		}
	}
}

func TestCheckErr(t *testing.T) {
	c, _ := newSlow()
	a := must[*Array](t)(c.Malloc(I32, 2, ""))
	for _, want := range [][]int32{{0, 0}, {0, 1}, {2, 2}} {
		must[Check](t)(c.Check(a, want, Tolerance{}, "case"))
	}
	err := c.CheckErr()
	wantError(t, err, "2 of 3 checks failed; the first: case: 1 of 2 elements differ; first at [1]: got 0, expected "+
		"1; max abs error 1 (rtol 0, atol 0)")
	if Classify(err) != CheckFailed {
		t.Errorf("class %d", Classify(err))
	}
}
