package paper

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/report/measures"
)

// Kept reads the figures that Write has left in a folder: their data and numbers, without the drawing. Claims can be
// judged again by them without a simulation. A figure that is missing, or was counted by other models than the study
// names today, has no numbers. Figures may come from several simulators, as a study of many hours is measured figure by
// figure: the report says which figure is from which.
func Kept(dir string, figures []*Figure) (out []*Reproduced, err error) {
	found := 0
	for _, f := range figures {
		r := &Reproduced{Figure: f, Measures: map[string]Measure{}, failed: map[string]int{}}
		out = append(out, r)
		rows, kept, err := left(filepath.Join(dir, f.Name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, err
		case !slices.Equal(kept.Models, f.Models): // counted by other models: the claims are not about it
			continue
		}
		found++
		r.Columns, r.Rows, r.Problems = rows[0], rows[1:], kept.Problems
		r.Measures, r.Second = kept.Measures, kept.Second
		r.Asked, r.Missing, r.Simulators, r.was = kept.Runs, kept.Missing, kept.Ran, kept
	}
	if found == 0 {
		return nil, fmt.Errorf("%s has none of the figures: simulate them once without --rejudge", dir)
	}
	return out, nil
}

// simulator is the hash of the simulator that measured the figure; empty if nothing did.
func (b *Book) simulator(r *Reproduced) string {
	switch {
	case r.was != nil:
		return r.was.Simulator
	case len(r.Measures) > 0:
		return b.Code
	}
	return ""
}

// simulators says by which simulators the figures were measured: nothing if that is not known.
func (b *Book) simulators(done []*Reproduced) string {
	var codes []string
	figures := map[string][]string{}
	for _, r := range done {
		if code := b.simulator(r); code != "" {
			if figures[code] == nil {
				codes = append(codes, code)
			}
			figures[code] = append(figures[code], r.Figure.Name)
		}
	}
	if len(codes) == 0 {
		return ""
	}
	slices.SortStableFunc(codes, func(x, y string) int { return cmp.Compare(len(figures[x]), len(figures[y])) })
	last := len(codes) - 1
	if last == 0 {
		return fmt.Sprintf("Simulator %.12s (hash of its sources).\n\n", codes[0])
	}
	var parts []string
	for _, code := range codes[:last] {
		parts = append(parts, fmt.Sprintf("%.12s measured %s", code, strings.Join(figures[code], ", ")))
	}
	return fmt.Sprintf("The study was measured figure by figure, by several simulators (hashes of their sources): %s; "+
		"%.12s measured the other figures.\n\n", strings.Join(parts, "; "), codes[last])
}

// Rejudge judges the claims of the figures in a folder again, and writes them. It draws nothing.
func Rejudge(b *Book, dir string, kept []*Reproduced) error {
	for _, r := range kept {
		if len(r.Columns) == 0 {
			continue // it is not kept
		}
		if err := b.writeMeasures(filepath.Join(dir, r.Figure.Name+measures.Suffix), r); err != nil {
			return err
		}
	}
	return nil
}

// Earlier says which kept figures were measured under other conditions than the study's of today: a line for each
// group of figures with the same differences, none where all agree.
func (b *Book) Earlier(done []*Reproduced) (lines []string, err error) {
	figures := map[string][]string{}
	for _, r := range done {
		if r.was == nil {
			continue
		}
		own, err := b.on(r.Figure.Machine, r.Figure.Set)
		if err != nil {
			return nil, err
		}
		changes := strings.Join(b.differs(r.was, own.Study.Machine, own.set), ", ")
		if changes != "" && figures[changes] == nil {
			lines = append(lines, changes)
		}
		figures[changes] = append(figures[changes], r.Figure.Name)
	}
	for i, changes := range lines {
		lines[i] = fmt.Sprintf("Figures measured with an earlier form of the study: %s. Since then: %s.",
			strings.Join(figures[changes], ", "), changes)
	}
	return lines, nil
}

// differs compares the conditions of a kept figure with a machine, its settings and the scale.
func (b *Book) differs(was *measures.File, machine string, set map[string]string) (out []string) {
	compare := func(what, then, now string) {
		if then != now {
			out = append(out, fmt.Sprintf("%s was %s and is now %s", what, then, now))
		}
	}
	compare("the machine", was.Machine, machine)
	keys := maps.Clone(was.Set)
	maps.Copy(keys, set)
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		compare(k, cmp.Or(was.Set[k], "as in the sheet"), cmp.Or(set[k], "as in the sheet"))
	}
	compare("the length in cycles", fmt.Sprint(was.Budget), fmt.Sprint(b.Scale.Budget))
	compare("the period in cycles", fmt.Sprint(was.Period), fmt.Sprint(b.Scale.Period))
	return out
}
