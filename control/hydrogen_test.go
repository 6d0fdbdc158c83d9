package control

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// surface is the weighted IPC at a point.
type surface func(point) float64

// climbing is a hydrogen policy on surfaces instead of a machine: epochs of 10 cycles.
type climbing struct {
	policy Policy
	grid   grid
	at     point // what is held
	cycle  uint64
	plan   *HydrogenPlan
}

func newClimbing(t rapid.TB, p Params) *climbing {
	t.Helper()
	values := Params{"w_cpu": 1, "w_gpu": 0}
	for k, v := range p {
		values[k] = v
	}
	e := hydrogenEntry()
	all, err := e.check(values)
	if err != nil {
		t.Fatal(err)
	}
	g, err := hydrogenGrid(func(n string) float64 { return all[n] })
	if err != nil {
		t.Fatal(err)
	}
	policy, err := e.New(paper(), values)
	if err != nil {
		t.Fatal(err)
	}
	return &climbing{policy: policy, grid: g, at: g.start}
}

// epoch measures what is held and takes the plan.
func (c *climbing) epoch(f surface) *HydrogenPlan {
	c.cycle += 10
	cpu, gpu := f(c.at), 0.0
	c.plan = c.policy.Decide(&hydrogenSample{Clock: Clock{Cycle: c.cycle}, CPU: &cpu, GPU: &gpu}).(*HydrogenPlan)
	c.at = point{c.plan.Cap, c.plan.BW, c.plan.Tok}
	return c.plan
}

// settle climbs until the search has settled; best is the highest value measured.
func (c *climbing) settle(t rapid.TB, f surface) (epochs int, best float64) {
	for best = math.Inf(-1); epochs < 2000; {
		best = max(best, f(c.at))
		epochs++
		c.epoch(f)
		if !c.grid.has(c.at) {
			t.Fatalf("plan %v leaves the grid", c.at)
		}
		if c.plan.Settled {
			return epochs, best
		}
	}
	t.Fatal("the search does not end")
	return 0, 0
}

// points are all of the grid that can be reached by steps.
func (g *grid) points() (all []point) {
	axis := func(i int) (list []int) {
		for v := g.start[i]; v >= g.least[i]; v -= g.step[i] {
			list = append(list, v)
		}
		for v := g.start[i] + g.step[i]; v <= g.most[i]; v += g.step[i] {
			list = append(list, v)
		}
		return list
	}
	for _, c := range axis(0) {
		for _, b := range axis(1) {
			for _, k := range axis(2) {
				if p := (point{c, b, k}); g.has(p) {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

func (g *grid) best(f surface) point {
	var at point
	most := math.Inf(-1)
	for _, p := range g.points() {
		if f(p) > most {
			at, most = p, f(p)
		}
	}
	return at
}

// hill falls off with the distance from its top, in steps, along each parameter.
func hill(g *grid, top point, slope [dimensions]float64) surface {
	return func(p point) float64 {
		v := 1e6
		for i := range p {
			d := float64(p[i]-top[i]) / float64(g.step[i])
			v -= slope[i] * d * d
		}
		return v
	}
}

// draw is a search on a fast memory of one of several shapes, from some number of tokens.
func draw(t *rapid.T) *climbing {
	shapes := [][3]float64{{4, 4, 3}, {16, 4, 8}, {8, 8, 5}, {16, 16, 9}, {4, 16, 2}}
	s := rapid.SampledFrom(shapes).Draw(t, "shape")
	return newClimbing(t, Params{
		"ways": s[0], "channels": s[1], "cap": s[2], "tok_min": 3, "tok_max": 103, "tok_step": 10,
		"tok": 3 + 10*float64(rapid.IntRange(0, 10).Draw(t, "tok")), "phase": 0,
	})
}

// On hills whose top lies on the grid the search settles there, wherever it begins.
func TestHydrogenHills(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		top := rapid.SampledFrom(c.grid.points()).Draw(t, "top")
		slope := [dimensions]float64{}
		for i := range slope {
			slope[i] = rapid.Float64Range(0.1, 10).Draw(t, "slope")
		}
		f := hill(&c.grid, top, slope)
		if best := c.grid.best(f); best != top {
			t.Fatalf("the top is %v and the best point %v", top, best)
		}
		c.settle(t, f)
		if c.at != top {
			t.Fatalf("settled at %v, the top is %v", c.at, top)
		}
		for range 5 {
			if c.epoch(f); c.at != top || !c.plan.Settled {
				t.Fatal("it does not keep the best point")
			}
		}
	})
}

// On any surface the search ends at the best point it has measured, and no neighbour of it
// is better.
func TestHydrogenEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := draw(t)
		seed := rapid.Uint64().Draw(t, "seed")
		f := func(p point) float64 {
			x := seed
			for _, v := range p {
				x = (x ^ uint64(v)) * 0x9e3779b97f4a7c15
				x ^= x >> 29
			}
			return float64(x % 50) // with ties
		}
		_, best := c.settle(t, f)
		if f(c.at) != best {
			t.Fatalf("settled at %v with %g, and %g was measured", c.at, f(c.at), best)
		}
		for i := range dimensions {
			for _, sign := range []int{-1, 1} {
				p := c.at
				if p[i] += sign * c.grid.step[i]; c.grid.has(p) && f(p) > best {
					t.Fatalf("settled at %v with %g, and its neighbour %v has %g", c.at, best, p, f(p))
				}
			}
		}
	})
}

