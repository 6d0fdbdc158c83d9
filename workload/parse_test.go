package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const good = `model: m
source: "estimate: test"
allocations:
- {name: a, bytes: 1 MiB}
- {name: b, bytes: 0.29 MB, memory: managed}
kernels:
- name: k
  ctas: 6
  threads: 64
  accesses:
  - {on: a, pattern: stream}
`

func TestErrorsPointAtTheCulprit(t *testing.T) {
	if m, err := Parse("f", []byte(good)); err != nil || m.Allocations[1].Bytes != 290_000 ||
		m.Kernels[0].Registers != 32 {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"source: \"estimate: test\"\n", "", "f:1:1: a model needs a source"},
		{"1 MiB", "1 MiX", "f:4:20: \"1 MiX\" is not a size"},
		{"1 MiB", "0.3 B", "f:4:20: 0.3 B is not a whole number"},
		{"1 MiB", "300 GiB", "f:4:20: 300 GiB is not"},
		{"name: b", "name: a", "f:5:10: two allocations are called a"},
		{"memory: managed", "memory: managd", "did you mean managed?"},
		{"memory: managed", "memory: managed, copy_in: true", "copy_in is for device memory"},
		{"threads: 64", "threads: 65", "f:9:12: threads is 65; a model has whole warps"},
		{"threads: 64", "thread: 64", "f:9:3: unknown key \"thread\""},
		{"  threads: 64\n", "", "threads is missing"},
		{"ctas: 6", "ctas: 0", "f:8:9: ctas is 0"},
		{"on: a", "on: c", "f:11:10: on names an allocation; there is no \"c\""},
		{"pattern: stream", "pattern: streem", "did you mean stream?"},
		{
			"pattern: stream", "pattern: stream, tile: 1 KiB",
			"tile has no meaning with pattern stream, only with [tiled]",
		},
		{"pattern: stream", "pattern: tiled", "pattern tiled needs tile"},
		{"pattern: stream", "pattern: shared, sharers: 4", "4 sharers do not divide 6 CTAs"},
		{"pattern: stream", "pattern: chase, op: store", "a pointer chase loads"},
		{"pattern: stream", "pattern: random, block: 96", "a power of two"},
		{"pattern: stream", "pattern: stream, width: 3", "width is 3"},
		{"  accesses", "  mix: {int: 0}\n  accesses", "f:10:14: int is 0"},
		{"  accesses", "  mix: {shared_load: 1}\n  accesses", "give it at least 128 bytes"},
		{
			"  accesses", "  mix: {barrier: 1}\n  divergence: {share: 0.5, lanes: 4, paths: 2}\n  accesses",
			"meet the barrier twice",
		},
		{"  accesses", "  divergence: {share: 1.5, lanes: 4}\n  accesses", "share is 1.5"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%q is not in the text", c.old)
		}
		if _, err := Parse("f", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v\nwant %s", c.new, err, c.want)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"scale", "2", ""},
		{"rounds", "7", ""},
		{"scale", "-1", "a positive number"},
		{"scale", "NaN", "a positive number"},
		{"scale", "1e9", "larger than 256 GiB"},
		{"rounds", "x", "whole number"},
		{"size", "tiny", "takes scale"},
	} {
		m, err := Parse("f", []byte(good))
		if err != nil {
			t.Fatal(err)
		}
		err = m.arguments(map[string]string{c.key: c.value})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v", c.key, c.value, err)
		}
		if c.key == "scale" && c.value == "2" && m.Allocations[0].Bytes != 2<<20 {
			t.Errorf("%d bytes", m.Allocations[0].Bytes)
		}
	}
}

func TestIs(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		want bool
	}{"a.yaml": {good, true}, "b.yml": {"# x\nmodel : m\n", true}, "c.yaml": {
		"machine: qv100\napps: [{path: model}]\n",
		false,
	}, "d.txt": {good, false}} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if is, err := Is(path); err != nil || is != c.want {
			t.Errorf("%s: %v, %v", name, is, err)
		}
	}
	if is, _ := Is(filepath.Join(dir, "none.yaml")); is {
		t.Error("a file that is not there is a model")
	}
}

// Whatever the text, parsing answers, and what it accepts can run.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("# one\n" + good + "# two"))
	files, err := filepath.Glob("../apps/models/*.yaml")
	if err != nil || len(files) < 6 {
		f.Fatalf("%d models: %v", len(files), err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := Parse(name, src); err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := Parse("f", src)
		if err != nil {
			return
		}
		bases := make([]uint64, len(m.Allocations))
		for i := range m.Kernels {
			stepSome(t, New(m, 1).compile(i, bases, zipfs{}).newGrid(0, 1), m)
		}
	})
}
