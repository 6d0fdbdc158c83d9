package archtest

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// graph is which named types of a package the fields of each struct hold, pointed to or by value. A function is no such
// field: who registers one is called and known by nobody.
func graph(all []*source, dir string) (holds map[string][]string) {
	types := map[string]ast.Expr{}
	for _, s := range all {
		if s.dir != dir || s.test {
			continue
		}
		for _, d := range s.file.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, x := range g.Specs {
					if x, ok := x.(*ast.TypeSpec); ok {
						types[x.Name.Name] = x.Type
					}
				}
			}
		}
	}
	holds = map[string][]string{}
	for name, x := range types {
		ast.Inspect(x, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncType, *ast.InterfaceType, *ast.SelectorExpr:
				return false
			case *ast.Field:
				ast.Inspect(n.Type, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.FuncType, *ast.InterfaceType, *ast.SelectorExpr:
						return false
					case *ast.Ident:
						if types[n.Name] != nil && n.Name != name {
							holds[name] = append(holds[name], n.Name)
						}
					}
					return true
				})
				return false
			}
			return true
		})
		slices.Sort(holds[name])
		holds[name] = slices.Compact(holds[name])
	}
	return holds
}

// circle is a way along the edges from a type back to it; nil if there is none.
func circle(holds map[string][]string, from string) []string {
	seen := map[string]bool{}
	var walk func(at string, way []string) []string
	walk = func(at string, way []string) []string {
		for _, to := range holds[at] {
			if to == from {
				return append(way, at, to)
			}
			if !seen[to] {
				seen[to] = true
				if found := walk(to, append(slices.Clone(way), at)); found != nil {
					return found
				}
			}
		}
		return nil
	}
	return walk(from, nil)
}

// TestNoCircles: in the packages that join the machine, what a type needs lies below it, so that it can be read and
// tested with that alone. What is above registers a function.
func TestNoCircles(t *testing.T) {
	all := sources(t)
	for _, p := range parts {
		holds := graph(all, "machine/"+p)
		if len(holds) == 0 {
			t.Errorf("machine/%s has no types: the rule would hold for nothing", p)
		}
		said := map[string]bool{}
		for _, name := range slices.Sorted(maps.Keys(holds)) {
			if way := circle(holds, name); way != nil && !said[name] {
				for _, x := range way {
					said[x] = true
				}
				t.Errorf("machine/%s: %s: types hold each other; give the lower one a function, or a type of its own "+
					"for what both need", p, strings.Join(way, " -> "))
			}
		}
	}
}
