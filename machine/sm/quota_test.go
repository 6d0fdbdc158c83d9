package sm

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// issued is an instruction that was issued.
type issued struct {
	at           uint64
	tenant, warp int
}

// joined runs a CTA of each tenant on one SM, tenant t's from cycle start[t] on, with a
// warp of a long chain of additions for each of warps[t]. before is called before each
// cycle. What was issued is the same when every cycle is visited.
func joined(
	t *testing.T, warps []int, start []uint64, until uint64, before func(s *SM, now uint64),
) ([]issued, *bench) {
	t.Helper()
	play := func(every bool) ([]issued, *bench) {
		b := newBench(t, func(m *sheets.Machine) { m.SM.FetchRate = 64 }) // nobody waits for others' fetches
		var log []issued
		list := make([]ins, 0, 2000)
		for range cap(list) - 1 {
			list = append(list, alu(isa.IntAdd, isa.INT, 0, 0))
		}
		code := program(append(list, exit())...)
		for now := range until {
			if before != nil {
				before(b.s, now)
			}
			if b.s.Due() <= now || every {
				b.s.Tick(now)
			}
			for i, n := range warps {
				if n == 0 || start[i] != now {
					continue
				}
				g := &scripted{code: code, geo: isa.Geometry{Threads: 32 * n, Warps: n, Regs: 8}}
				g.trace = func(_, w, _ int, now uint64) { log = append(log, issued{now, i, w}) }
				k := &Kernel{Tenant: mem.TenantID(i), Grid: g, Code: &g.code, Geo: g.geo}
				if err := b.s.Start(k, 0, now); err != nil {
					t.Fatal(err)
				}
			}
		}
		b.s.SyncCounters(until)
		return log, b
	}
	log, b := play(false)
	all, c := play(true)
	if !reflect.DeepEqual(log, all) {
		t.Errorf("skipping issues\n%v\nevery cycle\n%v", log, all)
	}
	for i := range 2 {
		if x, y := b.table.Row(0, i), c.table.Row(0, i); !slices.Equal(x, y) {
			t.Errorf("tenant %d: skipping counts\n%v\nevery cycle\n%v", i, x, y)
		}
	}
	return log, b
}

// given sets quotas in cycle 0.
func given(q Quotas) func(s *SM, now uint64) {
	return func(s *SM, now uint64) {
		if now == 0 {
			s.SetQuotas(&q, now)
		}
	}
}

// perEpoch is how many warp instructions a tenant issued in each epoch.
func perEpoch(log []issued, tenant int, period, until uint64) []int {
	out := make([]int, until/period)
	for _, x := range log {
		if x.tenant == tenant {
			out[x.at/period]++
		}
	}
	return out
}

// TestQuotaHolds: of a quota of ten warp instructions exactly ten are issued, as early as
// without a quota, and the next one in the very cycle in which the next epoch begins.
func TestQuotaHolds(t *testing.T) {
	free, _ := joined(t, []int{1, 0}, []uint64{0, 0}, 300, nil)
	log, b := joined(t, []int{1, 0}, []uint64{0, 0}, 300, given(Quotas{
		Scheme: QuotaNaive, Period: 100, Amount: []int64{10 * 32, 0}, Goal: []bool{true, false},
	}))
	if !reflect.DeepEqual(log[:10], free[:10]) || len(log) != 30 || log[10].at != 100 || log[20].at != 200 {
		t.Errorf("issued %v, want ten from the beginning of each epoch of 100 cycles", log)
	}
	// Held back from when the eleventh could have been issued, to the epoch's end.
	lat := free[1].at - free[0].at
	want := 100 - free[10].at + 2*(100-10*lat)
	row := b.table.Row(0, 0)
	if row[QuotaHeldCycles] != want || row[IdleWarpCycles] != want {
		t.Errorf("held back for %d warp-cycles, idle for %d, want %d", row[QuotaHeldCycles], row[IdleWarpCycles], want)
	}
}

