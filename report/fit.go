package report

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/heddle-sim/heddle/internal/text"
)

// columns is the greatest width of a table of a run on the terminal.
const columns = text.Width

// least is the width of the names in the first column that stays before other columns are given up.
const least = 24

// fit makes a table fit: it leaves out columns, in the order of expendable, and returns their names. If that is not
// enough, or would take columns for the sake of long names, names are cut. A table has an indent and gaps of two.
func fit(rows [][]string, expendable []string) (fitting [][]string, left []string) {
	head := rows[0]
	keep := make([]bool, len(head))
	widths := make([]int, len(head))
	for i := range head {
		keep[i] = true
	}
	for _, r := range rows {
		for i, c := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	others := func() int { // columns that the table needs without the names
		sum := 2
		for i := 1; i < len(widths); i++ {
			if keep[i] {
				sum += widths[i] + 2
			}
		}
		return sum
	}
	for _, name := range expendable {
		i := slices.Index(head, name)
		if i > 0 && others()+min(widths[0], least) > columns {
			keep[i] = false
			left = append(left, name)
		}
	}
	for _, r := range rows {
		row := []string{cut(r[0], max(columns-others(), 8))}
		for i := 1; i < len(r); i++ {
			if keep[i] {
				row = append(row, r[i])
			}
		}
		fitting = append(fitting, row)
	}
	return fitting, left
}

// cut leaves out the middle of a name that is too long: instances of a template differ at the end.
func cut(name string, most int) string {
	runes := []rune(name)
	if len(runes) <= most {
		return name
	}
	front := (most - 1) / 2
	return string(runes[:front]) + "…" + string(runes[len(runes)-(most-1-front):])
}

// fitted writes a table that fits, or with wide all of it.
func (p *printer) fitted(rows [][]string, expendable []string) {
	if !p.wide {
		var left []string
		rows, left = fit(rows, expendable)
		for _, name := range left {
			if !slices.Contains(p.left, name) {
				p.left = append(p.left, name)
			}
		}
	}
	p.table(rows)
}

// leftOut says which columns did not fit.
func (p *printer) leftOut() {
	if len(p.left) > 0 {
		p.f("columns left out: %s (--wide shows them)\n", strings.Join(p.left, ", "))
	}
}
