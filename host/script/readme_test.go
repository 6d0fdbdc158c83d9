package script

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// README.md is the reference of the language: it names every function, constant and
// method, and its first program runs.
func TestReadme(t *testing.T) {
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	names := append(sortedKeys(functions()), sortedKeys(constants())...)
	names = append(names, sortedKeys(arrayMethods())...)
	names = append(names, sortedKeys(streamMethods())...)
	names = append(names, sortedKeys(eventMethods())...)
	for _, name := range names {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(text) {
			t.Errorf("README.md does not mention %s", name)
		}
	}
	_, program, _ := strings.Cut(text, "```python\n")
	program, _, _ = strings.Cut(program, "```")
	files := withKernels(t, "pass")
	files["app.star"], files["kernel.ptx"] = program, files["kernels.ptx"]
	refs := Options{References: map[string]func([]any) (any, error){"micro_vecadd": func(args []any) (any, error) {
		x, y := args[0].([]float32), args[1].([]float32)
		out := make([]float32, len(x))
		for i := range x {
			out[i] = x[i] + y[i]
		}
		return out, nil
	}}}
	if r := run(t, files, refs); r.err != nil || len(r.checks) != 1 {
		t.Errorf("the program of README.md: %v", r.err)
	}
}
