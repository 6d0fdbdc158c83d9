package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/stat"
)

// gated is sample() with an SM that was powered down, woke and was cp's.
func gated() *sim.Result {
	r := sample()
	r.Tenants[0].HeldSMCycles, r.Tenants[1].HeldSMCycles = 78_000, 79_000
	r.Outside = nil
	r.Nobody = &sim.Nobody{IdleSMCycles: 1400, GatedSMCycles: 1600}
	r.Epochs[0].Nobody = sim.EpochNobody{SMs: 1, GatedSMCycles: 600}
	r.Epochs[1].Nobody = sim.EpochNobody{SMs: 0, GatedSMCycles: 1000}
	r.Decisions[0].SMs = append(r.Decisions[0].SMs,
		sim.SMMove{SM: 7, From: "triad", Gate: true, How: "switch", Start: 100, End: 300, CTAs: 4, Bytes: 99},
		sim.SMMove{SM: 7, To: "cp", How: "wake", Start: 1900})
	r.Spans = append(r.Spans, sim.Span{Track: "SM 07", Name: "gated", Start: 300, End: 1900, Tenant: -1})
	r.Tables = append(r.Tables, sim.Counters{Owner: "sm", Tenant: "cp", Values: []sim.Value{
		{Desc: stat.Desc{Name: "wakes"}, N: 1}, {Desc: stat.Desc{Name: "waking_cycles"}, N: 100},
	}})
	return r
}

// Whoever reads the terminal sees that SMs were gated, and only then.
func TestGatingInTables(t *testing.T) {
	const line = "power gating: SMs were powered down for 1.0 % of their time; 1 wake for an application, " +
		"100 SM-cycles of waking\n"
	for _, c := range []struct {
		r    *sim.Result
		want bool
	}{{gated(), true}, {sample(), false}} {
		var b bytes.Buffer
		if err := Table(&b, c.r, true); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), line) != c.want || strings.Contains(b.String(), "power gating") != c.want {
			t.Errorf("gated: %v\n%s", c.want, b.String())
		}
	}
}

// What nobody had is a row of its own in an epoch, where SMs were gated.
func TestGatingInEpochs(t *testing.T) {
	var b bytes.Buffer
	if err := EpochsCSV(&b, gated()); err != nil {
		t.Fatal(err)
	}
	rest := strings.Repeat(",0", len(sim.Columns()))
	for _, want := range []string{"1000,nobody's,1,0,0,0,600", "2000,nobody's,0,0,0,0,1000"} {
		if !strings.Contains(b.String(), "\n"+want+rest+"\n") {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	rows := epochRows(gated())
	if len(rows) != 6 || rows[0].bits(6) != 600 || rows[1].bits(6) != 0 {
		t.Errorf("%d rows; gated %d and %d SM-cycles", len(rows), rows[0].bits(6), rows[1].bits(6))
	}
	if n := len(epochRows(sample())); n != 4 {
		t.Errorf("%d rows where no SM was gated", n)
	}
}

// The timeline has gated SMs as a state of their own, and moves from and to it.
func TestGatingInTimeline(t *testing.T) {
	var b bytes.Buffer
	if err := Timeline(&b, gated()); err != nil {
		t.Fatal(err)
	}
	var file struct{ TraceEvents []traceEvent }
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, e := range file.TraceEvents {
		seen[e.Name]++
	}
	for _, name := range []string{"gated", "triad to gated", "gated to cp", "triad to cp"} {
		if seen[name] == 0 {
			t.Errorf("no event %q", name)
		}
	}
}

// What changing hands took is a line of the text; where nothing moved there is none.
func TestHandovers(t *testing.T) {
	r := &sim.Result{}
	if got := handovers(r); got != "" {
		t.Errorf("without a policy: %q", got)
	}
	r.Moved = &sim.Moved{
		SMs: 7, Switched: 6, Drained: 1, ContextBytes: 883_000, Groups: 1, MoveBytes: 2_000_000, EpochShare: 0.25,
	}
	want := "changed hands: 7 SMs (6 switched with 883 kB of contexts, 1 drained), 1 channel group with 2 MB of " +
		"pages; under way in 25.0 % of the cycles"
	if got := handovers(r); got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	r.Moved = &sim.Moved{Decisions: 9}
	if got := handovers(r); got != "" {
		t.Errorf("nothing moved: %q", got)
	}
}
