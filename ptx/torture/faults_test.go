package torture

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// marked is the line of faults.ptx with the kernel's mark.
func marked(t *testing.T, kernel string) int {
	t.Helper()
	src, err := os.ReadFile("testdata/hand/faults.ptx")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(src), "\n") {
		if strings.HasSuffix(line, "// <-- "+kernel) {
			return i + 1
		}
	}
	t.Fatalf("no line of faults.ptx is marked %s", kernel)
	return 0
}

// TestFaults: each wrong access names file and line, kernel, block, thread, the address
// and the nearest allocation.
func TestFaults(t *testing.T) {
	const size = 400
	cases := []struct {
		kernel string
		what   string
		param  func(base uint64) any // nil: no parameter
		block  dim
		thread dim
		say    func(base uint64) []string
	}{
		{
			"ft_store", "past the end", func(b uint64) any { return b + size },
			dim{2, 0, 0},
			dim{5, 0, 0},
			func(b uint64) []string { return []string{hex(b + size), "past the end of", "data", hex(b)} },
		},
		{
			"ft_store", "the last byte is inside", func(b uint64) any { return b + size - 4 + 4 },
			dim{2, 0, 0},
			dim{5, 0, 0},
			func(b uint64) []string { return []string{hex(b + size)} },
		},
		{
			"ft_store", "null", func(b uint64) any { return uint64(0) },
			dim{2, 0, 0},
			dim{5, 0, 0},
			func(b uint64) []string { return []string{"0x0", "before"} },
		},
		{
			"ft_store", "misaligned", func(b uint64) any { return b + 6 },
			dim{2, 0, 0},
			dim{5, 0, 0},
			func(b uint64) []string { return []string{hex(b + 6), "align"} },
		},
		{
			"ft_load", "past the end", func(b uint64) any { return b + size - 8 },
			dim{0, 0, 0},
			dim{0, 0, 0},
			func(b uint64) []string { return []string{hex(b + size), "past the end of", "data"} },
		},
		{
			"ft_load", "a vector needs the alignment of all of it", func(b uint64) any { return b + 4 },
			dim{0, 0, 0},
			dim{0, 0, 0},
			func(b uint64) []string { return []string{hex(b + 12), "align"} },
		},
		{
			"ft_atomic", "misaligned", func(b uint64) any { return b + 2 },
			dim{0, 0, 0},
			dim{0, 0, 0},
			func(b uint64) []string { return []string{hex(b + 2), "align"} },
		},
		{
			"ft_atomic", "past the end", func(b uint64) any { return b + size + 64 },
			dim{0, 0, 0},
			dim{0, 0, 0},
			func(b uint64) []string { return []string{hex(b + size + 64), "past the end of"} },
		},
		{
			"ft_const", "constants are read-only", nil,
			dim{0, 0, 0},
			dim{0, 0, 0},
			func(b uint64) []string { return []string{"fixed", "0x"} },
		},
		{
			"ft_shared", "beyond the block's shared memory", func(b uint64) any { return uint32(64) },
			dim{0, 0, 0},
			dim{0, 0, 0},
			func(b uint64) []string { return []string{"shared", "64"} },
		},
		{
			"ft_shared", "misaligned", func(b uint64) any { return uint32(2) },
			dim{0, 0, 0},
			dim{0, 0, 0},
			func(b uint64) []string { return []string{"shared", "align"} },
		},
		{
			"ft_local", "beyond the thread's local memory", func(b uint64) any { return uint32(1 << 20) },
			dim{0, 0, 0},
			dim{0, 0, 0},
			func(b uint64) []string { return []string{"local"} },
		},
		{
			"ft_recursion", "the stack overflows", nil,
			dim{0, 0, 0},
			dim{0, 0, 0},
			func(b uint64) []string { return []string{"stack", "deeper"} },
		},
		{
			"ft_pointer", "not a function", func(b uint64) any { return b },
			dim{0, 0, 0},
			dim{0, 0, 0},
			func(b uint64) []string { return []string{hex(b), "function"} },
		},
		{
			"ft_pointer", "null", func(b uint64) any { return uint64(0) },
			dim{0, 0, 0},
			dim{0, 0, 0},
			func(b uint64) []string { return []string{"0x0", "function"} },
		},
		{
			"ft_table", "outside the branch table", nil,
			dim{0, 0, 0},
			dim{2, 0, 0},
			func(b uint64) []string { return []string{"2", "targets"} },
		},
		{
			"ft_assert", "assertion", nil,
			dim{0, 0, 0},
			dim{33, 0, 0},
			func(b uint64) []string { return []string{"assert"} },
		},
		{"ft_trap", "trap", nil, dim{0, 0, 0}, dim{40, 0, 0}, func(b uint64) []string { return []string{"trap"} }},
	}
	for _, c := range cases {
		t.Run(c.kernel+"/"+strings.ReplaceAll(c.what, " ", "_"), func(t *testing.T) {
			m := load(t, "hand/faults.ptx")
			space := mem.NewSpace(0)
			inst, err := m.Bind(space)
			if err != nil {
				t.Fatal(err)
			}
			r, err := space.Alloc(size, mem.Device, "data")
			if err != nil {
				t.Fatal(err)
			}
			l := launch{kernel: c.kernel, grid: d1(4), block: d1(64)}
			if c.param != nil {
				l.args = []any{c.param(r.Base)}
			}
			err = execute(m, inst, space, l, limit)
			var f *isa.Fault
			if !errors.As(err, &f) {
				t.Fatalf("got %v (%T), want an *isa.Fault", err, err)
			}
			if f.Kernel != c.kernel || f.File != "hand/faults.ptx" || f.Line != marked(t, c.kernel) {
				t.Errorf("blames %s in %s:%d, want %s in hand/faults.ptx:%d", f.Kernel, f.File, f.Line, c.kernel,
					marked(t, c.kernel))
			}
			if f.Block != c.block || f.Thread != c.thread {
				t.Errorf("blames block %v thread %v, want %v %v", f.Block, f.Thread, c.block, c.thread)
			}
			for _, s := range c.say(r.Base) {
				if !strings.Contains(f.Error(), s) {
					t.Errorf("the message does not say %q: %v", s, f)
				}
			}
		})
	}
}

