package paper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A claim about a mean holds only where the mean without unsteady programs says so, too, and both are shown.
func TestSteadyVerdict(t *testing.T) {
	number := 30.0
	c := Claim{ID: "c", Measure: "ipc A/B low mean", Paper: &number, Direction: "up"}
	f := &Figure{unsteady: []string{"WC", "MVT"}}
	for _, x := range []struct {
		all, steady float64
		want        Verdict
		cell        string
	}{
		{29, 25, Holds, "29.0 %; 25.0 without WC, MVT"},
		{29, 6.6, Direction, "29.0 %; 6.6 without WC, MVT"},
		{29, -3, Contradicts, "29.0 %; -3.0 without WC, MVT"},
		{6, 29, Direction, "6.0 %; 29.0 without WC, MVT"},
	} {
		measures := map[string]Measure{
			"ipc A/B low mean":        {Value: x.all, N: 16, Of: 16},
			"ipc A/B low steady mean": {Value: x.steady, N: 14, Of: 14},
		}
		j := Judge(&c, measures)
		j.steadily(f, measures)
		if j.Verdict != x.want || valueCell(&j) != x.cell {
			t.Errorf("%g and %g: %s, %q; want %s, %q", x.all, x.steady, j.Verdict, valueCell(&j), x.want, x.cell)
		}
	}
	same := map[string]Measure{
		"ipc A/B low mean": {Value: 29, N: 13, Of: 13}, "ipc A/B low steady mean": {Value: 29, N: 13, Of: 13},
	}
	j := Judge(&c, same)
	if j.steadily(f, same); valueCell(&j) != "29.0 %" {
		t.Errorf("a set without unsteady programs: %q", valueCell(&j))
	}
}

func TestUnsteadyRefused(t *testing.T) {
	text, err := os.ReadFile("nuba/study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"{figures: [fig99], programs: [WC], why: x}", `figure "fig99"`},
		{"{figures: [fig7], programs: [XX], why: x}", `program "XX"`},
		{"{figures: [fig10], programs: [WC], why: x}", "kind tradeoff"},
		{"{figures: [fig7], programs: [WC]}", "needs figures, programs and why"},
	} {
		dir := t.TempDir()
		head, _, _ := strings.Cut(string(text), "\nunsteady:")
		head += "\nunsteady:\n  - " + c[0] + "\n"
		if err := os.WriteFile(filepath.Join(dir, "study.yaml"), []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), c[1]) ||
			!strings.Contains(err.Error(), "study.yaml:") {
			t.Errorf("%s: %v, want an error with a line and %q", c[0], err, c[1])
		}
	}
}
