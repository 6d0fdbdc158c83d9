package machine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/mem"
)

// TestDominantShares: applications meet at equal dominant shares of every SM, those
// that were there first by evictions. An SM has 2048 threads and 32 CTAs; registers are
// not what count is short of.
func TestDominantShares(t *testing.T) {
	for _, c := range []struct {
		name    string
		threads [3]int // of a CTA; 0: no such application
		want    [3]int // CTAs on an SM
	}{
		{"alone", [3]int{256}, [3]int{8}},
		{"equals", [3]int{256, 256}, [3]int{4, 4}},
		{"large and small", [3]int{256, 512}, [3]int{4, 2}},
		{"three", [3]int{256, 256, 256}, [3]int{3, 3, 2}}, // the last would become richer than who gives
		{"too large to be fair", [3]int{512, 1024}, [3]int{2, 1}},
		// 31 of 32 slots against half the threads: another would take them all
		{"CTA slots", [3]int{32, 1024}, [3]int{31, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			for n < 3 && c.threads[n] > 0 {
				n++
			}
			r := together(t, "qv100", 2, n, Options{})
			var checks []func()
			for i := range n {
				_, check := r.count(i, 2*3*2048/2/c.threads[i], c.threads[i], 1500)
				checks = append(checks, check)
				r.step(2000)
			}
			r.step(10_000)
			for i := range r.g.sms.List {
				var got [3]int
				for k := range n {
					got[k] = r.g.sms.List[i].Used(mem.TenantID(k)).CTAs
				}
				if got != c.want {
					t.Errorf("SM %d holds %v CTAs, want %v", i, got, c.want)
				}
			}
			if n == 1 && r.g.Sharing.Evicted().CTAs > 0 || n > 1 && r.g.Sharing.Evicted().CTAs == 0 {
				t.Errorf("%d CTAs evicted", r.g.Sharing.Evicted().CTAs)
			}
			if err := r.finish(); err != nil {
				t.Fatal(err)
			}
			for _, check := range checks {
				check()
			}
			r.leftovers()
		})
	}
}

// TestSMKAlone: an application nobody shares with runs as on a machine of its own, but
// for the carve-out, which leaves room for others' shared memory.
func TestSMKAlone(t *testing.T) {
	end := func(n int, sheet string) uint64 {
		r := together(t, sheet, 8, n, Options{})
		k, check := r.scale(0, 30_000, mem.Device)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		check()
		return k.End
	}
	if a, b := end(1, "ugpu"), end(2, "ugpu"); a != b { // its L1 has one size
		t.Errorf("ends at %d, on SMs that another might share at %d", a, b)
	}
}

