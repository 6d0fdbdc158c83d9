package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/control"
)

// TestCountersBesideBadPolicy: a policy that names an unknown counter ends commands, but not the list of counters to
// which the message sends its author.
func TestCountersBesideBadPolicy(t *testing.T) {
	bad := []control.Entry{{Name: "bad"}}
	if checkPolicies([]string{"run", "x.yaml"}, bad) == nil {
		t.Error("a policy without a description passed")
	}
	if err := checkPolicies([]string{"inspect", "counters"}, bad); err != nil {
		t.Error(err)
	}
}

// TestContributingPolicy does what CONTRIBUTING.md asks of an author of a policy: its file, its line, its run file and
// its commands, unchanged, in a tree that is otherwise this one.
func TestContributingPolicy(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command a second time")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "## A policy, from the first line")
	blocks := regexp.MustCompile("(?s)```[a-z]*\n(.*?)```").FindAllStringSubmatch(text, 4)
	if len(blocks) != 4 {
		t.Fatalf("%d blocks in CONTRIBUTING.md, want the file, the line, the run file and the commands", len(blocks))
	}
	file, line, run, commands := blocks[0][1], blocks[1][1], blocks[2][1], strings.Fields(blocks[3][1])
	registry, err := os.ReadFile(filepath.Join(root, "control", "policies.go"))
	if err != nil {
		t.Fatal(err)
	}
	added := strings.Replace(string(registry), "\t\thydrogenEntry(),\n", line+"\t\thydrogenEntry(),\n", 1)
	if added == string(registry) {
		t.Fatal("control/policies.go has no list to add the line to")
	}

	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, "control", "hill_climb.go"): write("hill_climb.go", file),
		filepath.Join(root, "control", "policies.go"):   write("policies.go", added),
	}})
	if err != nil {
		t.Fatal(err)
	}
	with := "-overlay=" + write("overlay.json", string(overlay))
	do := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = root
		if strings.HasPrefix(name, dir) {
			cmd.Dir = dir
		}
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "GOFLAGS=", "GOCACHE="+goCache(t))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	do("go", "test", with, "-run", "TestEntries|TestPlansFit|TestRegistry", "./control")
	heddle := filepath.Join(dir, "heddle")
	do("go", "build", with, "-o", heddle, "./cmd/heddle")

	write("hill.yaml", run)
	if err := os.Symlink(filepath.Join(root, "apps"), filepath.Join(dir, "apps")); err != nil {
		t.Fatal(err)
	}
	args := commands[3 : 3+4] // of the first: go run ./cmd/heddle ARGS
	if got := do(heddle, args...); !regexp.MustCompile(`(?m)^ *hill climbing +\d`).MatchString(got) {
		t.Errorf("no row of hill climbing in the comparison:\n%s", got)
	}
	var log struct {
		Decisions []struct {
			Plan json.RawMessage
			SMs  []json.RawMessage
		}
	}
	decisions, err := os.ReadFile(filepath.Join(dir, "results", "hill", "hill-climbing", "decisions.json"))
	if err != nil || json.Unmarshal(decisions, &log) != nil {
		t.Fatal(err, string(decisions))
	}
	moved, plans := 0, []json.RawMessage{}
	for _, d := range log.Decisions {
		moved += len(d.SMs)
		plans = append(plans, d.Plan)
	}
	if len(log.Decisions) != 10 || moved < 3 {
		t.Errorf("%d decisions moved %d SMs", len(log.Decisions), moved)
	}
	again := do(heddle, "policy", "replay", "hill-climb", "--samples", strings.Trim(commands[len(commands)-1], `"`))
	if got, want := compact(t, again), compact(t, string(must(json.Marshal(plans)))); got != want {
		t.Errorf("replayed\n%s\nwas\n%s", got, want)
	}
	if got := do(heddle, "inspect", "policies", "hill-climb"); !strings.Contains(got,
		"\ninsts  sm.thread_insts per application\n") {
		t.Errorf("inspect policies: %s", got)
	}
}

// goCache is where the tests' own build keeps its packages.
func goCache(t *testing.T) string {
	out, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// compact is JSON without blanks.
func compact(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return string(must(json.Marshal(v)))
}
