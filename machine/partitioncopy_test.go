package machine

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// pageMove is a page of a region, and the partition that gets it or a copy of it.
type pageMove struct{ page, to int }

// pagesOfPartitions is a machine with resident pages in partition 0, 1, 2 and so on, whose lines are in the LLC.
type pagesOfPartitions struct {
	*rig
	reg *mem.Region
}

func newPagesOfPartitions(t *testing.T, o Options, pages int, change func(m *sheets.Machine)) *pagesOfPartitions {
	t.Helper()
	r := newRig(t, "nuba", o, func(m *sheets.Machine) {
		homesEvery(1 << 30)(m)
		m.VM.Placement = "round-robin"
		if change != nil {
			change(m)
		}
	}, tenant("a", upTo(64)))
	parts := r.g.Sheet.NoC.Parts()
	size := int64(r.g.Sheet.VM.Page)
	c := &pagesOfPartitions{rig: r}
	for c.reg = r.alloc(0, size*int64(pages), mem.Device); c.home(0) != 0; {
		c.reg = r.alloc(0, size*int64(pages), mem.Device) // the page table has taken the first frames
	}
	for k := range pages {
		if c.home(k) != k%parts {
			t.Fatalf("page %d lies in partition %d", k, c.home(k))
		}
		for off := int64(0); off < size; off += 128 {
			a := uint64(int64(c.frame(k)<<r.g.translation.Tables.PageBits()) + off)
			r.g.memory.Slice(a).Prefill(a, 1, 0)
		}
	}
	return c
}

func (c *pagesOfPartitions) frame(page int) uint64 {
	ppn, _ := c.g.translation.Tables.Lookup(0, c.vpn(page))
	return ppn
}

func (c *pagesOfPartitions) vpn(page int) uint64 {
	return c.reg.Base>>c.g.translation.Tables.PageBits() + uint64(page)
}

func (c *pagesOfPartitions) home(page int) int {
	return c.g.translation.Tables.Parts.Part(c.frame(page))
}

// begin has pages go to partitions, or be copied there, at once; nobody accesses them.
func (c *pagesOfPartitions) begin(copies bool, list ...pageMove) {
	c.t.Helper()
	h, x := &c.g.homes, &c.g.translation
	of := map[int][]int{}
	for _, m := range list {
		of[m.page] = append(of[m.page], m.to)
	}
	for _, m := range list { // in order
		to := of[m.page]
		delete(of, m.page)
		if len(to) == 0 {
			continue
		}
		ids, err := []int32(nil), error(nil)
		if copies {
			ids, err = x.Tables.Parts.BeginCopies(0, c.vpn(m.page), to, nil)
		} else {
			ids = make([]int32, 1)
			ids[0], err = x.Tables.Parts.BeginRehome(0, c.vpn(m.page), to[0])
		}
		if err != nil {
			c.t.Fatal(err)
		}
		for _, id := range ids {
			x.Driver.Carry(c.g.Now(), id)
			h.Copies.Add(c.g.Now(), id)
		}
	}
	c.g.wakeups.WakeRequest(c.g.Now())
}

// cycles until all pages are there.
func (c *pagesOfPartitions) cycles() uint64 {
	from := c.g.Now()
	for c.g.homes.Copies.UnderWay() > 0 {
		if c.step(1); c.g.Now() > from+1_000_000 {
			c.t.Fatal("the pages do not come")
		}
	}
	return c.g.Now() - from
}

