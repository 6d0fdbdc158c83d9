package reference

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestSuitesByHand holds results small enough to work out on paper.
func TestSuitesByHand(t *testing.T) {
	a := []float32{1, 2, 3, 4, 5, 6} // 2 x 3
	square, one := []float32{1, 2, 3, 4}, []float32{1, 0, 0, 1}
	cases := []struct {
		name string
		args []any
		want any
	}{
		{"polybench_mvt", []any{"A", a, []float32{10, 20}, []float32{1, 0, 2}}, []float32{17, 36}},
		{"polybench_mvt", []any{"AT", a, []float32{10, 20, 30}, []float32{1, 2}}, []float32{19, 32, 45}},
		{"polybench_bicg", []any{"AT", a, []float32{1, 2}}, []float32{9, 12, 15}},
		{"polybench_gesummv", []any{a, a, []float32{1, 0, 2}, 2.0, 3.0}, []float32{35, 80}},
		{
			"polybench_2mm",
			[]any{square, square, square, one, 2.0, 5.0, int64(2), int64(2), int64(2), int64(2)},
			[]float32{79, 108, 162, 241},
		},
		// One step from hz = 1 in the corner: ey below and ex to the right lose a half of it, then hz itself 0.7 x -1.
		{"polybench_fdtd2d", []any{
			"ey", make([]float32, 4), make([]float32, 4),
			[]float32{1, 0, 0, 0},
			[]float32{9},
			int64(2), int64(2),
		}, []float32{9, 9, 0.5, 0}},
		{"polybench_fdtd2d", []any{
			"ex", make([]float32, 4), make([]float32, 4),
			[]float32{1, 0, 0, 0},
			[]float32{9},
			int64(2), int64(2),
		}, []float32{0, 0.5, 0, 0}},
		// (1 3; 2 4) squared, B transposed
		{
			"parboil-like_sgemm",
			[]any{square, square, one, 2.0, 3.0, int64(2), int64(2), int64(2)},
			[]float32{23, 28, 28, 43},
		},
		// (1 2; 3 4): its transpose times itself, and itself times its transpose
		{"gemm_tiled", []any{square, square, int64(2), int64(2), int64(2)}, []float32{10, 14, 14, 20}},
		{"gemm_tensor", []any{square, square, int64(2), int64(2), int64(2)}, []float32{5, 11, 11, 25}},
		{"parboil-like_mri-q", []any{
			"real",
			[]float32{0.5},
			[]float32{0},
			[]float32{0},
			[]float32{0, 1, 2},
			[]float32{0, 0, 0},
			[]float32{0, 0, 0},
			[]float32{1, 1, 0},
			[]float32{0, 1, 2},
		}, []float32{3}},
		// Two sets of two points: north pole and a point 30 degrees away; the pole twice. One edge at 10 degrees.
		{"parboil-like_tpacf", []any{
			[]float32{0, 0.5, 0, 0},
			make([]float32, 4),
			[]float32{1, 0.8660254, 1, 1},
			[]float32{0.9848},
			int64(2),
		}, []uint32{0, 1, 1, 0, 2, 2}},
		{
			"sdk-like_mergesort",
			[]any{"values", []uint32{5, 1, 5, 0}, []uint32{10, 11, 12, 13}},
			[]uint32{13, 11, 10, 12},
		},
		{
			"sdk-like_convsep",
			[]any{[]float32{0, 0, 0, 0, 1, 0, 0, 0, 0}, []float32{1, 2, 3}, int64(3), int64(3)},
			[]float32{9, 6, 3, 6, 4, 2, 3, 2, 1},
		},
	}
	for _, c := range cases {
		got, err := All[c.name](c.args)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s(%v) = %v, %v, want %v", c.name, c.args, got, err, c.want)
		}
	}
}

func TestConv3D(t *testing.T) {
	cube := make([]float32, 27)
	for i := range cube {
		cube[i] = 1
	}
	got, err := conv3d([]any{cube, int64(3), int64(3), int64(3)})
	// the coefficients' sum
	if b, _ := got.([]float32); err != nil || math.Abs(float64(b[13])-0.8) > 1e-6 || b[0] != 0 {
		t.Errorf("a cube of ones: %v, %v", got, err)
	}
}

// TestGridding: one sample in the middle of a cell, a window of 1 within a cell and 1/2
// beyond: along each axis the points around weigh 1/2, 1, 1, 1/2.
func TestGridding(t *testing.T) {
	at := []float32{1.5}
	got, err := gridding([]any{at, at, at, []float32{2}, []float32{1, 0.5, 0}, int64(5)})
	if err != nil {
		t.Fatal(err)
	}
	var sum float32
	for _, v := range got.([]float32) {
		sum += v
	}
	if b := got.([]float32); sum != 54 || b[0] != 0.25 || b[1*25+1*5+1] != 2 || b[1*25+1*5+3] != 1 || b[4] != 0 {
		t.Errorf("sum %v, %v", sum, b)
	}
}

// TestFastWalsh compares with the definition: out[k] is the sum of a[i] b[i xor k].
func TestFastWalsh(t *testing.T) {
	a, b := []float32{1, -2, 3, 0, 5, 1, 0, 2}, []float32{2, 0, 1, 1, -1, 3, 0, 4}
	want := make([]float32, 8)
	for k := range want {
		for i := range a {
			want[k] += a[i] * b[i^k]
		}
	}
	if got, err := fastwalsh([]any{a, b}); err != nil || !reflect.DeepEqual(got, any(want)) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}

