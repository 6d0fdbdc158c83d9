package archtest

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	columnLimit = 120 // a tab counts four
	fieldLimit  = 30
	methodLimit = 50
)

// records may have any number of fields: nobody holds one in mind whole. The reason
// stands beside each.
var records = map[string]string{
	"machine/dram/probe.Result": "a row of the reference table, a field for each of its columns",
	"sheets.SM":                 "a section of a machine sheet, a field for each of its keys",
	"sim.Tenant":                "a row of the result, a field for each number of an application",
	"trace/accelsim.Trace":      "what is known of a recorded kernel, with the header its file begins with",
}

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

// shape is what TestShapes knows of a type.
type shape struct {
	at       string
	fields   int
	methods  int
	embedded []string // keys of types in it
}

// TestShapes: a type that needs more fields or methods is several ideas. Those of
// embedded types count: whoever reads a method may meet them all.
func TestShapes(t *testing.T) {
	types := shapes(sources(t))
	used := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(types)) {
		f, m := count(types, key, map[string]bool{})
		at, why := types[key].at, records[key]
		if why != "" && f > fieldLimit {
			used[key] = true
		} else if f > fieldLimit {
			t.Errorf("%s: %s has %d fields, at most %d: which of them change together are a type of their own",
				at, key, f, fieldLimit)
		}
		if m > methodLimit {
			t.Errorf("%s: %s has %d methods, at most %d: give the part they work on a type",
				at, key, m, methodLimit)
		}
	}
	for key := range records {
		if !used[key] {
			t.Errorf("%s is exempt without a reason or a need", key)
		}
	}
}

// shapes reads the struct types of the module, by folder and name.
func shapes(all []*source) map[string]*shape {
	types := map[string]*shape{}
	get := func(key string) *shape {
		if types[key] == nil {
			types[key] = &shape{}
		}
		return types[key]
	}
	for _, s := range all {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok {
						if st, ok := ts.Type.(*ast.StructType); ok {
							x := get(s.dir + "." + ts.Name.Name)
							x.at = fmt.Sprintf("%s:%d", s.path, s.line(ts.Pos()))
							x.read(s, st)
						}
					}
				}
			case *ast.FuncDecl:
				if d.Recv != nil {
					if name := typeName(d.Recv.List[0].Type); name != "" {
						get(s.dir+"."+name).methods++
					}
				}
			}
		}
	}
	return types
}

func (x *shape) read(s *source, st *ast.StructType) {
	for _, f := range st.Fields.List {
		if len(f.Names) > 0 {
			for _, n := range f.Names {
				if n.Name != "_" {
					x.fields++
				}
			}
			continue
		}
		x.fields++
		if key := embeddedKey(s, f.Type); key != "" {
			x.embedded = append(x.embedded, key)
		}
	}
}

// count adds what embedded types bring along.
func count(types map[string]*shape, key string, seen map[string]bool) (fields, methods int) {
	x := types[key]
	if x == nil || seen[key] {
		return 0, 0
	}
	seen[key] = true
	fields, methods = x.fields, x.methods
	for _, e := range x.embedded {
		f, m := count(types, e, seen)
		fields, methods = fields+f, methods+m
	}
	return fields, methods
}

// typeName is the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return typeName(x.X)
	case *ast.IndexExpr:
		return typeName(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}

// embeddedKey is the key of an embedded type of the module; empty for others.
func embeddedKey(s *source, e ast.Expr) string {
	switch x := e.(type) {
	case *ast.StarExpr:
		return embeddedKey(s, x.X)
	case *ast.Ident:
		return s.dir + "." + x.Name
	case *ast.SelectorExpr:
		pkg, ok := x.X.(*ast.Ident)
		if !ok {
			return ""
		}
		for _, imp := range s.file.Imports {
			p, err := strconv.Unquote(imp.Path.Value)
			dir, in := strings.CutPrefix(p, module+"/")
			named := imp.Name != nil && imp.Name.Name == pkg.Name || path.Base(dir) == pkg.Name
			if err == nil && in && named {
				return dir + "." + x.Sel.Name
			}
		}
	}
	return ""
}
