package report

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Lines that are too wide go on, indented, in the next line, and lose no word.
func TestLines(t *testing.T) {
	word := strings.Repeat("x", 130)
	for _, text := range []string{
		"short\n", "  short\n\n", "warning: " + strings.Repeat("seven up ", 40) + "\n",
		"  link: " + strings.Repeat("é ", 90) + "\nnext\n", "    " + word + " after\n",
	} {
		got := lines(text, columns)
		for i, line := range strings.Split(got, "\n") {
			if n := utf8.RuneCountInString(line); n > columns {
				t.Errorf("line %d of %q has %d columns: %q", i, text, n, line)
			}
		}
		join := func(s string) string { return strings.ReplaceAll(strings.Join(strings.Fields(s), ""), " ", "") }
		if join(got) != join(text) {
			t.Errorf("%q became %q", text, got)
		}
	}
	want := "  a " + strings.Repeat("b", 95) + "\n    c\n"
	if got := lines("  a "+strings.Repeat("b", 95)+" c\n", columns); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	list := "energy " + strings.Repeat("x", 80) + ": SM 1 mJ, DRAM 70.2 uJ\n"
	want = "energy " + strings.Repeat("x", 80) + ": SM 1 mJ,\n  DRAM 70.2 uJ\n"
	if got := lines(list, columns); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
