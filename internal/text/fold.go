package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Fold breaks text at its spaces into lines of at most `first` columns, then `rest`, and words where they are longer.
func Fold(text string, first, rest int) []string {
	if utf8.RuneCountInString(text) <= first {
		return []string{text}
	}
	var lines []string
	line, width := "", first
	end := func() { lines, line, width = append(lines, line), "", rest }
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			end()
		}
		if line != "" {
			line += " "
		}
		for runes := []rune(word); len(runes) > width; runes = []rune(word) {
			line, word = string(runes[:width]), string(runes[width:])
			end()
		}
		line += word
	}
	return append(lines, line)
}

// Folded is text in lines of at most a number of columns, all but the first indented.
func Folded(text string, indent, columns int) string {
	return strings.Join(Fold(text, columns, columns-indent), "\n"+strings.Repeat(" ", indent))
}

// Line writes a line of at most Width columns, which goes on in the next ones, indented by four more than it was.
func Line(w io.Writer, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	rest := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(rest)]
	fmt.Fprintln(w, indent+Folded(rest, len(indent)+4, Width-len(indent)))
}
