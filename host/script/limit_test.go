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
		{"device_limit(printf = 1)", "", "from 1 KiB"},
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
