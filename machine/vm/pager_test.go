package vm

import (
	"errors"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

func newPager(t *testing.T, capacity int64, slots int) *Pager {
	t.Helper()
	m := &sheets.Machine{}
	m.VM.Page, m.VM.FaultUs, m.Clock.Core, m.DRAM.Capacity = 4096, 0.1, 1000, capacity // a fault takes 100 cycles
	return NewPager(m, 2, slots, stat.NewTable("pager", PagerDesc(), 1, 2))
}

func absent(p *Pager, addr uint64) bool {
	_, a := p.Absent(0, addr)
	return a
}

// Faults are handled in order, as many at once as there are slots; a page is asked
// for once.
func TestPagerFaults(t *testing.T) {
	p := newPager(t, 0, 2)
	p.Reserve(0, 0x10100, 3*4096)
	for i := range uint64(3) {
		page, a := p.Absent(0, 0x10100+i*4096+77)
		if !a || page != 0x10100+i*4096 {
			t.Fatalf("page %d: 0x%x, absent %v", i, page, a)
		}
		p.Fault(10+i, 0, page)
		p.Fault(10+i, 0, page)
	}
	for i, want := range []uint64{110, 111, 210} {
		if at := p.Next(); at != want {
			t.Errorf("fault %d ends at %d, want %d", i, at, want)
		}
		if _, ok := p.Pop(want - 1); ok {
			t.Errorf("fault %d ended early", i)
		}
		if f, ok := p.Pop(want); !ok || f.Page != 0x10100+uint64(i)*4096 || absent(p, f.Page) {
			t.Errorf("fault %d: %+v %v", i, f, ok)
		}
	}
	if p.Next() != never || p.row[0][PagerFaults] != 3 || p.row[0][PagerCycles] != 100+100+198 {
		t.Errorf("next %d, counters %v", p.Next(), p.row[0])
	}
	if absent(p, 0x100ff) || absent(p, 0x10100+3*4096) {
		t.Error("an address outside the region waits for a page")
	}
}

// Pages move both ways, the last one with its real length; forgetting the region
// gives its bytes back; what finds no room is an error at a fault and left out of
// a prefetch.
func TestPagerMoves(t *testing.T) {
	p := newPager(t, 10_000, 1)
	if err := p.Map(1, 3000); err != nil {
		t.Fatal(err)
	}
	p.Reserve(0, 0x20000, 5000)
	p.Reserve(0, 0x30000, 4096)
	if n := p.Move(0, 0x20000+4095, 2, true); n != 5000 {
		t.Errorf("%d bytes for two pages of a region of 5000", n)
	}
	if n := p.Move(0, 0x20000, 5000, true); n != 0 {
		t.Errorf("%d bytes moved twice", n)
	}
	if n := p.Move(0, 0x30000, 4096, true); n != 0 || !absent(p, 0x30000) {
		t.Errorf("%d bytes moved into full memory", n)
	}
	if n := p.Move(0, 0x20000+4096, 1, false); n != 904 || !absent(p, 0x20000+4096) || absent(p, 0x20000) {
		t.Errorf("%d bytes moved back", n)
	}
	p.Fault(0, 0, 0x30000)
	if p.Pop(100); !errors.Is(p.Err(), ErrNoFrame) {
		t.Errorf("a fault without room: %v", p.Err())
	}
	p.Forget(0, 0x20000)
	if p.used[0] != 0 || absent(p, 0x20000) || p.Map(0, 7001) == nil || p.Map(0, 7000) != nil {
		t.Errorf("after Forget: used %v", p.used)
	}
	p.Unmap(1, 3000)
	p.Release(0)
	if p.used[0] != 0 || p.used[1] != 0 || p.Next() != never {
		t.Errorf("used %v after everything was given back", p.used)
	}
}
