package paper

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Verdict is the result of comparing a claim with a value.
type Verdict string

// The verdicts.
const (
	Holds       Verdict = "holds"
	Direction   Verdict = "direction only" // but further from the paper's number than the tolerance
	Contradicts Verdict = "contradicts"
	NotMeasured Verdict = "not measured"
)

// Judged is a claim with our value.
type Judged struct {
	Mixes       int     // number of mixes behind the paper's number; 0: it is not about mixes
	Least, Most float64 // of the value over our mixes
	Claim       Claim
	Value       Measure
	Ratio       float64 // our value over the paper's; NaN if there is none
	Verdict     Verdict
	Steady      Measure  // the value without unsteady programs
	Without     []string // names of the unsteady programs; empty: there are none
	Artefact    bool     // the value agrees with the claim, and the study itself calls that an artefact
	Second      *Measure // value under the figure's second model; nil: it has none, or no value
	Turned      Turned   // the value as a speed if the claim gives a time, or the other way round
	Slack       int      // runs that count as meeting their target only because of metSlack
}

// Turned is a measure of time as one of speed, or the other way round: the two ways to read "x % better".
type Turned struct {
	Name  string // of the metric; "": there is none
	Value float64
}

// turned is a claim's size read the other way. Means of both are geometric, and the least time is the highest speed.
func (r *Reproduced) turned(c *Claim) (t Turned) {
	m := metrics()[r.Figure.Metric]
	if m.inverse == "" || c.Paper == nil || *c.Paper == 0 {
		return t
	}
	name, other := r.Figure.Metric+" ", m.inverse
	rest, ok := strings.CutPrefix(c.Measure, name)
	if !ok {
		other = r.Figure.Metric
		if rest, ok = strings.CutPrefix(c.Measure, m.inverse+" "); !ok {
			return t
		}
	}
	ends := map[string]string{" min": " max", " max": " min"}
	for _, end := range slices.Sorted(maps.Keys(ends)) {
		if head, found := strings.CutSuffix(rest, end); found {
			rest = head + ends[end]
			break
		}
	}
	if x, ok := r.Measures[other+" "+rest]; ok {
		t = Turned{other, x.Value}
	}
	return t
}

// Judge compares a claim with the measures of its figure.
func Judge(c *Claim, measures map[string]Measure) Judged {
	j := Judged{Claim: *c, Ratio: math.NaN(), Verdict: NotMeasured}
	m, ok := measures[c.Measure]
	if !ok || math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
		return j
	}
	j.Value, j.Verdict = m, Contradicts
	if c.Paper != nil && *c.Paper != 0 {
		j.Ratio = m.Value / *c.Paper
	}
	if !c.agrees(m.Value) {
		return j
	}
	j.Verdict = Holds
	if !c.near(m.Value, measures) {
		j.Verdict = Direction
	}
	return j
}

// Judge judges every claim of a figure.
func (s *Study) Judge(r *Reproduced) []Judged {
	var out []Judged
	for _, c := range s.Claims(r.Figure.Name) {
		j := Judge(&c, r.Measures)
		j.Mixes = s.paperMixes(r.Figure.Name, c.Measure)
		j.steadily(r.Figure, r.Measures)
		if name, ok := strings.CutSuffix(c.Measure, " mean"); ok {
			j.Least, j.Most = r.Measures[name+" min"].Value, r.Measures[name+" max"].Value
		}
		j.Slack, j.Turned = r.slack(&j), r.turned(&c)
		if second, ok := r.Second[c.Measure]; ok {
			j.Second = &second
		}
		out = append(out, j)
	}
	return out
}

// artefact says that the study calls the agreement with a claim an artefact at a scale.
func (s *Study) artefact(claim, scale string) bool {
	return slices.ContainsFunc(s.reasons, func(r Reason) bool {
		return r.Artefact && slices.Contains(r.Claims, claim) &&
			(len(r.Scales) == 0 || slices.Contains(r.Scales, scale))
	})
}

// JudgeAt judges every claim of a figure at a scale. A claim whose agreement the study calls an artefact does not
// hold.
func (s *Study) JudgeAt(r *Reproduced, scale string) []Judged {
	all := s.Judge(r)
	for i := range all {
		if j := &all[i]; j.Verdict == Holds && s.artefact(j.Claim.ID, scale) {
			j.Verdict, j.Artefact = Contradicts, true
		}
	}
	return all
}

// CheckReasons is an error if a reason explains a claim that holds.
func (s *Study) CheckReasons(judged []Judged, scale string) error {
	var errs []error
	for _, j := range judged {
		if s.artefact(j.Claim.ID, scale) && !j.Artefact && j.Verdict != NotMeasured {
			errs = append(errs, fmt.Errorf("reasons.yaml calls the agreement with claim %s at scale %s an artefact, "+
				"but "+
				"the claim does not hold: remove `artefact` from the reason", j.Claim.ID, scale))
		}
		if j.Verdict == Holds && s.Why(j.Claim.ID, scale) != "" {
			errs = append(errs,
				fmt.Errorf("reasons.yaml explains why claim %s does not hold at scale %s, but it does: remove the "+
					"reason or name the scales it is for", j.Claim.ID, scale))
		}
	}
	return errors.Join(errs...)
}

// slack counts the runs behind a measure of targets that are met only because of metSlack.
func (r *Reproduced) slack(j *Judged) (n int) {
	if r.Figure.Kind != "qos" {
		return 0
	}
	scheme, speed := slices.Index(r.Columns, "scheme"), slices.Index(r.Columns, "np")
	for _, row := range r.Rows {
		if scheme < 0 || speed < 0 || !strings.HasPrefix(j.Claim.Measure, "met "+row[scheme]+" ") {
			continue
		}
		x, err := strconv.ParseFloat(row[speed], 64)
		if err == nil && x < r.Figure.Target && x >= r.Figure.Target-metSlack {
			n++
		}
	}
	return n
}

// tally counts the verdicts of the paper's claims, and the claims that are not the paper's.
func tally(all []Judged) string {
	n := map[Verdict]int{}
	count, few, ours := 0, 0, 0
	for _, j := range all {
		if j.Claim.Ours != "" {
			ours++
			continue
		}
		count++
		n[j.Verdict]++
		if j.Verdict != NotMeasured && 3*j.Value.N < max(j.Mixes, j.Value.Of) {
			few++
		}
	}
	text := fmt.Sprintf("Of %d claims %d hold, %d agree in direction only, %d contradict the paper, %d are "+
		"not measured.\n", count, n[Holds], n[Direction], n[Contradicts], n[NotMeasured])
	text += fmt.Sprintf("%d of them rest on fewer than a third of the paper's mixes.\n", few)
	if ours > 0 {
		text += fmt.Sprintf("%d further claims are *ours* and do not count: they repeat another claim, or no paper "+
			"makes them.\n", ours)
	}
	return text
}

// verdictCell is the verdict with its remarks.
func verdictCell(j *Judged) string {
	text := string(j.Verdict)
	if j.Artefact {
		text += " (an artefact)"
	}
	if j.Claim.Ours != "" {
		text += "; *ours*: " + j.Claim.Ours
	}
	return text
}

// leftOutTable lists the sentences of the paper that are not judged as claims.
func (s *Study) leftOutTable() string {
	if len(s.leftOut) == 0 {
		return ""
	}
	text := "## Sentences left out\n\n| section | sentence | why it is not judged |\n|---|---|---|\n"
	for _, l := range s.leftOut {
		text += fmt.Sprintf("| %s | %s | %s |\n", l.Where, l.Text, l.Why)
	}
	return text + "\n"
}
