package sim_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// waiting is testdata/waits under a name.
func waiting(name, which string, args map[string]string) sim.App {
	all := map[string]string{"which": which}
	maps.Copy(all, args)
	return sim.App{Name: name, Path: "testdata/waits", Args: all}
}

// A program that waits for what never comes is stuck, by its name, kernel and line: with a loop of a hundred
// instructions, with five warps in loops of their own, and with pages that come again and again; alone and beside one
// that works, whichever way they share.
func TestWaitsForEver(t *testing.T) {
	works := waiting("works", "count", map[string]string{"m": "100000000"})
	thrash := map[string]string{"words": "32768", "m": "1024", "memory": "managed"}
	modes := []struct {
		machine string
		sharing sim.Sharing
	}{
		{"qv100", sim.Sharing{Mode: "mps"}},
		{"qv100", sim.Sharing{Mode: "timeslice", Quantum: 20_000}},
		{"qv100", sim.Sharing{Mode: "smk"}},
		{"a100", sim.Sharing{Mode: "mig", Profiles: []string{"3g.20gb", "2g.10gb"}}},
		{"ugpu", sim.Sharing{Mode: "ugpu", Epoch: 20_000}},
	}
	for _, hung := range []sim.App{
		waiting("hung", "poll", nil), waiting("hung", "five", map[string]string{"threads": "160"}),
		waiting("hung", "thrash", thrash),
	} {
		kernel := hung.Args["which"]
		alone := sim.Spec{Machine: "qv100", Apps: []sim.App{hung}, Sharing: sim.Sharing{Mode: "alone"}}
		if kernel == "thrash" {
			unified := sim.Memory{Unified: sim.Unified{Capacity: "65536", Prefetch: "none", Evict: "lru4k"}}
			alone.Machine, alone.Sharing.Memory = "uvm", unified
			modes = modes[:1]
			modes[0].machine, modes[0].sharing.Memory = "uvm", unified
		}
		stuck(t, kernel+" alone", alone, kernel)
		for _, m := range modes {
			s := sim.Spec{Machine: m.machine, Apps: []sim.App{hung, works}, Sharing: m.sharing}
			stuck(t, kernel+" "+m.sharing.Mode, s, kernel)
		}
	}
}

// Warps that go through many states while they wait, or ask for the time, are stuck, too, and this shows after a few
// looks at them: they poll 64 places, count to 200 between two polls, or wait for 500 cycles.
func TestWaitsInManyStates(t *testing.T) {
	many := map[string]string{"blocks": "8", "threads": "256"}
	for _, which := range []string{"delay", "backoff", "polls"} {
		stuck(t, which, sim.Spec{
			Machine: "qv100", Sharing: sim.Sharing{Mode: "alone"}, Apps: []sim.App{waiting("hung", which, many)},
			Watchdog: 20_000, Length: sim.Length{MaxCycles: 300_000},
		}, which)
	}
}

// stuck runs what never ends and looks at what is said of it.
func stuck(t *testing.T, name string, s sim.Spec, kernel string) {
	t.Helper()
	s.Seed = 1
	if s.Watchdog == 0 {
		s.Watchdog, s.Length.MaxCycles = 300_000, 50_000_000
	}
	_, err := sim.Run(context.Background(), s, nil)
	var d *sim.Deadlock
	if !errors.As(err, &d) {
		t.Errorf("%s: error %v, want a deadlock", name, err)
		return
	}
	for _, want := range []string{"hung: kernel " + kernel, "CTA of " + kernel + ": warps 0", "kernel.ptx:"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: no %q in %v", name, want, err)
		}
	}
	if strings.Contains(err.Error(), "works: kernel") {
		t.Errorf("%s: blames who works: %v", name, err)
	}
}

// A loop that goes on for long is work, of however few instructions it is, and however often it writes the same
// address.
func TestLongLoops(t *testing.T) {
	for _, which := range []string{"count", "sum"} {
		for _, mode := range []string{"alone", "timeslice"} {
			s := sim.Spec{
				Machine: "qv100", Seed: 1, Watchdog: 50_000, Sharing: sim.Sharing{Mode: mode},
				Apps: []sim.App{waiting("long", which, map[string]string{"m": "50000"})},
			}
			if mode == "timeslice" {
				s.Apps = append(s.Apps, waiting("other", which, map[string]string{"m": "40000"}))
				s.Sharing.Quantum = 20_000
			}
			r, err := sim.Run(context.Background(), s, nil)
			if err != nil {
				t.Errorf("%s %s: %v", which, mode, err)
			} else if r.Cycles < 10*s.Watchdog {
				t.Errorf("%s %s: %d cycles, too short to tell", which, mode, r.Cycles)
			}
		}
	}
}
