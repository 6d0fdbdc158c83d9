package paper

import "testing"

// What the study itself calls an artefact does not hold, at the scales it says so of; it is an error where the value
// is not as the paper says, either.
func TestArtefacts(t *testing.T) {
	at := func(x float64) *float64 { return &x }
	s := &Study{
		claims:  []Claim{{ID: "a", Figure: "f", Measure: "m", Paper: at(30), Direction: "up"}},
		reasons: []Reason{{Claims: []string{"a"}, Scales: []string{"quick"}, Why: "chance", Artefact: true}},
		Figures: []Figure{{Name: "f"}},
	}
	for value, want := range map[float64]Judged{
		30: {Verdict: Contradicts, Artefact: true}, 60: {Verdict: Direction}, -30: {Verdict: Contradicts},
	} {
		r := &Reproduced{Figure: &s.Figures[0], Measures: map[string]Measure{"m": {Value: value, N: 1, Of: 1}}}
		j := s.JudgeAt(r, "quick")
		if j[0].Verdict != want.Verdict || j[0].Artefact != want.Artefact {
			t.Errorf("%g at quick: %s, artefact %v", value, j[0].Verdict, j[0].Artefact)
		}
		if err := s.CheckReasons(j, "quick"); (err == nil) != want.Artefact {
			t.Errorf("%g: %v", value, err)
		}
		j = s.JudgeAt(r, "standard")
		if j[0].Artefact || (j[0].Verdict == Holds) != (value == 30) {
			t.Errorf("%g at standard: %s, artefact %v", value, j[0].Verdict, j[0].Artefact)
		}
	}
}

// The summary counts the paper's claims alone, and how many rest on few of its mixes.
func TestTally(t *testing.T) {
	all := []Judged{
		{Verdict: Holds, Mixes: 50, Value: Measure{N: 10}},
		{Verdict: Direction, Mixes: 30, Value: Measure{N: 10}},
		{Verdict: Contradicts, Value: Measure{N: 1}},
		{Verdict: NotMeasured, Mixes: 50},
		{Verdict: Holds, Value: Measure{N: 5, Of: 528}}, // runs of the study that have not ended
		{Verdict: Holds, Mixes: 50, Value: Measure{N: 1}, Claim: Claim{Ours: "repeats another"}},
	}
	want := "Of 5 claims 2 hold, 1 agree in direction only, 1 contradict the paper, 1 are not measured.\n" +
		"2 of them rest on fewer than a third of the paper's mixes.\n" +
		"1 further claims are *ours* and do not count: they repeat another claim, or no paper makes them.\n"
	if got := tally(all); got != want {
		t.Errorf("%s", got)
	}
}

// A table says how many runs meet a target only because of what may lack of it.
func TestSlackIsTold(t *testing.T) {
	s := &Study{Figures: []Figure{{Name: "f", Kind: "qos", Target: 0.75}}, claims: []Claim{
		{ID: "a", Figure: "f", Measure: "met A mean", Direction: "all"},
		{ID: "b", Figure: "f", Measure: "met B mean", Direction: "some"},
	}}
	r := &Reproduced{
		Figure: &s.Figures[0], Columns: []string{"mix", "high", "scheme", "np", "met", "stp"},
		Rows: [][]string{
			{"x", "y", "A", "0.7499", "true", "1"},
			{"x", "y", "A", "0.75", "true", "1"},
			{"x", "y", "A", "0.74", "false", "1"},
			{"x", "y", "A", "0.745", "true", "1"},
			{"x", "y", "B", "0.8", "true", "1"},
			{"x", "y", "B", "", "", ""},
		},
		Measures: map[string]Measure{"met A mean": {Value: 75, N: 4, Of: 4}, "met B mean": {Value: 100, N: 1, Of: 1}},
	}
	for i, want := range []string{"75.0 % (2 of 4 runs miss it by up to 0.005)", "100.0 %"} {
		if got := valueCell(&s.Judge(r)[i]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