// TestQuotaSchemes: what is left in the next epoch, by hand.
func TestQuotaSchemes(t *testing.T) {
	const plenty = 1 << 30
	for _, c := range []struct {
		name   string
		scheme QuotaScheme
		amount []int64
		goal   []bool
		start  []uint64
		want   [2][]int // by epoch of 100 cycles; nil: anything
	}{
		{
			"naive forgets what was overshot", QuotaNaive,
			[]int64{33, plenty},
			[]bool{true, true},
			[]uint64{0, 0},
			[2][]int{{2, 2, 2, 2, 2, 2}, nil},
		},
		{ // 33, 2, 3, 4, 5, 6: one instruction, and two while more than 32 are left
			"rollover carries what was overshot", QuotaRollover,
			[]int64{33, plenty},
			[]bool{true, true},
			[]uint64{0, 0},
			[2][]int{{2, 1, 1, 1, 1, 1}, nil},
		},
		{ // there from 299 on: quotas of three epochs have been saved
			"rollover saves what is left", QuotaRollover,
			[]int64{64, plenty},
			[]bool{true, true},
			[]uint64{250, 0},
			[2][]int{{0, 0, 6, 2, 2, 2}, nil},
		},
		{
			"naive saves nothing", QuotaNaive,
			[]int64{64, plenty},
			[]bool{true, true},
			[]uint64{250, 0},
			[2][]int{{0, 0, 2, 2, 2, 2}, nil},
		},
		{
			"best effort saves nothing", QuotaRollover,
			[]int64{64, plenty},
			[]bool{false, true},
			[]uint64{250, 0},
			[2][]int{{0, 0, 2, 2, 2, 2}, nil},
		},
		{
			"elastic lasts no longer than a period", QuotaElastic,
			[]int64{64, plenty},
			[]bool{true, false},
			[]uint64{0, 0},
			[2][]int{{2, 2, 2, 2, 2, 2}, nil},
		},
		{
			"none for best effort while one with a goal has some", QuotaNaive,
			[]int64{plenty, 0},
			[]bool{true, false},
			[]uint64{0, 0},
			[2][]int{nil, {0, 0, 0, 0, 0, 0}},
		},
		{
			"time: best effort waits", QuotaRolloverTime,
			[]int64{plenty, 320},
			[]bool{true, false},
			[]uint64{0, 0},
			[2][]int{nil, {0, 0, 0, 0, 0, 0}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, _ := joined(t, []int{1, 1}, c.start, 600,
				given(Quotas{Scheme: c.scheme, Period: 100, Amount: c.amount, Goal: c.goal}))
			for i, want := range c.want {
				if got := perEpoch(log, i, 100, 600); want != nil && !slices.Equal(got, want) {
					t.Errorf("tenant %d issues %v in each epoch, want %v", i, got, want)
				}
			}
		})
	}
}

// TestBestEffort: who has no goal issues as if it were alone once all with one are out of
// quota, or not there, until the epoch ends; in rollover-time only then.
func TestBestEffort(t *testing.T) {
	alone, _ := joined(t, []int{0, 1}, []uint64{0, 0}, 300, nil)
	lat := alone[1].at - alone[0].at
	for _, c := range []struct {
		scheme QuotaScheme
		warps  int // of the one with a goal
		want   []int
	}{
		{QuotaNaive, 0, perEpoch(alone, 1, 100, 300)},
		{QuotaRollover, 0, perEpoch(alone, 1, 100, 300)},
		{QuotaRolloverTime, 0, perEpoch(alone, 1, 100, 300)},
		{QuotaElastic, 0, perEpoch(alone, 1, 100, 300)},
		// One instruction of its quota; with its last one the other, which was ready
		// since, goes on, in the same cycle or the next.
		{QuotaNaive, 1, nil},
		{QuotaRollover, 1, nil},
		{QuotaRolloverTime, 1, nil},
	} {
		t.Run(fmt.Sprint(c.scheme, c.warps), func(t *testing.T) {
			log, _ := joined(t, []int{c.warps, 1}, []uint64{0, 0}, 300, given(Quotas{
				Scheme: c.scheme, Period: 100, Amount: []int64{8 * 32, 32}, Goal: []bool{true, false},
			}))
			if got := perEpoch(log, 1, 100, 300); c.want != nil && !slices.Equal(got, c.want) {
				t.Fatalf("issues %v in each epoch, want %v", got, c.want)
			}
			if c.warps == 0 {
				return
			}
			last := uint64(0) // cycle of the last instruction of best effort
			for epoch := range uint64(3) {
				var goal, rest []uint64
				for _, x := range log {
					if x.at/100 == epoch && x.tenant == 0 {
						goal = append(goal, x.at)
					} else if x.at/100 == epoch {
						rest = append(rest, x.at)
					}
				}
				if c.scheme != QuotaRolloverTime {
					if rest[0] > goal[0]+1 && rest[0] != last+lat {
						t.Errorf("epoch %d: best effort begins in cycle %d, after %d", epoch, rest[0], last)
					}
					rest = rest[1:]
				}
				if len(goal) != 8 || rest[0] < goal[7] || rest[0] > goal[7]+1 {
					t.Fatalf("epoch %d: with a goal %v, best effort goes on %v", epoch, goal, rest)
				}
				last = rest[len(rest)-1]
				for i := range rest[1:] {
					if rest[i+1]-rest[i] != lat {
						t.Errorf("epoch %d: best effort issues at %v, want every %d cycles", epoch, rest, lat)
					}
				}
			}
		})
	}
}

