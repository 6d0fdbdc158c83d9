package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/control"
)

const module = "github.com/heddle-sim/heddle"

// source is one parsed Go file of the module.
type source struct {
	path string // slash-separated, from the module's root
	dir  string
	test bool
	gen  bool
	text string
	file *ast.File
	fset *token.FileSet
}

func (s *source) line(p token.Pos) int { return s.fset.Position(p).Line }

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// sources parses every Go file of the module; folders with a go.mod of their own,
// hidden ones and testdata are other worlds.
func sources(t *testing.T) (all []*source) {
	t.Helper()
	base := root(t)
	err := filepath.WalkDir(base, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, mod := os.Stat(filepath.Join(p, "go.mod"))
			if p != base && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || mod == nil) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		rel, err := filepath.Rel(base, p)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		s := &source{
			path: filepath.ToSlash(rel), test: strings.HasSuffix(p, "_test.go"), text: string(text),
			fset: token.NewFileSet(),
		}
		s.dir = path.Dir(s.path)
		if s.file, err = parser.ParseFile(s.fset, s.path, text, parser.ParseComments); err != nil {
			return err
		}
		s.gen = ast.IsGenerated(s.file)
		all = append(all, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("only %d Go files found under %s: the rules would hold for nothing", len(all), base)
	}
	return all
}

// layer ranks the top folders: a package may import lower ones, and its own
// folder. Folders of one rank above the base do not import each other (but for
// sideways): they meet in sim, which is what keeps each of them testable alone.
var layer = map[string]int{
	"unit": 0, "internal": 0,
	"mem": 1, "isa": 1, "engine": 1, "stat": 1, "sheets": 1, "apps": 1,
	"machine": 2, "control": 2, "host": 2, "ptx": 2, "trace": 2, "workload": 2, "energy": 2, "cuda": 2,
	"sim": 3,
	"lab": 4, "report": 4,
	"serve": 5, // shows what lab keeps by the pages of report
	"paper": 5,
	"cmd":   6,
}

// sideways lists the imports within one layer that are meant, with the reason.
var sideways = map[[2]string]string{
	{"host", "cuda"}:     "a compiled program brings fat binaries, and calls the driver library that cuda/shim builds",
	{"host", "ptx"}:      "a host program loads modules and looks up kernels and symbols in them",
	{"trace", "host"}:    "a recording is of a host program's operations, and its replay is a host program",
	{"workload", "host"}: "a model is a host program: it allocates, copies and launches",
}

const baseRank = 1 // packages of this rank are small vocabularies and may use each other

// check says why package from must not import package to; empty when it may. Both
// are folders from the module's root.
func check(from, to string) string {
	top := func(p string) string { return strings.SplitN(p, "/", 2)[0] }
	a, okA := layer[top(from)]
	b, okB := layer[top(to)]
	switch {
	case !okA:
		return "folder " + top(from) + " has no place in the layers: add it to archtest with a reason"
	case !okB:
		return "folder " + top(to) + " has no place in the layers: add it to archtest with a reason"
	case top(from) == "control" && top(to) == "machine":
		return "a policy sees samples and returns plans; without the machine in reach it can be replayed and tested " +
			"alone"
	case top(from) == "energy" && !slices.Contains([]string{"stat", "sheets", "unit", "energy", "internal"}, top(to)):
		return "energy is a pure function of counters and sheet constants"
	case a < b:
		return "dependency runs downward only: cmd, paper and serve, lab and report, sim, the parts, the base, unit"
	case a == b && top(from) != top(to) && a > baseRank && sideways[[2]string{top(from), top(to)}] == "":
		return "folders of one layer meet only in the layer above, so that each can be tested and replaced alone"
	case top(from) == "machine" && top(to) == "machine" && from != "machine" && component(from) != component(to):
		return checkParts(component(from), component(to))
	}
	return ""
}

// parts are the packages under machine/ that join models to a machine, lowest first: one may import those before it,
// and the models. The others under machine/ are models, of one kind of hardware each, and import no sibling.
// Package machine knows them all. So who reads a part needs to know only what is below it, and no two parts can hold
// pointers to each other's types.
var parts = []string{"timing", "interconnect", "backing", "translation", "transfer", "residency", "sharing", "stride"}

// checkParts says why one package under machine/ must not import another; empty when it may.
func checkParts(from, to string) string {
	a, b := slices.Index(parts, from), slices.Index(parts, to)
	switch {
	case a < 0:
		return "models of the machine's hardware exchange requests, not imports: each can be tested and replaced alone"
	case to == "" || b > a:
		return "parts of the machine import downward (parts): what is above hands them a callback"
	}
	return ""
}

// TestPartsExist: a part that is gone or renamed would leave the order unheld.
func TestPartsExist(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		seen[s.dir] = true
	}
	for _, p := range parts {
		if !seen["machine/"+p] {
			t.Errorf("there is no package machine/%s: take it out of parts, or give its new name", p)
		}
	}
}

