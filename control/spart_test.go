package control

import (
	"fmt"
	"strings"
	"testing"
)

// spartSample is taskSample with SM-cycles: all SMs ran all the time.
func spartSample(idle, gated int, targets []float64, sms []int, ipc ...float64) *TaskSample[spartTask] {
	t := taskSample(1, idle, gated, 0, sms, ipc...)
	s := &TaskSample[spartTask]{Clock: t.Clock}
	for i, a := range t.Apps {
		a.QoS = targets[i]
		s.Apps = append(s.Apps, spartTask{a, uint64(sms[i]) * a.Cycles})
	}
	return s
}

// With make_up an application aims above its target by target over average: an epoch of 50 for 100 and one of 100
// have a mean of 75, so 8 SMs become 11 and not 8; above its target it aims at the target.
func TestSpartMakesUp(t *testing.T) {
	for _, c := range []struct {
		makeUp float64
		ipc    [2]float64
		want   string
	}{
		{0, [2]float64{50, 100}, "[8 8 0]"},
		{1, [2]float64{50, 100}, "[11 5 0]"},
		{1, [2]float64{200, 100}, "[8 8 0]"},
	} {
		p := made(t, "spart", Params{"make_up": c.makeUp})
		var plan Plan
		for _, ipc := range c.ipc {
			plan = p.Decide(spartSample(0, 0, []float64{100, 0}, []int{8, 8}, ipc, 9))
		}
		if got := fmt.Sprint(shareOf(plan)); got != c.want {
			t.Errorf("make_up %g after %v: %s, want %s", c.makeUp, c.ipc, got, c.want)
		}
	}
}

// The linear model by hand: need = SMs x target / IPC, rounded up; the difference changes
// hands at once.
func TestSpartByHand(t *testing.T) {
	for _, c := range []struct {
		what        string
		params      Params
		idle, gated int
		targets     []float64
		sms         []int
		ipc         []float64
		want        string
	}{
		{
			"half of the target: twice the SMs",
			nil, 0, 0,
			[]float64{100, 0},
			[]int{4, 8},
			[]float64{50, 9},
			"[8 4 0]",
		},
		{
			"all but one",
			nil, 0, 0,
			[]float64{100, 0},
			[]int{4, 8},
			[]float64{20, 9},
			"[11 1 0]",
		},
		{
			"all of them without a floor",
			Params{"floor": 0},
			0, 0,
			[]float64{100, 0},
			[]int{4, 8},
			[]float64{20, 9},
			"[12 0 0]",
		},
		{
			"no instruction with all of them: it keeps them",
			Params{"floor": 0},
			0, 0,
			[]float64{100, 0},
			[]int{12, 0},
			[]float64{0, 0},
			"[12 0 0]",
		},
		{
			"no instruction, as it has no SM: it gets one",
			nil, 0, 0,
			[]float64{100, 0},
			[]int{0, 12},
			[]float64{0, 9},
			"[1 11 0]",
		},
		{
			"rounded up",
			nil, 0, 0,
			[]float64{100, 0},
			[]int{4, 8},
			[]float64{99, 9},
			"[5 7 0]",
		},
		{
			"twice the target: half is given back",
			nil, 0, 0,
			[]float64{100, 0},
			[]int{6, 6},
			[]float64{200, 9},
			"[3 9 0]",
		},
		{
			"to nobody with gate",
			Params{"gate": 1},
			0, 0,
			[]float64{100, 0},
			[]int{6, 6},
			[]float64{200, 9},
			"[3 6 3]",
		},
		{
			"with gate, too, best effort without an SM gets the first",
			Params{"gate": 1, "floor": 0},
			0, 0,
			[]float64{100, 0},
			[]int{12, 0},
			[]float64{200, 0},
			"[6 1 5]",
		},
		{
			"idle, then gated, then best effort",
			nil, 1, 1,
			[]float64{100, 0},
			[]int{4, 6},
			[]float64{50, 9},
			"[8 4 0]",
		},
		{
			"the others keep one each",
			nil, 0, 0,
			[]float64{100, 0, 0},
			[]int{4, 4, 4},
			[]float64{1, 9, 9},
			"[10 1 1 0]",
		},
		{
			"from whoever has most, to whoever has least",
			nil, 0, 0,
			[]float64{100, 0, 0},
			[]int{4, 3, 5},
			[]float64{50, 9, 9},
			"[8 2 2 0]",
		},
		{
			"two targets",
			nil, 0, 0,
			[]float64{100, 100, 0},
			[]int{4, 4, 8},
			[]float64{50, 200, 9},
			"[8 2 6 0]",
		},
		{
			"within the dead band",
			Params{"dead_band": 1},
			0, 0,
			[]float64{100, 0},
			[]int{4, 8},
			[]float64{99, 9},
			"[4 8 0]",
		},
		{
			"nothing ran: all but one",
			nil, 0, 0,
			[]float64{100, 0},
			[]int{4, 8},
			[]float64{0, 9},
			"[11 1 0]",
		},
		{
			"what the second gives back, the first needs",
			nil, 0, 0,
			[]float64{800, 100},
			[]int{8, 8},
			[]float64{500, 500},
			"[13 2 1]",
		},
		{
			"and so with a batch task beside them",
			nil, 0, 0,
			[]float64{800, 100, 0},
			[]int{5, 8, 3},
			[]float64{500, 500, 9},
			"[8 2 6 0]",
		},
	} {
		p := made(t, "spart", c.params)
		plan := p.Decide(spartSample(c.idle, c.gated, c.targets, c.sms, c.ipc...))
		if got := fmt.Sprint(shareOf(plan)); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// A task without a kernel gives one SM to whoever has none.
func TestSpartFeeds(t *testing.T) {
	s := spartSample(0, 0, []float64{100, 0}, []int{12, 0}, 0, 9)
	s.Apps[0].Cycles = 0
	if got := fmt.Sprint(shareOf(made(t, "spart", Params{"floor": 0}).Decide(s))); got != "[11 1 0]" {
		t.Error(got)
	}
}

// While SMs are on their way those that ran count: 4 of 6 gave 50, so 8 are needed.
func TestSpartOnTheWay(t *testing.T) {
	s := spartSample(0, 0, []float64{100, 0}, []int{6, 6}, 50, 9)
	s.Apps[0].SMsArriving, s.Apps[1].SMsLeaving = 1, 1
	s.Apps[0].SMCycles = 4 * s.Apps[0].Cycles
	if got := fmt.Sprint(shareOf(made(t, "spart", nil).Decide(s))); got != "[8 4 0]" {
		t.Error(got)
	}
}

// An error names the key of a sample, not the type it is embedded by.
func TestSpartKeys(t *testing.T) {
	text := `[{"cycle": 1, "apps": [{"name": "x", "sms": 1, "insts": "many", "cycles": 1}]}]`
	if _, err := replayed(t, "spart", nil, "s.json", []byte(text)); err == nil ||
		!strings.HasPrefix(err.Error(), "s.json:1: apps.insts is a string") {
		t.Error(err)
	}
}
