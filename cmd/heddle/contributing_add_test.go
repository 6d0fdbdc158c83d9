package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestContributingSettingAndCounter does what CONTRIBUTING.md asks of an author of a setting and of a counter, in a
// tree that is otherwise this one, and has a policy set the one and read the other.
func TestContributingSettingAndCounter(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command a second time")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	changed := map[string]string{"control/policies.go": "", "control/quick_turns.go": quickTurns} // file: its text
	for _, a := range additions(t, root) {
		text, read := changed[a.file]
		if !read {
			text = string(must(os.ReadFile(filepath.Join(root, a.file))))
		}
		if strings.Count(text, "\n"+a.there+"\n") != 1 {
			t.Fatalf("%s has the line %d times, not once: %s", a.file, strings.Count(text, "\n"+a.there+"\n"), a.there)
		}
		changed[a.file] = strings.Replace(text, "\n"+a.there+"\n", "\n"+a.there+"\n"+a.added, 1)
	}
	if len(changed) != 2+6 {
		t.Errorf("%d files are changed, want 6", len(changed)-2)
	}
	registry := string(must(os.ReadFile(filepath.Join(root, "control/policies.go"))))
	const behind = "\t\trolloverEntry(),\n"
	changed["control/policies.go"] = strings.Replace(registry, behind, "\t\tquickTurnsEntry(),\n"+behind, 1)
	with, do := overlay(t, root, dir, changed), commands(t, dir)
	do(root, "go", "test", with, "-run", "TestSettings", "./sim")
	heddle := filepath.Join(dir, "heddle")
	do(root, "go", "build", with, "-o", heddle, "./cmd/heddle")
	writeIn(t, dir, "turns.yaml", "machine: qv100\nset: {sm.count: 8}\napps:\n"+
		"  - {name: a, path: "+root+"/apps/micro/triad, args: {n: 262144, passes: 2}}\n"+
		"  - {name: b, path: "+root+"/apps/rodinia-like/bfs, repeat: true}\n"+
		"sharing: {mode: timeslice, quantum: 30000, policies: [{policy: quick-turns, period: 10000}]}\n"+
		"length: {cycles: 60000, budget: true}\n")
	do(dir, heddle, "run", "turns.yaml", "--out", "results")
	var log struct {
		Decisions []struct{ Plan struct{ Small []uint64 } }
	}
	decisions := must(os.ReadFile(filepath.Join(dir, "results", "decisions.json")))
	if json.Unmarshal(decisions, &log) != nil || len(log.Decisions) < 3 {
		t.Fatalf("%d decisions", len(log.Decisions))
	}
	if last := log.Decisions[len(log.Decisions)-1].Plan.Small; len(last) != 2 || last[1] == 0 {
		t.Errorf("the policy has read small copies %v, want some of the second application", last)
	}
	var result struct{ Contexts struct{ Turns int } }
	text := must(os.ReadFile(filepath.Join(dir, "results", "result.json")))
	if json.Unmarshal(text, &result) != nil || result.Contexts.Turns < 4 {
		t.Errorf("%d turns: turns of 30000 cycles would be 3 at most, the policy asks for 3000", result.Contexts.Turns)
	}
}

