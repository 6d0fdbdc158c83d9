package paper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Kept is figures as Write left them in a folder, with their numbers and without what draws them; those that are not
// there, or of other models, have no numbers. Claims can be held against them anew without a simulation. code is the
// simulator they are of.
func Kept(dir string, figures []*Figure) (out []*Reproduced, code string, err error) {
	found := 0
	for _, f := range figures {
		r := &Reproduced{Figure: f, Measures: map[string]Measure{}, failed: map[string]int{}}
		name := filepath.Join(dir, f.Name)
		rows, of, err := left(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out = append(out, r)
			continue
		case err != nil:
			return nil, "", err
		}
		text, err := os.ReadFile(name + ".json")
		if err != nil {
			return nil, "", err
		}
		var kept struct {
			Models   []string           `json:"models"`
			Measures map[string]Measure `json:"measures"`
			Second   map[string]Measure `json:"measures_of_second_model"`
			Problems []string           `json:"problems"`
		}
		if err := json.Unmarshal(text, &kept); err != nil {
			return nil, "", fmt.Errorf("%s.json: %w", name, err)
		}
		if !slices.Equal(kept.Models, f.Models) { // counted otherwise: not what the claims are of
			out = append(out, r)
			continue
		}
		if found++; code != "" && of != code {
			return nil, "", fmt.Errorf("%s.json comes from simulator %.12s, other figures there from %.12s: simulate "+
				"them anew with one", name, of, code)
		}
		code = of
		r.Columns, r.Rows, r.Problems, r.Second = rows[0], rows[1:], kept.Problems, kept.Second
		if kept.Measures != nil {
			r.Measures = kept.Measures
		}
		out = append(out, r)
	}
	if found == 0 {
		return nil, "", fmt.Errorf("%s has none of the figures: simulate them once without --rejudge", dir)
	}
	return out, code, nil
}

// Rejudge writes the claims of figures that are kept in a folder anew. It draws nothing.
func Rejudge(b *Book, dir string, kept []*Reproduced) error {
	for _, r := range kept {
		if len(r.Columns) == 0 {
			continue // it is not kept
		}
		name := filepath.Join(dir, r.Figure.Name+".json")
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := b.writeJSON(name, r); err != nil {
			return err
		}
	}
	return nil
}
