package control

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// taskSample is an epoch of 10000 cycles: a latency-sensitive task and batch tasks, by IPC.
func taskSample(epoch uint64, idle, gated int, target float64, sms []int, ipc ...float64) *TaskSample[Task] {
	s := &TaskSample[Task]{Clock: Clock{Cycle: 10_000 * epoch, Epoch: epoch, IdleSMs: idle, GatedSMs: gated}}
	for i := range sms {
		t := Task{Held: Held{Name: string(rune('a' + i)), SMs: sms[i]}, Insts: uint64(10_000 * ipc[i]), Cycles: 10_000}
		if i == 0 {
			t.QoS = target
		}
		s.Apps = append(s.Apps, t)
	}
	return s
}

// shareOf are the SMs a plan gives, then those without power.
func shareOf(p Plan) (out []int) {
	plan := p.(*TaskPlan)
	for _, a := range plan.Apps {
		out = append(out, a.SMs)
	}
	return append(out, plan.Gated)
}

// Algorithm 1: below the target on average or in the epoch an SM is taken; given only where
// the average would stay above through an epoch of nothing, and the epoch was above.
func TestSMQoSWish(t *testing.T) {
	for _, c := range []struct {
		what           string
		average, epoch uint64 // instructions of 100 cycles
		n              uint64
		want           int
	}{
		{"average below", 7900, 9000, 9, 1},
		{"epoch below", 9000, 7900, 9, 1},
		{"both at the target", 8000, 8000, 9, 0},
		{"average a tenth above, ninth epoch: 8888 x 9/10 is below", 8888, 9000, 9, 0},
		{"a tenth above and a little", 8890, 9000, 9, -1},
		{"the same in the eighth epoch", 8890, 9000, 8, 0},
		{"average far above, epoch at the target", 12000, 8000, 9, 0},
		{"average far above, epoch a hair above", 12000, 8001, 9, -1},
		{"first epoch: twice the target is not more than twice", 16000, 16000, 1, 0},
		{"first epoch: more than twice", 16001, 16001, 1, -1},
	} {
		q := &smqos{total: serve(c.average, 100, 80)}
		e := serve(c.epoch, 100, 80)
		if got := q.wish(&e, c.n); got != c.want {
			t.Errorf("%s: %d, want %d", c.what, got, c.want)
		}
	}
}

