package runfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/trace/champsim"
)

// Applications on CPU cores: a model, and a trace beside the run file, whose content and not place is its
// identity. What is wrong is said where it stands.
func TestCPU(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	record := (&champsim.Record{IP: 4, Loads: [4]uint64{64}}).Append(nil)
	write("loop.champsimtrace", record)
	parse := func(apps string) (*File, error) {
		text := "machine: hydrogen\napps:\n" + apps
		return Parse(filepath.Join(dir, "run.yaml"), []byte(text), Overrides{})
	}
	const both = "  - {cpu: {model: mcf, copies: 2, instructions: 5}}\n  - {cpu: {trace: loop.champsimtrace}}\n"
	f, err := parse(both)
	if err != nil {
		t.Fatal(err)
	}
	spec := &f.Specs[0]
	a, b := spec.Apps[0], spec.Apps[1]
	if a.Name != "mcf" || a.CPU.Copies != 2 || a.CPU.Instructions != 5 || b.Name != "loop" ||
		b.CPU.Trace != filepath.Join(dir, "loop.champsimtrace") {
		t.Errorf("%+v, %+v", a.CPU, b.CPU)
	}
	hash := func() string {
		h, err := Hash(spec, f.Machine)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := hash()
	write("other", record)
	spec.Apps[1].CPU.Trace = filepath.Join(dir, "other")
	if hash() != first {
		t.Error("where a trace lies is part of the run's identity")
	}
	write("other", append(record, record...))
	if hash() == first {
		t.Error("what is in a trace is no part of the run's identity")
	}
	for _, c := range [][2]string{
		{"  - {cpu: {model: mfc}}\n", `run.yaml:3:12: no CPU model "mfc"; did you mean mcf?`},
		{"  - {cpu: {trace: none}}\n", "run.yaml:3:12: open "},
		{"  - {cpu: {}}\n", "run.yaml:3:11: cpu needs either trace"},
		{"  - {cpu: {model: mcf}, path: .}\n", "run.yaml:3:12: an application with cpu has no path"},
		{"  - {cpu: {model: mcf}, qos: 80%}\n", "run.yaml:3:30: qos is for kernels"},
		{"  - {cpu: {model: mcf}}\n  - {cpu: {model: mcf}}\n", "two applications are called mcf"},
		{"  - {cpu: {model: mcf, copies: 9}}\n", "machine hydrogen has 8 (cpu.cores) (sheet hydrogen, line"},
	} {
		if _, err := parse(c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %s", c[0], err, c[1])
		}
	}
}
