package paper

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/internal/text"
	"github.com/heddle-sim/heddle/report/measures"
)

// Write writes a figure's files into dir: NAME.csv (the data), NAME.measures.csv (measures and claims), NAME.svg and
// NAME.png. A figure without measures has no drawing: Write removes an old one, which could be mistaken for the new
// figure's.
func (b *Book) Write(dir string, r *Reproduced) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	base := filepath.Join(dir, r.Figure.Name)
	var text bytes.Buffer
	w := csv.NewWriter(&text)
	err := errors.Join(w.Write(r.Columns), w.WriteAll(r.Rows), w.Error())
	if err == nil {
		err = scratch.WriteWhole(base+".csv", text.Bytes())
	}
	if err == nil {
		err = b.writeMeasures(base+measures.Suffix, r)
	}
	if err != nil {
		return err
	}
	if len(r.Measures) == 0 {
		return errors.Join(gone(base+".svg"), gone(base+".png"))
	}
	return errors.Join(r.Draw.Write(base+".svg"), r.Draw.Write(base+".png"))
}

func gone(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// WriteReport writes the reproduction document; results is the folder of the figures.
func (b *Book) WriteReport(file, results string, done []*Reproduced) error {
	seen := results
	if rel, err := filepath.Rel(filepath.Dir(file), results); err == nil { // else it is on another volume
		seen = rel
	}
	text, err := b.Markdown(done, results, filepath.ToSlash(seen))
	if err != nil {
		return err
	}
	return scratch.WriteWhole(file, []byte(text))
}

func (b *Book) writeMeasures(file string, r *Reproduced) error {
	own, err := b.on(r.Figure.Machine, r.Figure.Set)
	if err != nil {
		return err
	}
	out := &measures.File{
		Study: b.Study.Name, Figure: r.Figure.Name, Title: r.Figure.Title, Scale: b.Scale.Name,
		Machine: own.Study.Machine, Set: own.set, Simulator: b.Code, Budget: b.Scale.Budget, Period: b.Scale.Period,
		Models: r.Figure.Models, Measures: r.Measures, Second: r.Second, Problems: r.Problems,
		Runs: r.Asked, Missing: r.Missing, Ran: r.Simulators,
	}
	if r.was != nil { // judging again changes no condition
		out.Machine, out.Set, out.Budget, out.Period = r.was.Machine, r.was.Set, r.was.Budget, r.was.Period
		out.Simulator = r.was.Simulator
	}
	for _, j := range b.Study.JudgeAt(r, b.Scale.Name) {
		c := measures.Claim{
			ID: j.Claim.ID, Text: j.Claim.Text, Expects: j.Claim.Expected(), Mixes: mixesCell(&j),
			Verdict: string(j.Verdict),
		}
		if j.Verdict != NotMeasured {
			c.Value = &j.Value.Value
		}
		out.Claims = append(out.Claims, c)
	}
	return out.Write(file)
}

// Conditions describes in a few lines the conditions of the numbers.
func (b *Book) Conditions() string {
	var s strings.Builder
	of := ""
	if !b.Scale.Whole {
		of = fmt.Sprintf(" (%.3g times a run)", float64(b.Scale.Budget)/float64(b.Scale.Period))
	}
	fmt.Fprintf(&s, "%s, scale %s: %s%s.\n", b.Study.Title, b.Scale.Name, b.Scale.Runs(), of)
	fmt.Fprintf(&s, "%s.\n", upper(b.Scale.About))
	fmt.Fprintf(&s, "Machine %s%s.\n", b.Study.Machine, settings(b.set))
	if len(b.Study.Set) > 0 {
		fmt.Fprintf(&s, "%s\n", b.Study.SetWhy)
	}
	return s.String()
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Show prints a figure's claims and the runs that failed.
func (b *Book) Show(w io.Writer, r *Reproduced) error {
	fmt.Fprintf(w, "\n%s\n", r.Figure.Title)
	head := []string{"claim", "paper", "measured"}
	titles := r.Figure.second()
	if len(titles) > 0 {
		head = append(head, titles[0])
	}
	rows := [][]string{append(head, "ratio", "mixes", "verdict")}
	for _, j := range b.Study.JudgeAt(r, b.Scale.Name) {
		row := []string{j.Claim.Text, j.Claim.Expected(), valueCell(&j)}
		if len(titles) > 0 {
			row = append(row, secondCell(&j))
		}
		rows = append(rows, append(row, ratioCell(&j), mixesCell(&j), verdictCell(&j)))
	}
	err := text.Table(w, "  ", rows)
	indented := func(line string) { fmt.Fprintf(w, "  %s\n", text.Folded(line, 4, text.Width-2)) }
	if len(rows) == 1 {
		indented("(the paper's text makes no claim about it)")
	}
	for _, line := range r.kept() {
		indented(line)
	}
	for i, p := range r.Problems {
		if i == 3 {
			indented(fmt.Sprintf("and %d other failures", len(r.Problems)-3))
			break
		}
		first, _, _ := strings.Cut(p, "\n")
		indented("failed: " + first)
	}
	return err
}

func valueCell(j *Judged) string {
	if j.Verdict == NotMeasured {
		return "-"
	}
	text := j.Claim.shown(j.Value.Value)
	if j.Turned.Name != "" {
		text += fmt.Sprintf(" (%s %+.1f %%)", j.Turned.Name, j.Turned.Value)
	}
	if len(j.Without) > 0 {
		text += fmt.Sprintf("; %.1f without %s", j.Steady.Value, strings.Join(j.Without, ", "))
	}
	if j.Slack > 0 {
		text += fmt.Sprintf(" (%d of %d runs miss it by up to %g)", j.Slack, j.Value.N, metSlack)
	}
	return text
}

// secondCell is the value under the figure's second model.
func secondCell(j *Judged) string {
	if j.Second == nil {
		return "-"
	}
	return j.Claim.shown(j.Second.Value)
}

func ratioCell(j *Judged) string {
	if math.IsNaN(j.Ratio) {
		return "-"
	}
	return fmt.Sprintf("%.2f", j.Ratio)
}

// mixesCell says how many mixes a value covers. If they are fewer than the paper's, it also gives the paper's number
// and the spread of the mixes.
func mixesCell(j *Judged) string {
	switch {
	case j.Verdict == NotMeasured || j.Value.Of <= 1:
		return "-"
	case j.Mixes > j.Value.N && j.Most > j.Least:
		return fmt.Sprintf("%d of the paper's %d, from %.1f to %s", j.Value.N, j.Mixes, j.Least,
			j.Claim.shown(j.Most))
	case j.Mixes > j.Value.N:
		return fmt.Sprintf("%d of the paper's %d", j.Value.N, j.Mixes)
	case j.Value.N < j.Value.Of:
		return fmt.Sprintf("%d of %d", j.Value.N, j.Value.Of)
	}
	return fmt.Sprint(j.Value.N)
}
