package reference

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestFMA32 compares with exact arithmetic, on operands that make double rounding show.
func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	exact := func(a, b, c float32) float32 {
		x := new(big.Float).SetPrec(400).Mul(big.NewFloat(float64(a)), big.NewFloat(float64(b)))
		f, _ := x.Add(x, big.NewFloat(float64(c))).Float32()
		return f
	}
	twice := 0
	for i := range 300000 {
		a := math.Float32frombits(rng.Uint32()&0x007fffff | 0x3f800000)
		b := math.Float32frombits(rng.Uint32()&0x007ff000 | 0x3f800000)
		c := math.Float32frombits(rng.Uint32()&0x807fffff | uint32(127-rng.IntN(60))<<23)
		if i%3 == 0 { // a product half-way between two float32, and a small addend
			a, b = 1+math.Float32frombits(0x34000000)*float32(rng.IntN(4096)*2+1), 1+math.Float32frombits(0x39800000)
		}
		want := exact(a, b, c)
		if got := fma32(a, b, c); got != want {
			t.Fatalf("fma32(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
		if float32(float64(a)*float64(b)+float64(c)) != want {
			twice++
		}
	}
	if twice == 0 {
		t.Error("no operands where rounding twice is wrong: the test proves nothing")
	}
}

// TestByHand holds results small enough to work out on paper.
func TestByHand(t *testing.T) {
	cases := []struct {
		name string
		args []any
		want any
	}{
		{"micro_vecadd", []any{[]float32{1, 2}, []float32{10, 20}}, []float32{11, 22}},
		{"micro_triad", []any{[]float32{1, 2}, []float32{10, 20}, 0.5}, []float32{6, 12}},
		{"micro_reduction", []any{[]float32{1, 2, 3, 4}, int64(2), int64(32)}, []float32{10}},
		{"micro_spmv", []any{
			"vector",
			[]int32{0, 2, 2, 3},
			[]int32{0, 2, 1},
			[]float32{1, 2, 3},
			[]float32{1, 10, 100},
		}, []float32{201, 0, 30}},
		{"micro_spmv", []any{
			"scalar",
			[]int32{0, 2, 2, 3},
			[]int32{0, 2, 1},
			[]float32{1, 2, 3},
			[]float32{1, 10, 100},
		}, []float32{201, 0, 30}},
		{
			"sdk-like_matrixmul",
			[]any{[]float32{1, 2, 3, 4}, []float32{5, 6, 7, 8}, int64(2), int64(2), int64(2)},
			[]float32{19, 22, 43, 50},
		},
		{"polybench_atax", []any{[]float32{1, 2, 3, 4}, []float32{1, 1}}, []float32{24, 34}}, // Ax = (3, 7)
		{"rodinia-like_bfs", []any{[]int32{0, 2, 3, 3, 3}, []int32{1, 2, 2}, int64(0)}, []int32{0, 1, 1, -1}},
		{"rodinia-like_pathfinder", []any{[]uint8{5, 1, 9, 1, 9, 1, 1, 1, 9}, int64(3)}, []int32{3, 3, 11}},
		// One hot cell in the middle of 3 x 3, only conduction in x and y, 1/R = 1, step/cap = 1/4.
		{
			"rodinia-like_hotspot",
			[]any{
				make([]float32, 9),
				[]float32{0, 0, 0, 0, 4, 0, 0, 0, 0},
				int64(3), int64(1), 0.25, 1.0, 1.0, 0.0,
				0.0,
			},
			[]float32{0, 1, 0, 1, 0, 1, 0, 1, 0},
		},
		// One atom of charge 6 above the origin at height 3, lattice points 4 apart: distances 3 and 5.
		{"parboil-like_cp", []any{[]float32{0, 0, 9, 6}, int64(1), int64(2), int64(1), 4.0}, []float32{2, 1.2}},
	}
	for _, c := range cases {
		got, err := All[c.name](c.args)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s(%v) = %v, %v, want %v", c.name, c.args, got, err, c.want)
		}
	}
	bins, err := histogram([]any{[]uint32{0x01020201}})
	if b, _ := bins.([]uint32); err != nil || b[1] != 2 || b[2] != 2 || b[0] != 0 {
		t.Errorf("histogram: %v, %v", bins, err)
	}
	image := make([]float32, 9)
	image[0], image[5], image[8] = 1, 10, 100
	conv, err := conv2d([]any{image, int64(3), int64(3)})
	if b, _ := conv.([]float32); err != nil || math.Abs(float64(b[4])-(0.2+7+10)) > 1e-5 || b[0] != 0 {
		t.Errorf("conv2d: %v, %v", conv, err)
	}
}

// TestBlackScholes checks put-call parity and a published value: Hull, Options,
// Futures and Other Derivatives, example 15.6: S 42, K 40, r 0.1, v 0.2, T 0.5 gives
// a call of 4.76 and a put of 0.81.
func TestBlackScholes(t *testing.T) {
	args := []any{"call", []float32{42}, []float32{40}, []float32{0.5}, 0.1, 0.2}
	call, err := blackscholes(args)
	if err != nil {
		t.Fatal(err)
	}
	args[0] = "put"
	put, err := blackscholes(args)
	if err != nil {
		t.Fatal(err)
	}
	c, p := float64(call.([]float32)[0]), float64(put.([]float32)[0])
	if math.Abs(c-4.76) > 0.005 || math.Abs(p-0.81) > 0.005 {
		t.Errorf("call %v, put %v, want 4.76 and 0.81", c, p)
	}
	if parity := 42 - 40*math.Exp(-0.05); math.Abs(c-p-parity) > 1e-4 {
		t.Errorf("call - put = %v, want %v", c-p, parity)
	}
}

// TestBadArguments: what a script may get wrong is an error, never a panic.
func TestBadArguments(t *testing.T) {
	junk := [][]any{
		nil,
		{1.5},
		{[]float32{1}, []int32{2}},
		{"x", []int32{0, 9}, []int32{7}, []float32{1}, []float32{1}},
		{[]int32{0, 1}, []int32{5}, int64(0)},
		{[]int32{0, -1}, []int32{}, int64(0)},
		{[]int32{1, 2, 3}, int64(2)},
		{[]float32{1, 2, 3}, []float32{1}, int64(2), int64(2), int64(2)},
		{[]float32{1}, int64(0), int64(7)},
	}
	for name, f := range All {
		for _, args := range junk {
			if name == "micro_vecadd" && len(args) == 2 && reflect.TypeOf(args[1]) == reflect.TypeOf([]float32{}) {
				continue
			}
			if got, err := f(args); err == nil {
				t.Errorf("%s(%v) = %v without an error", name, args, got)
			}
		}
	}
	if _, err := vecadd([]any{[]float32{1, 2}, []float32{1}}); err == nil ||
		!strings.Contains(err.Error(), "argument 2 has 1 elements: it must have 2") {
		t.Errorf("vecadd of unequal lengths: %v", err)
	}
}
