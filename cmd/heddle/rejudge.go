package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/heddle-sim/heddle/paper"
)

// rejudge compares the claims with the kept numbers.
func (f *reproduceFlags) rejudge(w io.Writer, c *chosen, scale *paper.Scale) error {
	home, out := f.folders(c, scale)
	book, err := paper.NewBook(c.study, scale, nil, f.apps, nil)
	if err != nil {
		return err
	}
	figures, _ := c.study.At(scale, c.figures)
	kept, err := paper.Kept(out, figures)
	if err != nil {
		return err
	}
	if err := paper.Rejudge(book, out, kept); err != nil {
		return err
	}
	earlier, err := book.Earlier(kept)
	if err != nil {
		return err
	}
	for _, line := range earlier {
		fmt.Fprintln(w, line)
	}
	for _, r := range kept {
		if err := book.Show(w, r); err != nil {
			return err
		}
	}
	if f.report {
		return book.WriteReport(filepath.Join(home, "REPRODUCTION.md"), out, kept)
	}
	return nil
}
