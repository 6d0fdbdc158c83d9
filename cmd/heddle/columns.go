package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/heddle-sim/heddle/report"
)

// longWord is how long a word can be that a column is widened for, so that it stays whole.
const longWord = 40

// columns writes rows aligned to the left. Where they need more than `wide` columns, the widest cells are folded at
// their spaces into several lines.
func columns(w io.Writer, rows [][]string) error {
	var widths, words []int // of each column: its longest cell, and its longest word
	for _, r := range rows {
		for i, c := range r {
			if i == len(widths) {
				widths, words = append(widths, 0), append(words, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
			for _, word := range strings.Fields(c) {
				if n := utf8.RuneCountInString(word); n <= longWord {
					words[i] = max(words[i], n)
				}
			}
		}
	}
	narrow(widths, words, wide-2*(len(widths)-1))
	for _, r := range rows {
		if err := writeRow(w, r, widths); err != nil {
			return err
		}
	}
	return nil
}

// narrow takes from the widest column what makes all of them fit, but lets each have its longest word while it can.
func narrow(widths, words []int, fit int) {
	sum := 0
	for _, w := range widths {
		sum += w
	}
	for _, least := range [][]int{words, make([]int, len(words))} {
		for sum > fit {
			widest := -1
			for i, w := range widths {
				if w > max(least[i], 8) && (widest < 0 || w > widths[widest]) {
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
}

// writeRow writes the cells of a row, each in as many lines as its column's width needs.
func writeRow(w io.Writer, row []string, widths []int) error {
	cells := make([][]string, len(row))
	lines := 1
	for i, c := range row {
		cells[i] = report.Fold(c, widths[i], widths[i])
		lines = max(lines, len(cells[i]))
	}
	for k := range lines {
		var line strings.Builder
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
