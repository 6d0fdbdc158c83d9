package vm

import (
	"errors"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// moveRig is an MMU of a machine with 8 channel groups whose driver needs 100
// cycles per page; copies take 50.
func moveRig(t *testing.T, share bool, change func(*sheets.Machine)) (*rig, *Driver) {
	t.Helper()
	s := sheet(4096)
	s.VM.DriverCycles, s.VM.SweepPages, s.VM.Placement, s.VM.GainShare = 100, 2, "least", share
	if change != nil {
		change(s)
	}
	r := newRig(t, s, 2, 4, nil)
	return r, r.mmu.fault.(*Driver)
}

type copying struct {
	at uint64
	id int32
}

// touch asks for pages 0..n-1 of tenant 0 one after the other and carries the
// copies out; it returns the moves that were made, in order.
func touch(t *testing.T, r *rig, d *Driver, now uint64, n int) (moves []Move, end uint64) {
	t.Helper()
	var fly []copying
	for p := range n {
		want := r.replies + 1
		r.ask(now, 0, page4k(uint64(p)), p%8, 0)
		for r.replies < want {
			if now > 10_000_000 {
				t.Fatal("a translation never comes")
			}
			for len(fly) > 0 && fly[0].at <= now {
				d.Copied(now, fly[0].id)
				fly = fly[1:]
			}
			r.step(now)
			for {
				id, ok := d.NextCopy()
				if !ok {
					break
				}
				moves = append(moves, *r.tab.MoveOf(id))
				fly = append(fly, copying{now + 50, id})
			}
			if err := r.mmu.Err(); err != nil {
				t.Fatal(err)
			}
			now++
		}
	}
	for len(fly) > 0 {
		d.Copied(now, fly[0].id)
		fly = fly[1:]
	}
	return moves, now
}

func own(t *testing.T, r *rig, tenant mem.TenantID, groups ...int) {
	t.Helper()
	if err := r.tab.SetGroups(tenant, groups); err != nil {
		t.Fatal(err)
	}
}

// A page touched in a lost group moves to the least used group left, once, and the
// access waits for the walk, the driver, the copy and a second walk.
func TestLostPagesMoveWhenTouched(t *testing.T) {
	r, d := moveRig(t, false, nil)
	own(t, r, 0, 0, 1, 2, 3)
	mustMap(t, r.tab, 0, base, 64*4096) // and four frames of table nodes: 17 pages per group
	own(t, r, 0, 0, 1)
	d.SetStatus(0, 0)
	left := r.tab.Outside(0)
	moves, end := touch(t, r, d, 0, 64)
	nodes := 0
	for _, n := range r.tab.nodes[0] {
		if g := r.tab.frames.Pool(n); g > 1 {
			nodes++
		}
	}
	if len(moves) != left-nodes || r.tab.Outside(0) != nodes {
		t.Errorf("%d moves, %d pages still outside; %d pages and %d frames of nodes were", len(moves), r.tab.Outside(0),
			left-nodes, nodes)
	}
	for _, m := range moves {
		if r.tab.frames.Pool(m.From) < 2 || r.tab.frames.Pool(m.To) > 1 {
			t.Errorf("move %+v from group %d to %d", m, r.tab.frames.Pool(m.From), r.tab.frames.Pool(m.To))
		}
	}
	if a, b := r.tab.Pages(0, 0), r.tab.Pages(0, 1); a-b > 1 || b-a > 1 {
		t.Errorf("%d and %d pages in the groups left", a, b)
	}
	again, _ := touch(t, r, d, end, 64)
	if len(again) != 0 {
		t.Errorf("%d pages moved twice", len(again))
	}
	r.counter(0, MoveFaults, uint64(len(moves)))
}

// A hit of the L2 TLB costs 10 cycles; the walk 4 x 100, the driver 100, the copy
// 50, the second walk 400.
func TestMoveOnTouchCost(t *testing.T) {
	r, d := moveRig(t, false, nil)
	own(t, r, 0, 5)
	mustMap(t, r.tab, 0, base, 4096)
	own(t, r, 0, 6)
	d.SetStatus(0, 0)
	_, end := touch(t, r, d, 0, 1)
	if want := uint64(10 + 400 + 100 + 50 + 400); end != want+1 {
		t.Errorf("the translation came at cycle %d, want %d", end-1, want)
	}
}

// Gained groups fill until the pages are balanced; with gain_share every n-th page
// moves, without it the first ones touched.
func TestGainedGroupsFill(t *testing.T) {
	for _, share := range []bool{false, true} {
		r, d := moveRig(t, share, nil)
		own(t, r, 0, 0, 1, 2)
		mustMap(t, r.tab, 0, base, 120*4096)
		own(t, r, 0, 0, 1, 2, 3)
		d.SetStatus(0, 1<<3)
		moves, _ := touch(t, r, d, 0, 120)
		if n := len(moves); n < 28 || n > 31 { // a quarter of 120 pages and a few nodes
			t.Errorf("share %v: %d pages moved into one group of four", share, n)
		}
		for i, m := range moves {
			switch k := m.VPN - base/4096; {
			case share && m.VPN%4 != 0:
				t.Errorf("page %d moved, which is not every fourth", k)
			case !share && k != uint64(i):
				t.Errorf("move %d is of page %d", i, k)
			}
			if r.tab.frames.Pool(m.To) != 3 {
				t.Errorf("page moved to group %d", r.tab.frames.Pool(m.To))
			}
		}
		if !share && r.mmu.status[0].on {
			t.Error("the register is not cleared when the pages are balanced")
		}
	}
}

// Pages nobody touches leave a lost group only when its frames run short.
func TestSweepWhenFramesAreNeeded(t *testing.T) {
	r, d := moveRig(t, false, func(s *sheets.Machine) { s.DRAM.Capacity = 8 << 20 }) // 256 frames per group
	own(t, r, 0, 7)
	mustMap(t, r.tab, 0, base, 200*4096)
	own(t, r, 0, 6)
	own(t, r, 1, 7)
	d.SetStatus(0, 0)
	mustMap(t, r.tab, 1, base, 4096)
	r.run(0)
	if _, ok := d.NextCopy(); ok {
		t.Error("a page moved although nobody needs its frame")
	}
	mustMap(t, r.tab, 1, base+1<<20, 45*4096) // leaves fewer than a sixteenth free
	now := uint64(1000)
	for n := 0; n < 40 && r.tab.frames.Free(7) < 16; n++ {
		for range 200 {
			r.step(now)
			now++
		}
		for {
			id, ok := d.NextCopy()
			if !ok {
				break
			}
			if d.sweeping > 2 {
				t.Errorf("%d pages in the background at once", d.sweeping)
			}
			d.Copied(now, id)
		}
	}
	if f := r.tab.frames.Free(7); f < 16 || d.Swept[0][7] == 0 {
		t.Errorf("%d frames free, %d pages swept", f, d.Swept[0][7])
	}
}

// A page that is given up while it moves leaves no frame behind.
func TestUnmapWhileMoving(t *testing.T) {
	r, _ := moveRig(t, false, nil)
	own(t, r, 0, 0)
	mustMap(t, r.tab, 0, base, 4096)
	before := r.tab.Pages(0, 0)
	id, err := r.tab.BeginMove(0, page4k(0), 1<<4)
	if err != nil {
		t.Fatal(err)
	}
	r.tab.Unmap(0, base, 4096)
	r.tab.EndMove(id)
	if a, b := r.tab.Pages(0, 0), r.tab.Pages(0, 4); a != before-1 || b != 0 {
		t.Errorf("%d and %d frames are left", a, b)
	}
	if _, s := r.tab.Lookup(0, page4k(0)); s != Absent {
		t.Errorf("the page is %v", s)
	}
	if _, err := r.tab.BeginMove(0, page4k(0), 1<<4); err == nil || errors.Is(err, ErrNoFrame) {
		t.Errorf("error %v", err)
	}
}

// Eight SMs that always have a miss are served equally, whoever asks first.
func TestSMsAreServedInTurn(t *testing.T) {
	r := newRig(t, sheet(4096), 1, 1, func(c *Config) { c.Pending, c.Waiters, c.InQueue = 4, 8, 1 })
	mustMap(t, r.tab, 0, base, 4096*4096)
	served := make([]int, 8)
	page := uint64(0)
	for now := uint64(0); now < 60_000; now++ {
		for sm := range 8 {
			if r.mmu.Request(now, 0, page4k(page%4096), sm, int32(sm)) {
				served[sm]++
				page++
			}
		}
		r.step(now)
	}
	for sm, n := range served {
		if n < served[0]*9/10 || n > served[0]*11/10 {
			t.Errorf("SM %d was served %d times, SM 0 %d times", sm, n, served[0])
		}
	}
}
