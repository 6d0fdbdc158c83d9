package silicon

import (
	"fmt"
	"math"
	"slices"
)

// Score sums up a group's rows on a machine.
type Score struct {
	Group, Machine string
	Rows           int     // scored
	Typical        float64 // exp(mean |ln(Heddle/silicon)|) - 1
	Bias           float64 // geometric mean of Heddle/silicon
	Wanted         float64 // percent
	Worst          *Result // nil without scored rows
	Failed         int     // rows without a figure
}

// worstRatio bounds what one row counts.
const worstRatio = 100

// Scores sums results up by group and machine; groups and machines come in the order of the results.
func Scores(results []Result) []Score {
	var out []Score
	for i := range results {
		r := &results[i]
		if r.Soft != "" && r.Err == "" {
			continue
		}
		at := slices.IndexFunc(out, func(s Score) bool { return s.Group == r.Group && s.Machine == r.Machine })
		if at < 0 {
			at = len(out)
			out = append(out, Score{Group: r.Group, Machine: r.Machine, Wanted: wanted(r.Group)})
		}
		out[at].add(r)
	}
	for i := range out {
		out[i].close()
	}
	return out
}

// Together is the score of several scores' rows.
func Together(scores []Score) Score {
	var out Score
	for i := range scores {
		s := &scores[i]
		out.Typical += math.Log1p(s.Typical) * float64(s.Rows)
		out.Bias += math.Log(s.Bias) * float64(s.Rows)
		out.Rows += s.Rows
		out.Failed += s.Failed
	}
	out.close()
	return out
}

// add sums logarithms, which close turns into errors.
func (s *Score) add(r *Result) {
	if r.Err != "" {
		s.Failed++
		return
	}
	l := logRatio(r)
	if s.Worst == nil || math.Abs(l) > math.Abs(logRatio(s.Worst)) {
		s.Worst = r
	}
	s.Typical += math.Abs(l)
	s.Bias += l
	s.Rows++
}

func (s *Score) close() {
	n := float64(max(1, s.Rows))
	s.Typical, s.Bias = math.Expm1(s.Typical/n), math.Exp(s.Bias/n)
}

func logRatio(r *Result) float64 {
	if r.NetHeddle <= 0 {
		return -math.Log(worstRatio)
	}
	return min(max(math.Log(r.NetHeddle/r.NetSilicon), -math.Log(worstRatio)), math.Log(worstRatio))
}

// Missed lists the scores that are worse than wanted, as text; a row without a figure counts as a miss.
func Missed(scores []Score) []string {
	var out []string
	for i := range scores {
		s := &scores[i]
		if s.Failed > 0 {
			out = append(out, fmt.Sprintf("%s of %s: %d of %d rows failed", s.Group, s.Machine, s.Failed,
				s.Failed+s.Rows))
		}
		if e := 100 * s.Typical; e > s.Wanted {
			out = append(out, fmt.Sprintf("%s of %s: typical error %.1f %%, wanted %g %%", s.Group, s.Machine, e,
				s.Wanted))
		}
	}
	return out
}
