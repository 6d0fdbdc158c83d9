package page

import (
	"bytes"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// Pages are told by how many SMs touch them, and where from.
func TestPagesTouched(t *testing.T) {
	r := still()
	r.Touches = &sim.Touches{BySMs: make([]uint64, 64), Homes: [][]uint64{{30, 10}, {0, 40}}}
	r.Touches.BySMs[0], r.Touches.BySMs[9], r.Touches.BySMs[10], r.Touches.BySMs[63] = 60, 5, 10, 5
	text, err := Render([]Run{fromDisk(t, "touched", r)})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<td>1 SM</td><td>60</td><td>75.0 %</td>", "<td>2 to 10 SMs</td><td>5</td>", "<td>11 to 25 SMs</td><td>10</td>",
		"<td>26 to 64 SMs</td><td>5</td>", "<td>all</td><td>80</td>", "darkest: 40 pages", "at home: 87.5 %",
		`title="home 0, partition 1: 10 pages" style="opacity:0.250"`, `title="home 1, partition 0: 0 pages" style="opacity:0.000"`,
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
	r.Touches.Homes = nil
	text, err = Render([]Run{fromDisk(t, "touched", r)})
	if err != nil || !bytes.Contains(text, []byte("Pages have no homes here")) {
		t.Errorf("without homes: %v", err)
	}
	r.Touches = nil
	text, err = Render([]Run{fromDisk(t, "quiet", r)})
	if err != nil || bytes.Contains(text, []byte("Pages by the SMs that touch them")) {
		t.Errorf("nobody asked: %v", err)
	}
}
