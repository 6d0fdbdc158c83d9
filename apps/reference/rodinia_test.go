package reference

import (
	"math"
	"reflect"
	"testing"
)

// TestRodiniaByHand holds results small enough to work out on paper.
func TestRodiniaByHand(t *testing.T) {
	cases := []struct {
		name string
		args []any
		want any
	}{
		// Everyone is active, all three elements are touched or keep their value of 7.
		{
			"micro_randomaccess",
			[]any{"sparse", []float32{7}, []float32{1}, []float32{2}, 3.0, int64(100), int64(1)},
			[]float32{7},
		},
		{"micro_randomaccess", []any{"update", int64(4), int64(0), int64(9), int64(1)}, []uint64{0, 1, 2, 3}},
		{"micro_pointer-chase", []any{[]uint32{2, 0, 1}, int64(2), int64(3)}, []uint32{1, 2, 0}},
		// "ab" against "aa", match 2, mismatch -1, gap 3.
		{
			"rodinia-like_nw",
			[]any{[]uint8{0, 1}, []uint8{0, 0}, int64(2), int64(-1), int64(3)},
			[]int32{0, -3, -6, -3, 2, -1, -6, -1, 1},
		},
		{"rodinia-like_lud", []any{[]float32{2, 4, 1, 5}, int64(2)}, []float32{2, 4, 0.5, 3}},
		// Points on a line; the first two are the first centres, the second step moves the last.
		{
			"rodinia-like_kmeans",
			[]any{[]float32{0, 0.25, 0.125, 0.75}, int64(4), int64(2), int64(1)},
			[]int32{0, 1, 0, 1},
		},
		{
			"rodinia-like_kmeans",
			[]any{[]float32{0, 0.25, 0.875, 0.15}, int64(4), int64(2), int64(2)},
			[]int32{0, 1, 1, 0},
		},
		// Points 0, 1, 10, 11 on a line with a centre at 0: opening 10 for 50 saves 200.
		{
			"rodinia-like_streamcluster",
			[]any{"cost", []float32{0, 1, 10, 11}, []float32{1, 1, 1, 1}, []int32{2}, 50.0, int64(1)},
			[]float32{0, 1, 0, 1},
		},
		{
			"rodinia-like_streamcluster",
			[]any{"owner", []float32{0, 1, 10, 11}, []float32{1, 1, 1, 1}, []int32{2}, 500.0, int64(4)},
			[]int32{0, 0, 0, 0},
		},
		// At 200 opening 10 saves 220, and closing 0 then costs only 180. Going back to 1
		// saves 180, and closing 10 another 20: nothing is gained.
		{
			"rodinia-like_streamcluster",
			[]any{"cost", []float32{0, 1, 10, 11}, []float32{1, 1, 1, 1}, []int32{2, 1}, 200.0, int64(2)},
			[]float32{100, 81, 0, 1},
		},
		{
			"rodinia-like_btree",
			[]any{"find", []int32{0, 2, 4}, []int32{7, 8, 9}, []int32{2, 3, 4, 9}},
			[]int32{8, -1, 9, -1},
		},
		{"rodinia-like_btree", []any{"first", []int32{0, 2, 4}, []int32{0, 1, 4, 9}}, []int32{0, 1, 2, 3}},
		{"rodinia-like_btree", []any{"count", []int32{0, 2, 4}, []int32{0, 1, 4, 9}, int64(3)}, []int32{2, 1, 1, 0}},
		// 0 -> 1 for 5, 0 -> 2 for 1, 2 -> 1 for 2; nothing leads to 3.
		{
			"lonestar-like_sssp",
			[]any{[]int32{0, 2, 2, 3, 3}, []int32{1, 2, 1}, []int32{5, 1, 2}, int64(0)},
			[]int32{0, 3, 1, math.MaxInt32},
		},
		// The match across the line's end does not count; overlapping ones do.
		{"mars-like_stringmatch", []any{[]uint8("aaabaa"), []int32{0, 3, 5, 6}, "aa"}, []int32{0, 1}},
		// A ramp has no differences but at its end; a constant keeps its value.
		{
			"rodinia-like_dwt2d",
			[]any{[]int32{0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6}, int64(4), int64(1)},
			[]int32{0, 5, 0, 2, 0, 5, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0},
		},
		{"rodinia-like_dwt2d", []any{[]int32{9, 9, 9, 9}, int64(2), int64(1)}, []int32{9, 0, 0, 0}},
		{"rodinia-like_euler3d", []any{"mesh", int64(2), int64(1)}, []int32{-2, 0, 1, -2, -1, -1, -2, -2}},
		{"mars-like_pageviewcount", []any{[]uint64{1, 1, 1, 0}, []uint32{5, 5, 6, 5}, int64(3)}, []uint32{1, 2, 0}},
	}
	for _, c := range cases {
		got, err := All[c.name](c.args)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s(%v) = %v, %v, want %v", c.name, c.args, got, err, c.want)
		}
	}
}