// Section III-C with a threshold of 0.03: every branch of a swap-in, which both rules have, then of a swap-out by
// either rule.
func TestSMQoSBounds(t *testing.T) {
	both := profile{lower: true, upper: true, opt: 8}
	for _, c := range []struct {
		rule         swapOut
		what         string
		swap         int
		ipc          float64 // 100 before
		before, want profile
	}{
		{asPrinted, "one more, no gain", 1, 103, profile{}, profile{upper: true}},
		{asPrinted, "one more, gain", 1, 103.1, profile{}, profile{lower: true, opt: 11}},
		{asPrinted, "one more, loss", 1, 50, profile{}, profile{upper: true}},
		{asPrinted, "second bound", 1, 100, profile{lower: true, opt: 8}, both},
		{asPrinted, "the lower bound again", 1, 110, profile{lower: true, opt: 8}, profile{lower: true, opt: 11}},
		{symmetric, "one more, no gain", 1, 103, profile{}, profile{upper: true}},
		{symmetric, "one more, gain", 1, 103.1, profile{}, profile{lower: true, opt: 11}},
		{symmetric, "one more, loss", 1, 50, profile{}, profile{upper: true}},
		{symmetric, "no gain keeps opt", 1, 100, profile{lower: true, opt: 8}, both},
		{symmetric, "the upper bound again", 1, 100, profile{upper: true, opt: 9}, profile{upper: true, opt: 9}},

		{asPrinted, "one less, fall", -1, 96.9, profile{}, profile{upper: true}},
		{asPrinted, "one less, none", -1, 97, profile{}, profile{lower: true, opt: 9}},
		{asPrinted, "one less, rise", -1, 150, profile{}, profile{lower: true, opt: 9}},
		{asPrinted, "fall, lower is set", -1, 90, profile{lower: true, opt: 8}, both},
		{asPrinted, "none, upper is set", -1, 100, profile{upper: true}, profile{lower: true, upper: true, opt: 9}},
		{asPrinted, "three less, fall", -3, 50, profile{}, profile{upper: true}},

		{symmetric, "one less, fall", -1, 96.9, profile{}, profile{lower: true, opt: 10}},
		{symmetric, "one less, none", -1, 97, profile{}, profile{upper: true, opt: 9}},
		{symmetric, "one less, rise", -1, 150, profile{}, profile{upper: true, opt: 9}},
		{symmetric, "fall, lower is set", -1, 90, profile{lower: true, opt: 8}, profile{lower: true, opt: 10}},
		{symmetric, "fall, upper is set", -1, 90, profile{upper: true}, profile{lower: true, upper: true, opt: 10}},
		{symmetric, "none, upper is set", -1, 100, profile{upper: true, opt: 11}, profile{upper: true, opt: 9}},
		{
			symmetric, "none, lower is set", -1, 100,
			profile{lower: true, opt: 11},
			profile{lower: true, upper: true, opt: 9},
		},
		{symmetric, "three less, fall", -3, 50, profile{}, profile{lower: true, opt: 10}},
		{symmetric, "three less, none", -3, 100, profile{}, profile{upper: true, opt: 7}},

		{asPrinted, "frozen, more", 1, 110, both, both},
		{asPrinted, "frozen, less", -1, 90, both, both},
		{symmetric, "frozen, more", 1, 110, both, both},
		{symmetric, "frozen, less", -1, 90, both, both},
		{symmetric, "no swap", 0, 50, profile{}, profile{}},
	} {
		b := c.before
		b.sms, b.last, b.ran = 10, 100, true
		after := Task{Held: Held{SMs: 10 + c.swap}, Insts: uint64(c.ipc * 10_000), Cycles: 10_000}
		b.judge(&after, 0.03, c.rule, &TaskPlan{})
		noted := b.last == float64(after.Insts)/10_000 && b.sms == 10+c.swap
		if !noted || b.upper != c.want.upper || b.lower != c.want.lower || b.opt != c.want.opt {
			t.Errorf("%s: %s: %+v, want %+v", swapOutNames()[c.rule], c.what, b, c.want)
		}
	}
}

// Algorithm 2, with and without bounds.
func TestSMQoSBatch(t *testing.T) {
	for _, c := range []struct {
		b     profile
		sms   int
		takes bool
		gives bool
	}{
		{profile{}, 10, true, true},
		{profile{upper: true}, 10, false, true},
		{profile{upper: true, opt: 11}, 10, true, true},
		{profile{lower: true, opt: 10}, 10, true, false},
		{profile{upper: true, lower: true, opt: 10}, 10, false, false},
		{profile{upper: true, lower: true, opt: 12}, 10, true, false},
	} {
		if c.b.takes(c.sms) != c.takes || c.b.gives() != c.gives {
			t.Errorf("%+v with %d SMs: takes %v, gives %v", c.b, c.sms, c.b.takes(c.sms), c.b.gives())
		}
	}
}

