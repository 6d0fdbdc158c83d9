package torture

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// bound is the error the PTX ISA allows one of the ten results of fl_approx.
type bound struct {
	name     string
	f        func(x, y float64) float64
	rel, abs float64
	skip     func(x, y float64) bool // where the ISA promises nothing, or flushes
}

func outside(limit float64) func(x, y float64) bool {
	return func(x, _ float64) bool { return math.Abs(x) > limit && !math.IsInf(x, 0) }
}

// hugeDivisor: div.approx is specified for divisors in [2^-126, 2^126]; a quotient
// that overflows or is subnormal is left to the implementation.
func hugeDivisor(x, y float64) bool {
	q := math.Abs(x / y)
	return math.Abs(y) > 0x1p126 || math.Abs(y) < 0x1p-126 || math.Abs(x) < 0x1p-126 && x != 0 || q != 0 &&
		q < 0x1p-126 || q > 0x1p127
}

var bounds = []bound{
	{"ex2", func(x, _ float64) float64 { return math.Exp2(x) }, 0x1p-22, 0, func(x, _ float64) bool {
		return x < -126 &&
			!math.IsInf(x, 0) || x > 127.9 && x < 128
	}},
	{"lg2", func(x, _ float64) float64 { return math.Log2(x) }, 0x1p-22, 0x1p-22, nil},
	{
		"rcp", func(x, _ float64) float64 { return 1 / x }, 0x1p-23, 0,
		func(x, _ float64) bool { return math.Abs(x) > 0x1p126 && !math.IsInf(x, 0) },
	},
	{"rsqrt", func(x, _ float64) float64 { return 1 / math.Sqrt(x) }, 0x1.2p-23, 0, nil},
	{"sqrt", func(x, _ float64) float64 { return math.Sqrt(x) }, 0x1p-22, 0, nil},
	{"sin", func(x, _ float64) float64 { return math.Sin(x) }, 0, 0x1.2p-21, outside(math.Pi)},
	{"cos", func(x, _ float64) float64 { return math.Cos(x) }, 0, 0x1.2p-21, outside(math.Pi)},
	{"div.approx", func(x, y float64) float64 { return x / y }, 0x1p-22, 0, hugeDivisor},
	{"div.full", func(x, y float64) float64 { return x / y }, 0x1p-22, 0, hugeDivisor},
	{"rsqrt.ftz", func(x, _ float64) float64 { return 1 / math.Sqrt(ftz(x)) }, 0x1.2p-23, 0, nil},
}

// TestApproximations holds every result within the ISA's bound; infinities, zeros and
// NaN come out as the ISA's tables say.
func TestApproximations(t *testing.T) {
	in := operands32(59, flN)
	for i := range in {
		if i%4 == 3 { // arguments of moderate size, where all functions are interesting
			in[i] = unit(60, flN)[i] * 3
		}
	}
	for _, v := range variants {
		m := load(t, "clang/"+v+"/floats.ptx")
		got := runApprox(t, m, in)
		for i, x := range in {
			y := float64(in[(i*7+1)%flN])
			for k, b := range bounds {
				x := float64(x)
				if b.skip != nil && b.skip(x, y) {
					continue
				}
				g, want := float64(got[10*i+k]), b.f(x, y)
				if float32(want) == float32(g) || math.IsNaN(want) && math.IsNaN(g) {
					continue
				}
				if !(math.Abs(g-want) <= b.abs+b.rel*math.Abs(want)) {
					t.Errorf("%s: %s(%g, %g) = %g, want %g: error %g", v, b.name, x, y, g, want, math.Abs(g-want))
				}
			}
		}
	}
}

// runApprox returns ten results per input.
func runApprox(t *testing.T, m *emulate.Module, input []float32) []float32 {
	t.Helper()
	space := mem.NewSpace(0)
	inst, err := m.Bind(space)
	if err != nil {
		t.Fatal(err)
	}
	o, places := ptr(scratch(make([]float32, 10*flN))), map[*buffer]*mem.Region{}
	g, err := prepare(m, inst, space, launch{"fl_approx", d1(3), d1(128), 0, []any{ptr(in(input)), o, uint32(flN)}},
		places, false)
	if err == nil {
		_, err = emulate.Run(g, limit)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, 10*flN)
	if _, err := binary.Decode(places[o].Data, binary.LittleEndian, got); err != nil {
		t.Fatal(err)
	}
	return got
}