// execute runs one launch functionally.
func execute(m *emulate.Module, inst *emulate.Instance, space *mem.Space, l launch, limit uint64) error {
	g, err := prepare(m, inst, space, l, nil, false)
	if err == nil {
		_, err = emulate.Run(g, limit)
	}
	return err
}

func hex(v uint64) string { return fmt.Sprintf("0x%x", v) }

// TestStuck: a barrier that cannot complete and a loop without end are errors.
func TestStuck(t *testing.T) {
	m := load(t, "hand/faults.ptx")
	for _, c := range []struct {
		kernel string
		limit  uint64
		say    []string
	}{
		{"ft_barrier", 0, []string{
			"ft_barrier", "barrier", fmt.Sprintf("faults.ptx:%d", marked(t, "ft_barrier")),
			"128",
		}},
		{"ft_forever", 100000, []string{"ft_forever", "100000", "faults.ptx"}},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			space := mem.NewSpace(0)
			inst, err := m.Bind(space)
			if err != nil {
				t.Fatal(err)
			}
			err = execute(m, inst, space, launch{kernel: c.kernel, grid: d1(2), block: d1(64)}, c.limit)
			if err == nil {
				t.Fatal("ended without an error")
			}
			for _, s := range c.say {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("the message does not say %q: %v", s, err)
				}
			}
		})
	}
}

// TestHostMemory: a kernel may touch host memory only once it is registered.
func TestHostMemory(t *testing.T) {
	m := load(t, "hand/faults.ptx")
	space := mem.NewSpace(0)
	inst, err := m.Bind(space)
	if err != nil {
		t.Fatal(err)
	}
	r, err := space.Alloc(64, mem.Host, "pageable")
	if err != nil {
		t.Fatal(err)
	}
	l := launch{kernel: "ft_atomic", grid: d1(1), block: d1(7), args: []any{r.Base}}
	err = execute(m, inst, space, l, limit)
	if err == nil || !strings.Contains(err.Error(), "pageable") || !strings.Contains(err.Error(), "regist") {
		t.Errorf("host memory that is not registered: %v", err)
	}
	r.Registered = true
	if err := execute(m, inst, space, l, limit); err != nil || r.Data[0] != 7 {
		t.Errorf("registered host memory: %v, counter %d, want 7", err, r.Data[0])
	}
}