// TestExpNegative compares with the library's exponential.
func TestExpNegative(t *testing.T) {
	for x := 0.0; x > -700; x -= 0.37 {
		if got, want := expNegative(x), math.Exp(x); math.Abs(got-want) > 5e-16*want {
			t.Fatalf("expNegative(%g) = %g, want %g", x, got, want)
		}
	}
}

// TestSRADKeepsConstant: without gradients nothing diffuses, whatever the scale.
func TestSRADKeepsConstant(t *testing.T) {
	image := make([]float32, 16)
	for i := range image {
		image[i] = 2
	}
	image[15] = 3 // keeps the speckle scale above 0
	got, err := srad([]any{image, int64(4), int64(4), int64(1), 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if j := got.([]float32); j[0] != 2 || j[15] >= 3 || j[14] <= 2 || j[14] != j[11] {
		t.Errorf("srad: %v", j)
	}
}

// TestBackpropLearns: after a step the output is nearer to the target.
func TestBackpropLearns(t *testing.T) {
	input, weight := make([]float32, 16), make([]float32, 17*hiddenUnits)
	output := make([]float32, hiddenUnits+1)
	for i := range input {
		input[i] = float32(i) / 16
	}
	for i := range weight {
		weight[i] = float32(i%7-3) / 16
	}
	for i := range output {
		output[i] = float32(i%5-2) / 4
	}
	result := func(w []float32) float64 {
		total := float64(output[0])
		for j, h := range hiddenLayer(input, w) {
			total += float64(output[j+1]) * h
		}
		return squash(total)
	}
	got, err := backprop([]any{"weight", input, weight, make([]float32, len(weight)), output, 0.3, 0.3, 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if before, after := result(weight), result(got.([]float32)); after >= before {
		t.Errorf("output %g, then %g: the target is 0.1", before, after)
	}
}

// TestLavaMDPair: two particles' forces are opposite and follow the potential's gradient.
func TestLavaMDPair(t *testing.T) {
	at, charge := make([]float64, 40), make([]float64, 10)
	charge[0], charge[1], at[4] = 2, 3, 1 // charge 2 at the origin, charge 3 at (1, 0, 0)
	for i := 8; i < len(at); i += 4 {
		at[i] = 30 // uncharged, far away
	}
	got, err := lavamd([]any{at, charge, int64(1), int64(10), 0.5})
	if err != nil {
		t.Fatal(err)
	}
	f, e := got.([]float64), math.Exp(-0.5)
	for i, want := range map[int]float64{0: -3 * e, 3: 2 + 3*e, 4: 2 * e, 7: 3 + 2*e} {
		if math.Abs(f[i]-want) > 1e-14 {
			t.Errorf("lavamd: value %d is %g, want %g", i, f[i], want)
		}
	}
}

// TestWordCount: the words of a sentence, whatever the order of the hashes.
func TestWordCount(t *testing.T) {
	text := []uint8("the cat, the dog and the cat")
	count, err := wordcount([]any{"count", text})
	if err != nil {
		t.Fatal(err)
	}
	first, err := wordcount([]any{"first", text})
	if err != nil {
		t.Fatal(err)
	}
	got := map[uint32]int32{}
	for i, at := range first.([]uint32) {
		got[at] = count.([]int32)[i]
	}
	if want := map[uint32]int32{0: 3, 4: 2, 13: 1, 17: 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("counts by first occurrence: %v, want %v", got, want)
	}
}

// TestEulerUniform: the far field is at rest with itself and with a wall along the flow.
func TestEulerUniform(t *testing.T) {
	const n = 30 * 40
	far := []float32{1.4, 1.4 * 0.36, 1.4 * 0.48, 1.4 * 0.8, 2.5 + 0.7}
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	got, err := euler3d([]any{"state", far, ones, ones, int64(30), int64(40), int64(3)})
	if err != nil {
		t.Fatal(err)
	}
	for at, u := range got.([]float32) {
		if want := far[at/n]; math.Abs(float64(u-want)) > 1e-4 {
			t.Fatalf("value %d of cell %d is %g, want %g", at/n, at%n, u, want)
		}
	}
}

// TestEulerMesh: who is my neighbour on one side has me on the other.
func TestEulerMesh(t *testing.T) {
	const n = 70 * 50
	mesh, shuffled := eulerMesh(70, 50), 0
	for i := range n {
		for f := range 4 {
			to := int(mesh[f*n+i])
			if to < 0 {
				continue
			}
			if back := mesh[(f^1)*n+to]; int(back) != i {
				t.Fatalf("cell %d has %d over face %d, which has %d over the other", i, to, f, back)
			}
			if f == 1 && to != i+1 {
				shuffled++
			}
		}
	}
	if shuffled < n/2 {
		t.Errorf("%d of %d cells are not followed by their neighbour: the mesh must be unstructured", shuffled, n)
	}
}

// TestLeukocyteDisc: a disc scores highest at its centre, and dilation spreads that.
func TestLeukocyteDisc(t *testing.T) {
	const width, points, radius = 61, 16, 10
	image := make([]float32, width*width)
	for i := range image {
		x, y := float64(i%width-30), float64(i/width-30)
		image[i] = float32(1 / (1 + math.Exp(math.Hypot(x, y)-radius)))
	}
	cosine, sine := make([]float32, points), make([]float32, points)
	dx, dy := make([]int32, points), make([]int32, points)
	for p := range points {
		s, c := math.Sincos(2 * math.Pi * float64(p) / points)
		cosine[p], sine[p] = float32(c), float32(s)
		dx[p], dy[p] = int32(math.Round(radius*c)), int32(math.Round(radius*s))
	}
	got, err := leukocyte([]any{"score", image, int64(width), cosine, sine, dx, dy})
	if err != nil {
		t.Fatal(err)
	}
	score, best := got.([]float32), 0
	for i, s := range score {
		if s > score[best] {
			best = i
		}
	}
	if best != 30*width+30 {
		t.Errorf("the highest score is at (%d, %d), the disc at (30, 30)", best%width, best/width)
	}
	dilated := dilate(score, width)
	if at := 30*width + 30 + cellReach; dilated[at] != score[best] || dilated[at+1] == score[best] {
		t.Errorf("dilation gives %g and %g at and beyond its reach of a peak of %g", dilated[at], dilated[at+1],
			score[best])
	}
}

// TestSmoothStep: one half at 0, 0 and 1 far away, within A & S's 0.005 in between.
func TestSmoothStep(t *testing.T) {
	for z := -0.5; z <= 0.5; z += 0.001 {
		if got, want := float64(smoothStep(float32(z))), 0.5+
			math.Atan(100*z)/math.Pi; math.Abs(got-want) > 0.005/math.Pi+1e-4 {
			t.Fatalf("smoothStep(%g) = %g, want %g", z, got, want)
		}
	}
}