// How long pages take is what the network between slices says. One page has 32 lines, whose answers are 9 flits each:
// 288 cycles over the one link that its two switches share, behind two passes through an LLC slice (120 each) and the
// network (17). What goes over that link, too, comes after it; what goes over others does not, until the ports of the
// home's two slices are the bound: eight copies are 8 x 16 lines of 9 flits at each.
func TestPagesCrossTheNetwork(t *testing.T) {
	const one, link = 545, 288
	for _, c := range []struct {
		what   string
		copies bool
		list   []pageMove
		least  uint64
		most   uint64
	}{
		{"a page", false, []pageMove{{0, 1}}, one, one},
		{"a copy", true, []pageMove{{0, 1}}, one, one},
		{"two that share a link", false, []pageMove{{0, 1}, {2, 3}}, one + link, one + link},
		{"three that do", false, []pageMove{{0, 1}, {2, 3}, {1, 2}}, one + 2*link, one + 2*link},
		{"two copies over a link", true, []pageMove{{0, 1}, {0, 2}}, one + link, one + link},
		{"two that share nothing", false, []pageMove{{0, 1}, {5, 9}}, one, one},
		{"four that share nothing", false, []pageMove{{0, 1}, {5, 9}, {9, 30}, {25, 16}}, one, one},
		{"two copies over two links", true, []pageMove{{0, 4}, {0, 8}}, one, one + 36},
		{
			"eight copies over eight links, of a home with two ports", true,
			[]pageMove{{0, 1}, {0, 4}, {0, 8}, {0, 12}, {0, 16}, {0, 20}, {0, 24}, {0, 28}},
			one - link + 8*link/2, one - link + 8*link/2 + 24,
		},
	} {
		for _, every := range []bool{false, true} {
			r := newPagesOfPartitions(t, Options{Homes: "replicate", Every: every}, 32, nil)
			r.begin(c.copies, c.list...)
			if got := r.cycles(); got < c.least || got > c.most {
				t.Errorf("%s (every cycle %v): %d cycles, want %d to %d", c.what, every, got, c.least, c.most)
			}
		}
	}
}

// An engine brings so many pages at once and keeps so many lines: with one page, or few lines, the next waits.
func TestEnginesAreBounded(t *testing.T) {
	list := []pageMove{{0, 31}, {4, 31}, {8, 31}, {12, 31}} // over four links
	took := map[string]uint64{}
	for what, change := range map[string]func(m *sheets.Machine){
		"four pages":  func(m *sheets.Machine) { m.VM.HomeMoves = 4 },
		"two pages":   nil,
		"one page":    func(m *sheets.Machine) { m.VM.HomeMoves = 1 },
		"eight lines": func(m *sheets.Machine) { m.VM.HomeMoves, m.VM.CopyLines = 4, 8 },
		"one line":    func(m *sheets.Machine) { m.VM.HomeMoves, m.VM.CopyLines = 4, 1 },
	} {
		r := newPagesOfPartitions(t, Options{Homes: "migrate"}, 32, change)
		r.begin(false, list...)
		took[what] = r.cycles()
	}
	if one := took["one page"]; one < 4*545-8 || one > 4*545 {
		t.Errorf("four pages one after the other take %d cycles, want 4 x 545, less the cycle between two", one)
	}
	if !(took["four pages"] <= took["two pages"] && took["two pages"] < took["one page"] &&
		took["one page"] < took["eight lines"] && took["eight lines"] < took["one line"]) {
		t.Errorf("%v", took)
	}
}

// A page that gets copies is read at home meanwhile, and each partition goes over when its copy is there; one that
// goes elsewhere is nowhere to be had until then.
func TestCopiesComeOneByOne(t *testing.T) {
	r := newPagesOfPartitions(t, Options{Homes: "replicate"}, 32, nil)
	r.begin(true, pageMove{0, 1}, pageMove{0, 2}, pageMove{0, 3})
	parts, home := &r.g.translation.Tables.Parts, r.frame(0)
	var came []uint64
	from := r.g.Now()
	for had := 0; had < 3; {
		if _, state := r.g.translation.Tables.Lookup(0, r.vpn(0)); state != vm.Resident {
			t.Fatalf("the page is %v", state)
		}
		if !parts.Shared(home) {
			t.Fatal("the page may be written")
		}
		r.step(1)
		n := 0
		frames, _ := parts.Copies(home)
		for part := range 32 {
			if vm.HasCopy(frames, part) {
				n++
			}
		}
		for ; had < n; had++ {
			came = append(came, r.g.Now()-from)
		}
	}
	if !slices.IsSorted(came) || came[0]+16 > came[2] {
		t.Errorf("copies come at %v", came)
	}
	r = newPagesOfPartitions(t, Options{Homes: "migrate"}, 32, nil)
	r.begin(false, pageMove{0, 1})
	for range 500 {
		if _, state := r.g.translation.Tables.Lookup(0, r.vpn(0)); state != vm.Moving {
			t.Fatalf("the page is %v", state)
		}
		r.step(1)
	}
}