// A run by hand, by the printed rule: what is taken from whom, what is given, gated, tried with one less, and
// left alone.
func TestSMQoSByHand(t *testing.T) {
	p := made(t, "smqos", Params{"swap_out": 0})
	for i, c := range []struct {
		what        string
		idle, gated int
		sms         []int
		ipc         []float64
		want        []int // SMs of each, then without power
	}{
		{
			"below: from the batch task with most, the first of equals",
			0, 0,
			[]int{4, 6, 6},
			[]float64{10, 50, 50},
			[]int{5, 5, 6, 0},
		},
		{
			"b fell by a fifth with one less: its upper bound; an idle SM first",
			1, 0,
			[]int{5, 5, 6},
			[]float64{10, 40, 50},
			[]int{6, 5, 6, 0},
		},
		{
			"then one without power",
			0, 2,
			[]int{6, 5, 6},
			[]float64{10, 40, 50},
			[]int{7, 5, 6, 1},
		},
		{
			"the epoch is above and the average is not",
			0, 1,
			[]int{7, 5, 6},
			[]float64{300, 40, 50},
			[]int{8, 5, 6, 0},
		},
		{
			"above: b has its upper bound, c takes it",
			0, 0,
			[]int{8, 5, 6},
			[]float64{1000, 40, 50},
			[]int{7, 5, 7, 0},
		},
		{
			"c gained nothing: nobody takes it, b tries with one less",
			0, 0,
			[]int{7, 5, 7},
			[]float64{1000, 40, 50},
			[]int{6, 4, 7, 2},
		},
		{
			"b lost nothing: its lower bound, opt 4; c tries",
			0, 2,
			[]int{6, 4, 7},
			[]float64{1000, 40, 50},
			[]int{5, 4, 6, 4},
		},
		{
			"c lost: both tasks have upper bounds, c no lower one",
			0, 4,
			[]int{5, 4, 6},
			[]float64{1000, 40, 20},
			[]int{4, 4, 5, 6},
		},
		{
			"c lost nothing more: its lower bound; gated",
			0, 6,
			[]int{4, 4, 5},
			[]float64{1000, 40, 20},
			[]int{3, 4, 5, 7},
		},
		{
			"all bounds are set",
			0, 7,
			[]int{3, 4, 5},
			[]float64{1000, 40, 20},
			[]int{2, 4, 5, 8},
		},
		{
			"b has less than opt: it takes what is given",
			0, 9,
			[]int{2, 3, 5},
			[]float64{1000, 40, 20},
			[]int{1, 4, 5, 9},
		},
		{
			"the last SM is not given",
			0, 9,
			[]int{1, 4, 5},
			[]float64{1000, 40, 20},
			[]int{1, 4, 5, 9},
		},
		{
			"nobody has one to give",
			0, 0,
			[]int{1, 1, 1},
			[]float64{1, 40, 20},
			[]int{1, 1, 1, 0},
		},
	} {
		got := shareOf(p.Decide(taskSample(uint64(i+1), c.idle, c.gated, 100, c.sms, c.ipc...)))
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%d, %s: %v, want %v", i+1, c.what, got, c.want)
		}
	}
}

// The latency-sensitive task takes SMs of a batch task that falls with each, then it is above its target. By the
// printed rule the batch task takes none back and gives its others, too, until it has one; by the symmetric one it
// takes what it had, and tries for one more, until an SM more gains nothing.
func TestSMQoSSwapOutRules(t *testing.T) {
	target := []float64{10, 10, 1000, 1000, 1000, 1000, 1000}
	for _, c := range []struct {
		swapOut float64
		most    int // SMs by which the batch task gains
		want    string
	}{
		{0, 99, "[9 7 0] [10 6 0] [9 5 2] [8 4 4] [7 3 6] [6 2 8] [5 1 10]"},
		{1, 99, "[9 7 0] [10 6 0] [9 7 0] [8 8 0] [7 9 0] [6 10 0] [5 11 0]"},
		{1, 8, "[9 7 0] [10 6 0] [9 7 0] [8 8 0] [7 9 0] [6 9 1] [5 9 2]"},
		{1, 6, "[9 7 0] [10 6 0] [9 5 2] [8 6 2] [7 6 3] [6 6 4] [5 6 5]"},
	} {
		p := made(t, "smqos", Params{"swap_out": c.swapOut})
		held, got := []int{8, 8, 0}, []string{}
		for i, ipc := range target {
			s := taskSample(uint64(i+1), 0, held[2], 100, held[:2], ipc, 10*float64(min(held[1], c.most)))
			held = shareOf(p.Decide(s))
			got = append(got, fmt.Sprint(held))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("swap_out %g, gains to %d SMs:\n got %s\nwant %s", c.swapOut, c.most, got, c.want)
		}
	}
}

// A choice is given by name or number. Any other value is refused, and the error lists the choices.
func TestReadParam(t *testing.T) {
	for text, want := range map[string]float64{"printed": 0, "symmetric": 1, "0": 0, "1": 1, "2": 2} {
		if got, err := ReadParam("swap_out", text); err != nil || got != want {
			t.Errorf("%s: %g, %v", text, got, err)
		}
	}
	for _, c := range [][3]string{
		{"swap_out", "symetric", `swap_out: give printed (0) or symmetric (1), not "symetric"`},
		{"swap_out", "", `swap_out: give printed (0) or symmetric (1), not ""`},
		{"threshold", "printed", `threshold: a number is expected, not "printed"`},
	} {
		if _, err := ReadParam(c[0], c[1]); err == nil || err.Error() != c[2] {
			t.Errorf("%s=%s:\n got %v\nwant %s", c[0], c[1], err, c[2])
		}
	}
	e, err := Find("smqos")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{2, -1, 0.5} {
		want := fmt.Sprintf("policy smqos: swap_out = %g is out of range: give printed (0) or symmetric (1) (", v)
		if _, err := e.New(paper(), Params{"swap_out": v}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%g: %v", v, err)
		}
	}
}