// Epochs that are by turns too high and too low by more than a step lead a search by single epochs astray, and not one
// by the means of pairs.
func TestHydrogenRepeats(t *testing.T) {
	top := point{1, 1, 20}
	for repeat, found := range map[float64]bool{1: false, 2: true} {
		c := newClimbing(t, Params{"tok_max": 100, "tok_step": 10, "phase": 0, "repeat": repeat})
		f := hill(&c.grid, top, [dimensions]float64{1, 1, 1})
		sign := 1.0
		for range 100 {
			c.epoch(func(p point) float64 { sign = -sign; return f(p) + 40*sign })
		}
		if !c.plan.Settled || (c.at == top) != found {
			t.Errorf("%g epochs a point: settled %v at %v, the top is %v", repeat, c.plan.Settled, c.at, top)
		}
	}
}

// A new phase goes back to the best point, measures it again, and finds where the top has
// moved to; without phases nothing reopens.
func TestHydrogenPhases(t *testing.T) {
	c := newClimbing(t, Params{"tok_max": 100, "tok_step": 10, "phase": 500})
	first, second := point{1, 0, 20}, point{3, 2, 80}
	slope := [dimensions]float64{1, 1, 1}
	epochs, _ := c.settle(t, hill(&c.grid, first, slope))
	if c.at != first || c.plan.Phase != 0 || epochs > 20 {
		t.Fatalf("after %d epochs: %+v", epochs, c.plan)
	}
	f := hill(&c.grid, second, slope)
	for c.cycle < 490 {
		if c.epoch(f); c.at != first || !c.plan.Settled {
			t.Fatalf("cycle %d: %+v", c.cycle, c.plan)
		}
	}
	if c.epoch(f); c.cycle != 500 || c.plan.Phase != 1 || c.plan.Settled || c.at != first {
		t.Fatalf("cycle %d: %+v", c.cycle, c.plan)
	}
	if c.epoch(f); c.at == first {
		t.Fatalf("the best point was measured again, and nothing else is tried: %+v", c.plan)
	}
	if c.settle(t, f); c.at != second || c.plan.Phase != 1 {
		t.Fatalf("cycle %d: %+v", c.cycle, c.plan)
	}
	c = newClimbing(t, Params{"tok_max": 100, "tok_step": 10, "phase": 0})
	c.settle(t, hill(&c.grid, first, slope))
	for range 200 {
		if c.epoch(f); c.at != first || c.plan.Phase != 0 || !c.plan.Settled {
			t.Fatalf("cycle %d: %+v", c.cycle, c.plan)
		}
	}
}

