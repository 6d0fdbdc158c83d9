// Package reference computes on the CPU what the kernels of apps/ compute, for
// check() in their scripts. There are three things to know: All, the table a script
// runner hands on as its references; one file per suite with a function per
// application; and args.go, which reads the arguments a script passed.
//
// A reference does its arithmetic in the kernel's order and precision (fma32 where
// the kernel says fmaf), so results are bit-exact unless the kernel uses the
// approximate functions of the special function unit.
package reference

import "math"

// All holds every reference by the name scripts use, suite_app. Nothing writes to it.
var All = map[string]func(args []any) (any, error){
	"micro_vecadd":               vecadd,
	"micro_triad":                triad,
	"micro_reduction":            reduction,
	"micro_histogram":            histogram,
	"micro_spmv":                 spmv,
	"sdk-like_matrixmul":         matrixmul,
	"sdk-like_blackscholes":      blackscholes,
	"polybench_2dconv":           conv2d,
	"polybench_atax":             atax,
	"rodinia-like_hotspot":       hotspot,
	"rodinia-like_bfs":           bfs,
	"rodinia-like_pathfinder":    pathfinder,
	"parboil-like_cp":            cp,
	"polybench_mvt":              mvt,
	"polybench_bicg":             bicg,
	"polybench_gesummv":          gesummv,
	"polybench_2mm":              mm2,
	"polybench_3dconv":           conv3d,
	"polybench_fdtd2d":           fdtd2d,
	"micro_randomaccess":         randomaccess,
	"micro_pointer-chase":        pointerchase,
	"rodinia-like_backprop":      backprop,
	"rodinia-like_srad_v2":       srad,
	"rodinia-like_nw":            needleman,
	"rodinia-like_lud":           lud,
	"rodinia-like_kmeans":        kmeans,
	"rodinia-like_streamcluster": streamcluster,
	"rodinia-like_lavamd":        lavamd,
	"parboil-like_lbm":           lbm,
	"parboil-like_mri-q":         mriq,
	"parboil-like_sgemm":         sgemm,
	"gemm_tiled":                 gemmSingle,
	"gemm_tensor":                gemmHalf,
	"parboil-like_tpacf":         tpacf,
	"sdk-like_fastwalsh":         fastwalsh,
	"sdk-like_convsep":           convsep,
	"rodinia-like_btree":         btree,
	"lonestar-like_sssp":         sssp,
	"mars-like_stringmatch":      stringmatch,
	"mars-like_wordcount":        wordcount,
	"mars-like_pageviewcount":    pageviewcount,
	"sdk-like_dxtc":              dxtc,
	"sdk-like_binomialoptions":   binomialoptions,
	"sdk-like_mergesort":         mergesort,
	"ispass-like_libor":          libor,
	"rodinia-like_dwt2d":         dwt2d,
	"rodinia-like_euler3d":       euler3d,
	"rodinia-like_leukocyte":     leukocyte,
	"parboil-like_mri-gridding":  gridding,
	"dnn_alexnet":                dnnLayer,
	"dnn_squeezenet":             dnnLayer,
	"dnn_resnet":                 dnnLayer,
	"dnn_gru":                    dnnLayer,
	"dnn_lstm":                   dnnLayer,
	"dnn_bert-layer":             dnnLayer,
	"tango-like_alexnet":         dnnLayer,
	"tango-like_squeezenet":      dnnLayer,
	"tango-like_resnet":          dnnLayer,
	"tango-like_gru":             tangoLayer,
	"tango-like_lstm":            tangoLayer,
}

// fma32 is a*b+c rounded once to float32, as fma.rn.f32.
func fma32(a, b, c float32) float32 {
	// The product of two float32 is exact in float64. The sum may be rounded there,
	// and rounding a second time to float32 would then be wrong in half-way cases; so
	// round the sum to odd first, which keeps the second rounding correct because
	// float64 has more than two bits beyond float32.
	p, z := float64(a)*float64(b), float64(c)
	s := p + z
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return float32(s)
	}
	d := s - p
	err := (p - (s - d)) + (z - d) // exact: s + err = p + z (Knuth's two-sum)
	if err != 0 && math.Float64bits(s)&1 == 0 {
		if (err > 0) == (s > 0) {
			s = math.Float64frombits(math.Float64bits(s) + 1)
		} else {
			s = math.Float64frombits(math.Float64bits(s) - 1)
		}
	}
	return float32(s)
}

// The kernels write a product and a sum apart, and Go may fuse them unless the
// product is converted first: mul32 says so once.
func mul32(a, b float32) float32 { return float32(a * b) }

// sqrt32 is the correctly rounded square root.
func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }
