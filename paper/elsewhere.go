package paper

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/report/measures"
)

// A figure may have a scale of its own, so that a report can show a few runs of another length beside
// its figures. It is measured at that scale alone, and reports of other scales quote the files in that
// scale's folder.

// At divides figures into those measured at a scale and those measured at another one alone.
func (s *Study) At(scale *Scale, figures []*Figure) (here, elsewhere []*Figure) {
	for _, f := range figures {
		if f.Scale == "" || f.Scale == scale.Name {
			here = append(here, f)
		} else {
			elsewhere = append(elsewhere, f)
		}
	}
	return here, elsewhere
}

// quote shows the study's figures of other scales. dir is the folder of this scale's figures,
// results the same as seen from the document.
func (b *Book) quote(dir, results string) (string, error) {
	var s strings.Builder
	var all []*Figure
	for i := range b.Study.Figures {
		all = append(all, &b.Study.Figures[i])
	}
	_, elsewhere := b.Study.At(b.Scale, all)
	for _, f := range elsewhere {
		scale, err := b.Study.Scale(f.Scale)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&s, "## %s\n\n", f.Title)
		name := filepath.Join(filepath.Dir(dir), f.Scale, f.Name)
		rows, kept, err := left(name)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(&s, "Not measured yet. `heddle reproduce %[2]s/%[3]s --scale %[1]s` measures it.\n\n", f.Scale,
				b.Study.Name, f.Name)
			continue
		}
		if err != nil {
			return "", err
		}
		at := path.Join(path.Dir(results), f.Scale, f.Name)
		fmt.Fprintf(&s, "Measured at scale %s: %s. Simulator %.12s.\n\n", f.Scale, scale.Runs(), kept.Simulator)
		fmt.Fprintf(&s, "![%s](%s.svg)\n\n", f.Name, at)
		fmt.Fprintf(&s, "[data](%s.csv), [measures](%[1]s%[2]s)\n\n", at, measures.Suffix)
		table(&s, rows[0], rows[1:])
		fmt.Fprintln(&s)
	}
	return s.String(), nil
}

// left reads the files of a figure that Write has written: its data, titles first, and its measures.
func left(name string) (rows [][]string, kept *measures.File, err error) {
	if kept, err = measures.Read(name + measures.Suffix); err != nil {
		return nil, nil, err
	}
	f, err := os.Open(name + ".csv")
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if rows, err = csv.NewReader(f).ReadAll(); err == nil && len(rows) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s.csv: %w", name, err)
	}
	return rows, kept, nil
}
