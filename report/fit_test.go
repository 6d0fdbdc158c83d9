package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/heddle-sim/heddle/sim"
)

// TestTablesFit: whatever the sharing mode, the names and the numbers, no row of a run's tables and of a comparison has
// more than 100 columns; --wide cuts nothing, and no column goes unnamed.
func TestTablesFit(t *testing.T) {
	const name = "an-application-whose-name-is-rather-long-for-a-table"
	const kernel = "_Z6kernelILi128EfEvPKT0_S2_PS0_iiijjPKc"
	var all []*sim.Result
	for _, m := range sim.Modes() {
		r := sample()
		r.Spec.Sharing.Mode, r.Spec.Sharing.Name = m.Name, m.Name+" with many words of its own"
		for i := range r.Tenants {
			x := &r.Tenants[i]
			x.Name = fmt.Sprintf("%s-%d", name, i)
			x.Cycles, x.Faults, x.MovedBytes, x.MovedGBs, x.Runs, x.Executions = 1e11, 1e9, 1e9, 123.4, 9, 1234.56
			x.Kernels = slices.Clone(x.Kernels)
			for j := range x.Kernels {
				x.Kernels[j].Name = fmt.Sprintf("%s%d", kernel, j)
			}
		}
		all = append(all, r)
	}
	for _, wide := range []bool{false, true} {
		var b bytes.Buffer
		for _, r := range all {
			if err := Table(&b, r, wide); err != nil {
				t.Fatal(err)
			}
		}
		if err := Comparison(&b, all, wide); err != nil {
			t.Fatal(err)
		}
		rows := 0
		for line := range strings.Lines(b.String()) {
			if !strings.HasPrefix(line, "  ") { // rows of tables have an indent
				continue
			}
			rows++
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); !wide && n > 100 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
		if rows < 10*len(all) {
			t.Errorf("%d rows of %d runs", rows, len(all))
		}
		_, leaves, left := strings.Cut(b.String(), "columns left out: ")
		for _, head := range []string{"faults", "alone IPC", "moved GB/s", "lanes"} {
			shown, told := strings.Contains(b.String(), " "+head+" "), strings.Contains(leaves, head)
			if left == wide || wide && !shown || !shown && !told {
				t.Errorf("wide %v: column %s is shown: %v, said to be left out: %v", wide, head, shown, told)
			}
		}
		if wide != strings.Contains(b.String(), name+"-1") {
			t.Errorf("wide %v, but the long name is there: %v", wide, !wide)
		}
	}
}

// Of a name that is too long the middle goes, in runes.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		name string
		most int
		want string
	}{{"kernel", 6, "kernel"}, {"kernels", 6, "ke…els"}, {"größer als lang", 7, "grö…ang"}} {
		if got := cut(c.name, c.most); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.name, c.most, got, c.want)
		}
	}
}