// TestSMKSkip: two applications that come and go on the same SMs compute the right
// thing, the same whether every component is visited in every cycle.
func TestSMKSkip(t *testing.T) {
	play := func(sheet string, every bool) string {
		r := together(t, sheet, 4, 3, Options{Every: every})
		var all []*sharing.Kernel
		var checks []func()
		for round := range 3 {
			for i := range 3 {
				k, check := r.count(i, 30+20*i, 64<<i, 200+300*round)
				all, checks = append(all, k), append(checks, check)
				k, check = r.scale(i, 10_000, []mem.Kind{mem.Device, mem.Managed}[round%2])
				all, checks = append(all, k), append(checks, check)
				r.step(1500)
			}
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		for _, check := range checks {
			check()
		}
		r.leftovers()
		s := fmt.Sprint(r.g.Sharing.Evicted())
		for _, k := range all {
			s += fmt.Sprint(" ", k.End)
		}
		return s
	}
	for _, sheet := range []string{"ugpu", "qv100", "fermi"} {
		if a, b := play(sheet, false), play(sheet, true); a != b {
			t.Errorf("%s: skipping %s\nevery cycle %s", sheet, a, b)
		}
	}
}

// TestSMKBig: an application whose CTA takes nearly all of an SM comes to its turn although
// others always have CTAs to place; one whose CTA no SM can hold stops nobody else.
func TestSMKBig(t *testing.T) {
	r := together(t, "qv100", 2, 2, Options{})
	_, check := r.count(0, 400, 256, 400)
	r.step(3000)
	big, _ := r.count(1, 4, 1024, 10)
	big.Geo.Regs = 60 // 15/16 of an SM's
	for !big.Done && r.g.Running() > 0 {
		r.step(1000)
	}
	if left := len(r.g.Sharing.Unfinished()); !big.Done || left != 1 {
		t.Errorf("done %v with %d kernels left: the large CTAs were to run among the small ones", big.Done, left)
	}
	if err := r.finish(); err != nil {
		t.Fatal(err)
	}
	check()

	r = together(t, "qv100", 2, 2, Options{Watchdog: 20_000})
	small, check := r.count(0, 8, 64, 10)
	r.launch(1, "big", 1, 32, r.alloc(1, 4, mem.Device).Base).Geo.SharedBytes = 1 << 20
	for !small.Done {
		r.step(1000)
	}
	check()
}

// TestLimitCTAs: every SM comes to hold as many CTAs of each application as its limit says:
// those above it are evicted, those below come where there is room, 0 is none; without limits
// it is dominant shares again.
func TestLimitCTAs(t *testing.T) {
	r := together(t, "qv100", 2, 2, Options{})
	_, checkA := r.count(0, 120, 256, 3000)
	_, checkB := r.count(1, 120, 256, 3000)
	r.step(5000)
	held := func() (out [2][2]int) {
		for i, s := range r.g.sms.List {
			for k := range 2 {
				out[k][i] = s.Used(mem.TenantID(k)).CTAs
			}
		}
		return out
	}
	if got := held(); got != [2][2]int{{4, 4}, {4, 4}} {
		t.Fatalf("%v CTAs without limits", got)
	}
	for _, c := range []struct {
		most    [][]int
		want    [2][2]int
		evicted int
	}{
		{[][]int{{4, 4}, {4, 2}}, [2][2]int{{4, 4}, {4, 2}}, 2}, // room that nobody may take
		{[][]int{{5, 6}, {4, 2}}, [2][2]int{{4, 6}, {4, 2}}, 2}, // room for two: the first SM is full
		{[][]int{{7, 7}, {0, 1}}, [2][2]int{{7, 7}, {0, 1}}, 7}, // none at all
		{[][]int{{-1, -1}, {1, 1}}, [2][2]int{{7, 7}, {1, 1}}, 7},
		{[][]int{{3, 2}, {-1, -1}}, [2][2]int{{3, 2}, {5, 6}}, 7 + 4 + 5},
		{[][]int{{4, 4}, {5, 6}}, [2][2]int{{3, 2}, {5, 6}}, 16}, // who is below its limit waits for room
		{nil, [2][2]int{{4, 4}, {4, 4}}, 16 + 1 + 2},
	} {
		if err := r.g.Sharing.LimitCTAs(c.most); err != nil {
			t.Fatal(err)
		}
		r.step(4000)
		if got := held(); got != c.want || r.g.Sharing.Evicted().CTAs != c.evicted {
			t.Errorf("limits %v: %v CTAs after %d evictions, want %v after %d", c.most, got,
				r.g.Sharing.Evicted().CTAs, c.want, c.evicted)
		}
	}
	if err := r.finish(); err != nil {
		t.Fatal(err)
	}
	checkA()
	checkB()
	r.leftovers()
}

// TestLimitErrors: limits and quotas that are not of this machine are refused.
func TestLimitErrors(t *testing.T) {
	r := together(t, "qv100", 2, 2, Options{})
	alone := mps(t, Options{})
	most := [][]int{slices.Repeat([]int{-1}, 16), slices.Repeat([]int{-1}, 16)}
	if err := alone.g.Sharing.LimitCTAs(most); err != nil {
		t.Errorf("no limits: %v", err)
	}
	most[1][9] = 3
	good := func() *sharing.Quotas { return r.quotas(sm.QuotaRollover, 100, []bool{true, false}, 1, 0) }
	bad := func(change func(q *sharing.Quotas)) error {
		q := good()
		change(q)
		return r.g.Sharing.SetQuotas(q)
	}
	for want, err := range map[string]error{
		"on SM 9: a limit of CTAs needs an SM":    alone.g.Sharing.LimitCTAs(most),
		"limits of 1 applications, there are 2":   r.g.Sharing.LimitCTAs([][]int{{1, 1}}),
		"application app1 on 3 SMs, there are 2":  r.g.Sharing.LimitCTAs([][]int{{1, 1}, {1, 1, 1}}),
		"there is no scheme 4":                    bad(func(q *sharing.Quotas) { q.Scheme = 4 }),
		"a quota period needs at least one cycle": bad(func(q *sharing.Quotas) { q.Period = 0 }),
		"goals of 1 applications":                 bad(func(q *sharing.Quotas) { q.Goal = q.Goal[1:] }),
		"quotas of 1 applications":                bad(func(q *sharing.Quotas) { q.PerSM = q.PerSM[1:] }),
		"app0 has 0 thread instructions on SM 1":  bad(func(q *sharing.Quotas) { q.PerSM[0][1] = 0 }),
		"app1 has -1 thread instructions on SM 0": bad(func(q *sharing.Quotas) { q.PerSM[1][0] = -1 }),
		"must be 1 to":                            bad(func(q *sharing.Quotas) { q.Scheme = sm.QuotaElastic }),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want: %s", err, want)
		}
	}
	if err := r.g.Sharing.SetQuotas(good()); err != nil {
		t.Error(err)
	}
}
