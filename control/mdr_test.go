package control

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// replayMDR has mdr decide on samples written as JSON.
func replayMDR(t *testing.T, p Params, text string) ([]*mdrPlan, error) {
	t.Helper()
	e, err := Find("mdr")
	if err != nil {
		t.Fatal(err)
	}
	plans, err := Replay(e, made(t, "mdr", p), "s.json", []byte(text))
	var out []*mdrPlan
	for _, plan := range plans {
		out = append(out, plan.(*mdrPlan))
	}
	return out, err
}

// TestMDREquations works the equations of section 5.1 by hand, with LLC 1000 bytes/s and memory
// 200, and with the paper's machine.
func TestMDREquations(t *testing.T) {
	const paper = 1.4e9 * 64 // ports x Hz
	for _, c := range []struct {
		name                       string
		llc, noc, mem              float64
		noHit, noLocal, hit, local float64
		wantNoRep, wantFull        float64
		replicate                  bool
	}{
		// BW_LLC_miss = min(0.2 x 1000, 200) = 200, BW_local = 0.8 x 1000 + 200 = 1000,
		// BW_remote = min(300, 1000) = 300: BW_NoRep = 0.4 x 1000 + 0.6 x 300 = 580.
		// BW_remote = min(300, 200) = 200, BW_local/remote = 0.4 x 200 + 0.6 x 200 = 200,
		// BW_LLC_miss = min(0.5 x 1000, 200) = 200: BW_FullRep = 0.5 x 1000 + 200 = 700.
		{"memory binds misses", 1000, 300, 200, 0.8, 0.4, 0.5, 0.4, 580, 700, true},
		// BW_NoRep = 0.4 x 1000 + 0.6 x 100 = 460. BW_remote = min(100, 200) = 100,
		// BW_local/remote = 0.4 x 200 + 0.6 x 100 = 140: BW_FullRep = 500 + 140 = 640.
		{"the network binds far memory", 1000, 100, 200, 0.8, 0.4, 0.5, 0.4, 460, 640, true},
		// BW_FullRep = 0.2 x 1000 + min(800, 140) = 340: capacity lost costs more than is won.
		{"thrashing", 1000, 100, 200, 0.8, 0.4, 0.2, 0.4, 460, 340, false},
		// BW_LLC_miss = min(0.9 x 1000, 200) = 200, BW_local = 100 + 200 = 300, BW_remote =
		// min(900, 300) = 300: BW_NoRep = 300. BW_LLC_miss = min(0.1 x 1000, 200) = 100.
		{"slices bind", 1000, 900, 200, 0.1, 0.5, 0.9, 0.5, 300, 1000, true},
		// Fractions differ between the policies: 0.75 x 1000 + 0.25 x 300 = 825; 200 x 0.5 +
		// 0.5 x min(300, 200) = 200, so 0.6 x 1000 + 200 = 800.
		{"each has its own fractions", 1000, 300, 200, 0.8, 0.75, 0.6, 0.5, 825, 800, false},
		// GB/s: 0.6 x 2867.2 + min(0.4 x 2867.2, 716.8) = 2437.12; 0.25 x 2437.12 + 0.75 x 1433.6
		// = 1684.48. 0.5 x 2867.2 + min(1433.6, 716.8) = 2150.4.
		{"paper", 32 * paper, 16 * paper, 716.8e9, 0.6, 0.25, 0.5, 0.25, 1684.48e9, 2150.4e9, true},
	} {
		plans, err := replayMDR(t, Params{"bw_llc": c.llc, "bw_noc": c.noc, "bw_mem": c.mem},
			fmt.Sprintf(`[{"cycle": 20000, "norep": {"hit": %g, "local": %g}, "fullrep": {"hit": %g, "local": %g}}]`,
				c.noHit, c.noLocal, c.hit, c.local))
		if err != nil {
			t.Fatal(err)
		}
		p := plans[0]
		if p.Cycle != 20000 || p.NoRep != c.wantNoRep || p.FullRep != c.wantFull || p.Replicate != c.replicate {
			t.Errorf("%s: %+v, want %g, %g, %v", c.name, p, c.wantNoRep, c.wantFull, c.replicate)
		}
		r := p.Request()
		if r.Latency != 116 || r.Replicate == nil || *r.Replicate != c.replicate || len(p.Reasons()) != 1 {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// A tie does not replicate, and is one however the fractions are written: where network and
// memory bind nothing, both bandwidths are the LLC's.
func TestMDRTie(t *testing.T) {
	for i := range 101 {
		for k := range 101 {
			plans, err := replayMDR(t, Params{"bw_llc": 1000.1, "bw_noc": 3e3, "bw_mem": 3e3},
				fmt.Sprintf(`[{"norep": {"hit": %.2f, "local": %.2f}, "fullrep": {"hit": %.2[2]f, "local": %.2[1]f}}]`,
					float64(i)/100, float64(k)/100))
			if err != nil {
				t.Fatal(err)
			}
			if p := plans[0]; p.Replicate || p.NoRep != 1000.1 || p.FullRep != 1000.1 {
				t.Fatalf("hit 0.%02d, local 0.%02d: %+v", i, k, p)
			}
		}
	}
}

// It starts without replication, and a sample in which nothing was looked up keeps the choice.
func TestMDRKeeps(t *testing.T) {
	const yes = `{"norep": {"hit": 0.8, "local": 0.4}, "fullrep": {"hit": 0.5, "local": 0.4}}`
	plans, err := replayMDR(t, Params{"bw_llc": 1000, "bw_noc": 300, "bw_mem": 200},
		`[{"norep": {}, "fullrep": {}}, `+yes+`, {}, {"norep": {"hit": 1, "local": 1}}]`)
	if err != nil {
		t.Fatal(err)
	}
	var got []bool
	for _, p := range plans {
		got = append(got, p.Replicate)
	}
	if want := []bool{false, true, true, true}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestMDRRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"[\n" + `{"norep": {"hit": 1.5, "local": 0}}]`: "s.json:2: sample 1: norep: hit and local are fractions",
		"[{},\n" + `{"fullrep": {"hit": 0.5, "local": -1}}]`: "s.json:2: sample 2: fullrep: hit and local are " +
			"fractions",
		"[\n" + `{"fullrep": {"hit": 0.5}}]`:      "s.json:2: sample 1: fullrep needs both hit and local",
		"[\n" + `{"norep": {"hits": 0.5}}]`:       `s.json:2: unknown key "hits"`,
		"[\n" + `{"norep": {"hit": "0.5"}}]`:      "s.json:2: norep.hit is a string",
		`[{"cycle": 9},` + "\n" + `{"cycle": 8}]`: "s.json:2: sample 2 is at cycle 8",
	} {
		if _, err := replayMDR(t, nil, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	e, err := Find("mdr")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bw_llc", "bw_noc", "bw_mem"} {
		for _, v := range []float64{0, -1, math.Inf(1), math.NaN()} {
			if _, err := e.New(paper(), Params{name: v}); err == nil || !strings.Contains(err.Error(), "out of range") {
				t.Errorf("%s = %g: %v", name, v, err)
			}
		}
	}
	m := paper()
	m.ArrayBytes = 0
	if _, err := e.New(m, nil); err == nil {
		t.Error("a machine whose slices read nothing was accepted")
	}
}

// What no parameter says comes from the machine sheet: of qv100, 64 slices of 32 bytes at the
// LLC's clock, 64 ports of the crossbar, and all channels.
func TestMDRMachine(t *testing.T) {
	s, _, err := sheets.Load("qv100")
	if err != nil {
		t.Fatal(err)
	}
	e, err := Find("mdr")
	if err != nil {
		t.Fatal(err)
	}
	m := FromSheet(s, 8, s.DRAM.Channels/8)
	p, err := e.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	// All hits, all local: the LLC. All remote: the network. All misses under replication: memory.
	plans, err := Replay(e, p, "s", []byte(`[
		{"norep": {"hit": 1, "local": 1}, "fullrep": {"hit": 0, "local": 1}},
		{"norep": {"hit": 1, "local": 0}, "fullrep": {"hit": 1, "local": 0}}]`))
	if err != nil {
		t.Fatal(err)
	}
	ports := float64(s.DRAM.Channels * s.LLC.SlicesPerChannel)
	first, second := plans[0].(*mdrPlan), plans[1].(*mdrPlan)
	near(t, "BW_LLC", first.NoRep, ports*float64(s.LLC.PortBytes)*s.Clock.LLC*1e6)
	near(t, "BW_MEM", first.FullRep, m.MemBytes*float64(s.DRAM.Channels))
	near(t, "BW_NoC", second.NoRep, min(first.NoRep, ports*float64(s.NoC.FlitBytes)*s.Clock.NoC*1e6))
}

// A sampler fills ratios of two counters, also in a struct of their own: what was counted since
// the sample before, nothing where nothing was.
func TestSamplerRatio(t *testing.T) {
	tags := stat.NewTable("mdr", []stat.Desc{
		{Name: "norep_lookups"},
		{Name: "norep_hits"},
		{Name: "norep_local"},
		{Name: "fullrep_lookups"},
		{Name: "fullrep_hits"},
		{Name: "fullrep_local"},
	}, 1, 2)
	p := made(t, "mdr", nil)
	s, err := NewSampler(p, 2, counts{stat.Set{tags}})
	if err != nil {
		t.Fatal(err)
	}
	take := func() *mdrSample { return s.Take(Clock{Cycle: 7}).(*mdrSample) }
	if m := take(); m.NoRep.Hit != nil || m.FullRep.Local != nil || m.Cycle != 7 {
		t.Errorf("%+v", m)
	}
	copy(tags.Row(0, 0), []uint64{8, 6, 2, 0, 0, 0})
	copy(tags.Row(0, 1), []uint64{2, 2, 2, 0, 0, 0})
	if m := take(); *m.NoRep.Hit != 0.8 || *m.NoRep.Local != 0.4 || m.FullRep.Hit != nil {
		t.Errorf("%+v", m)
	}
	copy(tags.Row(0, 0), []uint64{12, 7, 2, 4, 3, 1})
	if m := take(); *m.NoRep.Hit != 0.25 || *m.NoRep.Local != 0 || *m.FullRep.Hit != 0.75 || *m.FullRep.Local != 0.25 {
		t.Errorf("%+v", m)
	}
	if _, err := NewSampler(p, 1, counts{}); err == nil || !strings.Contains(err.Error(), "mdr.norep_hits") {
		t.Errorf("a machine without the tags: %v", err)
	}
	bad := Of(func(*struct {
		Clock
		X *float64 `json:"x" counter:"sm.insts"`
	},
	) Plan {
		return nil
	})
	if _, err := NewSampler(bad, 1, counts{}); err == nil || !strings.Contains(err.Error(), "name two counters") {
		t.Error(err)
	}
	e, err := Find("mdr")
	if err != nil {
		t.Fatal(err)
	}
	c := e.Counters()
	if len(c) != 4 || c[0].Field != "norep.hit" || c[0].Counter != "mdr.norep_hits/mdr.norep_lookups" {
		t.Errorf("%+v", c)
	}
}
