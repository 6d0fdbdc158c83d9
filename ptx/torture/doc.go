// Package torture runs kernels that try to break the PTX emulator, and compares every
// output byte with a Go reference. It holds tests only.
//
// A reader must know three types of the tests. kernelTest is one kernel with its launch
// and inputs; buffer is an argument that lives in memory, with the contents wanted after
// the run; variant is one way the same source was compiled (optimisation, target,
// pointer size). The kernels are testdata/cuda/*.cu, compiled by testdata/ptx.sh to
// testdata/clang/<variant>/*.ptx, and testdata/hand/*.ptx, written by hand in the style
// of nvcc's output.
package torture
