package text

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestColumns: cells are folded at spaces, and at any letter where a word is too long; nothing is lost.
func TestColumns(t *testing.T) {
	long := strings.Repeat("word ", 40)
	path := strings.Repeat("x", 150)
	var out bytes.Buffer
	rows := [][]string{{"NAME", "VALUE", "MEANING"}, {"a", "1", long + "end"}, {"b", path, long}}
	if err := Columns(&out, rows); err != nil {
		t.Fatal(err)
	}
	fits(t, out.String())
	for what, want := range map[string]int{"word": 80, "end": 1, "x": 150} {
		if got := strings.Count(out.String(), what); got != want {
			t.Errorf("%d of %q, want %d:\n%s", got, what, want, out.String())
		}
	}
	out.Reset()
	rows = [][]string{{"A", "B"}, {"über", "one two"}}
	if err := Columns(&out, rows); err != nil || out.String() != "A     B\nüber  one two\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestParts: a table of more columns than fit is written in parts, each with the first column.
func TestParts(t *testing.T) {
	rows := [][]string{{"name"}, {"first"}, {"second of a long name"}}
	for k := range 25 {
		rows[0] = append(rows[0], fmt.Sprintf("column %d", k))
		rows[1] = append(rows[1], fmt.Sprintf("value%d", k))
	}
	var out bytes.Buffer
	if err := Table(&out, "  ", rows); err != nil {
		t.Fatal(err)
	}
	fits(t, out.String())
	n := strings.Count(out.String(), "\n\n") + 1
	if n < 3 || strings.Count(out.String(), "  first ") != n || strings.Count(out.String(), "  name ") != n {
		t.Errorf("%d parts:\n%s", n, out.String())
	}
	for k := range 25 {
		if strings.Count(strings.Join(strings.Fields(out.String()), " ")+" ", fmt.Sprintf(" value%d ", k)) != 1 {
			t.Errorf("value%d is not there once:\n%s", k, out.String())
		}
	}
}

// fits fails at a line of more than Width columns.
func fits(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > Width {
			t.Errorf("too wide: %s", line)
		}
	}
}
