package control

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestQoSKeepsWhatTheTargetNeeds: 40 SMs run 1000 instructions per cycle, 25 each; a
// group's DRAM gives 112.5 GB/s, of which a target may plan with half.
func TestQoSKeepsWhatTheTargetNeeds(t *testing.T) {
	for _, c := range []struct {
		name   string
		target float64
		apki   float64
		hit    float64
		want   []Alloc
	}{
		{"gives groups at once and SMs by one step", 500, 0.01, 0, []Alloc{{36, 1}, {44, 7}}},
		{"down to what it needs", 900, 0.01, 0, []Alloc{{38, 1}, {42, 7}}}, // 900 x 1.05 / 25 = 37.8
		{"takes SMs", 1000, 0.01, 0, []Alloc{{42, 1}, {38, 7}}},
		// 1050 x 0.0006 x 128 B x 1.4 GHz = 112.9 GB/s, 2.007 halves
		{"keeps groups its target needs", 1000, 0.6, 0, []Alloc{{42, 3}, {38, 5}}},
		{"and does not count on hits", 1000, 0.6, 1, []Alloc{{42, 3}, {38, 5}}}, // 100 MB do not fit the LLC
		{"takes no groups without a miss", 1000, 3, 0, []Alloc{{42, 4}, {38, 4}}},
		// (1051.05 + 1) / 25 = 42.08
		{"missed: what it is behind comes on top", 1001, 0.01, 0, []Alloc{{43, 1}, {37, 7}}},
		{"missed: groups too", 1001, 1.5, 0, []Alloc{{43, 6}, {37, 2}}},            // 282.8 GB/s, 5.03 halves
		{"cannot have more than there is", 1e6, 0.01, 0, []Alloc{{79, 7}, {1, 1}}}, // 1.9 TB/s
	} {
		a, b := app("a", 40, 4, c.apki, c.hit), app("b", 40, 4, 9, 0)
		a.QoS = c.target
		p := decide(t, "ugpu-qos", nil, Sample{Apps: []App{a, b}})
		if !reflect.DeepEqual(p.alloc(), c.want) {
			t.Errorf("%s: %v, want %v\n%s", c.name, p.alloc(), c.want, strings.Join(p.Why, "\n"))
		}
	}
}

// TestQoSLearnsFromMisses: what an application missed its target with is not asked of it
// again.
func TestQoSLearnsFromMisses(t *testing.T) {
	type epoch struct {
		sms, groups int
		ipc         uint64
	}
	const target = 1000
	for _, c := range []struct {
		name   string
		epochs []epoch
		want   Alloc
	}{
		// (1050 + 150) / 25
		{"after groups were given an SM counts as before", []epoch{{40, 6, 1000}, {40, 2, 700}}, Alloc{48, 1}},
		// 1050 / 35 = 30, by one step
		{"ahead since it began", []epoch{{40, 6, 1400}, {40, 2, 900}}, Alloc{36, 1}},
		// (1050 + 50) / 21.6
		{"missed twice on two groups: three", []epoch{{40, 6, 1000}, {40, 2, 900}, {44, 2, 950}}, Alloc{51, 3}},
		{"and three from then on", []epoch{{40, 2, 900}, {44, 2, 950}, {44, 3, 1300}, {44, 3, 1300}}, Alloc{40, 3}},
	} {
		var history []Sample
		for _, e := range c.epochs {
			a, b := app("a", e.sms, e.groups, 0.01, 0), app("b", 80-e.sms, 8-e.groups, 9, 0)
			a.Insts, a.LLCAccesses, a.QoS = e.ipc*a.Cycles, 1000, target
			history = append(history, Sample{Apps: []App{a, b}})
		}
		p := decide(t, "ugpu-qos", nil, history...)
		if p.alloc()[0] != c.want {
			t.Errorf("%s: %v, want %v\n%s", c.name, p.alloc()[0], c.want, strings.Join(p.Why, "\n"))
		}
	}
}

// TestQoSRestIsDemandAware: what the first does not need goes SMs to the
// compute-bound, groups to the memory-bound of the others.
func TestQoSRestIsDemandAware(t *testing.T) {
	a := app("a", 40, 4, 0.01, 0)
	a.QoS = 500
	p := decide(t, "ugpu-qos", together, Sample{Apps: []App{a, app("m", 20, 2, 9, 0), app("c", 20, 2, 0.01, 0)}})
	if want := []Alloc{{36, 1}, {16, 6}, {28, 1}}; !reflect.DeepEqual(p.alloc(), want) {
		t.Errorf("%v, want %v\n%s", p.alloc(), want, strings.Join(p.Why, "\n"))
	}
}

// TestQoSAndIdleOnes: an application without instructions gives first and gets nothing.
func TestQoSAndIdleOnes(t *testing.T) {
	for _, c := range []struct {
		target float64
		want   []Alloc
	}{
		{500, []Alloc{{36, 1}, {24, 5}, {20, 2}}},
		{1000, []Alloc{{42, 1}, {20, 5}, {18, 2}}},
	} {
		a := app("a", 40, 4, 0.01, 0)
		a.QoS = c.target
		p := decide(t, "ugpu-qos", nil,
			Sample{Apps: []App{a, app("m", 20, 2, 9, 0), {Held: Held{Name: "idle", SMs: 20, Groups: 2}}}})
		if !reflect.DeepEqual(p.alloc(), c.want) {
			t.Errorf("target %g: %v, want %v\n%s", c.target, p.alloc(), c.want, strings.Join(p.Why, "\n"))
		}
	}
}

