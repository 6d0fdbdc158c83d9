package machine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// target is one that gates so many SMs.
func target(gated int, shares ...sharing.Share) *sharing.Target {
	return &sharing.Target{Shares: shares, Gated: gated}
}

func (r *rig) ask(t *sharing.Target) *sharing.Repartition {
	r.t.Helper()
	p, err := r.g.Sharing.Repartition(t)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// runTo runs to a cycle, whatever ends before.
func (r *rig) runTo(cycle uint64) {
	r.t.Helper()
	for r.g.Now() < cycle {
		if _, err := r.g.Run(cycle); err != nil {
			r.t.Fatal(err)
		}
	}
}

// told is the moves of a plan, and what is left of it.
func told(p *sharing.Repartition) string {
	var s strings.Builder
	for _, m := range p.SMs {
		fmt.Fprintf(&s, "SM%d %d>%d %s %d-%d", m.SM, m.From, m.To, m.How, m.Start, m.End)
		if m.Gate {
			s.WriteString(" gate")
		}
		s.WriteString("; ")
	}
	fmt.Fprint(&s, p.Left, p.LeftGated)
	return s.String()
}

// each is the number of SMs in each state.
func (r *rig) each() (n [sharing.SMWaking + 1]int) {
	for i := range r.g.sms.List {
		n[r.g.Sharing.SMState(i)]++
	}
	return n
}

// An SM that wakes takes its first CTA exactly the sheet's cycles after it was asked for;
// one that was idle much sooner. Both are counted.
func TestWakingTakesItsTime(t *testing.T) {
	for _, delay := range []int{1000, 777, 1} {
		for _, o := range []Options{{}, {Every: true}, {Lockstep: true}} {
			r := newRig(t, "qv100", o, func(m *sheets.Machine) { m.SM.Count, m.SM.WakeDelay = 16, delay },
				tenant("a", upTo(7)), tenant("b", between(7, 14)))
			r.ask(target(2, sms(7, 7)...))
			_, check := r.count(0, 80, 256, 200)
			r.runTo(5000)
			if r.g.Sharing.Gated() != 2 || !r.g.Sharing.NothingMoves() {
				t.Fatalf("%+v: %d SMs are gated, want 2", o, r.g.Sharing.Gated())
			}
			p := r.ask(target(0, sms(8, 7)...))
			first := uint64(0)
			s := r.g.sms.List[p.SMs[0].SM]
			for first == 0 {
				r.step(1)
				if s.Resident() > 0 {
					first = r.g.Now() - 1 // in which it was placed
				}
			}
			want := fmt.Sprintf("SM14 -1>0 wake 5000-%[1]d; SM15 -1>-1 wake 5000-%[1]d; [0 0] 0", 5000+delay)
			if told(p) != want || first != 5000+uint64(delay) {
				t.Errorf("%+v: first CTA in cycle %d: %s\nwant %s", o, first, told(p), want)
			}
			if n := r.counted(0, "sm.wakes"); n != 1 {
				t.Errorf("%d wakes", n)
			}
			if n := r.counted(0, "sm.waking_cycles"); n != uint64(delay) {
				t.Errorf("%d waking cycles", n)
			}
			if n := r.counted(1, "sm.wakes") + r.counted(1, "sm.waking_cycles"); n != 0 {
				t.Errorf("b is charged for what woke for a, or nobody: %d", n)
			}
			if r.g.Sharing.Gated() != 0 || r.each() != [...]int{15, 0, 1, 0, 0} {
				t.Errorf("%v", r.each())
			}
			if err := r.finish(); err != nil {
				t.Fatal(err)
			}
			check()
		}
	}
}

// Who is to have more gets an idle SM first, then a gated one, then another's; and what is
// gated is idle, or has been drained or switched first.
func TestOrderOfTaking(t *testing.T) {
	r := mps(t, Options{})
	_, check := r.count(1, 200, 256, 500)
	r.runTo(1000)
	var got []string
	for _, x := range []struct {
		at uint64
		t  *sharing.Target
	}{
		{2000, target(1, sms(7, 7)...)},
		{3000, target(sharing.KeepGated, sms(10, 6)...)},
		{9000, target(2, sms(8, 6)...)},
		{12000, target(3, sms(8, 5)...)},
		{18000, target(1, sms(9, 5)...)},
		{21000, target(sharing.KeepGated, sms(8, 5)...)},
	} {
		r.runTo(x.at)
		if !r.g.Sharing.NothingMoves() {
			t.Fatalf("not settled at %d", x.at)
		}
		p := r.ask(x.t)
		r.standStill()
		got = append(got, told(p))
	}
	const want = `SM14 -1>-1 idle 2000-2000 gate; [0 0] 0
SM15 -1>0 idle 3000-3000; SM14 -1>0 wake 3000-4000; SM13 1>0 switch 3000-5439; [0 0] 0
SM15 0>-1 idle 9000-9000 gate; SM14 0>-1 idle 9000-9000 gate; [0 0] 0
SM12 1>-1 switch 12000-14439 gate; [0 0] 0
SM12 -1>0 wake 18000-19000; SM14 -1>-1 wake 18000-19000; [0 0] 0
SM13 0>-1 idle 21000-21000; [0 0] 0
`
	if s := strings.Join(got, "\n") + "\n"; s != want {
		t.Errorf("%s\nwant\n%s", s, want)
	}
	if n := r.each(); n != [...]int{13, 0, 2, 1, 0} {
		t.Errorf("%v", n)
	}
	if err := r.finish(); err != nil {
		t.Fatal(err)
	}
	check()
	r.leftovers()
}

// A target that comes while SMs are on their way counts them as arrived and chooses among
// the others; what cannot be done yet is left, and done when it is asked for again.
func TestTargetsOverlap(t *testing.T) {
	for _, o := range []Options{{}, {Every: true}, {Lockstep: true}} {
		r := mps(t, o)
		_, checkA := r.count(0, 120, 256, 200)
		_, checkB := r.count(1, 80, 256, 200)
		var plans []*sharing.Repartition
		for _, x := range []struct {
			at uint64
			t  *sharing.Target
		}{
			{3000, target(sharing.KeepGated, sms(5, 9)...)},
			{3100, target(sharing.KeepGated, sms(5, 9)...)},  // the same: nothing more to do
			{3200, target(sharing.KeepGated, sms(8, 1)...)},  // a gets three of b's
			{3300, target(sharing.KeepGated, sms(15, 1)...)}, // b has none left to give that is not on its way
			{3400, target(6, sms(9, 1)...)},
			{9000, target(6, sms(9, 1)...)},
		} {
			r.runTo(x.at)
			plans = append(plans, r.ask(x.t))
		}
		r.runTo(20_000)
		var got strings.Builder
		for _, p := range plans {
			fmt.Fprintln(&got, told(p))
		}
		const want = `SM14 -1>1 idle 3000-3000; SM15 -1>1 idle 3000-3000; SM6 0>-1 switch 3000-5557; SM5 0>-1 switch 3000-5523; [0 0] 0
[0 0] 0
SM15 1>0 switch 3200-5692; SM14 1>0 switch 3200-5668; SM13 1>0 switch 3200-5725; SM12 1>-1 switch 3200-5681; SM11 1>-1 switch 3200-5744; SM10 1>-1 switch 3200-5682; SM9 1>-1 switch 3200-5646; SM8 1>-1 switch 3200-5698; [0 0] 0
[7 0] 0
[1 0] 6
SM5 -1>0 idle 9000-9000; SM6 -1>-1 idle 9000-9000 gate; SM8 -1>-1 idle 9000-9000 gate; SM9 -1>-1 idle 9000-9000 gate; SM10 -1>-1 idle 9000-9000 gate; SM11 -1>-1 idle 9000-9000 gate; SM12 -1>-1 idle 9000-9000 gate; [0 0] 0
`
		if got.String() != want {
			t.Errorf("%+v:\n%swant\n%s", o, got.String(), want)
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		checkA()
		checkB()
		r.leftovers()
		if n := r.each(); n != [...]int{10, 0, 0, 6, 0} || len(r.g.Tenants[0].SMs) != 9 {
			t.Errorf("%v, a has %d", n, len(r.g.Tenants[0].SMs))
		}
	}
}

// A caller that says how SMs are freed is obeyed whatever is expected of their CTAs.
func TestFreeing(t *testing.T) {
	for _, c := range []struct {
		free   sharing.Freeing
		within uint64
		how    sharing.How
	}{
		{sharing.ByEstimate, 1 << 30, sharing.Drain},
		{sharing.ByEstimate, 0, sharing.Switch},
		{sharing.ByDraining, 0, sharing.Drain},
		{sharing.BySwitching, 1 << 30, sharing.Switch},
	} {
		r := mps(t, Options{})
		_, check := r.count(0, 80, 256, 200)
		r.runTo(3000)
		p := r.ask(&sharing.Target{Shares: sms(6, 7), Gated: sharing.KeepGated, Free: c.free, Within: c.within})
		r.standStill()
		if m := p.SMs[0]; m.How != c.how || m.CTAs != 8 || m.Bytes > 0 != (c.how == sharing.Switch) {
			t.Errorf("%+v: %+v", c, m)
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		check()
		r.leftovers()
	}
}

func TestWhatCannotBeGated(t *testing.T) {
	r := mps(t, Options{})
	_, err := r.g.Sharing.Repartition(target(3, sms(7, 7)...))
	if fmt.Sprint(err) != "3 SMs would be gated: only 2 have no owner" {
		t.Errorf("%v", err)
	}
	r.ask(target(2, sms(7, 7)...))
	if down, up := r.g.Sharing.Powering(); down != 2 || up != 0 || r.g.Sharing.Gated() != 0 {
		t.Errorf("%d on their way to be gated, %d waking, %d gated", down, up, r.g.Sharing.Gated())
	}
	if !r.g.Sharing.CanBegin(target(0, sms(1, 1)...)) {
		t.Error("SMs cannot be asked for while others are on their way")
	}
	if len(r.g.Sharing.Repartitions) != 1 {
		t.Errorf("%d plans", len(r.g.Sharing.Repartitions))
	}
}

// While channel groups are handed over, SMs of those who lose or gain some stay; others'
// can move.
func TestHandOverHoldsSMs(t *testing.T) {
	r := newRig(t, "ugpu", Options{}, small, &sharing.Tenant{Name: "a", SMs: upTo(5), Groups: upTo(3)},
		&sharing.Tenant{Name: "b", SMs: between(5, 10), Groups: between(3, 6)},
		&sharing.Tenant{Name: "c", SMs: between(10, 14), Groups: between(6, 7)},
		&sharing.Tenant{Name: "d", SMs: between(14, 16), Groups: between(7, 8)})
	r.scale(0, 60_000, mem.Device)
	r.step(1000)
	r.ask(plain(shares([]int{5, 5, 4, 2}, []int{2, 4, 1, 1}), 0))
	for _, c := range []struct {
		shares []sharing.Share
		can    bool
	}{
		{shares([]int{5, 5, 3, 3}, []int{3, 3, 1, 1}), true},
		{shares([]int{4, 5, 5, 2}, []int{3, 3, 1, 1}), false},
		{shares([]int{5, 5, 4, 2}, []int{3, 2, 2, 1}), false},
		{shares([]int{5, 5, 4}, []int{3, 3, 1}), false},
	} {
		if got := r.g.Sharing.CanBegin(plain(c.shares, 0)); got != c.can {
			t.Errorf("%v can begin: %v", c.shares, got)
		}
	}
	if _, err := r.g.Sharing.Repartition(plain(shares([]int{4, 5, 5, 2}, []int{3, 3, 1, 1}), 0)); err == nil {
		t.Error("an SM of an application whose groups are handed over may go")
	}
	r.ask(plain(shares([]int{5, 5, 3, 3}, []int{3, 3, 1, 1}), 0))
	r.standStill()
	r.holds(shares([]int{5, 5, 3, 3}, []int{2, 4, 1, 1}))
}

// Looked at in every cycle, SMs are in the states that the counters say, and one that is
// gated has no CTA.
func TestGatedCyclesAddUp(t *testing.T) {
	r := mps(t, Options{})
	r.scale(0, 60_000, mem.Device)
	r.count(1, 60, 256, 200)
	var gated, waking uint64
	for at := uint64(1); at < 12_000; at++ {
		r.runTo(at)
		switch at {
		case 500:
			r.ask(target(3, sms(6, 7)...))
		case 5000:
			r.ask(target(1, sms(6, 9)...))
		case 5100:
			r.ask(target(2, sms(5, 9)...))
		}
		for i, s := range r.g.sms.List {
			switch r.g.Sharing.SMState(i) {
			case sharing.SMGated:
				gated++
				if s.Resident() > 0 || len(r.g.Sharing.Owners(i)) > 0 {
					t.Fatalf("cycle %d: gated SM %d has or takes CTAs", at, i)
				}
			case sharing.SMWaking:
				waking++
			}
		}
	}
	r.runTo(12_000)
	sum := uint64(0)
	for i := range r.g.sms.List {
		sum += r.g.Sharing.GatedCycles(i)
	}
	if sum != gated || gated == 0 {
		t.Errorf("%d gated SM-cycles are counted, %d seen", sum, gated)
	}
	r.g.SyncSMs()
	if n := r.counted(1, "sm.waking_cycles"); n != waking || waking == 0 {
		t.Errorf("%d waking cycles are counted, %d seen", n, waking)
	}
}

// conserved checks that every SM is in exactly one state and whose it is agrees.
func (r *rig) conserved() {
	r.t.Helper()
	g, p := r.g, &r.g.Sharing
	owned, leaving, arriving := 0, 0, 0
	for i, t := range g.Tenants {
		l, a := p.Moving(i)
		owned, leaving, arriving = owned+len(t.SMs), leaving+l, arriving+a
		for _, s := range t.SMs {
			if p.Owner(s) != i {
				r.t.Fatalf("tenant %d lists SM %d of %d", i, s, p.Owner(s))
			}
		}
	}
	n := r.each()
	nobody, _ := p.Moving(-1)
	if n[sharing.SMOwned]+leaving != owned || n[sharing.SMFreed]+n[sharing.SMWaking] != leaving+nobody {
		r.t.Fatalf("%d owned, %d leaving, %d nobody's on their way: %v", owned, leaving, nobody, n)
	}
	all := 0
	for _, k := range n {
		all += k
	}
	if all != len(g.sms.List) || n[sharing.SMGated] != p.Gated() {
		r.t.Fatalf("%v, %d gated", n, p.Gated())
	}
	if down, up := p.Powering(); up != n[sharing.SMWaking] || down > n[sharing.SMFreed] {
		r.t.Fatalf("%d being powered down, %d waking: %v", down, up, n)
	}
	for i, s := range g.sms.List {
		switch o := p.Owners(i); p.SMState(i) {
		case sharing.SMOwned:
			if len(o) != 1 || o[0] != p.Owner(i) {
				r.t.Fatalf("SM %d of %d takes CTAs of %v", i, p.Owner(i), o)
			}
		default:
			if len(o) > 0 || p.SMState(i) >= sharing.SMIdle && s.Resident() > 0 {
				r.t.Fatalf("SM %d is %s, takes CTAs of %v and has %d", i, p.SMState(i), o, s.Resident())
			}
		}
	}
}

// Targets that come at any cycle, gate, free as they like and find SMs of earlier ones on
// their way lose no SM and no CTA, come true when they are asked for again, and change no
// result of strides or lockstep.
func TestTargetsAtRandom(t *testing.T) {
	for name, x := range map[string]struct {
		seeds  uint64
		how    transfer.Copying
		groups bool
		make   func(t *testing.T, o Options) *rig
	}{
		"mps":      {3, transfer.PageMove, false, mps},
		"pagemove": {2, transfer.PageMove, true, func(t *testing.T, o Options) *rig { return pair(t, o, nil) }},
		"rewrite": {1, transfer.Rewrite, true, func(t *testing.T, o Options) *rig {
			return pair(t, o, func(m *sheets.Machine) { m.Map = m.Conventional.Map(m.Map.Groups) })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range x.seeds {
				of := func(o Options) string {
					o.Copying = x.how
					return randomTargets(t, x.make(t, o), seed, x.groups)
				}
				want := of(Options{Lockstep: true})
				for _, o := range []Options{{}, {Every: true}} {
					if got := of(o); got != want {
						t.Errorf("seed %d, %+v:\n%s, in lockstep\n%s", seed, o, got, want)
					}
				}
			}
		})
	}
}

// randomTargets asks a machine for random targets, of channel groups too, and tells what
// came of them.
func randomTargets(t *testing.T, r *rig, seed uint64, groups bool) (story string) {
	rng := rand.New(rand.NewPCG(seed, 11))
	var checks []func()
	var kernels []*sharing.Kernel
	for range 2 {
		for i := range 2 {
			a, checkA := r.count(i, 40+rng.IntN(80), 64<<rng.IntN(3), 50+rng.IntN(100))
			b, checkB := r.scale(i, 20_000+rng.IntN(60_000), mem.Device)
			kernels, checks = append(kernels, a, b), append(checks, checkA, checkB)
		}
	}
	var last *sharing.Target
	overlapped, left := 0, 0
	for r.g.Running() > 0 {
		r.step(100 + uint64(rng.IntN(1500)))
		r.conserved()
		a := 1 + rng.IntN(14)
		b := 1 + rng.IntN(15-a)
		next := &sharing.Target{
			Shares: sms(a, b), Gated: rng.IntN(18-a-b) - 1, Free: sharing.Freeing(rng.IntN(3)),
			Within: []uint64{0, 500, 100_000}[rng.IntN(3)],
		}
		for i, own := range r.g.Tenants {
			next.Shares[i].Groups = len(own.Groups)
		}
		if groups && rng.IntN(4) == 0 {
			k := 1 + rng.IntN(7)
			next.Shares[0].Groups, next.Shares[1].Groups = k, 8-k
		}
		if !r.g.Sharing.CanBegin(next) {
			continue
		}
		last = next
		if !r.g.Sharing.NothingMoves() {
			overlapped++
		}
		if p := r.ask(last); p.Left[0] != 0 || p.Left[1] != 0 || p.LeftGated != 0 {
			left++
		}
		r.conserved()
	}
	for range 2 {
		r.standStill()
		for i, own := range r.g.Tenants {
			last.Shares[i].Groups = len(own.Groups)
		}
		p := r.ask(last)
		story += told(p) + " "
	}
	r.standStill()
	r.conserved()
	for i, w := range last.Shares {
		if n := len(r.g.Tenants[i].SMs); n != w.SMs {
			t.Errorf("seed %d: tenant %d has %d SMs, want %d", seed, i, n, w.SMs)
		}
	}
	if last.Gated >= 0 && r.g.Sharing.Gated() != last.Gated {
		t.Errorf("seed %d: %d SMs are gated, want %d", seed, r.g.Sharing.Gated(), last.Gated)
	}
	for _, check := range checks {
		check()
	}
	r.leftovers()
	if overlapped < 3 || left == 0 {
		t.Errorf("seed %d: %d targets met SMs on their way, %d left something", seed, overlapped, left)
	}
	for _, k := range kernels {
		story += fmt.Sprint(k.End, " ")
	}
	for i := range r.g.sms.List {
		story += fmt.Sprint(r.g.Sharing.GatedCycles(i), " ")
	}
	r.g.SyncSMs()
	return fmt.Sprint(story, r.counted(0, "sm.waking_cycles"), r.counted(1, "sm.waking_cycles"))
}

// An SM that wakes within a stride, while the mover looks at others at the strides' ends,
// wakes in its cycle.
func TestWakingWithinStrides(t *testing.T) {
	run := func(o Options) (story string, strode uint64) {
		r := newRig(t, "qv100", o, func(m *sheets.Machine) { m.SM.WakeDelay = 1013 },
			tenant("a", upTo(39)), tenant("b", between(39, 78)))
		_, checkA := r.scale(0, 1_000_000, mem.Device)
		_, checkB := r.scale(1, 1_000_000, mem.Device)
		for n := 0; r.g.Running() == 2; n++ {
			r.step(1000 + uint64(n%7))
			switch n % 4 {
			case 0: // two SMs are drained, to be gated
				r.ask(&sharing.Target{Shares: sms(38, 38), Gated: 4, Free: sharing.ByDraining})
			case 2: // two that are gated wake, and another is drained meanwhile
				r.ask(&sharing.Target{Shares: sms(40, 37), Gated: 1, Free: sharing.ByDraining})
			}
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		checkA()
		checkB()
		for _, p := range r.g.Sharing.Repartitions {
			story += told(p) + "\n"
		}
		return story, r.g.clock.InStrides
	}
	want, _ := run(Options{Lockstep: true})
	if !strings.Contains(want, "wake") || !strings.Contains(want, "drain") {
		t.Errorf("nothing wakes while something drains:\n%s", want)
	}
	got, strode := run(Options{})
	if got != want {
		t.Errorf("in strides\n%s\nin lockstep\n%s", got, want)
	}
	if strode == 0 {
		t.Error("no cycle of strides")
	}
}
