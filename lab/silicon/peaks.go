package silicon

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/sheets"
)

// Peak is a limit of a machine: as its sheet sets it, as a kernel reaches it on the sheet, and as it is published for
// the board.
type Peak struct {
	sheets.Peak
	Result *Result // nil: no kernel tries to reach it, and no published figure is known
}

// OpenPeaks reads the published limits of boards, in the form of measurements.
func OpenPeaks(dir string) (*Set, error) { return open(dir, "peaks.csv") }

// Peaks are the limits of a machine. The set's rows of the machine are simulated, which takes seconds.
func (s *Set) Peaks(ctx context.Context, m *sheets.Machine, o Options) ([]Peak, error) {
	var rows []*Row
	for _, r := range s.Rows {
		if s.Boards[r.Board].Machine == m.Name {
			rows = append(rows, r)
		}
	}
	results, err := s.Measure(ctx, rows, o)
	if err != nil {
		return nil, err
	}
	of := map[string]*Result{}
	for i := range results {
		of[results[i].Name] = &results[i]
	}
	var out []Peak
	for _, p := range m.Peaks() {
		out = append(out, Peak{p, of[p.Name]})
	}
	return out, nil
}

// PeaksText prints the limits of a machine and the sources of the published figures.
func PeaksText(w io.Writer, peaks []Peak) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "PEAK\tMODELLED\tREACHED\tSHARE\tPUBLISHED\tUNIT")
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	for _, p := range peaks {
		reached, share, published := "-", "-", "-"
		if r := p.Result; r != nil {
			published = short(r.Silicon)
			if r.Err == "" {
				reached, share = short(r.Heddle), fmt.Sprintf("%.1f %%", 100*r.Heddle/p.Value)
			}
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", p.Name, short(p.Value), reached, share, published, p.Unit)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w, "\nModelled: what the sheet's numbers allow. Reached: by a kernel of lab/silicon on this sheet. "+
		"Share: reached over modelled.")
	if !slices.ContainsFunc(peaks, func(p Peak) bool { return p.Result != nil }) {
		fmt.Fprintln(w, "No board of this machine is in lab/silicon/peaks.csv, so nothing was run.")
		return nil
	}
	fmt.Fprintln(w, "Published figures are from:")
	for _, p := range peaks {
		if r := p.Result; r != nil {
			fmt.Fprintf(w, "  %s: %s\n", p.Name, r.Source)
			if r.Err != "" {
				fmt.Fprintf(w, "    not reached: %s\n", r.Err)
			}
		}
	}
	return nil
}
