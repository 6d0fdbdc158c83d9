package control

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// rolloverSample has two SMs and applications with one CTA of 8 warps on each.
func rolloverSample(epoch uint64, target float64, ipc ...float64) *TaskSample[rolloverTask] {
	t := taskSample(epoch, 0, 0, target, make([]int, len(ipc)), ipc...)
	s := &TaskSample[rolloverTask]{Clock: t.Clock}
	for _, a := range t.Apps {
		s.Apps = append(s.Apps, rolloverTask{
			Task: a, CTAWarps: 8, Resident: []uint64{3, 3}, Left: []uint64{0, 0}, Idle: []uint64{50_000, 50_000},
		})
	}
	return s
}

func quotasOf(p Plan) (out []int64) {
	for _, a := range p.(*QuotaPlan).Apps {
		out = append(out, a.Quota)
	}
	return out
}

// Quotas by hand: alpha x target x epoch for the target; the artificial goal of best effort
// begins as measured and follows the least IPC over target, within [0.5, 2].
func TestRolloverQuotas(t *testing.T) {
	p := made(t, "rollover", nil)
	for i, c := range []struct {
		ipc  []float64
		want []int64
	}{
		{[]float64{50, 40}, []int64{2_000_000, 400_000}},  // 50 of 100 so far: alpha 2
		{[]float64{150, 40}, []int64{1_000_000, 600_000}}, // 100 so far: alpha 1; 1.5 of the target
		{[]float64{400, 40}, []int64{1_000_000, 1_200_000}},
		{[]float64{10, 40}, []int64{1_000_000, 600_000}}, // 152.5 so far; a tenth, clamped to a half
	} {
		if got := quotasOf(p.Decide(rolloverSample(uint64(i+1), 100, c.ipc...))); !slices.Equal(got, c.want) {
			t.Errorf("epoch %d: %v, want %v", i+1, got, c.want)
		}
	}
	for i, scheme := range []QuotaScheme{Naive, Elastic, Rollover, RolloverTime} {
		q := made(t, "rollover", Params{"scheme": float64(i)}).Decide(rolloverSample(1, 100, 50, 40)).Request().Quota
		if q.Scheme != scheme || q.Period != 10_000 || fmt.Sprint(q.Goal) != "[true false]" {
			t.Errorf("%+v, want %s", q, scheme)
		}
	}
}

// Best effort that comes late, or finds no room at first, has no quota until it has been measured: in the first epoch
// if it ran more than half of that, else in the one behind that in which it came.
func TestRolloverLate(t *testing.T) {
	for _, c := range []struct {
		what   string
		cycles []uint64
		want   []int64
	}{
		{"from the start", []uint64{10_000}, []int64{400_000}},
		{"late", []uint64{0, 0, 9_000, 10_000}, []int64{unlimited, unlimited, unlimited, 400_000}},
		{"late in an epoch", []uint64{0, 4_000, 10_000}, []int64{unlimited, unlimited, 400_000}},
		{"never for half an epoch", []uint64{4_000, 4_000}, []int64{unlimited, 400_000}},
	} {
		p := made(t, "rollover", nil)
		for i, cycles := range c.cycles {
			s := rolloverSample(uint64(i+1), 100, 100, 40)
			s.Apps[1].Cycles, s.Apps[1].Insts = cycles, 40*cycles
			if got := quotasOf(p.Decide(s)); got[1] != c.want[i] {
				t.Errorf("%s, epoch %d: %d, want %d", c.what, i+1, got[1], c.want[i])
			}
		}
	}
	p := made(t, "rollover", nil)
	for epoch := range uint64(3) {
		s := rolloverSample(epoch+1, 100, 100, 0) // on the GPU, and no CTA of it finds room
		if got := quotasOf(p.Decide(s)); got[1] != unlimited {
			t.Errorf("without an instruction: %d", got[1])
		}
	}
}