// component is the folder directly under machine/.
func component(dir string) string {
	parts := strings.SplitN(dir, "/", 3)
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue // a test may look at anything it likes
		}
		for _, imp := range s.file.Imports {
			p, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if to, ok := strings.CutPrefix(p, module+"/"); ok {
				if why := check(s.dir, to); why != "" {
					t.Errorf("%s:%d imports %s: %s", s.path, s.line(imp.Pos()), p, why)
				}
			}
		}
	}
}

// TestImportRules holds the rules themselves against examples of both kinds.
func TestImportRules(t *testing.T) {
	for _, c := range []struct {
		from, to string
		ok       bool
	}{
		{"machine", "machine/sm", true},
		{"machine/sm", "mem/tags", true},
		{"machine/dram/probe", "machine/dram", true},
		{"sim", "machine/sm", true},
		{"cmd/heddle", "sim", true},
		{"mem/addrmap", "sheets", true},
		{"paper/ugpu", "report", true},
		{"energy", "stat", true},
		{"host", "ptx/parse", true},
		{"machine/sm", "machine/cache", false},
		{"machine/sm", "machine", false},
		{"machine/sm", "machine/timing", false},
		{"machine/timing", "machine", false},
		{"control", "machine", false},
		{"control", "machine/dram", false},
		{"machine", "host", false},
		{"ptx/parse", "host", false},
		{"mem", "machine", false},
		{"host", "sim", false},
		{"lab", "report", false},
		{"energy", "mem", false},
		{"sim", "newfolder", false},
	} {
		if why := check(c.from, c.to); (why == "") != c.ok {
			t.Errorf("%s imports %s: allowed is %v (%s), want %v", c.from, c.to, why == "", why, c.ok)
		}
	}
}

const (
	fileLimit   = 500
	funcLimit   = 60
	policyLimit = 150
	exempt      = "//heddle:table"
)

// localPolicies begin the names of the files of policies that lie beside their component, or are a package.
var localPolicies = []string{
	"machine/dram/sched_", "machine/sm/sched_", "machine/link/sched_", "machine/hybrid/place_", "machine/vm/homes_",
	"machine/uvm/prefetch_", "machine/uvm/evict_", "machine/uvm/migrate_", "mem/placement/",
}

// isPolicy says whether a file is a policy: a local one, or one that a machine-wide policy
// names as its own. A package of policies has the table of their names in a file of its own name.
func isPolicy(file string) bool {
	if i := slices.IndexFunc(localPolicies, func(p string) bool { return strings.HasPrefix(file, p) }); i >= 0 {
		return file != localPolicies[i]+path.Base(localPolicies[i])+".go"
	}
	name, ok := strings.CutPrefix(file, "control/")
	return ok && slices.ContainsFunc(control.All(), func(e control.Entry) bool {
		return slices.Contains(e.SourceFiles(), name)
	})
}

// TestLocalPoliciesExist: a name that no file begins with any more would hold for nothing. CONTRIBUTING says the
// same names to who adds a policy.
func TestLocalPoliciesExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	all := sources(t)
	for _, p := range localPolicies {
		if !slices.ContainsFunc(all, func(s *source) bool { return !s.test && strings.HasPrefix(s.path, p) }) {
			t.Errorf("no file begins with %s: take it out of localPolicies, or give its new name", p)
		}
		say := p
		if !strings.HasSuffix(p, "/") {
			say = p[strings.LastIndex(p, "/")+1:] + "*.go"
		}
		if !strings.Contains(string(text), say) {
			t.Errorf("CONTRIBUTING.md does not say %s, where policies of %s lie", say, path.Dir(p))
		}
	}
}

// TestBudgets: a reader holds one screen in mind. A function that is a table in
// the shape of a switch says so with //heddle:table in its doc comment.
func TestBudgets(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || s.gen {
			continue
		}
		lines := strings.Count(s.text, "\n")
		if isPolicy(s.path) && lines > policyLimit {
			t.Errorf("%s is a policy of %d lines, at most %d: a paper's idea must be readable at one sitting", s.path,
				lines, policyLimit)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			switch n := s.line(f.End()) - s.line(f.Pos()) + 1; {
			case isTable(f):
				lines -= n // a table is looked things up in, not read through
			case n > funcLimit:
				t.Errorf("%s:%d: %s has %d lines, at most %d: split it, or mark it %s if it is one big switch", s.path,
					s.line(f.Pos()), f.Name.Name, n, funcLimit, exempt)
			}
		}
		if lines > fileLimit {
			t.Errorf("%s has %d lines outside tables, at most %d: split it by subject", s.path, lines, fileLimit)
		}
	}
}

func isTable(f *ast.FuncDecl) bool {
	return f.Doc != nil && slices.ContainsFunc(f.Doc.List,
		func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, exempt) })
}