// TestElastic: the next epoch begins in the cycle behind the one in which the last quota
// was used up, and all who were held back issue then.
func TestElastic(t *testing.T) {
	log, _ := joined(t, []int{4, 1}, []uint64{0, 0}, 900, given(Quotas{
		Scheme: QuotaElastic, Period: 10_000, Amount: []int64{4 * 32, 3 * 32}, Goal: []bool{true, false},
	}))
	epochs := 0
	for ; len(log) >= 14; log = log[7:] {
		var n [2]int
		for _, x := range log[:7] {
			n[x.tenant]++
		}
		end := log[6].at
		if n != [2]int{4, 3} || log[7].at <= end {
			t.Fatalf("an epoch of %v, the next one begins in cycle %d: want 4 and 3 instructions", log[:7], log[7].at)
		}
		for i := range 4 { // its warps have been ready for long
			if x := log[7+i]; x.tenant != 0 || x.at != end+1 {
				t.Fatalf("the epoch ends in cycle %d, and then %v: want all four warps to issue in the next cycle", end,
					log[7:11])
			}
		}
		epochs++
	}
	if epochs < 30 {
		t.Errorf("%d epochs: the test tests little", epochs)
	}
}

// TestQuotaCall: who sets quotas at the end of an epoch gives those of the next one, once;
// at any other time they begin an epoch.
func TestQuotaCall(t *testing.T) {
	q := Quotas{Scheme: QuotaRollover, Period: 100, Amount: []int64{64, 0}, Goal: []bool{true, false}}
	log, _ := joined(t, []int{1, 0}, []uint64{0, 0}, 600, func(s *SM, now uint64) {
		switch now {
		case 0, 200, 300:
			s.SetQuotas(&q, now)
		case 100:
			more := q
			more.Amount = []int64{5 * 32, 0}
			s.SetQuotas(&more, now)
		case 350:
			s.SetQuotas(&q, now) // epochs are 350 to 450, 450 to 550 from now on
		case 560:
			s.SetQuotas(nil, now)
		}
	})
	until := slices.IndexFunc(log, func(x issued) bool { return x.at >= 550 })
	want := []int{2, 0, 5, 0, 2, 0, 2, 2, 0, 2, 0}
	if got := perEpoch(log[:until], 0, 50, 550); !slices.Equal(got, want) {
		t.Errorf("%v instructions in each 50 cycles, want %v", got, want)
	}
	if last := log[len(log)-1].at; last < 595 {
		t.Errorf("without quotas the last instruction is issued in cycle %d of 600", last)
	}
}

// TestIdleWarps: of three warps of a scheduler that are ready at once two wait, and count as
// idle for so long, not as held back. Looking at the counters changes nothing.
func TestIdleWarps(t *testing.T) {
	quota := Quotas{Scheme: QuotaNaive, Period: 50, Amount: []int64{1 << 30, 0}, Goal: []bool{true, false}}
	one, _ := joined(t, []int{1, 0}, []uint64{0, 0}, 200, given(quota))
	lat := one[1].at - one[0].at
	for _, look := range []uint64{1, 7, 1000} {
		log, b := joined(t, []int{12, 0}, []uint64{0, 0}, 200, func(s *SM, now uint64) {
			given(quota)(s, now)
			if now%look == 0 {
				s.SyncCounters(now)
			}
		})
		var ready [12]uint64 // cycle from which the next instruction of a warp could be issued
		var unit [4]uint64   // by scheduler: cycle from which it takes one
		for w := range ready {
			ready[w] = one[0].at
		}
		want := uint64(0)
		for _, x := range log {
			want += x.at - ready[x.warp]
			begins := max(x.at, unit[x.warp%4])
			ready[x.warp], unit[x.warp%4] = begins+lat, begins+uint64(b.s.cfg.issue.interval[isa.IntAdd])
		}
		for _, at := range ready {
			want += 200 - min(at, 200)
		}
		row := b.table.Row(0, 0)
		if want == 0 || row[IdleWarpCycles] != want || row[QuotaHeldCycles] != 0 {
			t.Errorf("idle for %d warp-cycles, held back for %d; want %d and 0", row[IdleWarpCycles],
				row[QuotaHeldCycles], want)
		}
		if left := uint64(1<<30 - 32*len(perLast(log, 150))); row[QuotaLeft] != left || row[ResidentCTAs] != 1 {
			t.Errorf("%d of the quota left, %d CTAs resident; want %d and 1", row[QuotaLeft], row[ResidentCTAs], left)
		}
	}
}