// What is left of a target's quota does not grow while it has no kernel on the GPU, and in part where it has one
// for part of an epoch. Where quotas begin anew, there is nothing to take back.
func TestRolloverAway(t *testing.T) {
	for _, c := range []struct {
		what   string
		scheme float64
		cycles uint64
		left   uint64 // on each of two SMs
		want   int64
	}{
		{"there", 2, 10_000, 600_000, 1_000_000},
		{"away, with a quota left", 2, 0, 600_000, 2},
		{"away, with less left", 3, 0, 200_000, 600_000},
		{"away for half of it", 2, 5_000, 600_000, 500_001},
		{"naive", 0, 0, 600_000, 1_000_000},
	} {
		s := rolloverSample(1, 100, 100, 40)
		a := &s.Apps[0]
		a.Cycles, a.Insts, a.Left = c.cycles, 100*c.cycles, []uint64{c.left, c.left}
		if got := quotasOf(made(t, "rollover", Params{"scheme": c.scheme}).Decide(s)); got[0] != c.want {
			t.Errorf("%s: %d, want %d", c.what, got[0], c.want)
		}
	}
}

// What a plan says of a quota is what its SMs have, one instruction each where none of its CTAs is. A sample without
// its cycle has no epoch to ration.
func TestRolloverSums(t *testing.T) {
	s := rolloverSample(1, 100, 50, 40)
	s.Apps[1].Resident = []uint64{4, 0}
	a := made(t, "rollover", nil).Decide(s).(*QuotaPlan).Apps[1]
	if len(a.PerSM) != 2 || a.PerSM[1] != 1 || a.Quota != a.PerSM[0]+a.PerSM[1] {
		t.Errorf("%+v", a)
	}
	text := `[{"apps": [{"name": "x", "sms": 1, "insts": 1, "cycles": 1}]}]`
	if _, err := replayed(t, "rollover", nil, "s.json", []byte(text)); err == nil ||
		!strings.Contains(err.Error(), "sample 1 has no cycle") {
		t.Error(err)
	}
}

// An epoch's length where a file begins later, and where two samples are of one cycle.
func TestRolloverPeriod(t *testing.T) {
	q := &rollover{}
	for _, c := range []struct{ cycle, epoch, want uint64 }{
		{1_000_000, 100, 10_000}, {1_020_000, 102, 20_000}, {1_020_000, 102, 20_000}, {1_030_000, 103, 10_000},
	} {
		if got := q.since(&Clock{Cycle: c.cycle, Epoch: c.epoch}); got != c.want {
			t.Errorf("cycle %d: %d, want %d", c.cycle, got, c.want)
		}
	}
}

// A quota goes to SMs by CTAs; the parts are the whole, and nobody gets nothing.
func TestByResidence(t *testing.T) {
	for _, c := range []struct {
		quota    int64
		resident []uint64
		want     string
	}{
		{100, []uint64{1, 3}, "[25 75]"},
		{101, []uint64{1, 1}, "[51 50]"},
		{100, []uint64{0, 0}, "[50 50]"},
		{7, []uint64{0, 2, 0}, "[1 7 1]"},
		{0, []uint64{1, 1}, "[1 1]"},
		{5, nil, "[]"},
	} {
		if got := fmt.Sprint(byResidence(c.quota, c.resident)); got != c.want {
			t.Errorf("%d on %v: %s, want %s", c.quota, c.resident, got, c.want)
		}
	}
}

// CTAs by hand, on the first SM; the second has nothing to change.
func TestRolloverCTAs(t *testing.T) {
	for _, c := range []struct {
		what             string
		left, idle       uint64
		target, effort   uint64 // resident
		wantLS, wantRest int
	}{
		{"quota left and few idle warps: one more, one less of best effort", 5, 39_999, 3, 3, 4, 2},
		{"half a CTA of idle warps in the mean: warps are not what it lacks", 5, 40_000, 3, 3, 3, 3},
		{"no quota left", 0, 0, 3, 3, 3, 3},
		{"the last one of best effort", 5, 0, 3, 1, 4, 0},
		{"nobody has to give one: one more where there is room", 5, 0, 3, 0, 4, 3},
		{"it has fewer than it may: there are no more of them", 5, 0, 2, 0, 3, 3},
		{"idle warps of a CTA: one less, which best effort may have", 0, 80_000, 3, 3, 2, 4},
		{"a target keeps one", 0, 80_000, 1, 3, 3, 3},
	} {
		p := made(t, "rollover", nil)
		if first := p.Decide(rolloverSample(1, 100, 50, 40)).Request().CTAs; fmt.Sprint(first) != "[[3 3] [3 3]]" {
			t.Fatalf("%v at first", first)
		}
		s := rolloverSample(2, 100, 50, 40)
		a, b := &s.Apps[0], &s.Apps[1]
		a.Left[0], a.Idle[0], a.Resident[0], b.Resident[0] = c.left, c.idle, c.target, c.effort
		want := fmt.Sprint([][]int{{c.wantLS, 3}, {c.wantRest, 3}})
		if got := fmt.Sprint(p.Decide(s).Request().CTAs); got != want {
			t.Errorf("%s: %s, want %s", c.what, got, want)
		}
	}
	p := made(t, "rollover", nil)
	absent := rolloverSample(1, 100, 50, 40)
	absent.Apps[0].Cycles, absent.Apps[0].Insts = 0, 0
	if got := p.Decide(absent).Request().CTAs; fmt.Sprint(got) != "[[-1 -1] [-1 -1]]" {
		t.Errorf("%v while nothing with a target runs", got)
	}
	late := rolloverSample(2, 100, 50, 40)
	late.Apps[0].Resident[1] = 0
	if got := p.Decide(late).Request().CTAs; fmt.Sprint(got) != "[[3 -1] [3 3]]" {
		t.Errorf("%v when it has come", got)
	}
	p = made(t, "rollover", Params{"move_ctas": 0})
	if got := p.Decide(rolloverSample(1, 100, 50, 40)).Request().CTAs; got != nil {
		t.Errorf("%v without swaps", got)
	}
}

