// Package text lays words out for a terminal: Fold breaks lines, Columns writes tables.
package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Width is the columns that a line of what a command prints has at most.
const Width = 100

// longWord is how long a word can be that a column is widened for, so that it stays whole, and shortWord how long one
// that stays whole in any case.
const (
	longWord  = 40
	shortWord = 16
)

// Columns writes rows aligned to the left. Where they need more than Width columns, the widest cells are folded at
// their spaces into several lines. What is too wide even then is written in parts, each beginning with the first
// column.
func Columns(w io.Writer, rows [][]string) error { return Table(w, "", rows) }

// Table is Columns with an indent.
func Table(w io.Writer, indent string, rows [][]string) error {
	var cells []cell
	for _, r := range rows {
		for i, c := range r {
			if i == len(cells) {
				cells = append(cells, cell{})
			}
			cells[i].grow(c)
		}
	}
	for n, part := range parts(cells, Width-len(indent)) {
		if n > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		of := make([]cell, len(part))
		for k, i := range part {
			of[k] = cells[i]
		}
		widths := narrow(of, Width-len(indent)-2*(len(part)-1))
		for _, r := range rows {
			row := make([]string, 0, len(part))
			for _, i := range part {
				if i < len(r) {
					row = append(row, r[i])
				}
			}
			if err := writeRow(w, indent, row, widths); err != nil {
				return err
			}
		}
	}
	return nil
}

// cell is what is known of a column: the longest cell, the longest word that stays whole while it can, and the least
// width.
type cell struct{ width, word, least int }

// grow notes a cell of the column.
func (x *cell) grow(text string) {
	x.width = max(x.width, utf8.RuneCountInString(text))
	for _, word := range strings.Fields(text) {
		if n := utf8.RuneCountInString(word); n <= longWord {
			x.word = max(x.word, n)
		}
	}
	x.least = min(x.width, max(min(x.word, shortWord), 8))
}

// parts divides columns, by number, into tables that fit.
func parts(cells []cell, fit int) (of [][]int) {
	var part []int
	sum := 0
	for i, c := range cells {
		if len(part) > 1 && sum+2+c.least > fit {
			of = append(of, part)
			part, sum = []int{0}, cells[0].least
		}
		if len(part) > 0 {
			sum += 2
		}
		part, sum = append(part, i), sum+c.least
	}
	return append(of, part)
}

// narrow takes from the widest column what makes all of them fit, but lets each have its longest word while it can.
func narrow(cells []cell, fit int) (widths []int) {
	sum := 0
	for _, c := range cells {
		widths = append(widths, c.width)
		sum += c.width
	}
	for _, least := range []func(c cell) int{
		func(c cell) int { return max(c.word, 8) }, func(c cell) int { return c.least },
		func(cell) int { return 8 },
	} {
		for sum > fit {
			widest := -1
			for i, w := range widths {
				if w > least(cells[i]) && (widest < 0 || w > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
			sum--
		}
	}
	return widths
}

// writeRow writes the cells of a row, each in as many lines as its column's width needs.
func writeRow(w io.Writer, indent string, row []string, widths []int) error {
	cells := make([][]string, len(row))
	lines := 1
	for i, c := range row {
		cells[i] = Fold(c, widths[i], widths[i])
		lines = max(lines, len(cells[i]))
	}
	for k := range lines {
		var line strings.Builder
		line.WriteString(indent)
		for i, c := range cells {
			part := ""
			if k < len(c) {
				part = c[k]
			}
			line.WriteString(part + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(part)+2))
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}
