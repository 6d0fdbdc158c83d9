package apps_test

import (
	"fmt"
	"testing"
)

// suites adds to TestOtherArguments and TestChecksCanFail what the applications of
// PolyBench, Parboil, the SDK and ISPASS need: sizes that leave partial blocks and
// other ways through the kernels, and an operation whose replacement must show.
var suites = []struct {
	dir  string
	args []string
	from string
	to   string
}{
	{"polybench/mvt", []string{"n=1", "n=33 ny=300"}, "fma.rn.f32", "fma.rz.f32"},
	{"polybench/bicg", []string{"n=1", "n=33 ny=300"}, "fma.rn.f32", "fma.rz.f32"},
	{"polybench/gesummv", []string{"n=1", "n=33 ny=300 beta=0"}, "fma.rn.f32", "fma.rz.f32"},
	{"polybench/2mm", []string{"n=1", "n=33 nj=9 nk=17 nl=65"}, "fma.rn.f32", "fma.rz.f32"},
	{"polybench/3dconv", []string{"n=3", "n=5 nj=33 nk=65"}, "fma.rn.f32", "fma.rz.f32"},
	{"polybench/fdtd2d", []string{"n=1 steps=1", "n=9 ny=65 steps=20"}, "fma.rn.f32", "fma.rz.f32"},
	{"parboil-like/lbm", []string{"n=4 steps=1", "n=7 ny=5 nz=9 steps=4"}, "fma.rn.f32", "fma.rz.f32"},
	{"parboil-like/mri-q", []string{"n=1 samples=1", "n=33 samples=50 chunk=7 block=32"}, "cos.approx", "sin.approx"},
	{"parboil-like/sgemm", []string{"n=128", "m=256 n=16 k=8 beta=0"}, "fma.rn.f32", "fma.rz.f32"},
	{"gemm/tiled", []string{"n=128", "m=256 n=128 k=8"}, "fma.rn.f32", "fma.rz.f32"},
	{"gemm/tensor", []string{"n=256", "m=128 n=512 k=32", "m=128 n=256 k=64"}, "xor.b32", "or.b32"},
	{"parboil-like/tpacf", []string{"n=1 sets=1", "n=257 sets=1"}, "setp.gt.f32", "setp.eq.f32"},
	{
		"parboil-like/mri-gridding",
		[]string{"n=1 side=4", "n=66000 side=4", "n=1025 side=32 block=64"},
		"fma.rn.f32",
		"fma.rz.f32",
	},
	{
		"sdk-like/fastwalsh",
		[]string{"log=1", "log=11 block=512", "log=12", "log=15 block=64"},
		"sub.rn.f32",
		"sub.rz.f32",
	},
	{"sdk-like/dxtc", []string{"n=4", "n=20 height=12 seed=9"}, "max.f32", "min.f32"},
	{"sdk-like/binomialoptions", []string{"n=1 steps=512", "n=2 steps=2048 volatility=0.1"}, "max.f32", "min.f32"},
	{
		"sdk-like/mergesort",
		[]string{"n=1", "n=1023", "n=1025 keys=3", "n=9000 keys=1", "n=4096 keys=4000000000"},
		"setp.gt.u32", "setp.lt.u32",
	},
	{
		"ispass-like/libor",
		[]string{"n=1 rates=2 steps=1", "n=70 rates=33 steps=3 block=32"},
		"fma.rn.f32",
		"fma.rz.f32",
	},
	{"sdk-like/convsep", []string{"n=1", "n=129 height=65", "n=40 passes=2"}, "fma.rn.f32", "fma.rz.f32"},
}

func TestSuitesOtherArguments(t *testing.T) {
	for _, s := range suites {
		for _, text := range s.args {
			t.Run(fmt.Sprintf("%s/%s", s.dir, text), func(t *testing.T) { passes(t, s.dir, arguments(text)) })
		}
	}
}

func TestSuitesChecksCanFail(t *testing.T) {
	for _, s := range suites {
		failsWith(t, s.dir, s.from, s.to)
	}
}