// By hand: cap 3 of 4 cannot rise, so it falls; bw rises; tok has one step, up. A trial that a
// phase cuts short counts if it was better.
func TestHydrogenReplay(t *testing.T) {
	var samples []string
	for i, ipc := range [][2]float64{
		{1, 1},    // 3 1 0: 13; cap down
		{1.1, 1},  // 2 1 0: better; on
		{1, 5},    // 1 1 0: 17 > 14.2: better; it cannot go on: bw down
		{1, 4},    // 1 0 0: not; up leaves the constraint: tok up
		{1, 5},    // 1 1 7: as good is not better; down is out of range: settled
		{9, 9},    // settled
		{1, 5},    // a new phase, at 1 1 0
		{1, 5},    // 1 1 0: 17; cap up
		{1, 6},    // 2 1 0: 18; on
		{1, 5},    // 3 1 0: not; bw up
		{2, 5},    // 2 2 0: 29, better; the next phase starts there
		{0.5, 0},  // 2 2 0: 6, as measured in this phase; cap up
		{0.5, 0},  // 3 2 0: not; cap cannot fall: bw cannot rise, so down
		{0.25, 0}, // 2 1 0: not; tok up
		{0.75, 0}, // 2 2 7: 9, better; no more tokens; cap again, up
	} {
		cycle := []int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 140, 150, 160, 170, 180}[i]
		samples = append(samples, fmt.Sprintf(`{"cycle": %d, "cpu_ipc": %g, "gpu_ipc": %g}`, cycle, ipc[0], ipc[1]))
	}
	plans, err := replayed(t, "hydrogen", Params{"tok": 0, "tok_max": 13, "tok_step": 7, "epoch": 10, "phase": 70},
		"s.json", []byte("["+strings.Join(samples, ",\n")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"2 1 0 0 false", "1 1 0 0 false", "1 0 0 0 false", "1 1 7 0 false", "1 1 0 0 true", "1 1 0 0 true",
		"1 1 0 1 false", "2 1 0 1 false", "3 1 0 1 false", "2 2 0 1 false", "2 2 0 2 false", "3 2 0 2 false",
		"2 1 0 2 false", "2 2 7 2 false", "3 2 7 2 false",
	} {
		p := plans[i].(*HydrogenPlan)
		if got := fmt.Sprint(p.Cap, p.BW, p.Tok, p.Phase, p.Settled); got != want {
			t.Errorf("plan %d: %s, want %s (%v)", i, got, want, p.Why)
		}
		r := p.Request()
		if *r.CPUWays != p.Cap || *r.CPUChannels != p.BW || *r.Tokens != p.Tok || r.SMs != nil {
			t.Errorf("plan %d asks for %+v", i, r)
		}
	}
	text, err := json.Marshal(plans[4])
	if want := `{"cycle":50,"cap":1,"bw":1,"tok":0,"phase":0,"settled":true,"why":[`; err != nil ||
		!strings.HasPrefix(string(text), want) {
		t.Errorf("%s, want %s", text, want)
	}
}

