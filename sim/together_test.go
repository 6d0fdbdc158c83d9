package sim_test

import (
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// Time slicing: who has the SMs follows one another on the timeline, what it cost is in
// the result, and with turns longer than any kernel an application is as fast as alone
// once it is its turn.
func TestTimeslice(t *testing.T) {
	s := sim.Spec{Machine: "ugpu", Seed: 1, Timeline: true, Apps: []sim.App{
		app("sdk-like/matrixmul", nil),
		app("micro/spmv", nil),
	}}
	s.Sharing = sim.Sharing{Mode: "timeslice", Quantum: 2000}
	r := run(t, s)
	c := r.Contexts
	if c == nil || c.Turns < 4 || c.CTAs == 0 || c.Bytes < 1000 || c.Cycles == 0 || c.Cycles > r.Cycles {
		t.Fatalf("contexts: %+v", c)
	}
	var turns, switches int
	var covered, last uint64
	for _, x := range r.Spans {
		if x.Track != "SM 00" {
			continue
		}
		if x.Start < last {
			t.Errorf("%s from %d on: the one before ended at %d", x.Name, x.Start, last)
		}
		last = x.End
		covered += x.End - x.Start
		if x.Name == "switching" {
			switches++
		} else {
			turns++
		}
	}
	if turns != c.Turns || switches == 0 || covered != r.Cycles {
		t.Errorf("timeline: %d turns and %d switches over %d of %d cycles, want %d turns", turns, switches, covered,
			r.Cycles, c.Turns)
	}

	alone := s
	alone.Apps, alone.Sharing = s.Apps[:1], sim.Sharing{Mode: "alone"}
	s.Sharing.Quantum = 1 << 40
	long, free := run(t, s).Tenants[0], run(t, alone).Tenants[0]
	if a, b := long.Kernels[0], free.Kernels[0]; a.Start != b.Start || a.End != b.End {
		t.Errorf("the first kernel of who is first runs from %d to %d, alone from %d to %d", a.Start, a.End, b.Start,
			b.End)
	}
}

// SMK: both applications are on the SMs at once, and the second need not wait for the
// first one's CTAs to end.
func TestSMK(t *testing.T) {
	s := sim.Spec{
		Machine: "ugpu", Seed: 1, Apps: []sim.App{app("parboil-like/cp", nil), app("micro/triad", nil)},
		Sharing: sim.Sharing{Mode: "smk"},
	}
	s.Apps[1].Arrive = 6000
	r := run(t, s)
	a, b := r.Tenants[0].Kernels[0], r.Tenants[1].Kernels[0]
	if b.Start > a.End || b.Start > 6000+3000 {
		t.Errorf("the second application arrives at 6000 and starts at %d; the first one's kernel runs from %d to %d",
			b.Start, a.Start, a.End)
	}
	if r.Contexts == nil || r.Contexts.Turns != 0 {
		t.Errorf("contexts: %+v", r.Contexts)
	}
}
