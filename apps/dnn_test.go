package apps_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// networks holds what suites holds, for the networks of apps/dnn and apps/tango-like, and a second
// replacement where a network has two ways through its arithmetic.
var networks = []struct {
	dir   string
	args  []string
	spoil [][2]string
}{
	{"dnn/alexnet", []string{"divide=100", "n=83 divide=48"}, [][2]string{
		{"fma.rn.f32", "fma.rz.f32"},
		{"max.f32", "min.f32"},
		{"sqrt.rn.f32", "rsqrt.approx.f32"},
	}},
	{"dnn/squeezenet", []string{"n=35 divide=100", "n=64 divide=24"}, [][2]string{
		{"fma.rn.f32", "fma.rz.f32"},
		{"ex2.approx", "lg2.approx"},
	}},
	{"dnn/resnet", []string{"n=1 divide=64", "n=45 divide=13"}, [][2]string{
		{"fma.rn.f32", "fma.rz.f32"},
		{"max.f32", "min.f32"},
	}},
	{"dnn/lstm", []string{"n=1 steps=1", "n=33 inputs=70 steps=33"}, [][2]string{
		{"fma.rn.f32", "fma.rz.f32"},
		{"ex2.approx", "lg2.approx"},
	}},
	{"dnn/gru", []string{"n=1 steps=1", "n=33 inputs=70 steps=33"}, [][2]string{
		{"fma.rn.f32", "fma.rz.f32"},
		{"sub.rn.f32", "add.rn.f32"},
	}},
	{"tango-like/alexnet", []string{"n=147 divide=48 layers=3", "divide=100"}, [][2]string{
		{"fma.rn.f32", "fma.rz.f32"},
		{"max.f32", "min.f32"},
		{"sqrt.rn.f32", "rsqrt.approx.f32"},
	}},
	{"tango-like/squeezenet", []string{"n=19 divide=100", "n=64 divide=24 layers=4"}, [][2]string{
		{"fma.rn.f32", "fma.rz.f32"},
		{"max.f32", "min.f32"},
	}},
	{"tango-like/resnet", []string{"n=1 divide=64", "n=69 divide=32 layers=4"}, [][2]string{
		{"fma.rn.f32", "fma.rz.f32"},
		{"max.f32", "min.f32"},
	}},
	{"tango-like/gru", []string{"n=1 steps=1", "n=133 inputs=170 steps=3"}, [][2]string{
		{"ex2.approx", "lg2.approx"},
		{"sub.rn.f32", "add.rn.f32"},
	}},
	{"tango-like/lstm", []string{"n=1 steps=1", "n=133 inputs=170 steps=3"}, [][2]string{
		{"mul.rn.f32", "add.rn.f32"},
		{"ex2.approx", "lg2.approx"},
	}},
	{
		"dnn/bert-layer",
		[]string{
			"n=1", "n=65 heads=3 depth=7 inner=50", "layers=2", "precision=i8",
			"precision=i8 n=33 heads=3 depth=4 inner=44",
		},
		[][2]string{{"fma.rn.f32", "fma.rz.f32"}, {"ex2.approx", "lg2.approx"}},
	},
}

func TestNetworksOtherArguments(t *testing.T) {
	for _, s := range networks {
		for _, text := range s.args {
			t.Run(fmt.Sprintf("%s/%s", s.dir, text), func(t *testing.T) { passes(t, s.dir, arguments(text)) })
		}
	}
}

func TestNetworksChecksCanFail(t *testing.T) {
	for _, s := range networks {
		for _, op := range s.spoil {
			failsWith(t, s.dir, op[0], op[1])
		}
	}
}

// TestNetworksShareKernels: the networks' own sources name entries only; what they
// compute stands once, in their suite's kernels.
func TestNetworksShareKernels(t *testing.T) {
	for _, s := range networks {
		text := read(t, filepath.Join(s.dir, "kernel.cu"))
		for _, word := range []string{"for (", "threadIdx", "__shared__"} {
			if strings.Contains(text, word) {
				t.Errorf("%s/kernel.cu: %q: kernels belong into ../kernels", s.dir, word)
			}
		}
	}
}

// TestNetworksRefuse: sizes that leave nothing to compute are errors of the script.
func TestNetworksRefuse(t *testing.T) {
	for _, c := range [][3]string{
		{"dnn/alexnet", "n=66", "67 x 67"},
		{"dnn/alexnet", "divide=-1", "divisor"},
		{"dnn/squeezenet", "n=34", "35 x 35"},
		{"dnn/resnet", "n=-1", "1 or more"},
		{"dnn/lstm", "steps=-1", "1 or more"},
		{"dnn/gru", "n=-4", "1 or more"},
		{"tango-like/alexnet", "n=66", "67 x 67"},
		{"tango-like/alexnet", "layers=11", "10 layers"},
		{"tango-like/squeezenet", "n=18", "19 x 19"},
		{"tango-like/squeezenet", "layers=-1", "9 layers"},
		{"tango-like/resnet", "layers=12", "11 layers"},
		{"tango-like/gru", "steps=-1", "1 or more"},
		{"tango-like/lstm", "inputs=-4", "1 or more"},
		{"dnn/bert-layer", "heads=-1", "1 or more"},
		{"dnn/bert-layer", "precision=f16", "f32 or i8"},
		{"dnn/bert-layer", "precision=i8 inner=6", "multiples of 4"},
	} {
		_, err := run(t, c[0], arguments(c[1]))
		if err == nil || !strings.Contains(err.Error(), c[2]) || !strings.Contains(err.Error(), "app.star:") {
			t.Errorf("%s %s: %v, want an error with %q", c[0], c[1], err, c[2])
		}
	}
}

// TestBytesCanFail: the products in bytes, which no default runs, are checked too.
func TestBytesCanFail(t *testing.T) {
	const dir = "dnn/bert-layer"
	tmp := t.TempDir()
	spoilt := strings.Replace(read(t, filepath.Join(dir, "kernel.ptx")), "dp4a.s32.s32", "dp4a.u32.s32", 1)
	for name, text := range map[string]string{
		"kernel.ptx": spoilt,
		"app.star":   read(t, filepath.Join(dir, "app.star")),
	} {
		if err := os.WriteFile(filepath.Join(tmp, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	checks, _ := run(t, tmp, arguments("precision=i8")) // the error counts the failed checks
	wrong := 0
	for _, c := range checks {
		if !c.OK {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("bert-layer in bytes passes with unsigned bytes for signed ones")
	}
}