// Until the first phase begins the start is held, whatever is measured; its phases are counted from there.
func TestHydrogenFirstPhase(t *testing.T) {
	var samples []string
	for i, ipc := range []float64{99, 98, 1, 2, 1, 1, 1} {
		samples = append(samples, fmt.Sprintf(`{"cycle": %d, "cpu_ipc": %g, "gpu_ipc": 0}`, 10*(i+1), ipc))
	}
	plans, err := replayed(t, "hydrogen",
		Params{"tok": 0, "tok_max": 13, "tok_step": 7, "epoch": 10, "phase": 40, "first": 20}, "s.json",
		[]byte("["+strings.Join(samples, ",\n")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"3 1 0 0", "3 1 0 0", "2 1 0 0", "1 1 0 0", "2 2 0 0", "2 1 0 1", "3 1 0 1",
	} {
		p := plans[i].(*HydrogenPlan)
		if got := fmt.Sprint(p.Cap, p.BW, p.Tok, p.Phase); got != want {
			t.Errorf("plan %d: %s, want %s (%v)", i, got, want, p.Why)
		}
	}
}

// A sample of cycle 0 is the first of phase 0: it opens no other.
func TestHydrogenCycle0(t *testing.T) {
	p := newClimbing(t, Params{"phase": 10}).policy.Decide(&hydrogenSample{}).(*HydrogenPlan)
	if p.Phase != 0 || p.Cap != 2 {
		t.Errorf("%+v", p)
	}
}

// With one way per set cap stays, and bw is not held by it; with steps of 0 nothing moves.
func TestHydrogenOneWay(t *testing.T) {
	c := newClimbing(t, Params{"ways": 1, "tok_max": 50, "tok_step": 10})
	f := func(p point) float64 { return float64(p[cpuChannels]*10 + p[tokens]) }
	if c.settle(t, f); c.at != (point{3, 3, 50}) {
		t.Errorf("settled at %v", c.at)
	}
	c = newClimbing(t, Params{"cap_step": 0, "bw_step": 0, "tok_step": 0, "tok": 9})
	if n, _ := c.settle(t, f); n != 1 || c.at != (point{3, 1, 9}) {
		t.Errorf("settled at %v after %d epochs", c.at, n)
	}
}

func TestHydrogenRefuses(t *testing.T) {
	e := hydrogenEntry()
	for _, c := range []struct {
		p    Params
		want string
	}{
		{Params{"ways": 6}, "policy hydrogen: 6 ways and 4 channels do not divide"},
		{Params{"ways": 17}, "ways = 17"},
		{Params{"channels": 0}, "channels = 0"},
		{Params{"cap": 1, "bw": 2}, "bw*ways/channels <= cap must hold"},
		{Params{"cap": 4}, "the start cap = 4 is not in 1 to 3"},
		{Params{"cap_max": 4}, "cap_max = 4, and of 4 ways"},
		{Params{"bw": 3, "bw_max": 2}, "the start bw = 3 is not in 0 to 2"},
		{Params{"bw_max": 5}, "bw_max = 5"},
		{Params{"tok": 10, "tok_max": 5}, "the start tok = 10 is not in 0 to 5"},
		{Params{"tok_min": 10, "tok_max": 5}, "is not in 10 to 5"},
		{Params{"tok": 1.5}, "tok = 1.5"},
		{Params{"ways": 1, "bw": 4}, "the start has bw = 4"},
		{Params{"epoch": 0}, "epoch = 0"},
		{Params{"w_cpu": -1}, "w_cpu = -1"},
	} {
		if _, err := e.New(paper(), c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.p, err, c.want)
		}
	}
	for text, want := range map[string]string{
		`[{"cycle": 1, "cpu_ipc": 0, "gpu_ipc": 1},` + "\n" +
			`{"cycle": 2, "cpu_ipc": -1, "gpu_ipc": 1}]`: "s.json:2: sample 2: cpu_ipc and gpu_ipc cannot be",
		`[{"cycle": 1, "cpu_ipc": null, "gpu_ipc": 1}]`: "s.json:1: sample 1 has no cpu_ipc",
		`[{"cpu_ipc": 1, "gpu_ipc": 1}]`:                "s.json:1: sample 1 has no cycle",
		`[{"cycle": 1, "gpu_ipc": "x"}]`:                "s.json:1: gpu_ipc is a string",
		`[{"cycle": 1, "ipc": 1}]`:                      `s.json:1: unknown key "ipc"`,
		`[{"cycle": 1, "gpu_ipc": 1}]`:                  "s.json:1: sample 1 has no cpu_ipc",
	} {
		_, err := replayed(t, "hydrogen", nil, "s.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
