package report

import (
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

// glue stands for a space at which a line is not broken.
const glue = "\ue000"

// short is how long a part between commas can be that stays in one line.
const short = 30

// lines is text whose lines have at most a number of columns. The rest of a longer line is in the next line, indented
// by two more. Short parts between commas, as "DRAM 70.2 uJ", stay whole.
func lines(text string, columns int) string {
	all := strings.Split(text, "\n")
	for i, line := range all {
		if utf8.RuneCountInString(line) <= columns {
			continue
		}
		rest := strings.TrimLeft(line, " ")
		indent := len(line) - len(rest)
		parts := strings.Split(rest, ", ")
		for k, part := range parts {
			if utf8.RuneCountInString(part) <= short {
				parts[k] = strings.ReplaceAll(part, " ", glue)
			}
		}
		folded := Folded(strings.Join(parts, ", "), indent+2, columns-indent)
		all[i] = line[:indent] + strings.ReplaceAll(folded, glue, " ")
	}
	return strings.Join(all, "\n")
}
