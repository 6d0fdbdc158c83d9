package report

import (
	"strings"
	"unicode/utf8"

	"github.com/heddle-sim/heddle/internal/text"
)

// glue stands for a space at which a line is not broken.
const glue = "\ue000"

// short is how long a part between commas can be that stays in one line.
const short = 30

// lines is text whose lines have at most a number of columns. The rest of a longer line is in the next line, indented
// by two more. Short parts between commas, as "DRAM 70.2 uJ", stay whole.
func lines(all string, columns int) string {
	each := strings.Split(all, "\n")
	for i, line := range each {
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
		folded := text.Folded(strings.Join(parts, ", "), indent+2, columns-indent)
		each[i] = line[:indent] + strings.ReplaceAll(folded, glue, " ")
	}
	return strings.Join(each, "\n")
}
