package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"heddle": main})
}

// TestScripts runs testdata/script/*.txtar against the command line. $APPS is the
// folder of applications, $EXAMPLES that of run files.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			for name, dir := range map[string]string{"APPS": "../../apps", "CONFIGS": "../../sheets/testdata"} {
				abs, err := filepath.Abs(dir)
				if err != nil {
					return err
				}
				e.Setenv(name, abs)
			}
			e.Setenv("XDG_CACHE_HOME", filepath.Join(e.WorkDir, ".cache"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": checkStatus},
	})
}

// checkStatus is `status N heddle ...`: run and compare the exit status. Output is
// left for stdout and stderr to look at.
func checkStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = "?"
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			code = strconv.Itoa(exit.ExitCode())
		}
	}
	if code != args[0] {
		ts.Fatalf("exit status %s (%v), want %s", code, err, args[0])
	}
}

// TestCountersMatchResults holds `inspect counters` against what runs count, on machines that have
// all there is.
func TestCountersMatchResults(t *testing.T) {
	unified := sim.Unified{All: true, Capacity: "75%"}
	var results []*sim.Result
	for _, c := range []struct {
		sheet      string
		translated string
		memory     sim.Memory
	}{
		{"fermi", "false", sim.Memory{}},
		{"fermi", "true", sim.Memory{Unified: unified}},
		{"hydrogen", "true", sim.Memory{}},
		{"nuba-mcm", "true", sim.Memory{}},
		{"nuba-smside", "true", sim.Memory{}},
		{"nuba", "true", sim.Memory{Pages: "replicate"}},
	} {
		set := map[string]string{"vm.enabled": c.translated}
		m, _, err := sheets.Resolve(c.sheet, set)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(t.Context(), sim.Spec{
			Machine: c.sheet, Set: set, Seed: 1, Sharing: sim.Sharing{Mode: "alone", Memory: c.memory},
			Apps: []sim.App{{Name: "v", Path: "../../apps/micro/vecadd"}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.Tenants[0].SMs != m.SM.Count {
			t.Errorf("%d SMs", r.Tenants[0].SMs)
		}
		results = append(results, r)
	}
	listed := map[string]bool{}
	for _, o := range counterTables() {
		for _, d := range o.desc {
			listed[o.owner+"."+d.Name] = true
		}
	}
	counted := map[string]bool{}
	for _, d := range sim.NobodysCounters() { // of SMs without power, which none is here
		counted["sm."+d.Name] = true
	}
	for _, r := range results {
		for _, o := range r.Tables {
			for _, v := range o.Values {
				counted[o.Owner+"."+v.Name] = true
			}
		}
	}
	for n := range counted {
		if !listed[n] {
			t.Errorf("%s is counted, but inspect counters does not list it", n)
		}
	}
	for n := range listed {
		owner, _, _ := strings.Cut(n, ".")
		if !counted[n] && owner != "app" && owner != "kernel" && owner != "mdr" { // for samples only, and for a policy
			t.Errorf("inspect counters lists %s, but nothing counts it", n)
		}
	}
}

// TestEverySheetRuns: each shipped machine simulates a kernel to its end.
func TestEverySheetRuns(t *testing.T) {
	for _, name := range sheets.Names() {
		r, err := sim.Run(t.Context(), sim.Spec{
			Machine: name, Seed: 1, Sharing: sim.Sharing{Mode: "alone"},
			Apps: []sim.App{{Name: "v", Path: "../../apps/micro/vecadd"}},
		}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !r.Complete || r.Cycles == 0 || len(r.Checks) == 0 ||
			slices.ContainsFunc(r.Checks, func(c sim.Check) bool { return !c.OK }) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestPolicyNamesAreAccepted(t *testing.T) {
	for _, p := range policies() {
		if !strings.HasPrefix(p.Where, "--set ") {
			continue // run files name it
		}
		set, err := pairs("set", []string{p.Where[len("--set "):]})
		if err != nil {
			t.Fatal(err)
		}
		machine := "qv100"
		switch {
		case strings.Contains(p.Where, " memory."): // which machines with two tiers have
			machine = "hydrogen"
		case strings.HasSuffix(p.Where, "=module"): // there must be modules to place pages in
			machine = "nuba-mcm"
		}
		if _, _, err := sheets.Resolve(machine, set); err != nil {
			t.Errorf("%s: %v", p.Where, err)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for in, want := range map[string]int64{"4GiB": 4 << 30, "512 MiB": 512 << 20, "1.5kB": 1500, "77": 77, "8B": 8} {
		if got, err := parseBytes(in); err != nil || got != want {
			t.Errorf("parseBytes(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "GiB", "-1", "NaN", "1e30", "4 apples"} {
		if got, err := parseBytes(in); err == nil {
			t.Errorf("parseBytes(%q) = %d", in, got)
		}
	}
}
