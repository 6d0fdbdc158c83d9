package silicon

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"

	"github.com/heddle-sim/heddle/internal/text"
)

// Text prints rows, then scores. The last line sums groups up over all machines.
func Text(w io.Writer, results []Result, scores []Score) error {
	if err := table(w, results); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nTypical error is exp(mean |ln(Heddle/silicon)|) - 1: twice and half are both 100 %.")
	return Summary(w, scores)
}

func table(w io.Writer, results []Result) error {
	var rows [][]string
	last := ""
	for i := range results {
		r := &results[i]
		if head := r.Group + ", " + r.Machine; head != last {
			if err := text.Columns(w, rows); err != nil {
				return err
			}
			if last != "" {
				fmt.Fprintln(w)
			}
			last = head
			fmt.Fprintln(w, head)
			rows = [][]string{{"BOARD", "ROW", "SILICON", "HEDDLE", "ERROR", "UNIT"}}
		}
		if r.Err != "" {
			rows = append(rows, []string{r.Board, r.Name, fmt.Sprintf("%.4g", r.Silicon), "failed", "-", r.Err})
			continue
		}
		rows = append(rows, []string{
			r.Board, r.Name, fmt.Sprintf("%.4g", r.NetSilicon), fmt.Sprintf("%.4g", r.NetHeddle),
			fmt.Sprintf("%+.1f %%", 100*r.Error()), r.Unit + note(r),
		})
	}
	return text.Columns(w, rows)
}

func note(r *Result) string {
	s := ""
	if r.NetSilicon != r.Silicon {
		s = fmt.Sprintf(", with launches %+.0f %%", 100*(r.Heddle/r.Silicon-1))
	}
	if r.Soft != "" {
		s += " (not scored: " + r.Soft + ")"
	}
	return s
}

// Summary prints scores and the last line.
func Summary(w io.Writer, scores []Score) error {
	table := [][]string{{"GROUP", "MACHINE", "ROWS", "TYPICAL", "WANTED", "BIAS", "WORST"}}
	for i := range scores {
		s := &scores[i]
		worst := "-"
		if s.Worst != nil {
			worst = fmt.Sprintf("%+.0f %% %s", 100*s.Worst.Error(), s.Worst.Name)
		}
		rows := fmt.Sprint(s.Rows)
		if s.Failed > 0 {
			rows += fmt.Sprintf(" and %d failed", s.Failed)
		}
		table = append(table, []string{
			s.Group, s.Machine, rows, fmt.Sprintf("%.1f %%", 100*s.Typical), fmt.Sprintf("%g %%", s.Wanted),
			fmt.Sprintf("%.2f x", s.Bias), worst,
		})
	}
	if err := text.Columns(w, table); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, text.Folded(LastLine(scores), 2, text.Width))
	return err
}

// LastLine sums groups up.
func LastLine(scores []Score) string {
	var parts []string
	for _, g := range Groups() {
		var some []Score
		for _, s := range scores {
			if s.Group == g {
				some = append(some, s)
			}
		}
		if len(some) == 0 {
			continue
		}
		sum := Together(some)
		part := fmt.Sprintf("%s %.1f %% (%d rows", g, 100*sum.Typical, sum.Rows)
		if sum.Failed > 0 {
			part += fmt.Sprintf(", %d failed", sum.Failed)
		}
		parts = append(parts, part+")")
	}
	return "silicon: " + strings.Join(parts, ", ")
}

// CSV writes results as a table.
func CSV(w io.Writer, results []Result) error {
	c := csv.NewWriter(w)
	rows := [][]string{{
		"group", "machine", "board", "row", "unit", "silicon", "heddle", "net_silicon", "net_heddle", "error_percent",
		"not_scored", "failed", "source",
	}}
	for i := range results {
		r := &results[i]
		line := []string{
			r.Group, r.Machine, r.Board, r.Name, r.Unit, num(r.Silicon), "", "", "", "", r.Soft, r.Err,
			r.Source,
		}
		if r.Err == "" {
			line[6], line[7], line[8] = num(r.Heddle), num(r.NetSilicon), num(r.NetHeddle)
			line[9] = fmt.Sprintf("%.2f", 100*r.Error())
		}
		rows = append(rows, line)
	}
	return c.WriteAll(rows)
}

func num(v float64) string { return fmt.Sprintf("%.6g", v) }