// writeIn writes a file of a test into a folder and returns its path.
func writeIn(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// overlay is the flag of the go command for a tree that is root but for files with another text, or new ones.
func overlay(t *testing.T, root, dir string, changed map[string]string) string {
	t.Helper()
	replace := map[string]string{}
	for file, text := range changed {
		replace[filepath.Join(root, file)] = writeIn(t, dir, strings.ReplaceAll(file, "/", "_"), text)
	}
	return "-overlay=" + writeIn(t, dir, "overlay.json", string(must(json.Marshal(map[string]any{"Replace": replace}))))
}

// commands runs commands that must succeed, and returns what they print.
func commands(t *testing.T, dir string) func(at, name string, args ...string) string {
	return func(at, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = at
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "GOFLAGS=", "GOCACHE="+goCache(t))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
}

// TestContributingPlacement does what CONTRIBUTING.md asks of an author of a page placement, and has a machine place
// pages by it.
func TestContributingPlacement(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command a second time")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(must(os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))))
	_, doc, _ = strings.Cut(doc, "\n## A page placement\n")
	doc, _, _ = strings.Cut(doc, "\n## ")
	blocks := strings.Split(doc, "```")
	if len(blocks) != 5 {
		t.Fatalf("%d blocks in CONTRIBUTING.md, want a file and a line", len(blocks)/2)
	}
	const registry = "mem/placement/placement.go"
	text := string(must(os.ReadFile(filepath.Join(root, registry))))
	line := strings.TrimPrefix(blocks[3], "go\n")
	there, _, _ := strings.Cut(line, "\n")
	if strings.Count(text, "\n"+there+"\n") != 1 {
		t.Fatalf("%s has the line %d times, not once: %s", registry, strings.Count(text, "\n"+there+"\n"), there)
	}
	dir := t.TempDir()
	with, do := overlay(t, root, dir, map[string]string{
		"mem/placement/lowest.go":        strings.TrimPrefix(blocks[1], "go\n"),
		registry:                         strings.Replace(text, there+"\n", line, 1),
		"machine/vm/place_added_test.go": placesLowest,
	}), commands(t, dir)
	out := do(root, "go", "test", with, "-run", "TestPlacesLowest", "-v", "./machine/vm")
	if !strings.Contains(out, "--- PASS") {
		t.Errorf("the machine has placed nothing:\n%s", out)
	}
	heddle := filepath.Join(dir, "heddle")
	do(root, "go", "build", with, "-o", heddle, "./cmd/heddle")
	if out := do(dir, heddle, "inspect", "policies", "lowest"); !strings.Contains(out, "vm.placement=lowest") {
		t.Errorf("heddle inspect policies does not know it:\n%s", out)
	}
	do(dir, heddle, "inspect", "machine", "ugpu", "--set", "vm.placement=lowest")
}

// placesLowest is a test of a machine's page table.
const placesLowest = `package vm

import "testing"

func TestPlacesLowest(t *testing.T) {
	for i, group := range order(t, "lowest", 1, 64, 0) {
		if group != 0 {
			t.Errorf("page %d is in group %d", i, group)
		}
	}
}
`

// addition is lines to add to a file, behind one that is there.
type addition struct{ file, there, added string }

// additions are those of the section on a setting and a counter, each in the file named last before it.
func additions(t *testing.T, root string) (out []addition) {
	doc := string(must(os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))))
	_, doc, _ = strings.Cut(doc, "## A setting and a counter\n")
	doc, _, _ = strings.Cut(doc, "\n## ")
	file := ""
	for i, part := range strings.Split(doc, "```") {
		if i%2 == 0 {
			if names := regexp.MustCompile("`([a-z/]+\\.go)`").FindAllStringSubmatch(part, -1); len(names) > 0 {
				file = names[0][1]
				if strings.Contains(part, "all in\n") {
					file = names[len(names)-1][1]
				}
			}
			continue
		}
		there, added, _ := strings.Cut(strings.TrimPrefix(part, "go\n"), "\n")
		out = append(out, addition{file, there, added})
	}
	if len(out) != 5+3 {
		t.Fatalf("%d blocks in CONTRIBUTING.md, want 5 for the setting and 3 for the counter", len(out))
	}
	return out
}

// quickTurns is a policy that makes turns short, and notes the small copies so far.
const quickTurns = `package control

type quickSample struct {
	Clock
	Apps []struct {
		Held
		Small uint64 ` + "`json:\"small\" counter:\"link.small_copies\"`" + `
	} ` + "`json:\"apps\"`" + `
}

type quickPlan struct {
	Small   []uint64
	Quantum uint64
}

func (p *quickPlan) Request() Request  { return Request{Quantum: &p.Quantum} }
func (p *quickPlan) Reasons() []string { return nil }

func quickTurnsEntry() Entry {
	total := []uint64{}
	return Entry{
		Name: "quick-turns", Source: "an example", What: "turns of 3000 cycles",
		Settings: []string{"quantum"}, Period: 10_000,
		Make: func(Machine, func(string) float64) Policy {
			return Of(func(s *quickSample) Plan {
				if total == nil || len(total) != len(s.Apps) {
					total = make([]uint64, len(s.Apps))
				}
				p := &quickPlan{Quantum: 3000}
				for i, a := range s.Apps {
					total[i] += a.Small
				}
				p.Small = append(p.Small, total...)
				return p
			})
		},
	}
}
`