// TestNames: a package named after nothing collects everything.
func TestNames(t *testing.T) {
	for _, s := range sources(t) {
		switch strings.TrimSuffix(s.file.Name.Name, "_test") {
		case "util", "utils", "common", "helper", "helpers", "misc", "base", "shared", "lib":
			t.Errorf("%s: package %s: name it after what it holds", s.path, s.file.Name.Name)
		}
	}
}

// TestPackageDocs: every package says what it is for where go doc finds it.
func TestPackageDocs(t *testing.T) {
	doc := map[string]bool{}
	var dirs []string
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		if _, ok := doc[s.dir]; !ok {
			dirs = append(dirs, s.dir)
		}
		doc[s.dir] = doc[s.dir] || s.file.Doc != nil
	}
	for _, d := range dirs {
		if !doc[d] {
			t.Errorf("package %s has no package comment: say what it is and name the types a reader must know", d)
		}
	}
}

// clockUsers may look at the wall clock: they talk to people and to the system, not to the machine.
// sim is among them for Result.Wall alone, the one field outside the promise.
var clockUsers = []string{
	"cmd", "lab", "report", "serve", "sim", "internal/scratch", "internal/browser",
	"internal/truncated", "host/exec",
}

func usesClock(dir string) bool {
	return slices.ContainsFunc(clockUsers, func(u string) bool { return dir == u || strings.HasPrefix(dir, u+"/") })
}

// TestDeterminism: the same inputs give the same bits.
func TestDeterminism(t *testing.T) {
	for _, s := range sources(t) {
		for _, imp := range s.file.Imports {
			if imp.Path.Value == `"math/rand"` {
				t.Errorf("%s:%d imports math/rand: its global state is seeded differently in every run; use "+
					"math/rand/v2 with a seed of the purpose's own", s.path, s.line(imp.Pos()))
			}
		}
		if s.test || usesClock(s.dir) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && x.Obj == nil &&
					slices.Contains([]string{"Now", "Since", "Until", "Tick", "After"}, sel.Sel.Name) {
					t.Errorf("%s:%d uses time.%s: results must not depend on the wall clock (only %v may)", s.path,
						s.line(sel.Pos()), sel.Sel.Name, clockUsers)
				}
			}
			return true
		})
	}
}

// TestNoGlobalState: a package-level variable is a constant that Go cannot spell.
// Two simulations in one process must not meet in one.
func TestNoGlobalState(t *testing.T) {
	globals := map[string]map[string]bool{} // folder -> package-level variables
	all := sources(t)
	for _, s := range all {
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR || s.test {
				continue
			}
			for _, spec := range g.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if globals[s.dir] == nil {
						globals[s.dir] = map[string]bool{}
					}
					globals[s.dir][name.Name] = true
				}
			}
		}
	}
	for _, s := range all {
		if s.test {
			continue
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || f.Name.Name == "init" {
				continue
			}
			for _, id := range assigned(f.Body) {
				if id.Name != "_" && globals[s.dir][id.Name] && packageLevel(s.file, id) {
					t.Errorf("%s:%d: %s changes the package-level variable %s: keep state in a value that a run owns",
						s.path, s.line(id.Pos()), f.Name.Name, id.Name)
				}
			}
		}
	}
}

// packageLevel says that an identifier was not declared inside a function: the
// parser resolves those of the file, and leaves those of other files open.
func packageLevel(f *ast.File, id *ast.Ident) bool {
	return id.Obj == nil || f.Scope.Lookup(id.Name) == id.Obj
}

// assigned lists the identifiers at the root of what a body assigns to.
func assigned(body *ast.BlockStmt) (out []*ast.Ident) {
	add := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.Ident:
				out = append(out, x)
				return
			case *ast.IndexExpr:
				e = x.X
			case *ast.SelectorExpr:
				e = x.X
			case *ast.ParenExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			default:
				return
			}
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.AssignStmt:
			for _, e := range x.Lhs {
				add(e)
			}
		case *ast.IncDecStmt:
			add(x.X)
		}
		return true
	})
	return out
}

// machinePath matches the absolute paths that only one machine has.
var machinePath = regexp.MustCompile(`(^|[^\w.\-/])/(work|root|home/\w+|Users/\w+)/\S*`)

// TestNoMachinePaths looks at every text file git tracks.
func TestNoMachinePaths(t *testing.T) {
	base := root(t)
	out, err := exec.Command("git", "-C", base, "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("not a git checkout (%v): only a checkout says which files are the project's", err)
	}
	for _, name := range strings.Split(strings.TrimRight(string(out), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(base, name))
		if err != nil || slices.Contains(text[:min(len(text), 8000)], 0) {
			continue // deleted in the working tree, or binary
		}
		for i, line := range strings.Split(string(text), "\n") {
			if m := machinePath.FindString(line); m != "" && name != "internal/archtest/archtest_test.go" {
				t.Errorf("%s:%d names the path %q of one machine: use a path relative to the repository", name, i+1,
					strings.TrimSpace(m))
			}
		}
	}
}
