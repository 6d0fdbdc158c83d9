package script

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRuntime: what kernels print appears in order where the host synchronises, and malloc
// in kernels takes from a heap of the size the host sets.
func TestRuntime(t *testing.T) {
	ptx, err := os.ReadFile(filepath.Join("testdata", "runtime.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	const head = "device_limit(heap = 2048, printf = 1 << 20)\nm = module('runtime.ptx')\nfailed = malloc(u32, 1)\n" +
		"k = m.kernel('list')\n"
	for _, c := range []struct{ src, log, err string }{
		{
			head + "launch(k, 1, 3, [16, failed])\nprint('before')\ndevice_synchronize()\nprint('after', failed[0])",
			"before\nt0=0 t1=1 t2=2 after 0\n", "",
		},
		{
			head + "launch(k, 1, 2, [16, failed])\nlaunch(k, 1, 1, [16, failed])\nlog('x')",
			"t0=0 t1=1 [cycle 0] x\nt0=0 ", "",
		},
		{
			head + "for i in range(100):\n  launch(k, 1, 1, [1000, failed])\nprint(failed[0])",
			strings.Repeat("t0=0 ", 100) + "0\n", "",
		},
		{head + "launch(k, 1, 1, [4000, failed])\nprint(failed[0])", "1\n", ""},
		{head + "device_limit(heap = 4096)", "", "the heap cannot change any more"},
		{"device_limit(printf = 1)", "", "it must be 1 KiB to 16 GiB"},
		{"device_limit(5)", "", "name the limits"},
	} {
		files := body(c.src)
		files["runtime.ptx"] = string(ptx)
		r := run(t, files, Options{})
		if (r.err == nil) != (c.err == "") || r.err != nil && !strings.Contains(r.err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.src, r.err, c.err)
		}
		if r.log != c.log {
			t.Errorf("%s printed\n%q\nwant\n%q", c.src, r.log, c.log)
		}
	}
}

// TestTextures: textures are made of arrays, as objects and for variables.
func TestTextures(t *testing.T) {
	ptx, err := os.ReadFile(filepath.Join("testdata", "texture.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	const head = "m = module('texture.ptx')\nk = m.kernel('sample')\na = malloc(f32, 4)\na.arange()\n" +
		"out = malloc(f32, 4)\ns = malloc(f32, 4)\nt = texture(a, address = 'clamp', filter = 'linear')\n"
	const grid = "g = malloc(f32, 9)\ng.arange(start = 0, step = 100)\n" +
		"n = texture(g, 3, 3, address = ('border', 'border'))\n"
	for _, c := range []struct{ src, log, err string }{
		{
			head + grid + "m.bind('named', n)\nlaunch(k, 1, 4, [t, surface(s), out, 0.75])\nprint(out.to_list(), s[3])",
			"[0.0, 400.25, 801.0, 1.75] 1.75\n", "",
		},
		{head + "launch(k, 1, 4, [t, surface(s), out, 0.5])\nprint(out[0])", "", "bind one before the launch"},
		{head + "launch(k, 1, 4, [t, surface(a, 2), out, 0.5])\nprint(out[0])", "", "bind one before the launch"},
		{head + "m.bind('none', t)", "", "no texture or surface none"},
		{head + "texture(a, 3, 3)", "", "need more than the 16 bytes"},
		{head + "texture(malloc(u8, 4), filter = 'linear')", "", "linear filtering needs floats"},
		{head + "texture(a, address = 'edge')", "", "clamp, border, wrap or mirror"},
		{head + "texture(malloc(f64, 4))", "", "no type of a texel"},
		{
			head + grid + "m.bind('named', n)\nfree(g)\nlaunch(k, 1, 4, [t, surface(s), out, 0.5])\nprint(out[0])", "",
			"handle",
		},
	} {
		files := body(c.src)
		files["texture.ptx"] = string(ptx)
		r := run(t, files, Options{})
		if (r.err == nil) != (c.err == "") || r.err != nil && !strings.Contains(r.err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.src, r.err, c.err)
		}
		if r.log != c.log {
			t.Errorf("%s printed\n%q\nwant\n%q", c.src, r.log, c.log)
		}
	}
}

// TestCooperative: the blocks of a cooperative launch meet, and too many are refused.
func TestCooperative(t *testing.T) {
	ptx, err := os.ReadFile(filepath.Join("testdata", "coop.ptx"))
	if err != nil {
		t.Fatal(err)
	}
	const head = "m = module('coop.ptx')\nk = m.kernel('ring')\nn = 200\na = malloc(u32, n)\nout = malloc(u32, n)\n"
	for _, c := range []struct{ src, log, err string }{
		{
			head + "for i in range(2):\n  launch(k, n, 1, [a, out], cooperative = True)\n" +
				"print(out[0], out[198], out[199], out.sum())",
			"101 299 100 39900\n", "",
		},
		{head + "launch(k, 200, 1024, [a, out], cooperative = True)", "", "200 blocks, 160 find room at once"},
		{head + "launch(k, n, 1, [a, out])\nprint(out[0])", "", "not allocated"},
	} {
		files := body(c.src)
		files["coop.ptx"] = string(ptx)
		r := run(t, files, Options{})
		if (r.err == nil) != (c.err == "") || r.err != nil && !strings.Contains(r.err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.src, r.err, c.err)
		}
		if r.log != c.log {
			t.Errorf("%s printed\n%q\nwant\n%q", c.src, r.log, c.log)
		}
	}
}
