package machine

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// shares are shares of SMs and channel groups.
func shares(sms, groups []int) (out []sharing.Share) {
	for i, n := range sms {
		out = append(out, sharing.Share{SMs: n, Groups: groups[i]})
	}
	return out
}

// sms are shares of SMs alone, where memory is shared.
func sms(n ...int) (out []sharing.Share) {
	for _, k := range n {
		out = append(out, sharing.Share{SMs: k})
	}
	return out
}

// small makes a machine of 16 SMs.
func small(m *sheets.Machine) { m.SM.Count = 16 }

// mps is a qv100 of 16 SMs, of which a has 7, b 7 and nobody 2; memory is everybody's.
func mps(t *testing.T, o Options) *rig {
	t.Helper()
	return newRig(t, "qv100", o, small, tenant("a", upTo(7)), tenant("b", between(7, 14)))
}

// On a machine that does not translate, and under MPS, SMs change hands in the middle of
// kernels, by drain and by switch, to nobody and from nobody, in exactly these cycles; the
// kernels compute the right thing and leave nothing behind.
func TestSMsMoveWithoutTranslation(t *testing.T) {
	for _, c := range []struct {
		name   string
		share  []sharing.Share
		within uint64
		want   string
	}{
		{
			"drain",
			sms(5, 9),
			1 << 30,
			"SM14 -1>1 idle 3000-3000 0x0; SM15 -1>1 idle 3000-3000 0x0; " +
				"SM6 0>-1 drain 3000-15248 8x0; SM5 0>-1 drain 3000-15248 8x0; count 24718; scale 11993",
		},
		{
			"switch",
			sms(5, 11),
			0,
			"SM14 -1>1 idle 3000-3000 0x0; SM15 -1>1 idle 3000-3000 0x0; " +
				"SM6 0>1 switch 3000-5562 8x71936; SM5 0>1 switch 3000-5591 8x71936; count 30294; scale 10960",
		},
		{
			"drain, then switch",
			sms(5, 11),
			4000,
			"SM14 -1>1 idle 3000-3000 0x0; SM15 -1>1 idle 3000-3000 0x0; " +
				"SM6 0>1 switch 3000-9549 8x71936; SM5 0>1 switch 3000-9482 8x71936; count 28477; scale 11641",
		},
		{
			"to nobody",
			sms(4, 7),
			0,
			"SM6 0>-1 switch 3000-5528 8x71936; SM5 0>-1 switch 3000-5586 8x71936; " +
				"SM4 0>-1 switch 3000-5560 8x71936; count 40735; scale 14141",
		},
	} {
		for _, o := range []Options{{}, {Every: true}, {Lockstep: true}} {
			r := mps(t, o)
			a, checkA := r.count(0, 80, 256, 200)
			b, checkB := r.scale(1, 300_000, mem.Device)
			if got := r.story(3000, c.share, c.within, a, b); got != c.want {
				t.Errorf("%s (%+v):\n%s\nwant\n%s", c.name, o, got, c.want)
			}
			checkA()
			checkB()
			r.leftovers()
			for i, w := range c.share {
				if n := len(r.g.Tenants[i].SMs); n != w.SMs {
					t.Errorf("%s: tenant %d has %d SMs, want %d", c.name, i, n, w.SMs)
				}
			}
		}
	}
}