// TestCDSearchTurnsBack plays a machine on which the compute-bound application gains
// nothing and the memory-bound one needs 40 SMs: the jump is halved, the search goes
// back step by step, and the step too far is undone.
func TestCDSearchTurnsBack(t *testing.T) {
	f := made(t, "cd-search", Params{"delta_sms": 4})
	hold := []Alloc{{40, 4}, {40, 4}}
	var went []int
	for range 10 {
		went = append(went, hold[1].SMs)
		c, m := app("c", hold[0].SMs, 4, 0.01, 0), app("m", hold[1].SMs, 4, 5, 0)
		c.Insts, m.Insts = 1e8, uint64(1e6*min(40, hold[1].SMs))
		m.LLCAccesses, c.LLCAccesses = m.Insts/200, 0
		hold = f.Decide(&Sample{Apps: []App{c, m}}).(*Allocation).alloc()
	}
	if want := []int{40, 8, 24, 28, 32, 36, 40, 44, 40, 40}; !reflect.DeepEqual(went, want) {
		t.Errorf("the memory-bound application had %v SMs, want %v", went, want)
	}
}

// TestCDSearch plays a machine whose memory-bound application needs 20 SMs to
// saturate its channels: the search ends near that, channels never move.
func TestCDSearch(t *testing.T) {
	f := made(t, "cd-search", Params{"delta_sms": 4})
	hold := []Alloc{{40, 4}, {40, 4}}
	var last *Allocation
	for range 12 {
		c, m := app("c", hold[0].SMs, 4, 0.01, 0), app("m", hold[1].SMs, 4, 5, 0)
		c.Insts, m.Insts = uint64(1e6*hold[0].SMs), uint64(1e6*min(20, hold[1].SMs))
		m.LLCAccesses, c.LLCAccesses = m.Insts/200, 0
		last = f.Decide(&Sample{Apps: []App{c, m}}).(*Allocation)
		hold = last.alloc()
		if hold[0].Groups != 4 || hold[1].Groups != 4 {
			t.Fatalf("channels moved: %v", hold)
		}
	}
	// From 40 + 40 the jump goes to 8 SMs (450 GB/s over 57.3), where the sum of progress
	// is 72/40 + 8/20 = 2.2; one step more pays 76/72 + 4/8 < 2 and is undone.
	if want := []Alloc{{72, 4}, {8, 4}}; !reflect.DeepEqual(hold, want) || !strings.Contains(last.Why[0], "ended") {
		t.Errorf("%v, want %v: %v", hold, want, last.Why)
	}
}

func TestCDSearchLeavesOneClassAlone(t *testing.T) {
	p := decide(t, "cd-search", nil, Sample{Apps: []App{app("a", 40, 4, 9, 0), app("b", 40, 4, 5, 0)}})
	if p.alloc()[0].SMs != 40 || p.alloc()[1].SMs != 40 {
		t.Errorf("%+v", p)
	}
}

// TestBestStaticAgainstBruteForce tries every combination.
func TestBestStaticAgainstBruteForce(t *testing.T) {
	m := paper()
	rapid.Check(t, func(t *rapid.T) {
		apps := make([][]Point, rapid.IntRange(1, 4).Draw(t, "apps"))
		for i := range apps {
			for range rapid.IntRange(1, 5).Draw(t, "points") {
				apps[i] = append(apps[i], Point{
					Alloc{rapid.IntRange(1, 60).Draw(t, "sms"), rapid.IntRange(1, 6).Draw(t, "groups")},
					float64(rapid.IntRange(0, 64).Draw(t, "progress")) / 64,
				})
			}
		}
		var try func(i, sms, groups int) float64
		try = func(i, sms, groups int) float64 {
			if i == len(apps) {
				return 0
			}
			best := math.Inf(-1)
			for _, p := range apps[i] {
				if p.SMs <= sms && p.Groups <= groups {
					best = max(best, p.Progress+try(i+1, sms-p.SMs, groups-p.Groups))
				}
			}
			return best
		}
		want := try(0, m.SMs, m.Groups)
		best, stp, err := BestStatic(m, apps)
		if math.IsInf(want, -1) {
			if err == nil {
				t.Fatalf("nothing fits, got %v", best)
			}
			return
		}
		if err != nil || stp != want {
			t.Fatalf("%v, %g, %v; brute force finds %g", best, stp, err, want)
		}
		sms, groups, sum := 0, 0, 0.0
		for i, al := range best {
			sms, groups = sms+al.SMs, groups+al.Groups
			most := 0.0
			for _, p := range apps[i] {
				if p.Alloc == al {
					most = max(most, p.Progress)
				}
			}
			sum += most
		}
		if sms > m.SMs || groups > m.Groups || sum != want {
			t.Fatalf("%v: %d SMs, %d groups, STP %g of %g", best, sms, groups, sum, want)
		}
	})
}