// TestBadModules: what cannot be executed is refused when the module is loaded, with
// file, line and the text.
func TestBadModules(t *testing.T) {
	const head = ".version 6.5\n.target sm_70\n.address_size 64\n"
	body := func(lines string) string {
		return head + ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\n.reg .pred %p<2>;\n" +
			lines + "\nret;\n}\n"
	}
	cases := []struct {
		src string
		say []string
	}{
		{body("frobnicate.u32 %r1, %r2;"), []string{"bad.ptx:9", "frobnicate"}},
		{body(".reg .b128 q; mov.b128 q, {%rd1, %rd2};"), []string{"bad.ptx:9", "128-bit integers"}},
		{body("add.u33 %r1, %r2, %r2;"), []string{"bad.ptx:9", "u33"}},
		{body("tex.2d.v4.f32.s32 {%r0, %r1, %r2, %r0}, [t, {%r1, %r2}];"), []string{"bad.ptx:9", "tex"}},
		{body("add.u32 %r1, %r2, %r7;"), []string{"bad.ptx:9", "%r7"}},
		{body("add.u32 %r1, %r2;"), []string{"bad.ptx:9", "add"}},
		{body("@%p1 bra NOWHERE;"), []string{"bad.ptx:9", "NOWHERE"}},
		{body("ld.param.u64 %rd1, [missing];"), []string{"bad.ptx:9", "missing"}},
		{body("call.uni absent, ();"), []string{"bad.ptx:9", "absent"}},
		{head + ".extern .func (.param .b32 r) absent(.param .b64 a, .param .b64 b);\n.visible .entry k()\n{\n.reg " +
			".b64 %rd<3>;\n{\n.param .b64 p;\n.param .b64 q;\n.param .b32 r;\nst.param.b64 [p], 0;\nst.param.b64 " +
			"[q], 0;\ncall.uni (r), absent, (p, q);\n}\nret;\n}\n", []string{"bad.ptx:14", "absent"}},
		{body("add.u32 %r1, %r2, 3"), []string{"bad.ptx"}},
		{head + ".visible .entry k()\n{\n", []string{"bad.ptx"}},
		{".version 6.5\n.target sm_70\n.address_size 48\n.entry k() { ret; }\n", []string{"bad.ptx:3", "32 or 64"}},
		{"hello", []string{"bad.ptx:1"}},
		{"", []string{"bad.ptx"}},
	}
	for _, c := range cases {
		_, err := emulate.Load("bad.ptx", []byte(c.src))
		if err == nil {
			t.Errorf("loaded without an error:\n%s", c.src)
			continue
		}
		for _, s := range c.say {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("the message does not say %q: %v", s, err)
			}
		}
	}
}

// TestBadLaunches: a launch the hardware would refuse is refused.
func TestBadLaunches(t *testing.T) {
	m := load(t, "hand/style.ptx")
	if _, err := m.Kernel("hd_scope"); err == nil || !strings.Contains(err.Error(), "hd_scopes") {
		t.Errorf("an unknown kernel must be answered with the names there are: %v", err)
	}
	inst, err := m.Bind(mem.NewSpace(0))
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("hd_scopes")
	if err != nil {
		t.Fatal(err)
	}
	good := emulate.Launch{Grid: d1(1), Block: d1(64), Params: make([]byte, 8)}
	if _, err := inst.Grid(k, good); err != nil {
		t.Errorf("a good launch: %v", err)
	}
	for what, spoil := range map[string]func(l *emulate.Launch){
		"no blocks":            func(l *emulate.Launch) { l.Grid[1] = 0 },
		"no threads":           func(l *emulate.Launch) { l.Block[0] = 0 },
		"above .maxntid":       func(l *emulate.Launch) { l.Block = d1(65) },
		"2048 threads":         func(l *emulate.Launch) { l.Block = d2(64, 32) },
		"too few parameters":   func(l *emulate.Launch) { l.Params = make([]byte, 4) },
		"too many parameters":  func(l *emulate.Launch) { l.Params = make([]byte, 12) },
		"a megabyte of shared": func(l *emulate.Launch) { l.SharedDynamic = 1 << 20 },
		"negative shared":      func(l *emulate.Launch) { l.SharedDynamic = -4 },
	} {
		l := good
		spoil(&l)
		if _, err := inst.Grid(k, l); err == nil {
			t.Errorf("%s: launched without an error", what)
		}
	}
}
