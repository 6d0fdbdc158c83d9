package vm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// turnsRig is an MMU whose driver needs 100 cycles for each of 4 pages at once; tenant 0 has 200
// pages to move, tenant 1 two that fault after them.
func turnsRig(t *testing.T, turns bool) (*rig, *Driver) {
	t.Helper()
	r, d := moveRig(t, false, func(s *sheets.Machine) { s.VM.DriverTurns = turns })
	own(t, r, 0, 0)
	own(t, r, 1, 1)
	mustMap(t, r.tab, 0, base, 200*4096)
	mustMap(t, r.tab, 1, base, 2*4096)
	own(t, r, 0, 2)
	own(t, r, 1, 3)
	d.SetStatus(0, 0)
	d.SetStatus(1, 0)
	for p := range uint64(200) {
		d.Fault(0, 0, page4k(p), 0)
	}
	for p := range uint64(2) {
		d.Fault(0, 1, page4k(p), 1)
	}
	return r, d
}

// An application with two pages to move does not wait behind another's two hundred, neither for
// the driver nor for the copies.
func TestDriverServesApplicationsInTurn(t *testing.T) {
	for _, c := range []struct {
		turns bool
		want  string // of tenant 1's moves: cycle and place among all copies
	}{
		{true, "[200/4 200/6]"},        // the first four were in hand, then it has every second turn
		{false, "[5100/200 5100/201]"}, // two hundred, four each 100 cycles
	} {
		_, d := turnsRig(t, c.turns)
		var got []string
		n := 0
		for now := uint64(0); now <= 6000; now += 100 {
			d.Tick(now)
			for id, ok := d.NextCopy(); ok; id, ok = d.NextCopy() {
				if d.tab.MoveOf(id).Tenant == 1 {
					got = append(got, fmt.Sprintf("%d/%d", now, n))
				}
				n++
			}
		}
		if n != 202 || fmt.Sprint(got) != c.want {
			t.Errorf("turns %v: %d copies, those of tenant 1 at %v, want %s", c.turns, n, got, c.want)
		}
	}
	_, d := turnsRig(t, true)
	for now := uint64(0); now <= 6000; now += 100 { // nobody copies meanwhile
		d.Tick(now)
	}
	var who []mem.TenantID
	for id, ok := d.NextCopy(); ok; id, ok = d.NextCopy() {
		who = append(who, d.tab.MoveOf(id).Tenant)
	}
	if want := []mem.TenantID{0, 1, 0, 1, 0, 0}; len(who) != 202 || !slices.Equal(who[:6], want) {
		t.Errorf("%d copies, the first of tenants %v, want %v", len(who), who[:6], want)
	}
}

// Far faults, too, are served in turn.
func TestFarFaultsInTurn(t *testing.T) {
	for _, turns := range []bool{true, false} {
		s := sheet(4096)
		s.VM.DriverTurns, s.VM.FaultUs = turns, 1 // 1400 cycles
		r := newRig(t, s, 2, 1, nil)
		d := r.mmu.fault.(*Driver)
		for tenant := range mem.TenantID(2) {
			if err := r.tab.Reserve(tenant, base, 20*4096); err != nil {
				t.Fatal(err)
			}
		}
		for p := range uint64(20) {
			d.Fault(0, 0, page4k(p), 0)
		}
		d.Fault(0, 1, page4k(0), 1)
		end := uint64(0)
		for state := Host; state != Resident; _, state = r.tab.Lookup(1, page4k(0)) {
			end += 1400
			d.Tick(end)
		}
		if want := map[bool]uint64{true: 2 * 1400, false: 21 * 1400}[turns]; end != want {
			t.Errorf("turns %v: the page came at %d, want %d", turns, end, want)
		}
	}
}