// What cannot move is refused, and why.
func TestWhatCannotMove(t *testing.T) {
	for _, c := range []struct {
		name        string
		r           *rig
		sms, groups bool
	}{
		{"MPS", mps(t, Options{}), true, false},
		{"slices with translation", pair(t, Options{}, nil), true, true},
		{"turns", together(t, "qv100", 4, 2, Options{Quantum: 1000}), false, false},
		{"SMK", together(t, "ugpu", 4, 2, Options{}), false, false},
		{"slices", newRig(t, "qv100", Options{}, small, &sharing.Tenant{Name: "a", SMs: upTo(8), Groups: upTo(16)},
			&sharing.Tenant{Name: "b", SMs: between(8, 16), Groups: between(16, 32)}), true, false},
	} {
		if err := c.r.g.Sharing.CanMoveSMs(); (err == nil) != c.sms {
			t.Errorf("%s: SMs move: %v", c.name, err)
		}
		if err := c.r.g.Sharing.CanMoveGroups(); (err == nil) != c.groups {
			t.Errorf("%s: channel groups move: %v", c.name, err)
		}
		a, b := c.r.g.Tenants[0], c.r.g.Tenants[1]
		_, err := c.r.g.Sharing.Repartition(plain(shares([]int{1, 2}, []int{len(a.Groups), len(b.Groups)}), 0))
		if (err == nil) != c.sms {
			t.Errorf("%s: moving SMs alone gave %v", c.name, err)
		}
		c.r.standStill()
		_, err = c.r.g.Sharing.Repartition(plain(shares([]int{2, 1}, []int{len(a.Groups) + 1, len(b.Groups) - 1}), 0))
		if (err == nil) != c.groups {
			t.Errorf("%s: moving channel groups gave %v", c.name, err)
		}
	}
	if _, err := mps(t, Options{}).g.Sharing.Repartition(plain(sms(-1, 2), 0)); fmt.Sprint(err) !=
		"application a would have -1 SMs" {
		t.Errorf("less than no SM for a: %v", err)
	}
}

// SMs that change hands every 10 K cycles leave most strides to a machine that does not
// translate, and in strides or not, on one core or two, everything ends in the same cycle.
func TestMovesKeepStrides(t *testing.T) {
	run := func(o Options, moves bool) (story string, strode uint64) {
		r := newRig(t, "qv100", o, nil, tenant("a", upTo(40)), tenant("b", between(40, 80)))
		a, checkA := r.count(0, 640, 256, 150)
		b, checkB := r.scale(1, 1_000_000, mem.Device)
		for n := 0; r.g.Running() > 0; {
			if _, err := r.g.Run(r.g.Now() - r.g.Now()%10_000 + 10_000); err != nil {
				t.Fatal(err)
			}
			if !moves || r.g.Now()%10_000 != 0 || !r.g.Sharing.NothingMoves() {
				continue
			}
			n++
			r.ask(plain(sms(40+n%2, 40-n%2), []uint64{0, 4000}[n/2%2]))
		}
		checkA()
		checkB()
		for _, p := range r.g.Sharing.Repartitions {
			for _, m := range p.SMs {
				story += fmt.Sprintln(m.SM, m.From, m.To, m.How, m.Start, m.End, m.CTAs, m.Bytes)
			}
		}
		return fmt.Sprintln(story, len(r.g.Sharing.Repartitions), a.End, b.End, stat.Set(r.g.Tables).Sums(0),
			stat.Set(r.g.Tables).Sums(1)), r.g.clock.InStrides
	}
	_, without := run(Options{}, false)
	want, none := run(Options{Lockstep: true}, true)
	got, strode := run(Options{}, true)
	if got != want {
		t.Errorf("in strides\n%s\nin lockstep\n%s", got, want)
	}
	if none != 0 || strode*10 < without*8 {
		t.Errorf("%d cycles of strides, %d without moves, %d in lockstep", strode, without, none)
	}
}

// Shares that change again and again, at any cycle, to nobody and from nobody, lose no CTA,
// no request and no image, in strides and in lockstep alike.
func TestSMsMoveAtRandom(t *testing.T) {
	for seed := range uint64(3) {
		churnEverywhere(t, seed, small)
	}
}

// So they do where each SM or partition has a chunk of the grid: what a partition leaves behind
// when its last SM goes, others take.
func TestSMsMoveAtRandomDistributed(t *testing.T) {
	for seed := range uint64(4) {
		churnEverywhere(t, seed, func(m *sheets.Machine) {
			small(m)
			m.SM.Dispatch, m.SM.DispatchParts = "distributed", []int{0, 4}[seed%2]
		})
	}
}

