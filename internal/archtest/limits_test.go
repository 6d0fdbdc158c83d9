package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

const columnLimit = 120 // a tab counts four

// TestColumns: what is wider than a window is not read. Text of another language in a raw
// string is as wide as it is there.
func TestColumns(t *testing.T) {
	for _, s := range sources(t) {
		if s.gen {
			continue
		}
		raw := rawLines(s)
		for i, line := range strings.Split(s.text, "\n") {
			n := len([]rune(line)) + 3*strings.Count(line, "\t")
			if n > columnLimit && !raw[i+1] && !strings.HasPrefix(line, "//go:") {
				t.Errorf("%s:%d has %d columns, at most %d", s.path, i+1, n, columnLimit)
			}
		}
	}
}

// rawLines are the lines on which a raw string begins, goes on or ends.
func rawLines(s *source) map[int]bool {
	raw := map[int]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, "`") {
			for line := s.line(lit.Pos()); line <= s.line(lit.End()); line++ {
				raw[line] = true
			}
		}
		return true
	})
	return raw
}
