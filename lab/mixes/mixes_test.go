package mixes

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated sets anew")

// wanted is a set as it follows from the class lists.
type wanted struct {
	list, set string
	count     int // as the paper says, where it says so
	mixes     func(l *List) [][]string
}

const (
	memory  = "memory-bound"
	compute = "compute-bound"
)

func table() []wanted {
	cross := func(a, b string) func(*List) [][]string {
		return func(l *List) [][]string { return Cross(l.Class(a), l.Class(b)) }
	}
	ordered := func(a, b string) func(*List) [][]string {
		return func(l *List) [][]string { return Ordered(l.Class(a), l.Class(b)) }
	}
	return []wanted{
		{"ugpu", "heterogeneous", 50, cross(memory, compute)},
		{"ugpu", "homogeneous", 55, func(l *List) [][]string {
			return append(Pairs(l.Class(memory)), Pairs(l.Class(compute))...)
		}},
		{"ugpu", "four", 50, func(l *List) [][]string { return Sample(l.Class(memory), l.Class(compute), 2, 50, 4) }},
		{"ugpu", "eight", 200, func(l *List) [][]string {
			return Sample(l.Class(memory), l.Class(compute), 4, 200,
				8)
		}},
		{"ugpu", "ai", 25, cross("ai", compute)},
		{"smqos", "CI-CI", 30, ordered("CI", "CI")},
		{"smqos", "CI-MI", 36, ordered("CI", "MI")},
		{"smqos", "MI-CI", 36, ordered("MI", "CI")},
		{"smqos", "MI-MI", 30, ordered("MI", "MI")},
		{"uvm", "pairs", 45, func(l *List) [][]string {
			var keys []string
			for _, p := range l.Programs[:10] {
				keys = append(keys, p.Key)
			}
			return Pairs(keys)
		}},
		{"uvm", "regular+regular", 10, pairsOf(true, true)},
		{"uvm", "irregular+irregular", 10, pairsOf(false, false)},
		{"uvm", "regular+irregular", 25, pairsOf(true, false)},
	}
}

// pairsOf is the UVM dissertation's pairs by whether their programs are regular.
func pairsOf(first, second bool) func(l *List) [][]string {
	return func(l *List) (mixes [][]string) {
		regular := map[string]bool{}
		var keys []string
		for _, p := range l.Programs[:10] {
			keys = append(keys, p.Key)
			regular[p.Key] = p.Class == "streaming" || p.Class == "regular"
		}
		for _, m := range Pairs(keys) {
			if regular[m[0]] == first && regular[m[1]] == second {
				mixes = append(mixes, m)
			}
		}
		return mixes
	}
}

func TestSetsFollowFromTheClasses(t *testing.T) {
	for _, w := range table() {
		if *update {
			rewrite(t, w)
		}
		l := load(t, w.list)
		s := l.Set(w.set)
		if s == nil {
			t.Errorf("%s: set %q is missing", w.list, w.set)
			continue
		}
		want := w.mixes(l)
		if len(s.Mixes) != w.count || len(want) != w.count {
			t.Errorf("%s, %s: %d mixes, %d follow from the classes, %d are wanted", w.list, w.set, len(s.Mixes),
				len(want), w.count)
			continue
		}
		for i, m := range s.Mixes {
			if !slices.Equal(m.Apps, want[i]) || m.Name != Name(m.Apps) {
				t.Errorf("%s, %s: mix %d is %s %v, want %v", w.list, w.set, i, m.Name, m.Apps, want[i])
			}
		}
	}
}

