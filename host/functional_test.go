package host

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/ptx/parse"
)

func kernelsPTX(t *testing.T) []byte {
	t.Helper()
	return must[[]byte](t)(os.ReadFile("script/testdata/kernels.ptx"))
}

// The Go interface, end to end.
func TestFunctional(t *testing.T) {
	dev := NewFunctional(context.Background(), 0)
	c := New(dev, mem.NewSpace(0), Options{})
	m := must[*Module](t)(c.LoadModule("kernels.ptx", kernelsPTX(t)))
	k := must[*Kernel](t)(m.Kernel("vecadd"))
	const n = 100
	a, b, out := must[*Array](t)(c.Malloc(F32, n, "a")), must[*Array](t)(c.Malloc(F32, n, "b")),
		must[*Array](t)(c.Malloc(F32, n, "c"))
	noError(t, a.Arange(0, 1))
	noError(t, b.Fill(0.5))
	s := c.NewStream()
	noError(t, c.Launch(k, Launch{Grid: [3]uint32{4, 1, 1}, Block: [3]uint32{32, 1, 1}, Stream: s}, a, b, out, n))
	noError(t, s.Synchronize())
	want := make([]float32, n)
	for i := range want {
		want[i] = float32(i) + 0.5
	}
	if k := must[Check](t)(c.Check(out, want, Tolerance{}, "vecadd")); !k.OK {
		t.Error(k.Msg)
	}
	if len(dev.Kernels) != 1 || dev.Kernels[0].CTAs != 4 || dev.Kernels[0].Name != "vecadd" ||
		dev.Kernels[0].Stream != 1 || dev.Kernels[0].WarpInsts == 0 {
		t.Errorf("kernels %+v", dev.Kernels)
	}
	if other := New(dev, mem.NewSpace(0), Options{}); other.Launch(k, Launch{}) == nil {
		t.Error("a kernel of another application was accepted")
	}
}

// A device is told of a module's variables.
func TestModuleAllocations(t *testing.T) {
	c, d := newSlow()
	must[*Array](t)(c.Malloc(U8, 1, "before"))
	must[*Module](t)(c.LoadModule("kernels.ptx", kernelsPTX(t)))
	for _, name := range []string{"+before", "+coeffs", "+counter", "+table"} {
		if n := strings.Count(strings.Join(d.allocs, " ")+" ", name+" "); n != 1 {
			t.Errorf("%s was told %d times: %v", name, n, d.allocs)
		}
	}
}

func TestUsedType(t *testing.T) {
	const head = ".version 6.4\n.target sm_70\n.address_size 64\n.global .align 8 .b8 a[64];\n.global .align 8 .b8 " +
		"b[64];\n" +
		".visible .entry k() {\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<9>;\n.reg .f64 %fd<9>;\n"
	for body, want := range map[string]DType{
		"":                                    U8,
		"ld.global.f32 %f1, [a];":             F32,
		"ld.global.f32 %f1, [b];":             U8,
		"st.global.u32 [a+4], %r1;":           U32,
		"ld.global.s32 %r1, [a];":             I32,
		"ld.global.b32 %f1, [a];":             F32,
		"ld.global.b32 %r1, [a];":             U32,
		"ld.global.v2.f64 {%fd1, %fd2}, [a];": F64,
		"mov.u64 %rd1, a; add.s64 %rd2, %rd3, %rd1; ld.global.u64 %rd4, [%rd2+8];":               U64,
		"mov.u64 %rd1, a; cvta.global.u64 %rd2, %rd1; red.global.add.f32 [%rd2], %f1;":           F32,
		"mov.u64 %rd1, a; ld.global.u32 %r1, [%rd1]; st.global.s32 [%rd1], %r1;":                 I32,
		"ld.global.u32 %r1, [a]; ld.global.u64 %rd1, [a];":                                       U8,
		"mov.u64 %rd1, b; mov.u64 %rd2, a; ld.global.f32 %f1, [%rd1]; st.global.u8 [%rd2], %r1;": U8,
	} {
		m, err := parse.File("t.ptx", []byte(head+body+"\nret;\n}\n"))
		noError(t, err)
		if got := usedType(m, m.Var("a")); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

func TestPack(t *testing.T) {
	c, _ := newSlow()
	a := must[*Array](t)(c.Malloc(F32, 4, "a"))
	k := &emulate.Kernel{Name: "k", ParamBytes: 24, Params: []emulate.Param{
		{Name: "p", Type: "u64", Size: 8, Align: 8, Offset: 0},
		{Name: "h", Type: "b16", Size: 2, Align: 2, Offset: 8},
		{Name: "s", Type: "s32", Size: 4, Align: 4, Offset: 12},
		{Name: "f", Type: "b64", Size: 8, Align: 8, Offset: 16},
	}}
	got := must[[]byte](t)(pack(k, []any{a, 1.5, -2, Scalar{F64, 0x3ff8000000000000}}))
	if want := []byte{
		0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0x3e, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xf8,
		0x3f,
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("packed %x\nwant   %x", got, want)
	}
	_, err := pack(k, []any{nil, 1, uint64(1) << 31, nil})
	wantError(t, err, "kernel k, argument 3 (s .s32): 2147483648 is outside the range of i32 [-2147483648, 2147483647]")
	_, err = pack(k, []any{nil, Scalar{F32, 0}, 0, nil})
	wantError(t, err, "kernel k, argument 2 (h .b16): f32(0) was given, which is not of the parameter's type")
}

// The sizes a machine gives are those of the runtime library of kernels.
func TestLimits(t *testing.T) {
	c := New(NewFunctional(context.Background(), 0), mem.NewSpace(0), Options{Heap: 4096})
	src := must[[]byte](t)(os.ReadFile("script/testdata/runtime.ptx"))
	must[*Module](t)(c.LoadModule("runtime.ptx", src))
	if n := c.heap.Region().Len(); n != 4096 || c.limits.printf != 1<<20 {
		t.Errorf("a heap of %d bytes, a buffer of %d", n, c.limits.printf)
	}
	if err := c.SetPrintfBuffer(1 << 12); err == nil {
		t.Error("the buffer changed after a module that prints was loaded")
	}
}

// An array is an argument of a 32-bit module, whose pointers have 32 bits.
func TestShortPointers(t *testing.T) {
	c := New(NewFunctional(context.Background(), 0), mem.NewSpace(0), Options{})
	const body = ".entry k(.param .u32 p) { .reg .u32 %a; ld.param.u32 %a, [p]; st.global.u32 [%a], 7; exit; }"
	m := must[*Module](t)(c.LoadModule("short.ptx", []byte(".version 2.3\n.target sm_20\n.address_size 32\n"+body)))
	out := must[*Array](t)(c.Malloc(U32, 1, "out"))
	one := Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{1, 1, 1}}
	noError(t, c.Launch(must[*Kernel](t)(m.Kernel("k")), one, out))
	if v := must[any](t)(out.Sum()); fmt.Sprint(v) != "7" {
		t.Errorf("%v, want 7", v)
	}
	long := must[*Module](t)(c.LoadModule("long.ptx", []byte(".version 7.0\n.target sm_70\n.address_size 64\n"+
		".entry k(.param .u32 p) { exit; }")))
	err := c.Launch(must[*Kernel](t)(long.Kernel("k")), one, out)
	if err == nil || !strings.Contains(err.Error(), "64-bit address") {
		t.Errorf("an array for a 32-bit parameter of a 64-bit module: %v", err)
	}
}
