package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
)

// story runs a machine to the end of its kernels, asking for shares at the given cycle,
// and tells in which cycles what changed hands and the kernels ended.
func (r *rig) story(at uint64, want []sharing.Share, within uint64, kernels ...*sharing.Kernel) string {
	r.t.Helper()
	for r.g.Now() < at {
		if _, err := r.g.Run(at); err != nil {
			r.t.Fatal(err)
		}
	}
	p, err := r.g.Sharing.Repartition(plain(want, within))
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.finish(); err != nil {
		r.t.Fatal(err)
	}
	r.standStill()
	var s strings.Builder
	for _, m := range p.SMs {
		fmt.Fprintf(&s, "SM%d %d>%d %s %d-%d %dx%d; ", m.SM, m.From, m.To, m.How, m.Start, m.End, m.CTAs, m.Bytes)
	}
	for i := range p.Groups {
		m := &p.Groups[i]
		fmt.Fprintf(&s, "group%d %d>%d %d-%d-%d; ", m.Group, m.From, m.To, m.Start, m.Handed, m.Emptied)
	}
	for _, k := range kernels {
		fmt.Fprintf(&s, "%s %d; ", k.Name, k.End)
	}
	return strings.TrimSuffix(s.String(), "; ")
}

// Drains, switches, a drain whose deadline comes and a hand-over of channel groups take
// exactly these cycles. The numbers are what the model gave when the test was written: they
// say that nothing has changed, not that they are right.
func TestExactMoves(t *testing.T) {
	for _, c := range []struct {
		name   string
		groups int // a is to have
		within uint64
		want   string
	}{
		{
			"drain", 4, 1 << 30,
			"SM7 0>1 drain 3000-33706 5x0; SM6 0>1 drain 3000-33701 5x0; count 33706; scale 3888",
		},
		{
			"switch", 4, 0,
			"SM7 0>1 switch 3000-6008 5x44960; SM6 0>1 switch 3000-6013 5x44960; count 47118; scale 3889",
		},
		{
			"drain, then switch", 4, 4000,
			"SM7 0>1 switch 3000-10008 5x44960; SM6 0>1 switch 3000-10013 5x44960; count 47118; scale 3888",
		},
		{
			"channels", 3, 0,
			"SM7 0>1 switch 3000-6613 5x44960; SM6 0>1 switch 3000-6613 5x44960; " +
				"group2 0>1 3000-3644-20813; count 47361; scale 5714",
		},
	} {
		for _, every := range []bool{false, true} {
			r := pair(t, Options{Every: every}, nil)
			a, checkA := r.count(0, 40, 256, 400)
			b, checkB := r.scale(1, 40_000, mem.Device)
			got := r.story(3000, shares([]int{6, 10}, []int{c.groups, 8 - c.groups}), c.within, a, b)
			checkA()
			checkB()
			if got != c.want {
				t.Errorf("%s (every cycle: %v):\n%s\nwant\n%s", c.name, every, got, c.want)
			}
		}
	}
}

// Turns and evictions take exactly these cycles.
func TestExactTurnsAndEvictions(t *testing.T) {
	for _, c := range []struct {
		sheet string
		o     Options
		want  string
	}{
		{
			"ugpu",
			Options{Quantum: 3000},
			"[{0 0 3000 32 287744 16450 110 0 0 0} {1 7140 10141 59 130384 11270 1130 0 4 0} " +
				"{0 13241 19565 32 287744 12414 30 13262 4 0} {1 22676 24942 0 0 0 0 6359 752 9064} " +
				"{0 24942 18446744073709551615 0 0 0 0 12752 5712 0}] {0 0} 166457 24941",
		},
		{
			"qv100",
			Options{Quantum: 3000},
			"[{0 0 3000 32 287744 9756 0 0 0 0} {1 5439 7797 0 0 0 0 0 97 0} " +
				"{0 7797 18446744073709551615 0 0 0 0 9768 21034 0}] {0 0} 93783 7796",
		},
		{
			"ugpu",
			Options{},
			"[] {16 145408} 149675 109356",
		},
		{
			"qv100",
			Options{},
			"[] {16 145408} 90611 7782",
		},
	} {
		r := together(t, c.sheet, 4, 2, c.o)
		a, checkA := r.count(0, 60, 256, 600)
		r.step(1500)
		b, checkB := r.scale(1, 20_000, mem.Device)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		checkA()
		checkB()
		got := fmt.Sprint(r.g.Sharing.TimeSlices.Log(), r.g.Sharing.Evicted(), a.End, b.End)
		if got != c.want {
			t.Errorf("%s, quantum %d:\n%s\nwant\n%s", c.sheet, c.o.Quantum, got, c.want)
		}
	}
}

// plain is a target that leaves gating as it is and decides by itself how SMs are freed.
func plain(want []sharing.Share, within uint64) *sharing.Target {
	return &sharing.Target{Shares: want, Gated: sharing.KeepGated, Within: within}
}
