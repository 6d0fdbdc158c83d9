package machine

import (
	"fmt"
	"testing"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// together is a machine of some SMs all of which every one of n applications may use.
func together(t *testing.T, sheet string, sms, n int, o Options) *rig {
	t.Helper()
	var all []*sharing.Tenant
	for i := range n {
		all = append(all, &sharing.Tenant{Name: fmt.Sprint("app", i), SMs: upTo(sms)})
	}
	return newRig(t, sheet, o, func(m *sheets.Machine) {
		m.SM.Count = sms
		m.VM.FaultUs = 1
	}, all...)
}

// residents says whose CTAs are on the machine.
func (r *rig) residents() map[mem.TenantID]int {
	out := map[mem.TenantID]int{}
	for _, s := range r.g.sms.List {
		s.EachCTA(func(k *sm.Kernel, _ uint64) { out[k.Tenant]++ })
	}
	return out
}

// leftovers fails when requests, images or frames of contexts are left at the end.
func (r *rig) leftovers() {
	r.t.Helper()
	for i := range r.g.sms.List {
		r.g.Sharing.Contexts.Free(i)
	}
	if _, err := r.g.Run(r.g.Now() + 100_000); err != nil {
		r.t.Fatal(err)
	}
	if n := r.g.fabric.Slab.Live(); n != 0 {
		r.t.Errorf("%d requests are still in flight", n)
	}
	for i := range r.g.Tenants {
		if n := r.g.Sharing.Contexts.Images(i); n != 0 || len(r.g.Sharing.Contexts.Waiting(i)) > 0 {
			r.t.Errorf("tenant %d has %d contexts in memory, %d of them waiting", i, n,
				len(r.g.Sharing.Contexts.Waiting(i)))
		}
	}
}

// step runs n cycles, or until a kernel ends.
func (r *rig) step(n uint64) {
	r.t.Helper()
	if _, err := r.g.Run(r.g.Now() + n); err != nil {
		r.t.Fatal(err)
	}
}

// TestTurns: applications have the SMs in turn, nobody else's CTAs are there then, a
// turn is a quantum long once its contexts are loaded, and all compute the right thing.
func TestTurns(t *testing.T) {
	for _, sheet := range []string{"ugpu", "qv100"} {
		t.Run(sheet, func(t *testing.T) {
			const quantum = 3000
			r := together(t, sheet, 8, 3, Options{Quantum: quantum})
			var checks []func()
			for i := range 3 {
				_, a := r.count(i, 40, 128, 500)
				_, b := r.scale(i, 30_000, mem.Device)
				checks = append(checks, a, b)
			}
			loaded := map[int]uint64{} // turn: cycle at which its contexts were there
			for r.g.Running() > 0 {
				r.step(1)
				turn := len(r.g.Sharing.TimeSlices.Log()) - 1
				if at, ok := r.g.Sharing.TimeSlices.Loaded(); turn > 0 && ok && loaded[turn] == 0 {
					loaded[turn] = at
				}
				for who := range r.residents() {
					if int(who) != r.g.Sharing.TimeSlices.Holder() {
						t.Fatalf("cycle %d: CTAs of tenant %d are there in the turn of %d", r.g.Now(), who,
							r.g.Sharing.TimeSlices.Holder())
					}
				}
			}
			for _, check := range checks {
				check()
			}
			r.leftovers()
			full := 0
			log := r.g.Sharing.TimeSlices.Log()
			r.phases(log)
			for i, x := range log {
				if i > 0 && (x.Tenant == log[i-1].Tenant || x.Start < log[i-1].Left) {
					t.Errorf("turn %d: %+v after %+v", i, x, log[i-1])
				}
				if x.CTAs > 0 && loaded[i] > 0 {
					full++
					if got := x.Left - loaded[i]; got != quantum {
						t.Errorf("turn %d lasted %d cycles from when its contexts were loaded, want %d", i, got,
							quantum)
					}
				}
			}
			if full < 4 {
				t.Fatalf("only %d turns ended with their quantum: the test tests little: %+v", full, log)
			}
		})
	}
}

// phases checks that the phases of turns are where the time went: each within its turn or
// the switch after it, and a switch is saving and waiting, nothing else.
func (r *rig) phases(log []sharing.Turn) {
	r.t.Helper()
	n := uint64(len(r.g.sms.List))
	var refill uint64
	for i, x := range log {
		end, next := x.Left, r.g.Now()
		if i+1 < len(log) {
			next = log[i+1].Start
			if got, want := x.Save+x.Wait, (next-x.Left)*n; got != want || x.CTAs > 0 && x.Save < n {
				r.t.Errorf("turn %d: %d SM-cycles of saving and %d of waiting in a switch of %d", i, x.Save, x.Wait,
					want)
			}
		} else {
			end = next
		}
		turn := (end - x.Start) * n
		if x.Idle > turn || x.Load > turn || x.Refill > turn || x.Bytes > 0 && x.Idle == turn {
			r.t.Errorf("turn %d of %d SM-cycles: %+v", i, turn, x)
		}
		refill += x.Refill
		for _, y := range log[:i] { // whoever was put off before has to load now
			if y.Tenant == x.Tenant && y.CTAs > 0 && i+1 < len(log) && x.Load == 0 && log[i-1].Tenant != x.Tenant &&
				x.Left-x.Start > 3000 {
				r.t.Errorf("turn %d: contexts of turn %+v came back in no time: %+v", i, y, x)
				break
			}
		}
	}
	if refill == 0 {
		r.t.Error("no L1 had anything to fetch again")
	}
}

// TestTurnsAlone: time slicing costs an application nothing that nobody shares with.
func TestTurnsAlone(t *testing.T) {
	end := func(o Options) uint64 {
		r := together(t, "qv100", 8, 1, o)
		k, check := r.scale(0, 30_000, mem.Device)
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		check()
		return k.End
	}
	if a, b := end(Options{}), end(Options{Quantum: 100}); a != b {
		t.Errorf("ends at %d, with turns of 100 cycles at %d", a, b)
	}
}

// TestTurnsPass: a turn passes when its holder has no kernel any more and another has,
// and is renewed while nobody else wants one.
func TestTurnsPass(t *testing.T) {
	const quantum = 20_000
	r := together(t, "qv100", 8, 3, Options{Quantum: quantum})
	a, _ := r.count(0, 8, 32, 100)
	b, _ := r.count(2, 8, 32, 4000) // more than three quanta
	for !a.Done {
		r.step(engine.Never >> 1)
	}
	r.step(1)
	log := r.g.Sharing.TimeSlices.Log()
	if len(log) != 2 || log[1].Tenant != 2 || log[0].Left != a.End+1 {
		t.Fatalf("turns %+v: tenant 0 ended at %d, and 2 was to follow in the next cycle", log, a.End)
	}
	from := log[1].Start + 1 // nothing was to be loaded
	if _, err := r.g.Run(from + quantum*3/2); err != nil {
		t.Fatal(err)
	}
	c, _ := r.count(0, 8, 32, 100)
	if err := r.finish(); err != nil {
		t.Fatal(err)
	}
	log = r.g.Sharing.TimeSlices.Log()
	if len(log) != 4 || log[1].Left != from+2*quantum || log[2].Tenant != 0 || log[3].Tenant != 2 || !b.Done ||
		log[2].Left != c.End+1 {
		t.Errorf("turns %+v: who came in the second quantum was to get the SMs at its end, %d, and leave them at %d",
			log, from+2*quantum, c.End+1)
	}
}

// TestTurnsSkip: visiting every component in every cycle changes nothing.
func TestTurnsSkip(t *testing.T) {
	play := func(sheet string, every bool) string {
		r := together(t, sheet, 8, 2, Options{Quantum: 2500, Every: every})
		var all []*sharing.Kernel
		for i := range 2 {
			k, _ := r.count(i, 40, 128, 300)
			all = append(all, k)
			k, _ = r.scale(i, 20_000, []mem.Kind{mem.Device, mem.Managed}[i])
			all = append(all, k)
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		s := fmt.Sprint(r.g.Sharing.TimeSlices.Log())
		for _, k := range all {
			s += fmt.Sprint(" ", k.End)
		}
		return s
	}
	for _, sheet := range []string{"ugpu", "qv100"} {
		if a, b := play(sheet, false), play(sheet, true); a != b {
			t.Errorf("%s: skipping %s\nevery cycle %s", sheet, a, b)
		}
	}
}

// TestTurnsErrors: turns are on the whole machine.
func TestTurnsErrors(t *testing.T) {
	m, _, err := sheets.Load("qv100")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(m, []*sharing.Tenant{{Name: "a", SMs: upTo(40)}}, Options{Quantum: 10}); err == nil {
		t.Error("an application takes turns on half of the SMs")
	}
}