// What earlier epochs left is no sign that a target misses warps: only one that is behind it gets more CTAs.
func TestRolloverAheadGetsNoCTA(t *testing.T) {
	p := made(t, "rollover", nil)
	p.Decide(rolloverSample(1, 100, 150, 40))
	s := rolloverSample(2, 100, 120, 40)
	s.Apps[0].Left[0], s.Apps[0].Idle[0] = 1_000_000, 0
	if got := fmt.Sprint(p.Decide(s).Request().CTAs); got != "[[3 3] [3 3]]" {
		t.Errorf("limits of %s for one that is ahead", got)
	}
}

// An SM whose last CTA has just gone may get the next kernel's at any time.
func TestRolloverBetweenKernels(t *testing.T) {
	p := made(t, "rollover", nil)
	s := rolloverSample(1, 100, 100, 40)
	s.Apps[0].Resident, s.Apps[0].Active = []uint64{0, 1}, []uint64{9000, 10_000}
	if got := p.Decide(s).(*QuotaPlan).Apps[0].PerSM; fmt.Sprint(got) != "[500000 500000]" {
		t.Errorf("quotas of %v", got)
	}
}

// The goal of best effort stays within what is possible, so that it comes back within some epochs.
func TestRolloverGoalIsBounded(t *testing.T) {
	for _, ls := range []float64{1000, 1} {
		p := made(t, "rollover", nil)
		var got []int64
		for epoch := uint64(1); epoch < 1200; epoch++ {
			got = quotasOf(p.Decide(rolloverSample(epoch, 100, ls, 40)))
		}
		m := paper()
		if most := int64(m.IPCMax * float64(m.SMs) * 10_000); got[1] < 1 || got[1] > most {
			t.Errorf("%g of 100: best effort's quota is %d, of 1 to %d", ls, got[1], most)
		}
	}
}

// Kernels without a target issue from the quota of their application, too, and do not use up that of others.
func TestRolloverKernelTarget(t *testing.T) {
	p := made(t, "rollover", nil)
	s := rolloverSample(1, 0, 400, 40)
	a := &s.Apps[0]
	kernel := func(insts, cycles uint64) {
		a.Kernels = []TaskKernel{{HeldKernel: HeldKernel{Name: "k", QoS: 100}, Insts: insts, Cycles: cycles}}
	}
	if kernel(0, 0); quotasOf(p.Decide(s))[0] < unlimited {
		t.Error("a quota before the kernel has run")
	}
	a.Insts = 4_000_000
	if kernel(1_000_000, 10_000); quotasOf(p.Decide(s))[0] != 8_000_000 { // of 8 M in both epochs 1 M were the kernel's
		t.Errorf("quota of %d", quotasOf(p.Decide(s))[0])
	}
}

// One application alone on its SMs has nobody to share CTAs with.
func TestRolloverAlone(t *testing.T) {
	p := made(t, "rollover", nil)
	for epoch := range uint64(3) {
		if got := p.Decide(rolloverSample(epoch+1, 100, 50)).Request().CTAs; got != nil {
			t.Errorf("limits of %v", got)
		}
	}
}
