package silicon

import (
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
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
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	last := ""
	for i := range results {
		r := &results[i]
		if head := r.Group + ", " + r.Machine; head != last {
			if last != "" {
				fmt.Fprintln(tw)
			}
			last = head
			fmt.Fprintf(tw, "%s\nBOARD\tROW\tSILICON\tHEDDLE\tERROR\tUNIT\n", head)
		}
		if r.Err != "" {
			fmt.Fprintf(tw, "%s\t%s\t%.4g\tfailed\t-\t%s\n", r.Board, r.Name, r.Silicon, r.Err)
			continue
		}
		fmt.Fprintf(tw, "%s\t%s\t%.4g\t%.4g\t%+.1f %%\t%s%s\n", r.Board, r.Name, r.NetSilicon, r.NetHeddle,
			100*r.Error(),
			r.Unit, note(r))
	}
	return tw.Flush()
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
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "GROUP\tMACHINE\tROWS\tTYPICAL\tWANTED\tBIAS\tWORST")
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
		fmt.Fprintf(tw, "%s\t%s\t%s\t%.1f %%\t%g %%\t%.2f x\t%s\n", s.Group, s.Machine, rows, 100*s.Typical, s.Wanted,
			s.Bias,
			worst)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, LastLine(scores))
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
