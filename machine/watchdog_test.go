package machine

import (
	"errors"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// piecewise runs the machine from look to look; again is called when a kernel has ended.
func (r *rig) piecewise(again func()) error {
	for r.g.Running() > 0 {
		ended, err := r.g.Run(r.g.Watchdog.Next())
		if err != nil {
			return err
		}
		if len(ended) > 0 && again != nil {
			again()
		}
	}
	return nil
}

// An application that loops for ever, storing all the time, is stuck, also beside one that ends and
// begins again.
func TestStoringForEver(t *testing.T) {
	for _, beside := range []bool{false, true} {
		tenants := []*sharing.Tenant{{Name: "hung", SMs: upTo(40)}}
		if beside {
			tenants = append(tenants, &sharing.Tenant{Name: "busy", SMs: upTo(80)[40:]})
		}
		r := newRig(t, "qv100", Options{Watchdog: 100_000}, nil, tenants...)
		r.launch(0, "pour", 2, 64, r.alloc(0, 4096, mem.Device).Base)
		var again func()
		if beside {
			out := r.alloc(1, 4096, mem.Device)
			again = func() { r.launch(1, "pile", 4, 64, out.Base) }
			again()
		}
		err := r.piecewise(again)
		var d *Deadlock
		if !errors.As(err, &d) {
			t.Fatalf("beside %v: error %v, want a *Deadlock", beside, err)
		}
		if !strings.Contains(err.Error(), "kernel pour") || strings.Contains(err.Error(), "kernel pile") {
			t.Errorf("beside %v: %v", beside, err)
		}
		if d.Cycle < 100_000 || d.Cycle > 200_000 {
			t.Errorf("beside %v: noticed at cycle %d", beside, d.Cycle)
		}
	}
}

// A loop of many instructions is work, however long it takes.
func TestLongLoopIsWork(t *testing.T) {
	r := newRig(t, "qv100", Options{Watchdog: 1_000_000}, nil, tenant("a", upTo(80)))
	out := r.alloc(0, 4096, mem.Device)
	k := r.launch(0, "long", 1, 64, out.Base, 5000)
	if err := r.piecewise(nil); err != nil {
		t.Fatal(err)
	}
	if k.End-k.Start < 2_000_000 {
		t.Fatalf("%d cycles: too short to tell", k.End-k.Start)
	}
}

// A kernel that waits because others are in its way is not one that no SM can hold.
func TestWaitingIsNotTooLarge(t *testing.T) {
	r := newRig(t, "qv100", Options{Watchdog: 50_000}, func(m *sheets.Machine) { m.SM.CTAs = 1 },
		&sharing.Tenant{Name: "a", SMs: []int{0}})
	out := r.alloc(0, 4096, mem.Device)
	r.launch(0, "spin", 1, 32, out.Base)
	r.launch(0, "pile", 1, 32, out.Base)
	err := r.piecewise(nil)
	if err == nil || strings.Contains(err.Error(), "more than an SM has") ||
		!strings.Contains(err.Error(), "kernel pile") {
		t.Errorf("%v", err)
	}
}

// A machine without events on which a policy may yet let CTAs go is not stuck: it was under Rollover, whose limits
// can keep an application off every SM until the next epoch.
func TestPolicyMayHelp(t *testing.T) {
	for _, governed := range []bool{false, true} {
		r := newRig(t, "qv100", Options{Watchdog: 50_000}, nil, tenant("a", upTo(80)),
			tenant("b", upTo(80)))
		r.g.Watchdog.Governed = governed
		out := r.alloc(0, 4096, mem.Device)
		none := make([][]int, 2)
		for i := range none {
			none[i] = make([]int, 80)
		}
		if err := r.g.Sharing.LimitCTAs(none); err != nil {
			t.Fatal(err)
		}
		r.launch(0, "pile", 4, 32, out.Base)
		_, err := r.g.Run(10_000)
		if (err == nil) != governed {
			t.Fatalf("governed %v: %v", governed, err)
		}
		if !governed {
			continue
		}
		if err := r.g.Sharing.LimitCTAs(nil); err != nil {
			t.Fatal(err)
		}
		if err := r.piecewise(nil); err != nil {
			t.Error(err)
		}
	}
}

// Whoever is off the SMs, or on the way, is named with its line, too.
func TestWaitsOffTheSMs(t *testing.T) {
	r := newRig(t, "qv100", Options{Quantum: 3000}, nil, tenant("a", upTo(80)),
		tenant("b", upTo(80)))
	for i := range 2 {
		r.launch(i, "pour", 2, 64, r.alloc(i, 4096, mem.Device).Base)
	}
	off, switching := [2]bool{}, false
	for now := uint64(100); now < 30_000; now += 100 {
		if _, err := r.g.Run(now); err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			lines := strings.Join(r.g.Watchdog.Waits(i), "\n")
			if !strings.Contains(lines, "kernel pour: 2 of 2") {
				t.Fatalf("cycle %d: %s", now, lines)
			}
			if r.g.Sharing.Contexts.Images(i) == 0 {
				continue
			}
			if strings.Count(lines, ", next k.ptx:") < 2 {
				t.Fatalf("cycle %d: no line of a CTA in:\n%s", now, lines)
			}
			off[i] = off[i] || strings.Count(lines, "off the SMs: CTA of pour: warps 0") == 2
			switching = switching || r.g.Sharing.TimeSlices.Switching()
		}
	}
	if !off[0] || !off[1] || !switching {
		t.Errorf("off the SMs were %v, switching %v", off, switching)
	}
}

// Warps that wait behind each other are seldom at the instructions between two polls, and each of them is there for the
// first time once: that puts the verdict off, but who looks on is told from the time on at which none does anything
// that others have not done.
func TestIdleOfManyThatWait(t *testing.T) {
	r := newRig(t, "qv100", Options{Watchdog: 100_000}, nil, tenant("a", upTo(80)))
	r.launch(0, "spin", 20, 1024, r.alloc(0, 4096, mem.Device).Base)
	var d *Deadlock
	if err := r.piecewise(nil); !errors.As(err, &d) {
		t.Fatalf("error %v, want a *Deadlock", err)
	}
	idle, since := r.g.Watchdog.Idle(0)
	if since > 100_000 || idle < d.Cycle-since-lookEvery {
		t.Errorf("idle for %d cycles since %d in cycle %d", idle, since, d.Cycle)
	}
	if d.Cycle < 300_000 {
		t.Errorf("the verdict in cycle %d is too soon to tell", d.Cycle)
	}
}