// rewrite replaces the mixes of a set in its file.
func rewrite(t *testing.T, w wanted) {
	t.Helper()
	path := w.list + ".yaml"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l := load(t, w.list)
	head := "  - name: " + w.set + "\n"
	before, after, ok := strings.Cut(string(text), head)
	if !ok {
		t.Fatalf("%s has no set %q", path, w.set)
	}
	at := strings.Index(after, "    mixes:") // what follows it belongs to the set up to the next entry
	rest := ""
	if next := strings.Index(after, "\n  - name: "); next >= 0 {
		rest = after[next+1:]
	}
	var b strings.Builder
	b.WriteString(before + head + after[:at] + "    mixes:\n")
	for _, m := range w.mixes(l) {
		fmt.Fprintf(&b, "      - {name: %s, apps: [%s]}\n", Name(m), strings.Join(m, ", "))
	}
	b.WriteString(rest)
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// load reads the file of this folder, which the binary has embedded.
func load(t *testing.T, name string) *List {
	t.Helper()
	l, err := Load("./" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		list, class string
		n           int
	}{
		{"ugpu", memory, 10},
		{"ugpu", compute, 5},
		{"ugpu", "ai", 5},
		{"smqos", "CI", 6},
		{"smqos", "MI", 6},
		{"uvm", "regular", 3},
		{"uvm", "streaming", 4},
		{"uvm", "random", 2},
		{"uvm", "irregular", 3},
	} {
		if got := len(load(t, c.list).Class(c.class)); got != c.n {
			t.Errorf("%s: %d programs of class %s, want %d", c.list, got, c.class, c.n)
		}
	}
}

func TestHydrogen(t *testing.T) {
	l := load(t, "hydrogen")
	s := l.Set("combinations")
	if s == nil || len(s.Mixes) != 12 {
		t.Fatalf("combinations: %+v, want C1 to C12", s)
	}
	used := map[string]int{}
	for i, m := range s.Mixes {
		if m.Name != fmt.Sprintf("C%d", i+1) || len(m.Apps) != 1 || len(m.CPU) != 4 {
			t.Errorf("mix %d: %+v, want C%d with four CPU programs and one on the GPU", i, m, i+1)
		}
		for _, c := range m.CPU {
			used[c]++
		}
	}
	if len(l.CPU) != 10 || len(used) != 10 {
		t.Errorf("%d CPU programs, %d used, want 10", len(l.CPU), len(used))
	}
}

// Lists may be ahead of the applications; this tells how far.
func TestMissingApplications(t *testing.T) {
	for _, name := range Names() {
		l, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range l.Programs {
			if suite, app, ok := strings.Cut(p.App, "/"); !ok || suite == "" || app == "" ||
				strings.Contains(app, "/") {
				t.Errorf("%s: %s: application %q is not <suite>/<app>", name, p.Key, p.App)
			}
		}
		t.Logf("%s: %d of %d applications are missing: %v", name, len(l.Missing("../../apps")), len(l.Programs),
			l.Missing("../../apps"))
	}
	if got := (&List{Programs: []Program{
		{App: "none/such"},
		{App: "micro/triad"},
	}}).Missing("../../apps"); !slices.Equal(got, []string{"none/such"}) {
		t.Errorf("missing: %v", got)
	}
}

func TestMalformed(t *testing.T) {
	head := "name: x\nsource: y\nprograms:\n  - {key: A, class: c, app: s/a}\n"
	for text, want := range map[string]string{
		"name: x\n": "needs a name and a source",
		head + "sets:\n  - name: s\n    mixes:\n      - {name: m, apps: [B]}\n": `m.yaml:8`,
		head + "sets:\n  - name: s\n    mixes:\n      - {name: m, apps: []}\n":  "no apps",
		head + "sets:\n  - name: s\n    mixes:\n      - {name: m, apps: [A], cpu: [gcc]}\n": "CPU " +
			"program",
		head + "sets:\n  - name: s\n    mixes:\n      - {name: m, apps: [A]}\n      - {name: m, apps: [A]}\n": "name " +
			"of its own",
		head + "sets:\n  - name: s\n":               "needs a name and mixes",
		head + "  - {key: A, class: c, app: s/b}\n": "twice",
		head + "  - {key: B, class: c}\n":           "needs key and app",
		head + "sets: [\n":                          "m.yaml:",
		"name: x\nsource: y\nprogams: []\n":         "programs",
	} {
		if _, err := Parse("m.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := Load("ugpuu"); err == nil || !strings.Contains(err.Error(), "ugpu") {
		t.Errorf("unknown list: %v", err)
	}
}

func TestSampleDrawsDifferentMixes(t *testing.T) {
	a, b := []string{"1", "2", "3", "4"}, []string{"5", "6", "7"}
	got := Sample(a, b, 2, 10, 1)
	seen := map[string]bool{}
	for _, m := range got {
		seen[Name(m)] = true
		if len(m) != 4 || !slices.Contains(a, m[0]) || !slices.Contains(a, m[1]) || !slices.Contains(b, m[2]) ||
			!slices.Contains(b, m[3]) {
			t.Errorf("mix %v: two of each class are wanted", m)
		}
	}
	if len(got) != 10 || len(seen) != 10 {
		t.Errorf("%d mixes, %d different, want 10", len(got), len(seen))
	}
	if slices.EqualFunc(got, Sample(a, b, 2, 10, 2), slices.Equal[[]string]) {
		t.Error("another seed gives the same mixes")
	}
}
