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

// TestMethods: what works on one value of a type of its package is a method of it, which a reader finds beside the
// others. Where a type has too many the part they work on is a type of its own; a function that takes it hides that.
func TestMethods(t *testing.T) {
	all := sources(t)
	has := map[string]bool{} // types with methods, by folder and name
	for _, s := range all {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && !s.test {
				has[s.dir+"."+pointsTo(f.Recv.List[0].Type)] = true
			}
		}
	}
	for _, s := range all {
		if s.test || s.dir != "machine" && !strings.HasPrefix(s.dir, "machine/") {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || makes(f) || len(f.Type.Params.List) == 0 {
				continue
			}
			if to := pointsTo(f.Type.Params.List[0].Type); to != "" && has[s.dir+"."+to] {
				t.Errorf("%s:%d: function %s takes a *%s: make it a method of %[4]s, or of the part of it that it "+
					"works on", s.path, s.line(f.Pos()), f.Name.Name, to)
			}
		}
	}
}

// makes says that a function is a constructor: it gives a value of its package.
func makes(f *ast.FuncDecl) bool {
	if f.Type.Results == nil {
		return false
	}
	first := f.Type.Results.List[0].Type
	id, ok := first.(*ast.Ident)
	return ok && id.IsExported() || pointsTo(first) != ""
}

// pointsTo is the name of the type that a pointer to a type of its own package points to; empty for others.
func pointsTo(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		if id, ok := star.X.(*ast.Ident); ok {
			return id.Name
		}
	}
	return ""
}