// A batch task with one SM that should give leaves the freed one without power.
func TestSMQoSLastOfBatch(t *testing.T) {
	q := &smqos{floor: 1, threshold: 0.03, batch: []profile{{}, {upper: true}}}
	got := shareOf(q.decide(taskSample(1, 0, 0, 10, []int{5, 1}, 1000, 1)))
	if fmt.Sprint(got) != "[4 1 1]" {
		t.Errorf("%v", got)
	}
}

// SMs on their way count as arrived for what is asked; a swap is judged by the first epoch
// on the SMs that came of it: one that leaves has left, one that arrives has not come.
func TestSMQoSOnTheWay(t *testing.T) {
	q := &smqos{floor: 1, threshold: 0.03}
	q.decide(taskSample(1, 0, 0, 10, []int{4, 6, 3}, 5, 60, 30))
	s := taskSample(2, 0, 0, 10, []int{4, 6, 3}, 5, 50, 30)
	s.Moving, s.Apps[0].SMsArriving, s.Apps[1].SMsLeaving, s.Apps[2].SMsArriving = true, 2, 1, 1
	s.IdleSMs = 2
	if got := shareOf(q.decide(s)); fmt.Sprint(got) != "[7 4 4 0]" {
		t.Errorf("%v: one more while some are on their way", got)
	}
	if b := q.batch[1]; !b.upper || b.sms != 5 {
		t.Errorf("%+v: the SM that leaves is gone, and the IPC fell", b)
	}
	if b := q.batch[2]; b.upper || b.lower || b.sms != 3 {
		t.Errorf("%+v: judged before the SM came", b)
	}
	q.decide(taskSample(3, 0, 0, 10, []int{7, 4, 4}, 20, 50, 40))
	if b := q.batch[2]; !b.lower || b.opt != 4 {
		t.Errorf("%+v: the SM has come, and the IPC rose", b)
	}
	q = &smqos{floor: 1, threshold: 0.03}
	q.decide(taskSample(1, 0, 0, 10, []int{4, 6}, 5, 60))
	q.decide(taskSample(2, 0, 0, 10, []int{4, 6}, 15, 20)) // refused
	if b := q.batch[1]; b.upper || b.lower {
		t.Errorf("%+v: judged without a swap", b)
	}
}

// With floor 0 the last SM of a batch task may go, too. It gets the first one back that is given, whatever Algorithm 2
// says of its bounds, and one when the latency-sensitive task runs nothing or is over.
func TestSMQoSWithoutFloor(t *testing.T) {
	q := &smqos{threshold: 0.03, batch: []profile{{}, {upper: true, lower: true}}}
	idle := taskSample(4, 0, 0, 10, []int{6, 0}, 0, 0)
	idle.Apps[0].Cycles = 0
	over := taskSample(5, 5, 1, 0, []int{0}, 0)
	for _, c := range []struct {
		what string
		s    *TaskSample[Task]
		want string
	}{
		{"the last one is taken", taskSample(1, 0, 0, 10, []int{5, 1}, 5, 1), "[6 0 0]"},
		{"nobody has one", taskSample(2, 0, 0, 10, []int{6, 0}, 5, 0), "[6 0 0]"},
		{"it gets one back", taskSample(3, 0, 0, 10, []int{6, 0}, 1000, 0), "[5 1 0]"},
		{"the other runs nothing", idle, "[5 1 0]"},
		{"it is alone", over, "[1 1]"},
	} {
		if got := shareOf(q.decide(c.s)); fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.what, got, c.want)
		}
	}
}

