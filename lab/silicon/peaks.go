package silicon

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/heddle-sim/heddle/internal/text"
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
	rows := [][]string{{"PEAK", "MODELLED", "REACHED", "SHARE", "PUBLISHED", "UNIT"}}
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	for _, p := range peaks {
		reached, share, published := "-", "-", "-"
		if r := p.Result; r != nil {
			published = short(r.Silicon)
			if r.Err == "" {
				reached, share = short(r.Heddle), fmt.Sprintf("%.1f %%", 100*r.Heddle/p.Value)
			}
		}
		rows = append(rows, []string{p.Name, short(p.Value), reached, share, published, p.Unit})
	}
	if err := text.Columns(w, rows); err != nil {
		return err
	}
	fmt.Fprintln(w, "\n"+text.Folded("Modelled: what the sheet's numbers allow. Reached: by a kernel of lab/silicon "+
		"on this sheet. Share: reached over modelled.", 0, text.Width))
	if !slices.ContainsFunc(peaks, func(p Peak) bool { return p.Result != nil }) {
		fmt.Fprintln(w, "No board of this machine is in lab/silicon/peaks.csv, so nothing was run.")
		return nil
	}
	fmt.Fprintln(w, "Published figures are from:")
	for _, p := range peaks {
		if r := p.Result; r != nil {
			fmt.Fprintf(w, "  %s\n", text.Folded(p.Name+": "+r.Source, 4, text.Width-2))
			if r.Err != "" {
				fmt.Fprintf(w, "    %s\n", text.Folded("not reached: "+r.Err, 6, text.Width-4))
			}
		}
	}
	return nil
}
