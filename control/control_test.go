package control

import (
	"io/fs"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/sheets"
)

// paper is the UGPU machine with the paper's own bandwidths: 900 GB/s over 32
// channels, two LLC ports of 32 bytes at 1.4 GHz per channel.
func paper() Machine {
	return Machine{
		SMs: 80, Groups: 8, Channels: 4, IPCMax: 64, Line: 128, CoreHz: 1.4e9,
		ArrayBytes: 89.6e9, LLCBytes: 89.6e9, MemBytes: 28.125e9, GroupMemory: 2 << 30, GroupLLC: 768 << 10,
	}
}

// app has the counters of a billion thread instructions with the given accesses
// per kilo instruction and hit rate, on the slice, whose DRAM was at its peak.
func app(name string, sms, groups int, apki, hit float64) App {
	const insts = 1e9
	acc := apki * insts / 1000
	return App{
		Held: Held{Name: name, SMs: sms, Groups: groups}, Cycles: 1e6, Insts: insts,
		LLCAccesses: uint64(acc), LLCHits: uint64(acc * hit), Footprint: 100 << 20,
		DRAMBytes:  uint64(math.Ceil(float64(groups) * 4 * 28.125e9 / 1400)),
		DRAMCycles: uint64(groups) * 4 * 1e6,
	}
}