// N is what the samples say, also of a file that begins later: 112 x 9/10 is above 100 and 112 x 1/2 is not.
// A task that begins later counts from there.
func TestSMQoSCountsEpochs(t *testing.T) {
	for _, c := range []struct {
		epoch uint64
		late  bool
		want  string
	}{{1, false, "[8 8 0]"}, {9, false, "[7 9 0]"}, {9, true, "[8 8 0]"}} {
		q := &smqos{threshold: 0.03, floor: 1}
		if c.late {
			before := taskSample(c.epoch-1, 0, 0, 100, []int{8, 8}, 0, 50)
			before.Apps[0].Cycles = 0
			q.decide(before)
		}
		if got := fmt.Sprint(shareOf(q.decide(taskSample(c.epoch, 0, 0, 100, []int{8, 8}, 112, 50)))); got != c.want {
			t.Errorf("epoch %d: %s, want %s", c.epoch, got, c.want)
		}
	}
}

// Where everybody keeps an SM, a batch task that comes without one is judged and served by the printed rules.
func TestSMQoSFirstSM(t *testing.T) {
	q := &smqos{threshold: 0.03, floor: 1}
	for i, want := range []string{"[8 1 0]", "[7 2 0]", "[7 2 1]"} {
		got := shareOf(q.decide(taskSample(uint64(i)+1, 0, 0, 100, []int{8, i}, 300, []float64{0, 50, 50}[i])))
		if i > 0 && fmt.Sprint(got) != want {
			t.Errorf("epoch %d: %v, want %s", i+1, got, want)
		}
	}
	if b := q.batch[1]; !b.lower || !b.upper || b.opt != 1 {
		t.Errorf("%+v, want both bounds and opt 1", b)
	}
	// By the printed rule its IPC that falls with its SMs sets the upper bound, opt is 0, and it takes none.
	q = &smqos{threshold: 0.03, rule: asPrinted, floor: 1}
	for i, sms := range []int{2, 1} {
		before := taskSample(uint64(i)+1, 0, 0, 100, []int{8, sms}, 0, float64(50*sms))
		before.Apps[0].Cycles = 0
		q.decide(before)
	}
	if got := fmt.Sprint(shareOf(q.decide(taskSample(3, 0, 0, 100, []int{8, 0}, 900, 0)))); got != "[7 0 1]" {
		t.Errorf("its upper bound is set: %s", got)
	}
}

// Whatever the IPCs, SMs are conserved, nobody moves more than one, and nobody has less than the floor.
func TestSMQoSConserves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := &smqos{
			floor: rapid.IntRange(0, 1).Draw(t, "floor"), threshold: 0.03,
			rule: swapOut(rapid.IntRange(0, 1).Draw(t, "rule")),
		}
		sms := rapid.SliceOfN(rapid.IntRange(1, 8), 2, 4).Draw(t, "sms")
		idle, gated := rapid.IntRange(0, 2).Draw(t, "idle"), rapid.IntRange(0, 2).Draw(t, "gated")
		total := idle + gated
		for _, n := range sms {
			total += n
		}
		frozen := make([]profile, len(sms))
		for epoch := range uint64(60) {
			ipc := rapid.SliceOfN(rapid.Float64Range(1, 300), len(sms), len(sms)).Draw(t, "ipc")
			got := shareOf(q.decide(taskSample(epoch+1, idle, gated, 100, sms, ipc...)))
			sum := 0
			for i, n := range got[:len(sms)] {
				if sum += n; n < q.floor || i == 0 && n < 1 || abs(n-sms[i]) > 1 {
					t.Fatalf("%v to %v", sms, got)
				}
				sms[i] = n
				if f := frozen[i]; f.upper && f.lower && q.batch[i].opt != f.opt {
					t.Fatalf("opt moved from %d to %d after both bounds were set", f.opt, q.batch[i].opt)
				}
			}
			copy(frozen, q.batch)
			if gated = got[len(sms)]; gated < 0 || total-sum-gated < 0 {
				t.Fatalf("%v of %d SMs", got, total)
			}
			idle = total - sum - gated
		}
	})
}

