package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// withKernels is body with the module of testdata/kernels.ptx beside it, bound to m
// on the first line of main.
func withKernels(t *testing.T, lines string) map[string]string {
	t.Helper()
	ptx, err := os.ReadFile(filepath.Join("testdata", "kernels.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	files := body("m = module('kernels.ptx')\n" + strings.Trim(lines, "\n"))
	files["kernels.ptx"] = string(ptx)
	return files
}

func TestKernels(t *testing.T) {
	for name, c := range map[string]struct{ src, log string }{
		"vecadd": {
			`
n = 1000
a, b, c = malloc(f32, n), malloc_managed(f32, n), malloc(f32, n)
a.arange()
b.random(seed = 2)
k = m.kernel("vecadd")
launch(k, grid = (n + 255) // 256, block = 256, args = [a, b, c, n], shared = 0, stream = None)
device_synchronize()
h = host_array(f32, n)
h.copy_from(c)
print(k, k.name, h[999] == c[999], check(c, [f32(i + x).value for i, x in enumerate(b)], rtol = 0))
launch(k, (8, 1, 1), (128, 1), [a.offset(16), a, c, u32(n - 4)])
print(c[0], c[995], c.slice(0, 10).sum())`,
			"kernel vecadd vecadd True True\n4.0 1994.0 130.0",
		},
		"symbols": {
			`
c = m.symbol("coeffs")
print(c.to_list(), m.symbol("counter")[0], m.symbol("table").dtype, len(m.symbol("table", u8)))
h = host_array(f32, 4)
h.fill(2)
h[3] = 10
c.copy_from(h)
x = malloc(f32, 5)
x.fill(3)
launch(m.kernel("scale"), 1, 32, [x, 5, 0.5])
print(x.to_list())
launch(m.kernel("count"), grid = 1, block = 32)
launch(m.kernel("count"), grid = 1, block = 32)
print(m.symbol("counter")[0], m.symbol("table").sum() == 28 + 29 + 30 + 31 + 26 + 27)
m.symbol("counter")[0] = 100
launch(m.kernel("count"), grid = 1, block = 1)
print(m.symbol("counter").to_list(), module("kernels.ptx").symbol("counter")[0])`,
			"[1.0, 2.0, 3.0, 4.0] 5 u16 12\n[3.0, 3.0, 3.0, 15.0, 3.0]\n7 True\n[101] 5",
		},
		"argument types": {
			`
x = malloc(f32, 4)
x.arange(10)
out = malloc(f64, 8)
k = m.kernel("types")
launch(k, 1, 1, [out, -3, 200, -300, -5000000000, 2, True, (f32(1.5), x)])
print(out.to_list())
launch(k, 1, 1, [out, i8(-4), u8(201), i16(-301), u64(7), f64(0.1), 0, [f32(2.5), x.offset(4)]])
print(out.to_list())
launch(k, 1, 1, [out, 1.0, 2, 3, 4, 5, 0, (f32(-1), x.offset(8))])
print(out.to_list())`,
			"[-3.0, 200.0, -300.0, -5e+09, 2.0, 1.0, 1.5, 11.0]\n[-4.0, 201.0, -301.0, 7.0, 0.1, 0.0, 2.5, " +
				"12.0]\n[1.0, 2.0, 3.0, 4.0, 5.0, 0.0, -1.0, 13.0]",
		},
		"a loop on a device flag": {`
left, more = malloc(i32, 1), malloc_managed(i32, 1)
left[0] = 5
k = m.kernel("countdown")
rounds = 0
more[0] = 1
while more[0]:
    more[0] = 0
    launch(k, grid = 1, block = 32, args = [left, more])
    rounds += 1
print(rounds, left[0])`, "6 0"},
		"registered host memory": {`
h = host_array(i32, 4)
host_register(h)
launch(m.kernel("store"), grid = 1, block = 32, args = [h, 7, 4], stream = stream())
print(h.to_list())`, "[7, 7, 7, 7]"},
		"a loop over streams": {`
streams = [stream() for _ in range(3)]
arrays = [malloc(i32, 64) for _ in streams]
for i, (s, a) in enumerate(zip(streams, arrays)):
    launch(m.kernel("store"), grid = 2, block = 32, args = [a, i + 1, 64], stream = s)
print([a.sum() for a in arrays])`, "[64, 128, 192]"},
	} {
		r := run(t, withKernels(t, c.src), Options{})
		if r.err != nil {
			t.Errorf("%s: %v", name, r.err)
		}
		if got := strings.TrimSuffix(r.log, "\n"); got != c.log {
			t.Errorf("%s printed\n%s\nwant\n%s", name, got, c.log)
		}
	}
}

func TestLaunchErrors(t *testing.T) {
	const vecadd = "x = malloc(f32, 4)\nk = m.kernel('vecadd')\n"
	const types = "x = malloc(f64, 8)\ns = (f32(1), x)\nk = m.kernel('types')\n"
	for _, c := range []struct{ src, want string }{
		{"m.kernel('vecad')", "app.star:3: kernels.ptx: no kernel vecad"},
		{"m.symbol('coefs')", "app.star:3: kernels.ptx: no symbol coefs"},
		{"m.symbol('coeffs', f64).view(i8).view('f')", "app.star:3: view: for parameter dtype: got string, " +
			"want an element type: i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64"},
		{"m.symbol('coeffs', 3)", "app.star:3: symbol: for parameter dtype: got int, want an element type: " +
			"i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64"},
		{"free(m.symbol('coeffs'))", "app.star:3: cannot free coeffs: it belongs to its module"},
		{
			vecadd + "launch(k, 1, 1, [x, x, x])",
			"app.star:5: kernel vecadd takes 4 arguments (.u64 vecadd_param_0, .u64 vecadd_param_1, .u64 " +
				"vecadd_param_2, .u32 vecadd_param_3), got 3",
		},
		{
			vecadd + "launch(k, 1, 1, [x, x, x, x])",
			"app.star:5: kernel vecadd, argument 4 (vecadd_param_3 .u32): an array (a 64-bit address) was given",
		},
		{
			vecadd + "launch(k, 1, 1, [x, x, x, 1 << 32])",
			"app.star:5: kernel vecadd, argument 4 (vecadd_param_3 .u32): 4294967296 is outside the range of u32 [0, " +
				"4294967295]",
		},
		{
			vecadd + "launch(k, 1, 1, [x, x, x, -(1 << 31) - 1])",
			"app.star:5: kernel vecadd, argument 4 (vecadd_param_3 .u32): -2147483649 is outside the range of i32 " +
				"[-2147483648, 2147483647]",
		},
		{
			vecadd + "launch(k, 1, 1, [x, x, x, 1.5])",
			"app.star:5: kernel vecadd, argument 4 (vecadd_param_3 .u32): 1.5 cannot be stored as u32: it is not an " +
				"integer",
		},
		{
			vecadd + "launch(k, 1, 1, [x, x, x, None])",
			"app.star:5: kernel vecadd, argument 4 (vecadd_param_3 .u32): no value was given (None stands for a null " +
				"pointer)",
		},
		{
			vecadd + "launch(k, 1, 1, [x, x, x, u64(3)])",
			"app.star:5: kernel vecadd, argument 4 (vecadd_param_3 .u32): u64(3) was given, which is not of the " +
				"parameter's type",
		},
		{
			vecadd + "launch(k, 1, 1, [x, x, x, f32(3)])",
			"app.star:5: kernel vecadd, argument 4 (vecadd_param_3 .u32): f32(3) was given, which is not of the " +
				"parameter's type",
		},
		{
			vecadd + "launch(k, 1, 1, [x, x, x, 'n'])",
			"app.star:5: launch: kernel vecadd, argument 4: got string, want a number",
		},
		{
			vecadd + "launch(k, 1, 1, [x, x, x, (1, 2)])",
			"app.star:5: launch: kernel vecadd, argument 4: got int in a structure; its fields are arrays and typed " +
				"scalars such as f32(1.5)",
		},
		{
			vecadd + "free(x)\nlaunch(k, 1, 1, [x, x, x, 1])",
			"app.star:6: kernel vecadd, argument 1 (vecadd_param_0 .u64): alloc#3 (app.star:3) was freed",
		},
		{
			"launch(m.kernel('scale'), 1, 1, [malloc(f32, 1), 1, 1e39])",
			"app.star:3: kernel scale, argument 3 (scale_param_2 .f32): 1e+39 is outside the range of f32",
		},
		{
			"launch(m.kernel('scale'), 1, 1, [malloc(f32, 1), 1, i32(1)])",
			"app.star:3: kernel scale, argument 3 (scale_param_2 .f32): i32(1) was given, which is not of the " +
				"parameter's type",
		},
		{
			types + "launch(k, 1, 1, [x, -129, 0, 0, 0, 0, 0, s])",
			"app.star:6: kernel types, argument 2 (types_param_1 .u8): -129 is outside the range of i8 [-128, 127]",
		},
		{
			types + "launch(k, 1, 1, [x, 0, 0, 0, 0, 0, 0, (x, x, x)])",
			"app.star:6: kernel types, argument 8 (types_param_7 .b8): 24 bytes given for a parameter of 16",
		},
		{
			types + "launch(k, 1, 1, [x, 0, 0, 0, 0, 0, 0, 5])",
			"app.star:6: kernel types, argument 8 (types_param_7 .b8): a parameter of 16 bytes passed by value takes " +
				"bytes of that size",
		},
		{
			vecadd + "launch(k, 0, 1, [x, x, x, 1])",
			"app.star:5: launch: grid = 0: each dimension must be in 1..2147483647",
		},
		{
			vecadd + "launch(k, 1, (1, 2, 3, 4), [x, x, x, 1])",
			"app.star:5: launch: block has 4 dimensions; give an int or (x, y, z)",
		},
		{
			vecadd + "launch(k, 4 / 2, 1, [x, x, x, 1])",
			"app.star:5: launch: grid: got float, want int or (x, y, z); integer division is //",
		},
		{
			vecadd + "launch(k, 1, 1, [x, x, x, 1], shared = -1)",
			"app.star:5: kernel vecadd: shared = -1 must not be negative",
		},
	} {
		r := run(t, withKernels(t, c.src), Options{})
		if r.err == nil || !strings.HasPrefix(r.err.Error(), c.want) {
			t.Errorf("%q\n got %v\nwant %s", c.src, r.err, c.want)
		} else if host.Classify(r.err) != host.BadInput {
			t.Errorf("%q: class %d", c.src, host.Classify(r.err))
		}
	}
	r := run(t, withKernels(t, vecadd+"launch(k, 1, 1025, [x, x, x, 1])"), Options{})
	if r.err == nil || !strings.HasPrefix(r.err.Error(), "app.star:5: ") || !strings.Contains(r.err.Error(), "1024") {
		t.Errorf("a block of 1025 threads: %v", r.err)
	}
	r = run(t, map[string]string{
		"app.star": "def main():\n    module('bad.ptx')\n",
		"bad.ptx":  ".version 6.4\n.target sm_70\nrubbish",
	}, Options{})
	if r.err == nil || !strings.HasPrefix(r.err.Error(), "app.star:2: bad.ptx:3: ") {
		t.Errorf("bad PTX: %v", r.err)
	}
}

// A fault names the place that waited, the launch and the PTX line; the program's
// end waits too.
func TestKernelFaults(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"at the next wait": {
			"x = malloc(i32, 4)\nlaunch(m.kernel('store'), 1, 32, [x, 1, 5])\ny = 1\ndevice_synchronize()",
			"app.star:6: launch at app.star:4: kernels.ptx:",
		},
		"at an element access": {
			"x = malloc(i32, 4)\nlaunch(m.kernel('store'), 1, 32, [x, 1, 5], stream = stream())\nprint(x[0])",
			"app.star:5: launch at app.star:4: kernels.ptx:",
		},
		"at the end": {
			"x = malloc(i32, 4)\nlaunch(m.kernel('store'), 1, 32, [x, 1, 5])",
			"launch at app.star:4: kernels.ptx:",
		},
	} {
		r := run(t, withKernels(t, c.src), Options{})
		var fault *isa.Fault
		if !errors.As(r.err, &fault) || !strings.HasPrefix(r.err.Error(), c.want) ||
			host.Classify(r.err) != host.BadInput {
			t.Errorf("%s: %v", name, r.err)
			continue
		}
		if !strings.Contains(r.err.Error(), "thread (4,0,0)") ||
			!strings.Contains(fault.Msg, "device alloc#3 (app.star:3)") || fault.Line == 0 {
			t.Errorf("%s: the fault does not tell where: %v", name, r.err)
		}
	}
	r := run(t, withKernels(t, "h = host_array(i32, 4)\nlaunch(m.kernel('store'), 1, 32, [h, 1, 4])"), Options{})
	if r.err == nil || !strings.Contains(r.err.Error(), "host") {
		t.Errorf("unregistered host memory: %v", r.err)
	}
}

func TestKernelLimitAndInterrupt(t *testing.T) {
	dir := folder(t, withKernels(t, "f = malloc(i32, 1)\nlaunch(m.kernel('spin'), 1, 32, [f])\ndevice_synchronize()"))
	p, err := Load(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = p.Run(host.New(host.NewFunctional(context.Background(), 10_000), mem.NewSpace(0), host.Options{}))
	if host.Classify(err) != host.Stuck ||
		!strings.HasPrefix(err.Error(), "app.star:5: launch at app.star:4: kernels.ptx:") {
		t.Errorf("limit: %v", err)
	}
	ctx := &countdown{Context: context.Background(), left: 5}
	err = p.Run(host.New(host.NewFunctional(ctx, 0), mem.NewSpace(0), host.Options{Ctx: ctx}))
	if host.Classify(err) != host.Stopped || ctx.left != 0 {
		t.Errorf("interrupt: %v, %d looks left", err, ctx.left)
	}
}

// countdown is a context that is cancelled after it was looked at some times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left == 0 {
		return context.Canceled
	}
	c.left--
	return nil
}