// made is a policy on the paper's machine.
func made(t testing.TB, name string, p Params) Policy {
	t.Helper()
	e, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := e.New(paper(), p)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// decide is what a new policy says to the last of the samples.
func decide(t testing.TB, name string, p Params, samples ...Sample) (last *Allocation) {
	t.Helper()
	f := made(t, name, p)
	for i := range samples {
		last = f.Decide(&samples[i]).(*Allocation)
	}
	return last
}

// alloc is what everybody gets, without names.
func (p *Allocation) alloc() (out []Alloc) {
	for _, a := range p.Apps {
		out = append(out, a.Alloc)
	}
	return out
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// TestEquations works equations 1 and 2 by hand.
func TestEquations(t *testing.T) {
	m := paper()
	for _, c := range []struct{ apki, hit, perSM, perMC float64 }{
		{1, 0, 11.4688e9, 28.125e9},                 // 64 x 0.001 x 128 B x 1.4 GHz; all from DRAM
		{4.79, 0, 4.79 * 11.4688e9, 28.125e9},       // PVC's misses
		{10, 0.5, 114.688e9, 44.8e9 + 28.125e9},     // misses are more than DRAM can give
		{10, 0.75, 114.688e9, 67.2e9 + 22.4e9},      // and less: the LLC's own bandwidth
		{0.01, 1, 0.114688e9, 89.6e9},               // all hits
		{2, 0.25, 2 * 11.4688e9, 22.4e9 + 28.125e9}, // 67.2 GB/s of misses meet 28.125
	} {
		a := app("x", 40, 4, c.apki, c.hit)
		d := m.measure(&a)
		near(t, "BW_SM", d.perSM, c.perSM)
		near(t, "BW_MC", d.perMC, c.perMC)
		near(t, "load", m.load(d, Alloc{40, 4}), c.perSM*40/(c.perMC*16))
	}
	a := app("big", 40, 4, 0.01, 0)
	a.Footprint = 12 << 30 // of 8 GB
	near(t, "load by footprint", m.load(m.measure(&a), Alloc{40, 4}), 1.5)
}

func TestFromSheet(t *testing.T) {
	s, _, err := sheets.Load("ugpu")
	if err != nil {
		t.Fatal(err)
	}
	want := paper()
	want.MemBytes = 28.16e9 // 64 B at 440 MHz; the paper's 900 GB/s are rounded
	if got := FromSheet(s, 8, 4); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestProfiledBandwidth: what channels moved per cycle in which they were asked is what they
// can give, to one that asks for little, too; where nobody asked, the peak is.
func TestProfiledBandwidth(t *testing.T) {
	m := paper()
	for _, c := range []struct {
		name             string
		apki, hit, perMC float64
		asking           uint64 // cycles
	}{
		{"wants 4587 GB/s", 10, 0, 14e9, 16e6},
		{"and half of it hits", 10, 0.5, 44.8e9 + 14e9, 16e6},
		{"wants 46 GB/s", 0.1, 0, 14e9, 16e6},
		{"and asks in three quarters of the time", 0.1, 0, 14e9 * 4 / 3, 12e6},
		{"more than the peak", 10, 0, 28.125e9, 4e6},
		{"nobody asked", 10, 0, 28.125e9, 0},
	} {
		a := app("a", 40, 4, c.apki, c.hit)
		a.DRAMCycles = c.asking
		a.DRAMBytes = 16 * 14e9 / 1400 // 14 GB/s from each of 16 channels in a million cycles of 1.4 GHz
		near(t, c.name, m.measure(&a).perMC, c.perMC)
	}
}

// TestDirections: Figures 2 to 4: from equal halves SMs go to the compute-bound
// application and channels to the memory-bound one, as far as they can; then SMs alone do.
func TestDirections(t *testing.T) {
	dxtc, pvc := app("DXTC", 40, 4, 0.01, 0.9), app("PVC", 40, 4, 5, 0.05)
	p := decide(t, "ugpu", together, Sample{Apps: []App{dxtc, pvc}})
	// DXTC ends at its last group; PVC's 28 SMs want 1606 GB/s of 913.
	if want := []Alloc{{52, 1}, {28, 7}}; !reflect.DeepEqual(p.alloc(), want) {
		t.Errorf("allocations %v, want %v\n%s", p.alloc(), want, strings.Join(p.Why, "\n"))
	}
	if p.Iterations != 4 || p.Latency != 148+4*162 { // three moves and the one that finds none
		t.Errorf("%d iterations, %d cycles", p.Iterations, p.Latency)
	}
	if len(p.Why) != 6 || !strings.Contains(p.Why[1], "PVC: memory-bound") ||
		!strings.Contains(p.Why[2], "4 SMs from PVC to DXTC") {
		t.Errorf("why:\n%s", strings.Join(p.Why, "\n"))
	}
	// PVC's 16 SMs want 918 GB/s of 788; 12 would want 688, and it would be compute-bound.
	p = decide(t, "ugpu", nil, Sample{Apps: []App{dxtc, pvc}})
	if want := []Alloc{{64, 1}, {16, 7}}; !reflect.DeepEqual(p.alloc(), want) {
		t.Errorf("SMs go on alone: %v, want %v\n%s", p.alloc(), want, strings.Join(p.Why, "\n"))
	}
}

// together are the parameters with which SMs never move without channels.
var together = Params{"sm_only_tail": 0}

// TestOneGroupEach: at the floor of channels only SMs can move, and do (UGPU, section 6.5).
func TestOneGroupEach(t *testing.T) {
	apps := []App{app("c", 40, 1, 0.01, 0), app("m", 40, 1, 5, 0)}
	// m's 4 SMs want 229 GB/s of 112.5.
	if p := decide(t, "ugpu", nil, Sample{Apps: apps}); !reflect.DeepEqual(p.alloc(), []Alloc{{76, 1}, {4, 1}}) {
		t.Errorf("%v\n%s", p.alloc(), strings.Join(p.Why, "\n"))
	}
	if p := decide(t, "ugpu", together, Sample{Apps: apps}); !reflect.DeepEqual(p.alloc(), []Alloc{{40, 1}, {40, 1}}) {
		t.Errorf("without sm_only_tail: %v\n%s", p.alloc(), strings.Join(p.Why, "\n"))
	}
}

// TestStops: the rule ends before an application changes class or starves.
func TestStops(t *testing.T) {
	for _, c := range []struct {
		name string
		p    Params
		a, b App
		want []Alloc
	}{
		// 40 SMs want 504.6 GB/s of 450; 36 would want 454 of 562.5.
		{
			"a move would make b compute-bound", nil, app("a", 40, 4, 0.01, 0), app("b", 40, 4, 1.1, 0),
			[]Alloc{{40, 4}, {40, 4}},
		},
		// 40 SMs want 275 GB/s of 450; 50 on 12 channels would want 344 of 337.5.
		{
			"a move would make a memory-bound",
			Params{"delta_sms": 10},
			app("a", 40, 4, 0.6, 0), app("b", 40, 4, 5, 0),
			[]Alloc{{40, 4}, {40, 4}},
		},
		{
			"SMs end",
			Params{"delta_sms": 20},
			app("a", 40, 4, 0.01, 0), app("b", 40, 4, 20, 0),
			[]Alloc{{60, 3}, {20, 5}},
		},
		{
			"smaller steps go further",
			Params{"delta_sms": 1},
			app("a", 40, 4, 0.6, 0), app("b", 40, 4, 5, 0),
			[]Alloc{{41, 3}, {39, 5}},
		},
		{
			"as printed: one move more, then both are compute-bound",
			Params{"flip": 1},
			app("a", 40, 4, 0.01, 0),
			app("b", 40, 4, 1.1, 0),
			[]Alloc{{44, 3}, {36, 5}},
		},
		// 4 SMs want 917 GB/s of 788, 2 would want 459.
		{
			"SMs alone",
			Params{"delta_sms": 2, "sm_only_tail": 1},
			app("a", 40, 4, 0.01, 0), app("b", 40, 4, 20, 0),
			[]Alloc{{76, 1}, {4, 7}},
		},
		{"two of a kind", nil, app("a", 40, 4, 5, 0), app("b", 40, 4, 9, 0), []Alloc{{40, 4}, {40, 4}}},
		{
			"nobody there", nil,
			App{Held: Held{Name: "a", SMs: 40, Groups: 4}},
			app("b", 40, 4, 9, 0),
			[]Alloc{{40, 4}, {40, 4}},
		},
	} {
		p := decide(t, "ugpu", c.p, Sample{Apps: []App{c.a, c.b}})
		if !reflect.DeepEqual(p.alloc(), c.want) {
			t.Errorf("%s: %v, want %v\n%s", c.name, p.alloc(), c.want, strings.Join(p.Why, "\n"))
		}
	}
}

// TestLargeFootprintKeepsChannels: a compute-bound application whose data would no
// longer fit gives no channel away (end of section 3.2).
func TestLargeFootprintKeepsChannels(t *testing.T) {
	a, b := app("a", 40, 4, 0.01, 0), app("b", 40, 4, 9, 0)
	a.Footprint = 5 << 30 // three groups of 2 GB
	p := decide(t, "ugpu", nil, Sample{Apps: []App{a, b}})
	if want := []Alloc{{44, 3}, {36, 5}}; !reflect.DeepEqual(p.alloc(), want) {
		t.Errorf("%v, want %v", p.alloc(), want)
	}
}

// TestManyApplications: an application at its floor leaves its list to the others.
func TestManyApplications(t *testing.T) {
	p := decide(t, "ugpu", together, Sample{Apps: []App{
		app("c1", 20, 2, 0.001, 0), app("m1", 20, 2, 9, 0), app("c2", 20, 2, 0.01, 0), app("m2", 20, 2, 5, 0),
	}})
	if want := []Alloc{{24, 1}, {16, 3}, {24, 1}, {16, 3}}; !reflect.DeepEqual(p.alloc(), want) {
		t.Errorf("%v, want %v\n%s", p.alloc(), want, strings.Join(p.Why, "\n"))
	}
}

// TestMostFirst: where only one move is left, the most memory-bound application gets
// the channels and the most compute-bound one the SMs.
func TestMostFirst(t *testing.T) {
	one := decide(t, "ugpu", together,
		Sample{Apps: []App{app("c", 20, 2, 0.01, 0), app("m", 30, 3, 5, 0), app("more", 30, 3, 20, 0)}})
	if want := []Alloc{{24, 1}, {30, 3}, {26, 4}}; !reflect.DeepEqual(one.alloc(), want) {
		t.Errorf("%v, want %v", one.alloc(), want)
	}
	two := decide(t, "ugpu", together, Sample{Apps: []App{
		app("c", 30, 2, 0.05, 0), app("more", 39, 2, 0.001, 0),
		app("m", 11, 4, 60, 0),
	}})
	if want := []Alloc{{34, 1}, {43, 1}, {3, 6}}; !reflect.DeepEqual(two.alloc(), want) {
		t.Errorf("%v, want %v", two.alloc(), want)
	}
}

// samples draws an epoch of one to eight applications that share the machine.
func samples(t *rapid.T) Sample {
	m := paper()
	n := rapid.IntRange(1, 8).Draw(t, "apps")
	s := Sample{}
	sms, groups := m.SMs, m.Groups
	for i := range n {
		a := App{
			Held: Held{
				Name: string(rune('a' + i)), SMs: rapid.IntRange(0, sms-(n-1-i)).Draw(t,
					"sms"), Groups: rapid.IntRange(0, groups-(n-1-i)).Draw(t, "groups"),
				QoS: float64(rapid.IntRange(0, 1).Draw(t, "has target")) * rapid.Float64Range(0, 6000).Draw(t,
					"target"),
			},
			Cycles: uint64(rapid.IntRange(0, 5e6).Draw(t, "cycles")),
			Insts:  uint64(rapid.IntRange(0, 1e10).Draw(t, "insts")), LLCAccesses: uint64(rapid.IntRange(0, 1e8).Draw(t,
				"accesses")),
			LLCHits: uint64(rapid.IntRange(0, 1e8).Draw(t, "hits")), Footprint: rapid.Uint64Range(0, 1<<34).Draw(t,
				"footprint"),
		}
		sms, groups = sms-a.SMs, groups-a.Groups
		s.Apps = append(s.Apps, a)
	}
	return s
}

// hold makes a sample with the counters of next on the slices of a plan.
func (p *Allocation) hold(next Sample) Sample {
	next.Apps = append([]App(nil), next.Apps...)
	for i := range next.Apps {
		next.Apps[i].SMs, next.Apps[i].Groups = p.Apps[i].SMs, p.Apps[i].Groups
	}
	return next
}

// TestPlansFit: whatever the counters, no plan of a policy that divides SMs exceeds the
// machine or takes the last SM or group of anyone who has one; and a policy is pure: made
// anew it gives the same plans, and it leaves samples as they were.
func TestPlansFit(t *testing.T) {
	for _, e := range All() {
		if _, ours := e.Make(paper(), func(string) float64 { return 1 }).NewSample().(*Sample); !ours ||
			!e.Sets("sms") {
			continue // its own test has its own samples
		}
		rapid.Check(t, func(t *rapid.T) {
			p := Params{}
			for _, q := range e.Params {
				if q.Whole {
					most := q.Most
					if most == 0 {
						most = 12
					}
					p[q.Name] = float64(rapid.IntRange(int(q.Least), int(most)).Draw(t, q.Name))
				}
			}
			f, err := e.New(paper(), p)
			if err != nil {
				t.Fatal(err)
			}
			again, err := e.New(paper(), p)
			if err != nil {
				t.Fatal(err)
			}
			s := samples(t)
			n := len(s.Apps)
			for range 5 {
				before := s
				before.Apps = append([]App(nil), s.Apps...)
				plan := f.Decide(&s).(*Allocation)
				if twin := again.Decide(&before); !reflect.DeepEqual(Plan(plan), twin) ||
					!reflect.DeepEqual(s, before) {
					t.Fatalf("%s: not pure: %+v then %+v", e.Name, plan, twin)
				}
				fits(t, e.Name, s.Apps, plan)
				next := samples(t)
				for len(next.Apps) < n {
					next.Apps = append(next.Apps, s.Apps[len(next.Apps)])
				}
				next.Apps = next.Apps[:n]
				s = plan.hold(next)
			}
		})
	}
}

func fits(t *rapid.T, name string, apps []App, p *Allocation) {
	m, sms, groups := paper(), 0, 0
	for i, al := range p.alloc() {
		sms, groups = sms+al.SMs, groups+al.Groups
		if al.SMs < min(1, apps[i].SMs) || al.Groups < min(1, apps[i].Groups) {
			t.Fatalf("%s: application %d is left with %+v", name, i, al)
		}
	}
	if sms > m.SMs || groups > m.Groups || len(p.Apps) != len(apps) {
		t.Fatalf("%s: plan of %d SMs and %d groups: %+v", name, sms, groups, p)
	}
	if p.Iterations > 20 || p.Latency > 3388 {
		t.Fatalf("%s: %d iterations, %d cycles", name, p.Iterations, p.Latency)
	}
}

// TestSwap: two applications swapped swap the plan; two equal ones stay.
func TestSwap(t *testing.T) {
	for _, name := range []string{"ugpu", "ugpu-qos", "cd-search"} {
		one := func(t *rapid.T, apps ...App) []Alloc {
			e, err := Find(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := e.New(paper(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return f.Decide(&Sample{Apps: apps}).(*Allocation).alloc()
		}
		rapid.Check(t, func(t *rapid.T) {
			s := samples(t)
			for len(s.Apps) < 2 {
				s = samples(t)
			}
			s.Apps = s.Apps[:2]
			a, b := s.Apps[0], s.Apps[1]
			x, y := one(t, a, b), one(t, b, a)
			if a.QoS*b.QoS == 0 && (x[0] != y[1] || x[1] != y[0]) { // two targets: the first goes first
				t.Fatalf("%s: %v, swapped %v", name, x, y)
			}
			a.QoS = 0
			if p := one(t, a, a); p[0] != p[1] || p[0] != (Alloc{a.SMs, a.Groups}) {
				t.Fatalf("%s: equal applications: %+v", name, p)
			}
		})
	}
}

func TestRegistryIsStrict(t *testing.T) {
	if _, err := Find("ugpo"); err == nil || !strings.Contains(err.Error(), `no policy "ugpo"; the policies are `) ||
		!strings.Contains(err.Error(), "did you mean ugpu?") {
		t.Error(err)
	}
	for _, c := range []struct {
		name string
		p    Params
		want string
	}{
		{
			"ugpu",
			Params{"delta_sm": 1},
			`policy ugpu has no parameter "delta_sm"; did you mean delta_sms?`,
		},
		{"cd-search", Params{"delta_groups": 1}, `has no parameter "delta_groups"`},
		{"ugpu", Params{"delta_sms": 1.5}, "delta_sms = 1.5"},
		{"ugpu", Params{"delta_groups": 0}, "delta_groups = 0"},
		{"ugpu", Params{"sm_only_tail": 2}, "sm_only_tail = 2"},
		{"ugpu-qos", Params{"margin": math.NaN()}, "margin = NaN"},
		{"observe", Params{"margin": 1}, "it has none"},
	} {
		e, err := Find(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.New(paper(), c.p); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %s", c.name, c.p, err, c.want)
		}
		if _, err := e.New(Machine{}, nil); err == nil {
			t.Error("a machine without anything was accepted")
		}
	}
}

// Every entry is complete: its samples can be taken, its settings exist, its files do, too,
// and every file of a policy is somebody's.
func TestEntries(t *testing.T) {
	frame := []string{
		"check.go", "control.go", "machine.go", "offline.go", "param.go", "policies.go", "registry.go", "replay.go",
		"replay_check.go", "sampler.go", "settings.go",
	}
	all, err := fs.Glob(sources, "*.go")
	if err != nil {
		t.Fatal(err)
	}
	owned := map[string]bool{}
	last := ""
	for _, e := range All() {
		if e.Name <= last {
			t.Errorf("%s stands after %s: the list is by name", e.Name, last)
		}
		last = e.Name
		if e.Source == "" || e.What == "" || e.Period == 0 && len(e.On) == 0 {
			t.Errorf("%s: %+v lacks a source, a sentence or a trigger", e.Name, e)
		}
		e.Counters()
		for _, s := range e.Settings {
			if !slices.ContainsFunc(Settings(), func(x Setting) bool { return x.Name == s }) {
				t.Errorf("%s sets %q, which no machine has", e.Name, s)
			}
		}
		if d, err := e.Digest(); err != nil || len(d) < 64 {
			t.Errorf("%s: digest %s, %v", e.Name, d, err)
		}
		for _, f := range e.SourceFiles() {
			owned[f] = true
			if !slices.Contains(all, f) {
				t.Errorf("%s names the file %s, which is not there", e.Name, f)
			}
		}
	}
	for _, f := range all {
		if !strings.HasSuffix(f, "_test.go") && !owned[f] && !slices.Contains(frame, f) {
			t.Errorf("%s belongs to no policy: name it in the Files of those that use it", f)
		}
	}
}

// Two policies that set the same cannot be in one run.
func TestConflict(t *testing.T) {
	if err := Conflict([]string{"observe", "ugpu"}); err != nil {
		t.Error(err)
	}
	if err := Conflict([]string{"ugpu", "cd-search"}); err == nil ||
		err.Error() != "policies ugpu and cd-search both set sms: keep one of them" {
		t.Error(err)
	}
}