// Where kernels have targets, only their instructions and cycles count, each against its own.
func TestKernelTargets(t *testing.T) {
	k := func(qos float64, insts, cycles uint64) TaskKernel {
		return TaskKernel{HeldKernel{"k", qos}, insts, cycles}
	}
	task := Task{Held: Held{QoS: 7}, Insts: 1000, Cycles: 100, Kernels: []TaskKernel{k(0, 500, 60), k(20, 400, 30)}}
	if s := task.service(); s.insts != 400 || s.cycles != 30 || s.target() != 20 {
		t.Errorf("%+v", s)
	}
	task.Kernels = append(task.Kernels, k(50, 100, 10))
	if s := task.service(); s.insts != 500 || s.target() != (20*30+50*10)/40. {
		t.Errorf("%+v: target %g", s, s.target())
	}
	both := Task{Insts: 900, Cycles: 10, Kernels: []TaskKernel{k(20, 400, 10), k(50, 500, 10)}}
	if s := both.service(); s.ipc() != 90 || s.target() != 70 {
		t.Errorf("two at once: IPC %g, target %g, want 90 and 70", s.ipc(), s.target())
	}
	task.Kernels = task.Kernels[:1]
	if s := task.service(); s.insts != 1000 || s.target() != 7 {
		t.Errorf("%+v", s)
	}
	if q := (&smqos{}).decide(taskSample(1, 0, 0, 0, []int{4, 4}, 1, 1)).(*TaskPlan); q.Why[0] !=
		"no application has a target" {
		t.Errorf("%q", q.Why)
	}
}

// An application that has ended gives its SMs to batch tasks, whoever has fewest first, and asks for nothing more;
// where no batch task is left they have no power, and are there for who needs them.
func TestTasksThatHaveEnded(t *testing.T) {
	for _, c := range []struct {
		what   string
		policy string
		ended  []int
		ipc    []float64
		want   string
	}{
		{"the target is gone", "smqos", []int{0}, []float64{0, 9, 9}, "[0 8 7 0]"},
		{"and with Spart", "spart", []int{0}, []float64{0, 9, 9}, "[0 8 7 0]"},
		{"a batch task is gone", "smqos", []int{1}, []float64{100, 0, 9}, "[6 0 6 2]"},
		{"both batch tasks are gone, the target is met", "smqos", []int{1, 2}, []float64{100, 0, 0}, "[6 0 0 8]"},
		{"and it is not met", "smqos", []int{1, 2}, []float64{99, 0, 0}, "[7 0 0 8]"},
		{"Spart takes what the linear model says", "spart", []int{1, 2}, []float64{75, 0, 0}, "[8 0 0 2]"},
	} {
		sms := []int{6, 4, 2}
		s := taskSample(2, 1, 2, 100, sms, c.ipc...)
		for _, i := range c.ended {
			s.Apps[i].Ended, s.Apps[i].Insts, s.Apps[i].Cycles = true, 0, 0
		}
		var sample any = s
		if c.policy == "spart" {
			x := spartSample(1, 2, []float64{100, 0, 0}, sms, c.ipc...)
			for i := range x.Apps {
				x.Apps[i].Task = s.Apps[i]
			}
			sample = x
		}
		if got := fmt.Sprint(shareOf(made(t, c.policy, nil).Decide(sample))); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// A target of the task that changes is held against all that the task has done (Algorithm 1, line 2): 400, 400 and
// 801 instructions per cycle have a mean of 534, below 800; 900 and 900, over an epoch more, are above 400.
func TestSMQoSNewTarget(t *testing.T) {
	for _, c := range []struct {
		targets, ipc []float64
		want         int
	}{
		{[]float64{400, 400, 800}, []float64{400, 400, 801}, 9},
		{[]float64{800, 400}, []float64{900, 900}, 7},
	} {
		p := made(t, "smqos", nil)
		var plan Plan
		for i := range c.ipc {
			s := &TaskSample[Task]{Clock: Clock{Cycle: uint64(i+1) * 10_000, Epoch: uint64(i + 1)}}
			s.Apps = []Task{
				{Held: Held{Name: "ls", QoS: c.targets[i], SMs: 8}, Insts: uint64(c.ipc[i] * 10_000), Cycles: 10_000},
				{Held: Held{Name: "b", SMs: 8}, Insts: 5_000_000, Cycles: 10_000},
			}
			plan = p.Decide(s)
		}
		if got := plan.(*TaskPlan).Apps[0].SMs; got != c.want {
			t.Errorf("targets %v: %d SMs, want %d", c.targets, got, c.want)
		}
	}
}