// A copy's lines are lines of their own in the LLC: what replicated pages crowd (NUBA, section 7.6).
func TestCopiesCrowdTheLLC(t *testing.T) {
	r := newPagesOfPartitions(t, Options{Homes: "replicate"}, 32, nil)
	held := func() (n int) {
		x := &r.g.translation
		frames, home := x.Tables.Parts.Copies(r.frame(0))
		for _, f := range append(slices.Clone(frames), home) {
			for off := uint64(0); off < 4096 && f != ^uint64(0); off += 128 {
				if a := f<<12 + off; r.g.memory.Slice(a).Holds(a) {
					n++
				}
			}
		}
		return n
	}
	if n := held(); n != 32 {
		t.Fatalf("%d lines before", n)
	}
	r.begin(true, pageMove{0, 1}, pageMove{0, 9}, pageMove{0, 20})
	r.cycles()
	if n := held(); n != 4*32 {
		t.Errorf("the LLC holds %d lines of a page with three copies, want 128", n)
	}
}

// used is the number of frames that are not free and belong to no page a tenant has: none may be left.
func (c *pagesOfPartitions) used() (n int) {
	x := &c.g.translation
	for g := range x.Tables.Frames().Pools() {
		n += x.Tables.Frames().PerPool() - x.Tables.Frames().Free(g)
	}
	return n
}

// Whatever becomes of an allocation while its pages move or are copied, and in whichever cycle: no frame is lost, none
// is given twice, and what the copy engines had begun comes to an end.
func TestFreedOnItsWay(t *testing.T) {
	for _, copies := range []bool{false, true} {
		for _, after := range []uint64{0, 1, 100, 300, 500, 545, 560, 2000} {
			r := newPagesOfPartitions(t, Options{Homes: "replicate"}, 32, nil)
			before := r.used()
			r.begin(copies, pageMove{0, 1}, pageMove{0, 9}, pageMove{2, 3}, pageMove{5, 3}, pageMove{6, 3})
			r.step(after)
			r.g.Unmap(0, r.reg)
			again := r.alloc(0, 32<<12, mem.Device) // takes frames, of the pages given back, too
			r.cycles()
			r.step(1000)
			if n := r.g.translation.Tables.Parts.CopyFrames(); n != 0 {
				t.Errorf("copies %v, freed after %d cycles: %d copies are left", copies, after, n)
			}
			r.g.Unmap(0, again)
			if extra := r.used() - (before - 32); extra < 0 || extra > 1 { // a frame of entries of copies
				t.Errorf("copies %v, freed after %d cycles: %d frames are lost", copies, after, extra)
			}
		}
	}
}

// A write to a page takes the copies it has and those that are on their way, in whichever cycle it comes.
func TestWrittenOnItsWay(t *testing.T) {
	for _, after := range []uint64{0, 1, 300, 560, 700, 3000} {
		r := newPagesOfPartitions(t, Options{Homes: "replicate"}, 32, nil)
		before := r.used()
		r.begin(true, pageMove{0, 1}, pageMove{0, 2}, pageMove{0, 3}, pageMove{0, 9}, pageMove{5, 3})
		r.step(after)
		r.g.HostWrites(0, r.reg, 0, 4096)
		r.cycles()
		r.step(5000)
		if got := fmt.Sprint(places(r.rig, r.reg)[:6]); got != "[0 1 2 3 4 5+3]" {
			t.Errorf("written after %d cycles: pages in %s", after, got)
		}
		if n := r.g.translation.Tables.Parts.CopyFrames(); n != 1 {
			t.Errorf("written after %d cycles: %d copies are left", after, n)
		}
		if extra := r.used() - before; extra != 1+1 { // a copy, and a frame of entries
			t.Errorf("written after %d cycles: %d frames are taken", after, extra)
		}
	}
}

// What nobody wants any more is not read to its end: of a page of 2 MB, 16384 lines that take 147,456 cycles over one
// link, what has been asked for when the page is written.
func TestWrittenPagesAreNotReadOn(t *testing.T) {
	r := newPagesOfPartitions(t, Options{Homes: "replicate"}, 7, func(m *sheets.Machine) { m.VM.Page = 2 << 20 })
	r.begin(true, pageMove{0, 1}, pageMove{1, 2})
	r.step(1000)
	r.g.HostWrites(0, r.reg, 0, 2<<20)
	r.step(8000) // 256 lines of either page are on the link they share
	if got := fmt.Sprint(r.g.homes.Copies.UnderWay()); got != "1" {
		t.Errorf("%s pages are under way, want the one that nobody has written", got)
	}
	if _, state := r.g.translation.Tables.Lookup(0, r.vpn(0)); state != vm.Resident {
		t.Errorf("the page is %v", state)
	}
	if took := r.cycles(); took < 140_000 || took > 150_000 {
		t.Errorf("the other takes %d cycles more", took)
	}
}