// TestBinomial: trees converge to the closed form.
func TestBinomial(t *testing.T) {
	const steps, s, k, years, rate, vol = 1024, 42.0, 40.0, 0.5, 0.1, 0.2
	w, g := vol*math.Sqrt(years/steps), math.Exp(rate*years/steps)
	p := (g - math.Exp(-w)) / (math.Exp(w) - math.Exp(-w))
	f := func(v float64) []float32 { return []float32{float32(v)} }
	tree, err := binomialoptions([]any{f(s), f(k), f(w), f(p / g), f((1 - p) / g), int64(steps)})
	if err != nil {
		t.Fatal(err)
	}
	if got := float64(tree.([]float32)[0]); math.Abs(got-4.76) > 0.01 { // Hull's example, as in TestBlackScholes
		t.Errorf("call %v, want 4.76", got)
	}
}

// TestDXTC decompresses: a block of the two ends of 5:6:5 bits comes back exactly, a
// ramp within a rounding of its colours.
func TestDXTC(t *testing.T) {
	var cuts []uint32
	for i := range uint32(17) {
		for j := i; j <= 16; j++ {
			for k := j; k <= 16; k++ {
				cuts = append(cuts, i|j<<8|k<<16)
			}
		}
	}
	two, ramp := make([]uint32, 16), make([]uint32, 16)
	for p := range two {
		two[p] = []uint32{0x000000ff, 0x00ff0000}[p*7/5%2]
		ramp[p] = uint32(p*16) * 0x010101
	}
	for name, c := range map[string]struct {
		image []uint32
		off   int
	}{"two colours": {two, 0}, "ramp": {ramp, 44}} { // a third of the range apart, half of that at most
		out, err := dxtc([]any{c.image, cuts, int64(4)})
		if err != nil {
			t.Fatal(err)
		}
		words := out.([]uint32)
		for p, want := range c.image {
			got := decodeDXT(words[0], words[1]>>(2*p)&3)
			for ch := range 3 {
				if d := got[ch] - int(want>>(8*ch)&255); d > c.off || d < -c.off {
					t.Errorf("%s: pixel %d is %v, want %#x", name, p, got, want)
				}
			}
		}
	}
}

func decodeDXT(ends, code uint32) (c [3]int) {
	weight := [4]int{3, 0, 2, 1}[code]
	for ch, f := range [3]struct{ shift, most uint32 }{{11, 31}, {5, 63}, {0, 31}} {
		a, b := ends>>f.shift&f.most*255/f.most, ends>>(16+f.shift)&f.most*255/f.most
		c[ch] = (int(a)*weight + int(b)*(3-weight)) / 3
	}
	return c
}

// TestLBM: nothing is lost in a closed box, and a fluid at rest stays at rest.
func TestLBM(t *testing.T) {
	const nx, ny, nz, row = 6, 5, 4, 8
	const plane, cells = row * ny, row * ny * (nz + 4)
	flags := make([]uint32, cells)
	for z := range nz {
		for y := range ny {
			for x := range nx {
				if x == 0 || y == 0 || z == 0 || x == nx-1 || y == ny-1 || z == nz-1 {
					flags[2*plane+z*plane+y*row+x] = 1
				}
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, noise := range []float32{0, 0.1} {
		a := make([]float32, 19*cells)
		for i := range a {
			w := float32(1) / 36
			if i < cells {
				w = float32(1) / 3
			} else if i < 7*cells {
				w = float32(1) / 18
			}
			if at := i % cells; flags[at] == 0 && at >= 2*plane && at < cells-2*plane && at%row < nx {
				a[i] = w * (1 + noise*rng.Float32()) // the fluid only
			}
		}
		sum := func(f []float32) (s float64) {
			for _, v := range f {
				s += float64(v)
			}
			return s
		}
		got, err := lbm([]any{
			a, make([]float32, len(a)), flags, 1.2, 0.0, int64(nx), int64(ny), int64(nz), int64(row),
			int64(20),
		})
		if err != nil {
			t.Fatal(err)
		}
		if before, after := sum(a), sum(got.([]float32)); math.Abs(after-before) > 1e-4*before || before == 0 {
			t.Errorf("noise %v: mass %v became %v", noise, before, after)
		}
	}
}

// TestLibor compares the adjoint derivative with a difference of values, and the
// exponential with the library's.
func TestLibor(t *testing.T) {
	for a := float32(-20); a < 20; a += 0.37 {
		if want := math.Exp(float64(a)); math.Abs(float64(exactExp(a))-want) > 2e-7*want {
			t.Errorf("exactExp(%v) = %v, want %v", a, exactExp(a), want)
		}
	}
	const paths, steps, rates = 40, 6, 14
	rng := rand.New(rand.NewPCG(3, 4))
	z, vol := make([]float32, paths*steps), make([]float32, rates)
	for i := range z {
		z[i] = float32(rng.NormFloat64())
	}
	for i := range vol {
		vol[i] = 0.2 + 0.01*float32(i%3)
	}
	mean := func(part string, start float64) (s float64) {
		got, err := libor([]any{
			part, z, int64(paths), vol,
			[]int32{3, 8},
			[]float32{0.03, 0.09},
			int64(steps), 0.25,
			start,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range got.([]float32) {
			s += float64(v)
		}
		return s / paths
	}
	const start, h = 0.051, 0.0005
	want := (mean("value", start+h) - mean("value", start-h)) / (2 * h)
	if got := mean("delta", start); math.Abs(got-want) > 0.005*math.Abs(want) || want == 0 {
		t.Errorf("derivative %v, by differences %v", got, want)
	}
}