// perLast is what was issued from a cycle on.
func perLast(log []issued, from uint64) []issued {
	i := slices.IndexFunc(log, func(x issued) bool { return x.at >= from })
	return log[i:]
}

// TestQuotaAndEviction: a CTA that is being evicted is idle no more, though the SM has
// nothing to do; when it has left, who waited for its application goes on at once.
func TestQuotaAndEviction(t *testing.T) {
	const plenty = 1 << 30
	left := func(s *SM, now uint64) {
		s.Evict(s.Youngest(0, nil)[0], now-1)
	}
	log, b := joined(t, []int{1, 1}, []uint64{0, 0}, 300, func(s *SM, now uint64) {
		given(Quotas{Scheme: QuotaNaive, Period: 1000, Amount: []int64{32, 64}, Goal: []bool{true, true}})(s, now)
		if now == 100 {
			left(s, now)
		}
	})
	lat := uint64(9) // an addition's, as in the other tests
	for i, want := range []uint64{100 - (log[0].at + lat), 300 - (log[0].at + 2*lat)} {
		if got := b.table.Row(0, i)[QuotaHeldCycles]; got != want {
			t.Errorf("tenant %d is held back for %d cycles, want %d", i, got, want)
		}
	}
	_, b = joined(t, []int{1, 0}, []uint64{0, 0}, 300, func(s *SM, now uint64) {
		given(Quotas{Scheme: QuotaNaive, Period: 1000, Amount: []int64{32, 64}, Goal: []bool{true, true}})(s, now)
		if now == 70 {
			s.Freeze(now - 1) // nor is anybody idle on an SM that is frozen
		}
	})
	if got, want := b.table.Row(0, 0)[QuotaHeldCycles], 70-(log[0].at+lat); got != want {
		t.Errorf("held back for %d cycles before the SM was frozen, want %d", got, want)
	}
	log, _ = joined(t, []int{1, 1}, []uint64{0, 0}, 300, func(s *SM, now uint64) {
		given(Quotas{Scheme: QuotaNaive, Period: 1000, Amount: []int64{plenty, 0}, Goal: []bool{true, false}})(s, now)
		switch now {
		case 100:
			left(s, now)
		case 150:
			if !s.Rested() || s.SaveEvicted(now-1, func(*Kernel, int) uint64 { return 1 << 30 }) == nil {
				t.Fatal("not evicted")
			}
		}
	})
	i := slices.IndexFunc(log, func(x issued) bool { return x.tenant == 1 })
	if i < 0 || log[i].at != 150 || log[i-1].at >= 100 {
		t.Errorf("best effort begins at %v, want cycle 150: its application had left then", log[max(0, i):][:1])
	}
}

// TestGoalEnds: best effort goes on in the cycle in which the last CTA with a goal ends.
func TestGoalEnds(t *testing.T) {
	b := newBench(t, nil)
	b.s.SetQuotas(&Quotas{
		Scheme: QuotaRolloverTime, Period: 10_000, Amount: []int64{1 << 30, 1 << 30}, Goal: []bool{true, false},
	}, 0)
	var ended, began uint64
	for now := uint64(0); now < 500; now++ {
		if b.s.Due() <= now {
			b.s.Tick(now)
		}
		if len(b.s.Done) > 0 && ended == 0 {
			ended = now
		}
		for i := mem.TenantID(0); now == 0 && i < 2; i++ {
			g := oneWarp(alu(isa.IntAdd, isa.INT, 0, 0), alu(isa.IntAdd, isa.INT, 0, 0), exit())
			g.trace = func(_, _, pc int, now uint64) {
				if i == 1 && pc == 0 {
					began = now
				}
			}
			if err := b.s.Start(&Kernel{Tenant: i, Grid: g, Code: &g.code, Geo: g.geo}, 0, now); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ended == 0 || began != ended {
		t.Errorf("best effort begins in cycle %d, the goal's last CTA ended in %d", began, ended)
	}
}
