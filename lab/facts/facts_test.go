package facts

import (
	"bufio"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	dump     = flag.String("dump", "", "write the facts of all cases into this folder, a file each")
	only     = flag.String("cases", "", "regular expression of the cases to dump")
	every    = flag.Bool("every", false, "dump cases without idle skipping")
	cores    = flag.Int("cores", 1, "dump cases that are simulated on so many cores of the computer")
	lockstep = flag.Bool("lockstep", false, "dump cases that are simulated cycle by cycle, without strides")
)

// TestDump writes the facts of every case, for make facts.
func TestDump(t *testing.T) {
	if *dump == "" {
		t.Skip("nothing to dump: give -dump FOLDER, as make facts does")
	}
	match, err := regexp.Compile(*only)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := Cases("../..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.Create(filepath.Join(*dump, "sums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer sums.Close()
	for _, c := range cases {
		if !match.MatchString(c.Name) {
			continue
		}
		begun := time.Now()
		f, err := c.Run(Way{NoSkip: *every, Lockstep: *lockstep, Cores: *cores})
		if err != nil {
			f = Facts{"error " + err.Error()}
		}
		if len(f) == 0 {
			t.Errorf("%s: no facts", c.Name)
		}
		h := fnv.New64a()
		for _, line := range f {
			fmt.Fprintln(h, line)
		}
		fmt.Fprintf(sums, "%s %016x\n", c.Name, h.Sum64())
		if err := write(filepath.Join(*dump, strings.ReplaceAll(c.Name, "/", "~")), f); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Logf("%s took %s", c.Name, took)
		}
	}
}

func write(path string, f Facts) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	for _, line := range f {
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

// Facts do not depend on idle skipping or on strides: a case of each kind.
func TestWays(t *testing.T) {
	cases, err := Cases("../..")
	if err != nil {
		t.Fatal(err)
	}
	match := regexp.MustCompile(`^(calib/cold/vadd|shared/(mps|ugpu|smk|timeslice)/matrixmul_bfs)$`)
	seen := 0
	for _, c := range cases {
		if !match.MatchString(c.Name) {
			continue
		}
		seen++
		var facts [5]Facts
		for i, w := range []Way{{}, {NoSkip: true}, {Lockstep: true}, {Cores: 2}, {Cores: 5}} {
			if facts[i], err = c.Run(w); err != nil {
				t.Fatal(err)
			}
		}
		for i, what := range []string{"no idle skipping", "lockstep", "a second core", "four more cores"} {
			if d := facts[0].Differences(facts[i+1], 10); len(d) > 0 {
				t.Errorf("%s: %s changes\n%s", c.Name, what, strings.Join(d, "\n"))
			}
		}
	}
	if seen != 5 {
		t.Errorf("%d cases tried, want 5", seen)
	}
}

// Differences finds what only one list has, and nothing in equal ones.
func TestDifferences(t *testing.T) {
	a, b := Facts{"a 1", "b 2", "d 4"}, Facts{"a 1", "b 3", "c 1", "d 4"}
	if got := strings.Join(a.Differences(b, 9), ","); got != "- b 2,+ b 3,+ c 1" {
		t.Error(got)
	}
	if d := a.Differences(a, 9); d != nil {
		t.Error(d)
	}
}

// TestScript: make facts compares nothing without a revision, and says so.
func TestScript(t *testing.T) {
	out, err := exec.Command("../../.ci/facts", "").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "give the revision") {
		t.Errorf("%v: %q", err, out)
	}
}
