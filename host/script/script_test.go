package script

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/mem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// result is what a script did.
type result struct {
	log    string
	checks []host.Check
	err    error
}

// folder writes files into a fresh application folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runDir(ctx context.Context, dir string, opt Options) result {
	var log bytes.Buffer
	opt.Log = &log
	p, err := Load(dir, opt)
	if err != nil {
		return result{err: err}
	}
	c := host.New(host.NewFunctional(ctx, 0), mem.NewSpace(1<<26), host.Options{Ctx: ctx})
	err = p.Run(c)
	return result{log.String(), c.Checks(), err}
}

func run(t *testing.T, files map[string]string, opt Options) result {
	t.Helper()
	return runDir(context.Background(), folder(t, files), opt)
}

// body is a script whose main is the given lines; its first line is line 2.
func body(lines string) map[string]string {
	var b strings.Builder
	b.WriteString("def main():\n")
	for line := range strings.SplitSeq(strings.Trim(lines, "\n"), "\n") {
		b.WriteString("    " + line + "\n")
	}
	return map[string]string{"app.star": b.String()}
}

func TestPrograms(t *testing.T) {
	for name, c := range map[string]struct{ src, log string }{
		"dtypes": {
			`print(f32, i8(-3), u64(18446744073709551615), f16(1.5), f32(0.1), f64.size)`,
			"f32 i8(-3) u64(18446744073709551615) f16(1.5) f32(0.1) 8",
		},
		"scalars are numbers": {
			`
x = u32(7)
print(x + 1, 2 * x, x // u32(2), -x, x.value, f32(2) < f32(3), x == u32(7), f32(0.5) * 3)`,
			"8 14 3 -7 7 True True 1.5",
		},
		"kinds": {
			`
for f in (malloc, malloc_managed, host_array):
    a = f(i32, 3)
    a.arange()
    a[1] = 40
    a[-1] += 5
    print(len(a), a.len(), a[0], a.to_list(), [2 * x for x in a], a.sum(), a.min(), a.max(), a.dtype, a.nbytes, 7 in a.to_list())`,
			strings.Repeat("3 3 0 [0, 40, 7] [0, 80, 14] 47 0 40 i32 12 True\n", 3),
		},
		"sums": {
			`
a, b = malloc(f32, 4), host_array(i32, 3)
a.copy_from([1, 2, 3, 4])
b.prefix_sums(malloc(u8, 2))
print(a.sums(2), a.sums(2, start = [0.5, 1]), b.sums(1), b.to_list())`,
			"[4.0, 6.0] [4.5, 7.0] [0] [0, 0, 0]",
		},
		"description": {
			`print(malloc(f32, 4), host_array(u8, 2, name = "flags"))`,
			"array of 4 f32 in device memory, alloc#0 (app.star:2) array of 2 u8 in host memory, flags (app.star:2)",
		},
		"defaults": {`
a = malloc(f32, 2)
a.random()
b = malloc(f32, 2)
b.random(seed = 1, lo = 0, hi = 1)
print(a.to_list() == b.to_list())
a.arange(start = 3, step = -0.5)
print(a.to_list())
a.arange(1)
print(a.to_list())
a.fill(value = 2.5)
print(a.to_list())`, "True\n[3.0, 2.5]\n[1.0, 2.0]\n[2.5, 2.5]"},
		"views": {
			`
a = malloc(u16, 8)
a.arange()
print(a.slice(2, 5).to_list(), a.slice(6).to_list(), a.slice(-2, -1).to_list(), a.offset(10).to_list(), a.slice(0, 2).view(u32).to_list())`,
			"[2, 3, 4] [6, 7] [6] [5, 6, 7] [65536]",
		},
		"copies": {`
h = host_array(f32, 4)
d = malloc(f32, 4)
e = malloc_managed(f32, 4)
h.arange()
s = stream()
d.copy_from(h, stream = s)
s.synchronize()
e.copy_from(d)
print(e.to_list())
h.copy_from([5, 6.5, 7, 8])
d.copy_from(h.slice(1, 3).view(u8).view(f32)) if False else d.slice(0, 2).copy_from(h.slice(1, 3))
print(d.to_list())`, "[0.0, 1.0, 2.0, 3.0]\n[6.5, 7.0, 2.0, 3.0]"},
		"sha256": {`
a = host_array(u8, 3)
a.copy_from([97, 98, 99])
print(a.sha256())`, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		"events": {`
s = stream()
a = event()
b = event()
a.record(s)
b.record()
s.wait(a)
b.synchronize()
print(b.elapsed(a), elapsed(a, b), s, a)`, "0.0 0.0 stream 1 event"},
		"hints": {`
m = malloc_managed(f32, 8)
for hint in [read_mostly, prefer_device, "preferred_host", "accessed-by-device", "READ_MOSTLY"]:
    mem_advise(m, hint)
mem_advise(m, "preferred_location", to = host)
prefetch_async(m, to = device)
prefetch_async(m, host, stream = stream())
host_register(host_array(u8, 1))
device_synchronize()
free(m)
log("done", 1)`, "[cycle 0] done 1"},
		"language": {`
n = 0
while n < 5:
    n += 1
print(n, set([1, 2]) == set([2, 1]), math.ceil(1.5), "%d" % 3)`, "5 True 2 3"},
		"f16": {`
a = malloc(f16, 3)
a.arange(0.1, 0.1)
print(a.to_list()[0], a.sum() < 0.601)`, "0.0999755859375 True"},
		"checks": {
			`
a = malloc(f32, 3)
a.arange()
b = malloc(f32, 3)
b.copy_from(a)
i = malloc(u8, 2)
print(check(a, b), check(a, [0, 1, 2.00001]), check(a, [0, 1, 2.1], atol = 0.2, name = "third"), check(i, 0), check(3, 3), check([1, 2], (1, 2)))`,
			"True True True True True True",
		},
	} {
		r := run(t, body(c.src), Options{})
		if r.err != nil {
			t.Errorf("%s: %v", name, r.err)
		}
		if got := strings.TrimSuffix(r.log, "\n"); got != strings.TrimSuffix(c.log, "\n") {
			t.Errorf("%s printed\n%s\nwant\n%s", name, got, c.log)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"x = 1\nmalloc(f32, 0)", "app.star:3: malloc: cannot allocate 0 elements: the count must be positive"},
		{
			"malloc(f32, 1 << 40)",
			"app.star:2: malloc: out of device memory: 4398046511104 bytes asked, 0 of 67108864 in use",
		},
		{"malloc(f32)", "app.star:2: malloc: missing argument for count"},
		{"malloc(f32, 3.0)", "app.star:2: malloc: for parameter count: got float, want int"},
		{"malloc(f32, 3, nmae = 'x')", "app.star:2: malloc: unexpected keyword argument \"nmae\""},
		{"malloc(f32, 3)[3]", "app.star:2: index 3 is outside the array's 3 elements"},
		{"malloc(f32, 3)[-4]", "app.star:2: index -4 is outside the array's 3 elements"},
		{"malloc(f32, 3)['a']", "app.star:2: array index: got string, want int"},
		{"a = malloc(u8, 3)\na[0] = 256", "app.star:3: 256 is outside the range of u8 [0, 255]"},
		{"a = malloc(u8, 3)\na[0] = 'x'", "app.star:3: array element: got string, want a number"},
		{"a = malloc(u8, 3)\na.fill(-1)", "app.star:3: fill: -1 is outside the range of u8 [0, 255]"},
		{"a = malloc(u8, 3)\na.fill('x')", "app.star:3: fill: got string, want a number"},
		{"a = malloc(u8, 3)\na.arange(0, 'x')", "app.star:3: arange: got string, want a number"},
		{"a = malloc(u8, 3)\na.random(lo = 2)", "app.star:3: random: [2, 1) holds no integer"},
		{
			"a = malloc(u8, 3)\na.random(seed = -1)",
			"app.star:3: random: for parameter \"seed\": -1 out of range (want value in unsigned 64-bit range)",
		},
		{"a = malloc(u8, 3)\na.fil(0)", "app.star:3: array has no .fil field or method (did you mean .fill?)"},
		{"a = malloc(u8, 3)\na.slice(2, 4)", "app.star:3: slice [2, 4) is outside the array's 3 elements"},
		{"a = malloc(u8, 3)\na.offset(4)", "app.star:3: offset of 4 bytes leaves alloc#0 (app.star:2)"},
		{"a = malloc(u8, 3)\na.view(f32)", "app.star:3: 3 bytes are not a whole number of f32 elements"},
		{
			"a = malloc(u8, 3)\na.copy_from(malloc(u8, 4))",
			"app.star:3: copy_from: the source has 4 bytes, the destination 3; " +
				"copy a slice(from, to) of the larger one",
		},
		{"a = malloc(u8, 3)\na.copy_from(5)", "app.star:3: copy_from: got int, want an array"},
		{
			"a = malloc(u8, 3)\na.copy_from([1, 2, 3], stream = stream())",
			"app.star:3: copy_from: an asynchronous copy needs an array as its source, not a list",
		},
		{
			"a = malloc(u8, 3)\na.copy_from([1, 2, 300])",
			"app.star:3: copy_from: element 2: 300 is outside the range of u8 [0, 255]",
		},
		{"a = malloc(f32, 3)\na.sums(1, ['x'])", "app.star:3: sums: start: got string, want numbers"},
		{"a = malloc(f32, 3)\na.sums(2, [1.0])", "app.star:3: 2 sums and 1 start values: there must be one for each"},
		{"a = malloc(u8, 3)\na.prefix_sums(a)", "app.star:3: prefix sums of 3 elements are 4, and the array has 3"},
		{"a = malloc(u8, 3)\nfree(a)\na.sum()", "app.star:4: alloc#0 (app.star:2) was freed"},
		{"a = malloc(u8, 3)\nfree(a)\nfree(a)", "app.star:4: alloc#0 (app.star:2) was freed"},
		{
			"a = malloc(u8, 3)\nfor x in a.slice(0, 0): print(x)\nfree(a)\nfor x in a: print(x)",
			"app.star:5: alloc#0 (app.star:2) was freed",
		},
		{"a = malloc(u8, 3)\na.load('in.bin')", "app.star:3: load: in.bin has 5 bytes, but the array of 3 u8 has 3"},
		{"a = malloc(u8, 3)\na.load('none.bin')", "app.star:3: load: none.bin: no such file or directory"},
		{
			"a = malloc(u8, 3)\na.load('../x')",
			"app.star:3: load: ../x lies outside: a script reads files of its own folder only",
		},
		{
			"a = malloc(u8, 3)\na.load('/etc/passwd')",
			"app.star:3: load: /etc/passwd lies outside: a script reads files of its own folder only",
		},
		{
			"a = malloc(u8, 3)\na.load('link')",
			"app.star:3: load: link lies outside: a script reads files of its own folder only",
		},
		{"a = malloc(u8, 3)\na.load('sub')", "app.star:3: load: sub is not a regular file"},
		{"a = malloc(u8, 3)\na.load('')", "app.star:3: load: the file name is empty"},
		{
			"a = malloc(u8, 3)\na.save('x')",
			"app.star:3: save: cannot write x: there is no output directory; give one with --out DIR",
		},
		{
			"module('../k.ptx')",
			"app.star:2: module: ../k.ptx lies outside: a script reads files of its own folder only",
		},
		{"module('k.ptx')", "app.star:2: module: k.ptx: no such file or directory"},
		{"launch(1, grid = 1, block = 1)", "app.star:2: launch: for parameter kernel: got int, want kernel"},
		{
			"prefetch_async(malloc_managed(u8, 1), to = 'moon')",
			"app.star:2: prefetch_async: to = \"moon\": it is device or host",
		},
		{
			"prefetch_async(malloc(u8, 1), to = host)",
			"app.star:2: prefetch_async: alloc#0 (app.star:2) is device memory; only malloc_managed memory migrates",
		},
		{
			"mem_advise(malloc_managed(u8, 1), 'read_mostyl')",
			"app.star:2: mem_advise: unknown advice \"read_mostyl\"; it is one of preferred_location, " +
				"accessed_by, read_mostly, prefer_device, prefer_host, accessed_by_device, unset_read_mostly, " +
				"unset_preferred_location, unset_accessed_by; did you mean read_mostly?",
		},
		{
			"mem_advise(malloc_managed(u8, 1), 'preferred_locaton')",
			"app.star:2: mem_advise: unknown advice \"preferred_locaton\"; it is one of preferred_location, " +
				"accessed_by, read_mostly, prefer_device, prefer_host, accessed_by_device, unset_read_mostly, " +
				"unset_preferred_location, unset_accessed_by; did you mean preferred_location?",
		},
		{
			"mem_advise(malloc_managed(u8, 1), 'preferred_location', to = 'moon')",
			"app.star:2: mem_advise: to = \"moon\": it is device or host",
		},
		{
			"mem_advise(malloc_managed(u8, 1), 'accessed_by', to = host)",
			"app.star:2: mem_advise: accessed_by with to = host is not modelled: the host reaches managed memory " +
				"where it is and brings the pages back; leave it out",
		},
		{
			"host_register(malloc(u8, 1))",
			"app.star:2: host_register: alloc#0 (app.star:2) is device memory; " +
				"only host_array memory can be registered",
		},
		{"set_qos('k', 0)", "app.star:2: set_qos: the IPC target of k must be a positive number, not 0"},
		{"set_qos('k', 3)", "app.star:2: set_qos: no loaded module has a kernel k"},
		{"set_qos(3, 1)", "app.star:2: set_qos: got int, want a kernel"},
		{"event().elapsed(event())", "app.star:2: elapsed: the event was never recorded"},
		{"u8(256)", "app.star:2: 256 is outside the range of u8 [0, 255]"},
		{"f32('x')", "app.star:2: f32: got string, want a number"},
		{"reference('x')", "app.star:2: reference: no reference named \"x\": there are none in this run"},
		{"check(malloc(u8, 3), 'in.bin')", "app.star:2: check: in.bin has 5 bytes, but the array of 3 u8 has 3"},
		{"check(malloc(u8, 3), [1, 2])", "app.star:2: check: the array has 3 elements, the expected values 2"},
		{"check(malloc(u8, 3), malloc(f32, 3))", "app.star:2: check: the array has elements of u8, the expected " +
			"values are f32"},
		{
			"check(malloc(u8, 3), [1.5, 2, 3])",
			"app.star:2: check: element 0: 1.5 cannot be stored as u8: it is not an integer",
		},
		{"check(malloc(u8, 3), 0, rtol = 'x')", "app.star:2: check: tolerance: got string, want a number"},
		{"check('a', 'b')", "app.star:2: check: got string, want a number, or an array"},
		{"fail('no such size')", "app.star:2: fail: no such size"},
		{"def f(x):\n    return 1 // x\nf(0)", "app.star:3: floored division by zero"},
		{"def f(x):\n    return f(x)\nf(0)", "app.star:3: function f called recursively"},
		{"load('x.star', 'y')", "app.star:2: load statement within a function"},
		{"undefined(1)\nalso_undefined", "app.star:2: undefined: undefined (and 1 more error)"},
		{"a = f32(1)\nmalloc(s32, 3)", "app.star:3: undefined: s32 is called i32 here"},
		{"malloc(float64, 3)", "app.star:2: undefined: float64 is called f64 here"},
		{"malloc(bf16, 3)", "app.star:2: undefined: bf16: arrays have no such type; make one of u16 or u8 and " +
			"convert in the kernel"},
		{"cudaMalloc(f32, 3)", "app.star:2: undefined: cudaMalloc is called malloc here"},
		{"mallocmanaged(f32, 3)", "app.star:2: undefined: mallocmanaged; did you mean malloc_managed?"},
		{"count = 1\ncounts", "app.star:3: undefined: counts; did you mean count?"},
		{"malloc(float, 3)", "app.star:2: malloc: for parameter dtype: float is a function of scripts; " +
			"C's float is called f32 here"},
		{"malloc('f32', 3)", "app.star:2: malloc: for parameter dtype: " +
			"\"f32\" is a text; write the type without quotes"},
		{"malloc(3, 3)", "app.star:2: malloc: for parameter dtype: got int, want an element type: " +
			"i8, u8, i16, u16, i32, u32, i64, u64, f16, f32, f64"},
		{"if", "app.star:2: got newline, want primary expression"},
		{
			"n = 0\nwhile True:\n    n += 1",
			"app.star:4: the script took more than 50000 steps: is there an endless loop? Work on arrays with fill, " +
				"arange, random, load or a kernel instead of element by element",
		},
	} {
		files := body(c.src)
		files["in.bin"] = "12345"
		files["sub/x"] = ""
		dir := folder(t, files)
		if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		r := runDir(context.Background(), dir, Options{MaxSteps: 50_000})
		if r.err == nil || r.err.Error() != c.want {
			t.Errorf("%q\n got %v\nwant %s", c.src, r.err, c.want)
		} else if host.Classify(r.err) != host.BadInput {
			t.Errorf("%q: class %d", c.src, host.Classify(r.err))
		}
	}
}

func TestArguments(t *testing.T) {
	const src = `def main(n = 4096, alpha = 1.5, mode = "fast",
         twice = False, extra = None, names = [1,
         2]):
    print(n, alpha, mode, twice, extra)
`
	files := map[string]string{"app.star": src}
	for _, c := range []struct{ args, want string }{
		{"", "4096 1.5 fast False None\n"},
		{"n=65536 alpha=2 mode=slow twice=true extra=7", "65536 2.0 slow True 7\n"},
		{"n=0x10 extra=1.25 mode=3", "16 1.25 3 False 1.25\n"},
		{"n=1_000 extra=abc twice=0", "1000 1.5 fast False abc\n"},
		{"n=abc", "app.star:1: argument n=abc: main's n is an integer (default 4096)"},
		{"n=1.5", "app.star:1: argument n=1.5: main's n is an integer (default 4096)"},
		{"alpha=x", "app.star:1: argument alpha=x: main's alpha is a float (default 1.5)"},
		{"twice=maybe", "app.star:1: argument twice=maybe: main's twice is True or False"},
		{"names=3", "app.star:1: argument names=3: main's names is a list, which cannot be given from outside"},
		{"aplha=3", `app.star:1: unknown argument "aplha": main has n, alpha, mode, twice, extra, names; did you mean alpha?`},
	} {
		opt := Options{Args: map[string]string{}}
		for kv := range strings.FieldsSeq(c.args) {
			k, v, _ := strings.Cut(kv, "=")
			opt.Args[k] = v
		}
		r := run(t, files, opt)
		got := r.log
		if r.err != nil {
			got = r.err.Error()
		}
		if c.args == "n=0x10 extra=1.25 mode=3" {
			c.want = "16 1.5 3 False 1.25\n"
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.args, got, c.want)
		}
	}
	p, err := Load(folder(t, files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Params()); got != `[{n 4096} {alpha 1.5} {mode "fast"} {twice False} {extra None} {names ...}]` {
		t.Errorf("params %s", got)
	}
	for src, want := range map[string]string{
		"def main(n): print(n)": "app.star:1: main needs a value for n: give --arg n=...",
		"x = 1": "app.star: there is no main function; add `def main(n = 4096): ...` " +
			"with the size parameters as keyword parameters",
		"main = 3": "app.star: there is no main function; add `def main(n = 4096): ...` " +
			"with the size parameters as keyword parameters",
		"def main(*, m = 1): print(m + 'x')": "app.star:1: unknown binary op: int + string",
	} {
		if r := run(t, map[string]string{"app.star": src}, Options{}); r.err == nil || r.err.Error() != want {
			t.Errorf("%q: %v\nwant %s", src, r.err, want)
		}
	}
	r := run(t, map[string]string{"app.star": "def main(**kw): print(kw)"},
		Options{Args: map[string]string{"b": "2", "a": "x"}})
	if r.err != nil || r.log != "{\"a\": \"x\", \"b\": 2}\n" {
		t.Errorf("%q %v", r.log, r.err)
	}
}

func TestFiles(t *testing.T) {
	out := filepath.Join(t.TempDir(), "results", "run")
	src := `
a = malloc(u16, 2)
a.load("data/in.bin")
print(a.to_list())
a.fill(258)
a.save("out.bin")
a.save("deep/er/out.bin")
check(a, "data/in.bin", name = "first")
check(a, "data/same.bin")`
	files := body(src)
	files["data/in.bin"], files["data/same.bin"] = "\x01\x00\x00\x01", "\x02\x01\x02\x01"
	r := run(t, files, Options{OutDir: out})
	if r.log != "[1, 256]\n" || host.Classify(r.err) != host.CheckFailed || len(r.checks) != 2 || !r.checks[1].OK {
		t.Errorf("%q %v %v", r.log, r.err, r.checks)
	}
	const want = "1 of 2 checks failed; the first: first (app.star:8) against data/in.bin: 2 of 2 elements differ; " +
		"first at [0]: got 258, expected 1; max abs error 257 (rtol 0, atol 0)"
	if r.err.Error() != want {
		t.Errorf("%v\nwant %s", r.err, want)
	}
	for _, name := range []string{"out.bin", "deep/er/out.bin"} {
		if b, err := os.ReadFile(filepath.Join(out, name)); err != nil || string(b) != "\x02\x01\x02\x01" {
			t.Errorf("%s: %q %v", name, b, err)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(out, "link")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"../x":     "../x lies outside: a script writes files of the output directory only",
		"/tmp/x":   "/tmp/x lies outside: a script writes files of the output directory only",
		"link/x":   "link/x lies outside: a script writes files of the output directory only",
		"a/../..":  "a/../.. lies outside: a script writes files of the output directory only",
		"":         `"" is not a file name`,
		"x/":       `"x/" is not a file name`,
		"x\x1b[2J": `"x\x1b[2J" has a control character`,
		"./taken":  "heddle itself writes ./taken into the result; give another name",
	} {
		r := run(t, body(fmt.Sprintf("malloc(u8, 1).save(%q)", name)), Options{
			OutDir: out, Taken: func(n string) bool { return n == "taken" },
		})
		if r.err == nil || r.err.Error() != "app.star:2: save: "+want {
			t.Errorf("save(%q): %v", name, r.err)
		}
	}
	left, _ := filepath.Glob(filepath.Join(out, "*"))
	if len(left) != 3 { // out.bin, deep, link: nothing half-written
		t.Errorf("output directory holds %v", left)
	}
}

func TestLoadStatement(t *testing.T) {
	files := map[string]string{
		"app.star": "load('lib/util.star', 'double')\ndef main():\n    print(double(4), double(a = 5))\n    " +
			"double('x' * 2 * malloc(u8, 1)[0] + 1)\n",
		"lib/util.star": "SIZE = malloc(u8, 1)\ndef double(a):\n    return 2 * a + 0\n",
	}
	r := run(t, files, Options{})
	if r.log != "8 10\n" || r.err == nil || r.err.Error() != "app.star:4: unknown binary op: string + int" {
		t.Errorf("%q %v", r.log, r.err)
	}
	for name, c := range map[string]struct{ lib, want string }{
		"circle": {
			"load('lib.star', 'y')\nx = 1",
			"lib.star:1: cannot load lib.star: the scripts load each other in a circle",
		},
		"syntax":  {"x = (", "lib.star:1: got end of file, want primary expression"},
		"runtime": {"x = 1\ny = 1 // 0", "lib.star:2: floored division by zero"},
		"name":    {"z = 1", "app.star:1: load: name x not found in module lib.star"},
	} {
		r := run(t, map[string]string{"app.star": "load('lib.star', 'x')\ndef main(): pass", "lib.star": c.lib},
			Options{})
		if r.err == nil || r.err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", name, r.err, c.want)
		}
	}
	for file, want := range map[string]string{
		"../x.star": "app.star:1: cannot load ../x.star: ../x.star lies outside: a script reads files of its own " +
			"folder only",
		"x.bin": "app.star:1: cannot load x.bin: load() is for .star files; use array.load() for data and module() " +
			"for PTX",
	} {
		r := run(t, map[string]string{"app.star": "load('" + file + "', 'x')\ndef main(): pass"}, Options{})
		if r.err == nil || r.err.Error() != want {
			t.Errorf("%s: %v\nwant %s", file, r.err, want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(filepath.Join(dir, "none"), Options{}); err == nil || host.Classify(err) != host.BadInput {
		t.Errorf("missing folder: %v", err)
	}
	if _, err := Load(dir, Options{}); err == nil ||
		!strings.HasSuffix(err.Error(), "app.star: no such file or directory") {
		t.Errorf("folder without app.star: %v", err)
	}
	big := folder(t, map[string]string{"app.star": strings.Repeat("#", maxScript+1)})
	if _, err := Load(big, Options{}); err == nil ||
		!strings.Contains(err.Error(), "app.star has 262145 bytes; a script may have 262144") {
		t.Errorf("large script: %v", err)
	}
	deep := folder(t, map[string]string{"app.star": "x = " + strings.Repeat("(", maxScript-100)})
	if _, err := Load(deep, Options{}); err == nil {
		t.Error("deep nesting was accepted")
	}
	// A script that is not called app.star, given by its path.
	other := folder(t, map[string]string{"other.star": "def main(): fail('here')"})
	r := runDir(context.Background(), filepath.Join(other, "other.star"), Options{})
	if r.err == nil || r.err.Error() != "other.star:1: fail: here" {
		t.Errorf("other.star: %v", r.err)
	}
}

func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p, err := Load(folder(t, body("print('on')\nn = 0\nwhile True:\n    n += 1")),
		Options{Log: writer(func(b []byte) { cancel() })})
	if err != nil {
		t.Fatal(err)
	}
	err = p.Run(host.New(host.NewFunctional(ctx, 0), mem.NewSpace(0), host.Options{Ctx: ctx}))
	if !errors.Is(err, host.ErrStopped) || err.Error() != "app.star:5: interrupted" ||
		host.Classify(err) != host.Stopped {
		t.Errorf("%v", err)
	}
	if err := p.Run(host.New(host.NewFunctional(ctx, 0), mem.NewSpace(0), host.Options{Ctx: ctx})); !errors.Is(err,
		host.ErrStopped) {
		t.Errorf("started although cancelled: %v", err)
	}
}

type writer func(b []byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

func TestReference(t *testing.T) {
	refs := map[string]host.Reference{
		"axpy": func(args []any) (any, error) {
			a, x, y := args[0].(float64), args[1].([]float32), args[2].([]float32)
			out := make([]float32, len(x))
			for i := range x {
				out[i] = float32(a)*x[i] + y[i]
			}
			return out, nil
		},
		"types": func(args []any) (any, error) { return nil, fmt.Errorf("got %T", args) },
		"echo":  func(args []any) (any, error) { return args[0], nil },
		"show": func(args []any) (any, error) {
			var s []string
			for _, a := range args {
				s = append(s, fmt.Sprintf("%T=%v", a, a))
			}
			return nil, errors.New(strings.Join(s, " "))
		},
	}
	r := run(t, body(`
x = malloc(f32, 3)
y = malloc_managed(f32, 3)
x.arange()
y.fill(10)
want = reference("axpy", 2.0, x, y)
print(want, len(want), want[2])
x.fill(0)
out = malloc(f32, 3)
out.copy_from(want)
print(out.to_list(), check(out, want), check(x, want), check(out, reference("echo", want)), check(out, reference("echo", [10.0, 12, 14])))`), Options{References: refs})
	if r.log != "reference axpy of 3 f32 3 14.0\n[10.0, 12.0, 14.0] True False True True\n" ||
		host.Classify(r.err) != host.CheckFailed {
		t.Errorf("%s%v", r.log, r.err)
	}
	if r.checks[1].What != "check at app.star:11 against reference axpy" {
		t.Errorf("what: %s", r.checks[1].What)
	}
	for src, want := range map[string]string{
		`reference("axpi", 1)`:       `app.star:2: reference: no reference named "axpi" among the 4 there are; did you mean axpy?`,
		`reference("types")`:         `app.star:2: reference types: got []interface {}`,
		`reference("echo", 3)`:       `app.star:2: reference echo: its result: int64 is not a slice of numbers ([]float32, []int32, ...)`,
		`reference("echo", {})`:      `app.star:2: reference echo, argument 1: got dict, want an array, a number, a string or a bool`,
		`reference("echo", 1 << 63)`: `app.star:2: reference echo, argument 1: 9223372036854775808 does not fit in 64 bits`,
		`reference()`:                `app.star:2: reference: give the name of a reference and its arguments by position`,
		`reference("show", 1, 2.5, "s", True, u8(3), f32(0.5), host_array(i8, 1), host_array(f16, 1), [1, 2])`: `app.star:2: reference show: int64=1 float64=2.5 string=s bool=true int64=3 float64=0.5 []int8=[0] []float32=[0] []int64=[1 2]`,
	} {
		if r := run(t, body(src), Options{References: refs}); r.err == nil || r.err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", src, r.err, want)
		}
	}
}

// The seed option is the default of random(); two runs of one program are equal.
func TestSeedAndRepeat(t *testing.T) {
	files := body("a = malloc(i32, 4)\na.random(hi = 1000)\nprint(a.to_list())\na.random(seed = 1, hi = " +
		"1000)\nprint(a.to_list())")
	one, two := run(t, files, Options{Seed: 1}), run(t, files, Options{Seed: 2})
	first := strings.Split(one.log, "\n")
	second := strings.Split(two.log, "\n")
	if first[0] != first[1] || second[1] != first[1] || second[0] == first[0] {
		t.Errorf("seed 1 %s\nseed 2 %s", one.log, two.log)
	}
	var log bytes.Buffer
	p, err := Load(folder(t, files), Options{Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := p.Run(host.New(host.NewFunctional(context.Background(), 0), mem.NewSpace(0),
			host.Options{})); err != nil {
			t.Fatal(err)
		}
	}
	if log.String() != one.log+one.log {
		t.Errorf("repeated runs differ:\n%s", log.String())
	}
}

func FuzzScript(f *testing.F) {
	f.Add("def main(n = 3):\n    a = malloc(f32, n)\n    a.arange(0, 2)\n    print(a[1], a.sum())\n")
	f.Add("def main():\n    s = stream()\n    a = malloc_managed(u8, 9)\n    a.copy_from([1] * 9, stream = s)\n    " +
		"check(a, 1)\n")
	f.Add("x = {1: f32(2)}\nwhile x: x[2] = host_array(i64, 4).slice(1, -1).view(u8).offset(-8)\n")
	f.Add("def main(**k):\n    e = event()\n    e.record(stream())\n    print(elapsed(e, e), reference('x'))\n")
	f.Add("# one\ndef main(): # two\n    \"\"\"Three.\"\"\"\n    pass # four")
	f.Add("load('app.star', 'main')\n")
	f.Add("module('app.star')\n")
	f.Fuzz(func(t *testing.T, src string) {
		dir := t.TempDir()
		p, err := parse(dir, "app.star", []byte(src), Options{MaxSteps: 5000})
		if err != nil {
			if host.Classify(err) != host.BadInput {
				t.Errorf("%v is of class %d", err, host.Classify(err))
			}
			return
		}
		c := host.New(host.NewFunctional(context.Background(), 1000), mem.NewSpace(1<<16), host.Options{})
		if err := p.Run(c); host.Classify(err) > host.BadInput {
			t.Errorf("%v is of class %d", err, host.Classify(err))
		}
	})
}
