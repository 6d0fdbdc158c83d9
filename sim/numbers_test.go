package sim_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

var numbers = flag.String("numbers", "", "TestNumbers also tries the settings `SHEET WAY NUMBER=VALUE` that match, of "+
	"all whole numbers of all sheets at 0, 1, 2 and 3; . for all of them")

const numbersApp = "testdata/numbers"

// everyPart is testdata/numbers under a name.
func everyPart(name, memory string) sim.App {
	return sim.App{Name: name, Path: numbersApp, Args: map[string]string{"memory": memory}}
}

// numberWay is a way to use a machine, in which its special parts have something to do.
type numberWay struct {
	name   string
	sheets string // regular expression
	spec   sim.Spec
}

func numberWays() []numberWay {
	one, two := everyPart("one", "device"), everyPart("two", "device")
	managed, other := everyPart("one", "managed"), everyPart("two", "managed")
	pages := func(way string) sim.Sharing {
		return sim.Sharing{Mode: "alone", Memory: sim.Memory{Pages: way}}
	}
	return []numberWay{
		{"alone", ".", sim.Spec{Apps: []sim.App{one}}},
		{"timeslice", "^fermi$|^ugpu$", sim.Spec{
			Apps: []sim.App{one, two}, Sharing: sim.Sharing{Mode: "timeslice", Quantum: 3000},
		}},
		{"smk", "^qv100$", sim.Spec{Apps: []sim.App{one, two}, Sharing: sim.Sharing{Mode: "smk"}}},
		{"mig", "^a100$", sim.Spec{Apps: []sim.App{one, two}, Sharing: sim.Sharing{
			Mode: "mig", Profiles: []string{"3g.20gb", "2g.10gb"},
		}}},
		{"mig", "^h100$", sim.Spec{Apps: []sim.App{one, two}, Sharing: sim.Sharing{
			Mode: "mig", Profiles: []string{"3g.40gb", "1g.20gb"},
		}}},
		{"ugpu", "^ugpu", sim.Spec{Apps: []sim.App{one, two}, Sharing: sim.Sharing{Mode: "ugpu", Epoch: 2000}}},
		{"cores", "^hydrogen", sim.Spec{
			Apps: []sim.App{one, onCPU("lbm", 2, 20_000)},
			Sharing: sim.Sharing{Mode: "alone", Policies: []sim.Governor{{
				Policy: "hydrogen", Params: control.Params{"epoch": 10_000, "phase": 100_000},
			}}},
		}},
		{"unified", "^uvm$", sim.Spec{Apps: []sim.App{managed, other}, Sharing: sim.Sharing{
			Mode: "mps", Memory: sim.Memory{Unified: sim.Unified{All: true, Capacity: "3/4", Link: "adaptive"}},
		}}},
		{"migrate", "^nuba$", sim.Spec{Apps: []sim.App{one}, Sharing: pages("migrate")}},
		{"replicate", "^nuba$", sim.Spec{Apps: []sim.App{one}, Sharing: pages("replicate")}},
		{"full", "^nuba-mcm$", sim.Spec{Apps: []sim.App{one}, Sharing: sim.Sharing{
			Mode: "alone", Memory: sim.Memory{Replication: "full"},
		}}},
	}
}

// TestNumbers sets whole numbers of sheets to very little, one at a time: nothing sticks, panics or is
// blamed on the program, or the machine is refused before the run, by the name of the number.
func TestNumbers(t *testing.T) {
	// Those that once went wrong.
	for _, set := range []string{
		"a100 alone l1d.mshrs=3", "qv100 alone llc.mshrs=3", // an access waited for room that never came
		"qv100 alone sm.registers=1", "a100 alone sm.shared=0", // a deadlock, blamed on the program
		"a100 alone sm.units=4,4,4,4,0,1", "hydrogen alone llc.sector=0", "nuba-mem alone sm.count=1", // panics
		"nuba-mcm alone dram.rows=1",                                                    // internal errors
		"ugpu alone dram.migration_cycles=1", "hydrogen alone memory.hybrid.capacity=1", // refused without their names
		"ugpu-440 ugpu map.groups=0", "uvm unified uvm.link_queue=0",
	} {
		tryNumbers(t, "^"+regexp.QuoteMeta(set)+"$")
	}
	if *numbers != "" {
		tryNumbers(t, *numbers)
	}
}

// tryNumbers runs what matches.
func tryNumbers(t *testing.T, match string) {
	t.Helper()
	want, err := regexp.Compile(match)
	if err != nil {
		t.Fatal(err)
	}
	var shelf sheets.Shelf
	tried := 0
	for _, sheet := range sheets.Names() {
		m, from, err := shelf.Resolve(sheet, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range numberWays() {
			if !regexp.MustCompile(way.sheets).MatchString(sheet) {
				continue
			}
			for _, e := range from.List(m) {
				for _, value := range small(&e) {
					name := fmt.Sprintf("%s %s %s=%s", sheet, way.name, e.Path, value)
					if !want.MatchString(name) {
						continue
					}
					tried++
					s := way.spec
					s.Machine, s.Seed, s.Set = sheet, 1, map[string]string{e.Path: value}
					s.Length.MaxCycles = 500_000_000
					if strings.Contains(e.Path, "clock") {
						s.Apps = brief(s.Apps)
					}
					t.Run(name, func(t *testing.T) {
						if bad := tryNumber(&s, e.Path); bad != "" {
							t.Error(bad)
						}
					})
				}
			}
		}
	}
	if tried == 0 {
		t.Errorf("no setting matches %s", match)
	}
}

// brief is the applications with a sixteenth of the work: under a clock of 1 MHz each cycle of the part is a
// thousand of the others', and what goes wrong there goes wrong for two CTAs, too.
func brief(apps []sim.App) []sim.App {
	apps = slices.Clone(apps)
	for i := range apps {
		if a := &apps[i]; a.Path == numbersApp {
			a.Args = maps.Clone(a.Args)
			a.Args["n"] = "192"
		}
	}
	return apps
}

// small lists what a number is set to: each of its whole numbers very small, one at a time.
func small(e *sheets.Entry) (values []string) {
	if e.Unit == "text" || e.Unit == "name" || e.Unit == "flag" || strings.Contains(e.Path, "[") {
		return nil
	}
	parts := strings.Split(e.Value, ",")
	for i, p := range parts {
		if _, err := strconv.Atoi(p); err != nil {
			continue
		}
		for _, v := range []string{"0", "1", "2", "3"} {
			if v != p {
				with := append([]string(nil), parts...)
				with[i] = v
				values = append(values, strings.Join(with, ","))
			}
		}
	}
	return values
}

// tryNumber runs a Spec and says what is wrong with how it went.
func tryNumber(s *sim.Spec, path string) (bad string) {
	defer func() {
		if p := recover(); p != nil {
			bad = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	// A machine may be slow: a run ends by its cycles, and by the clock only where the test itself would hang.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	r, err := sim.Run(ctx, *s, nil)
	switch {
	case host.Classify(err) == host.BadInput && strings.Contains(err.Error(), path):
		return "" // a launch that the machine cannot hold
	case err != nil && r != nil:
		lines := strings.SplitN(err.Error(), "\n", 4)
		return "begun, then: " + strings.Join(lines[:min(3, len(lines))], "\n")
	case err != nil && !strings.Contains(err.Error(), path):
		return "refused without its name: " + err.Error()
	case err != nil:
		return ""
	}
	for _, c := range r.Checks {
		if !c.OK {
			return c.App + ": " + c.What + ": " + c.Msg
		}
	}
	return ""
}