// churnEverywhere holds random moves in strides and in lockstep against each other.
func churnEverywhere(t *testing.T, seed uint64, change func(*sheets.Machine)) {
	churn := func(seed uint64, o Options) (story string) {
		r := newRig(t, "qv100", o, change, tenant("a", upTo(7)), tenant("b", between(7, 14)))
		rng := rand.New(rand.NewPCG(seed, 3))
		var checks []func()
		var kernels []*sharing.Kernel
		for range 3 {
			for i := range 2 {
				a, checkA := r.count(i, 40+rng.IntN(80), 64<<rng.IntN(3), 50+rng.IntN(100))
				b, checkB := r.scale(i, 20_000+rng.IntN(60_000), mem.Device)
				kernels, checks = append(kernels, a, b), append(checks, checkA, checkB)
			}
		}
		for r.g.Running() > 0 {
			r.step(300 + uint64(rng.IntN(2000)))
			if !r.g.Sharing.NothingMoves() {
				continue
			}
			a := 1 + rng.IntN(14)
			want := sms(a, 1+rng.IntN(16-a))
			if _, err := r.g.Sharing.Repartition(plain(want, []uint64{0, 500, 100_000}[rng.IntN(3)])); err != nil {
				t.Fatal(err)
			}
		}
		r.standStill()
		for _, check := range checks {
			check()
		}
		r.leftovers()
		if len(r.g.Sharing.Repartitions) < 3 {
			t.Errorf("seed %d: only %d repartitions", seed, len(r.g.Sharing.Repartitions))
		}
		for _, k := range kernels {
			story += fmt.Sprint(k.End, " ")
		}
		return story
	}
	want := churn(seed, Options{Lockstep: true})
	for _, o := range []Options{{}, {Every: true}} {
		if got := churn(seed, o); got != want {
			t.Errorf("seed %d, %+v: kernels end at\n%s, in lockstep at\n%s", seed, o, got, want)
		}
	}
}

// An application without an SM waits: its CTAs' contexts lie in memory, grids it launches are queued, and both go on
// when it gets one, in the same cycles however the simulator goes about it.
func TestNoSMForAWhile(t *testing.T) {
	want := ""
	for _, o := range []Options{{}, {Every: true}, {Lockstep: true}} {
		r := mps(t, o)
		r.g.Watchdog.Governed = true // somebody may give it one
		a, checkA := r.count(0, 80, 256, 200)
		b, checkB := r.scale(1, 300_000, mem.Device)
		to := func(at uint64, shares ...sharing.Share) {
			for r.g.Now() < at {
				if _, err := r.g.Run(at); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.g.Sharing.Repartition(plain(shares, 0)); err != nil {
				t.Fatal(err)
			}
		}
		to(3000, sms(0, 14)...)
		for r.g.Now() < 50_000 {
			if _, err := r.g.Run(50_000); err != nil {
				t.Fatal(err)
			}
		}
		late, checkLate := r.count(0, 8, 256, 20)
		if a.Done || !b.Done || len(r.g.Tenants[0].SMs) != 0 {
			t.Fatalf("a over: %v, b over: %v, a has %d SMs", a.Done, b.Done, len(r.g.Tenants[0].SMs))
		}
		to(60_000, sms(3, 11)...)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		r.standStill()
		checkA()
		checkB()
		checkLate()
		r.leftovers()
		if a.End <= 60_000 || late.End <= 60_000 {
			t.Errorf("a ended in cycle %d, the later grid in %d, without an SM", a.End, late.End)
		}
		if got := fmt.Sprint(a.End, late.End, b.End); want == "" {
			want = got
		} else if got != want {
			t.Errorf("%+v: ends %s, want %s", o, got, want)
		}
	}
}
