package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sim"
)

// roofline is a program whose IPC is bound by its SMs or by its channel groups, softly, by the number of its points.
func roofline(s *sim.Spec) float64 {
	perSM, perGroup := 3.0, 700.0
	if s.Apps[0].Name == "T" {
		perSM, perGroup = 30, 130
	}
	x, y := perSM*float64(s.Sharing.SMs[0]), perGroup*float64(s.Sharing.Groups[0])
	return 1 / math.Cbrt(1/(x*x*x)+1/(y*y*y))
}

// The search ends at a division that no other beats, having profiled each program on few slices and on each once.
func TestOfflineSearch(t *testing.T) {
	b := tiny(t)
	b.machine.SM.Count = 80
	ran := map[string]int{}
	b.Runner = &lab.Runner{Run: func(_ context.Context, s sim.Spec, _ func(sim.Progress)) (*sim.Result, error) {
		ran[fmt.Sprint(s.Apps[0].Name, s.Sharing.SMs, s.Sharing.Groups)]++
		return &sim.Result{Complete: true, Tenants: []sim.Tenant{{IPC: roofline(&s)}}}, nil
	}}
	found := func(s *Scheme) []control.Alloc {
		t.Helper()
		for {
			best, err := (&offline{b, s}).best([]string{"T", "C"})
			if !errors.Is(err, errPending) {
				if err != nil {
					t.Fatal(err)
				}
				return best
			}
			for _, o := range b.Runner.All(context.Background(), b.want) {
				b.have[key(&o.Job.Spec)] = &o
			}
			b.want = nil
		}
	}
	lists := Offline{"memory": {{40, 4}, {16, 6}, {40, 7}}, "compute": {{40, 4}, {64, 2}, {40, 1}}}
	listed := found(&Scheme{Offline: lists})
	profiled := len(ran)
	got := found(&Scheme{Offline: lists, Step: []int{4, 1}})
	if profiled != 8 { // three slices and the whole machine each
		t.Errorf("%d runs for two lists of three", profiled)
	}
	if len(ran) > profiled+60 {
		t.Errorf("%d runs more for the neighbours", len(ran)-profiled)
	}
	for at, n := range ran {
		if n != 1 {
			t.Errorf("%s is profiled %d times", at, n)
		}
	}
	sum := func(sms, groups int) float64 {
		stp := 0.0
		for i, p := range []string{"T", "C"} {
			whole, err := b.Whole(p)
			at := sim.Spec{Apps: []sim.App{{Name: p}}, Sharing: sim.Sharing{SMs: []int{sms}, Groups: []int{groups}}}
			if i == 1 {
				at.Sharing = sim.Sharing{SMs: []int{80 - sms}, Groups: []int{b.groups() - groups}}
			}
			if err != nil {
				t.Fatal(err)
			}
			stp += roofline(&at) / whole
		}
		return stp
	}
	most := 0.0
	for sms := 4; sms < 80; sms += 4 {
		for groups := 1; groups < b.groups(); groups++ {
			most = max(most, sum(sms, groups))
		}
	}
	if x := sum(got[0].SMs, got[0].Groups); x != most {
		t.Errorf("%v gives %g, the best of all %g", got, x, most)
	}
	if slices.Equal(got, listed) {
		t.Errorf("%v is the best of the lists alone", got)
	}
	if got[0].SMs+got[1].SMs != 80 || got[0].Groups+got[1].Groups != b.groups() {
		t.Errorf("%v does not use the machine", got)
	}
}

// A failed profile is told, however many others are still to be made.
func TestOfflineSearchFails(t *testing.T) {
	broken := errors.New("broken")
	for _, list := range [][]error{{nil, errPending, broken}, {broken, errPending, nil}, {errPending, broken, broken}} {
		var all error
		for _, err := range list {
			all = worse(all, err)
		}
		if !errors.Is(all, broken) {
			t.Errorf("of %v %v remains", list, all)
		}
	}
	if err := worse(nil, errPending); !errors.Is(err, errPending) {
		t.Errorf("%v", err)
	}
}
