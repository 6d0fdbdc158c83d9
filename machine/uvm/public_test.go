package uvm

import (
	"fmt"
	"slices"
	"testing"
)

func runtimeOf(t *testing.T, o Options, bytes ...uint64) *Runtime {
	t.Helper()
	o.Ts, o.P = 8, 8
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range bytes {
		if err := r.Allocate(0, uint64(i)*8*ChunkSize, n, false); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// sizes are the transfers of a plan: their KB, and how many pages at the end of each have faulted.
func sizes(p *Plan) string {
	s := ""
	for _, t := range p.In {
		s += fmt.Sprintf("%d/%d ", t.Pages*PageSize>>10, t.Faults)
	}
	return s
}

// A block of 64 KB of which pages 0, 5 and 6 fault, and one in the next tree: the text has the pages that fault first,
// the public simulator cuts the ascending pages behind each of them, and at the end of the tree.
func TestCutTransfers(t *testing.T) {
	last := uint64(ChunkSize - PageSize)
	faults := []uint64{6 * PageSize, 0, 5 * PageSize, last, ChunkSize + PageSize}
	for public, want := range map[bool]string{
		false: "4/1 8/2 4/1 4/1 16/0 36/0 60/0 4/0 56/0 ",
		true:  "4/1 20/1 4/1 36/0 64/1 8/1 56/0 ",
	} {
		r := runtimeOf(t, Options{
			Capacity: 8 << 20, Prefetch: "sl", Evict: "lru2m", Migrate: "first-touch", Public: public,
		}, 2*ChunkSize)
		if got := sizes(r.Plan(faults)); got != want {
			t.Errorf("public %v: %s, want %s", public, got, want)
		}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	}
}

// Where memory has less than a batch needs, what comes along is given up before what has faulted, wherever it stands:
// a fault behind pages that come along is not put off for these for ever.
func TestDropCut(t *testing.T) {
	for _, public := range []bool{false, true} {
		r := runtimeOf(t, Options{
			Capacity: 8 * PageSize, Prefetch: "sl", Evict: "lru4k", Migrate: "first-touch", Public: public,
		}, BlockSize)
		p := r.Plan([]uint64{15 * PageSize})
		if got := sizes(p); got != "4/1 " || len(p.Deferred) > 0 || p.In[0].Addr != 15*PageSize {
			t.Errorf("public %v: %s from 0x%x, %d put off", public, got, p.In[0].Addr, len(p.Deferred))
		}
		if err := r.Check(); err != nil {
			t.Error(err)
		}
	}
}

// Pages that had been here before and are put off do not count among those of their transfer that come again.
func TestAgainWithoutDeferred(t *testing.T) {
	r := runtimeOf(t, Options{
		Capacity: 2 * PageSize, Prefetch: "none", Evict: "lru4k", Migrate: "first-touch",
	}, BlockSize)
	serve := func(faults ...uint64) *Plan {
		p := r.Plan(faults)
		for i := range p.Out {
			r.Leave(&p.Out[i])
			r.Gone(&p.Out[i])
		}
		for i := range p.In {
			r.Arrive(&p.In[i])
			for a := p.In[i].Addr; a < p.In[i].end(); a += PageSize {
				r.Used(a, false)
			}
		}
		return p
	}
	serve(0, PageSize)
	serve(2*PageSize, 3*PageSize)
	serve(4*PageSize, 5*PageSize)
	p := serve(0, PageSize, 2*PageSize, 3*PageSize)
	if len(p.In) != 1 || p.In[0].Pages != 2 || p.In[0].Again != 2 || len(p.Deferred) != 2 || r.Totals.Thrashed != 2 {
		t.Errorf("%+v, %d pages come again", p, r.Totals.Thrashed)
	}
}

// A write-back is a round trip of the blocks that leave, in the public simulator of all blocks of the tree.
func TestTripsOfTree(t *testing.T) {
	for public, want := range map[bool]uint32{false: 0, true: 1} {
		r := runtimeOf(t, Options{
			Capacity: 2 * BlockSize, Prefetch: "sl", Evict: "sl", Migrate: "first-touch", Public: public,
		}, ChunkSize)
		for b := range uint64(3) {
			p := r.Plan([]uint64{b * BlockSize})
			for i := range p.Out {
				r.Leave(&p.Out[i])
				r.Gone(&p.Out[i])
			}
			for i := range p.In {
				r.Arrive(&p.In[i])
			}
			r.Used(b*BlockSize, false)
		}
		if c := &r.chunks[0]; c.counter[0]>>countBits != 1 || c.counter[20]>>countBits != want {
			t.Errorf("public %v: %d round trips of the block that left, %d of another", public, c.counter[0]>>countBits,
				c.counter[20]>>countBits)
		}
	}
}

// A write-back that is called off leaves its pages dirty in the public simulator, so that they are written back the
// next time even where clean chunks are not.
func TestKeptIsDirty(t *testing.T) {
	for _, public := range []bool{false, true} {
		r := runtimeOf(t, Options{
			Capacity: BlockSize, Prefetch: "sl", Evict: "lru2m", Migrate: "first-touch", Public: public,
		}, BlockSize, BlockSize)
		p := r.Plan([]uint64{0})
		for i := range p.In {
			r.Arrive(&p.In[i])
		}
		r.Used(0, false)
		r.Keep(&r.Plan([]uint64{8 * ChunkSize}).Out[0])
		if dirty := r.chunks[0].dirty.Count(); dirty != 0 && !public || dirty != PagesPerBlock && public {
			t.Errorf("public %v: %d pages are dirty", public, dirty)
		}
	}
}

// Blocks that come twice in a kernel are used again, and in order where they come twice in a row, if all allocations
// are one; else a kernel's own blocks say nothing of data that is used again.
func TestTwiceInKernel(t *testing.T) {
	for together, want := range map[bool]Pattern{false: Undecided, true: Regular} {
		r, err := New(Options{Capacity: 4 << 20, Smart: true, Together: together, Ts: 8, P: 8})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Allocate(0, 0, ChunkSize, false); err != nil {
			t.Fatal(err)
		}
		r.Kernel(0)
		c, one := &r.chunks[0], span(0, 1)
		r.observe(c, &one)
		r.observe(c, &one)
		r.Kernel(0)
		if got := r.PatternOf(0); got != want {
			t.Errorf("together %v: %v, want %v", together, got, want)
		}
	}
}

// A program that waits for the device has its accesses counted anew by the public simulator: of twice seven of a
// block none is the eighth.
func TestCountsOfSynchronized(t *testing.T) {
	for public, want := range map[bool]Verdict{false: Fault, true: Remote} {
		r := runtimeOf(t, Options{
			Capacity: ChunkSize, Prefetch: "none", Evict: "lru2m", Migrate: "always", Public: public,
		}, BlockSize)
		var v Verdict
		for k := range 14 {
			if k == 7 {
				r.Synchronized(0)
			}
			v, _ = r.Access(0, false)
		}
		if v != want {
			t.Errorf("public %v: the last access finds %v, want %v", public, v, want)
		}
	}
}

// Where a program waits for the device the public simulator writes its dirty pages back: ascending, over the ends of
// trees and allocations and past clean pages, in transfers of 4 and 60 KB, 4 and 60, 4 and 124 and so on to 4 and 1020,
// and from the beginning again. They leave the device and are no round trips; clean pages, those of other programs and
// those that leave already stay as they are.
func TestWrittenBackWhenSynchronized(t *testing.T) {
	for _, evict := range []string{"lru2m", "lru4k"} {
		for public, want := range map[bool]string{
			false: "", true: "4 60 4 60 4 124 4 252 4 508 4 1020 4 56 ",
		} {
			r := runtimeOf(t, Options{
				Capacity: 8 << 20, Prefetch: "none", Evict: evict, Migrate: "first-touch", Public: public,
			}, 2*ChunkSize, BlockSize)
			if err := r.Allocate(1, 64*ChunkSize, BlockSize, false); err != nil {
				t.Fatal(err)
			}
			dirty := append(r.touched(0, PageSize, 16, 2), r.touched(ChunkSize, 0, 498, 1)...)
			dirty = append(dirty, r.touched(8*ChunkSize, 2*PageSize, 13, 1)...)
			r.touched(64*ChunkSize, 0, 4, 1)
			clean := r.touched(0, 0, 4, 2)
			for _, a := range clean {
				r.chunks[r.ChunkOf(a)].dirty.Clear(int(a / PageSize))
			}
			p := r.Synchronized(0)
			var got string
			var order []uint64
			for i := range p.Out {
				e := p.Out[i]
				from := len(order)
				order = r.Append(order, &e)
				got += fmt.Sprint((len(order)-from)*PageSize>>10, " ")
				if !e.WriteBack || !e.Returned || e.Addr != order[from] {
					t.Errorf("%+v", e)
				}
			}
			if err := r.Check(); err != nil || got != want {
				t.Errorf("public %v: %s, want %s; %v", public, got, want, err)
			}
			if !public {
				continue
			}
			checkWrittenBack(t, r, p, order, dirty, clean)
		}
	}
}

// touched has n pages of an allocation come and be written, and lists them.
func (r *Runtime) touched(base, first uint64, n, step int) (pages []uint64) {
	for k := range n {
		a := base + first + uint64(k*step)*PageSize
		p := r.Plan([]uint64{a})
		for i := range p.In {
			r.Arrive(&p.In[i])
		}
		r.Used(a, true)
		pages = append(pages, a)
	}
	return pages
}

// checkWrittenBack carries a plan of Synchronized out.
func checkWrittenBack(t *testing.T, r *Runtime, p *Plan, order, dirty, clean []uint64) {
	t.Helper()
	if !slices.Equal(order, dirty) {
		t.Errorf("%d pages leave, not the %d dirty ones in their order", len(order), len(dirty))
	}
	resident := r.Resident()
	out := slices.Clone(p.Out)
	for i := range out {
		r.Leave(&out[i])
	}
	for _, a := range dirty {
		if !r.Leaving(a) || r.Where(a) != Fault {
			t.Errorf("0x%x is not on its way to the host", a)
		}
	}
	for i := range out {
		r.Gone(&out[i])
	}
	for _, a := range clean {
		if r.Where(a) != Resident {
			t.Errorf("0x%x, which is clean, has left", a)
		}
	}
	if n := resident - r.Resident(); n != len(dirty) || r.Totals.Returned != uint64(n) || r.Totals.Evicted != 0 {
		t.Errorf("%d pages have left, %d returned, %d evicted", n, r.Totals.Returned, r.Totals.Evicted)
	}
	for i := range r.chunks {
		c := &r.chunks[i]
		own := c.live && c.tenant == 0
		moving := c.dirty.Count() + c.staged.Count() + c.leaving.Count()
		if own && (c.counter != [BlocksPerChunk]uint32{} || moving > 0) {
			t.Errorf("tree %d: %v, %d pages", i, c.counter, moving)
		}
		if !own && c.live && c.dirty.Count() != 4 {
			t.Errorf("%d dirty pages of another program", c.dirty.Count())
		}
	}
	if again := r.Synchronized(0); len(again.Out) != 0 {
		t.Errorf("%d transfers the second time", len(again.Out))
	}
	if err := r.Check(); err != nil {
		t.Error(err)
	}
}

// Pages on their way to the host come along with a prefetch, as they would if they faulted.
func TestLeavingComeAlong(t *testing.T) {
	r := runtimeOf(t, Options{
		Capacity: BlockSize, Prefetch: "sl", Evict: "lru2m", Migrate: "first-touch",
	}, BlockSize, BlockSize)
	bring := func(a uint64) {
		p := r.Plan([]uint64{a})
		for i := range p.Out {
			r.Leave(&p.Out[i])
		}
		for i := range p.In {
			r.Arrive(&p.In[i])
		}
		r.Used(a, false)
	}
	bring(0)
	bring(8 * ChunkSize) // pages 0 to 15 leave, and are not there yet
	if p := r.Plan([]uint64{PageSize}); sizes(p) != "4/1 4/0 56/0 " {
		t.Errorf("%s come", sizes(p))
	}
}

// After one of 16 blocks of a full half has left, a fault in the other half of the tree brings it back in the public
// simulator, whose prefetcher looks at all nodes of the tree; the text's looks at those above the fault.
func TestWholeTree(t *testing.T) {
	for public, want := range map[bool]int{false: 1, true: 2} {
		r := runtimeOf(t, Options{
			Capacity: 1 << 30, Prefetch: "tbn", Evict: "lru2m", Migrate: "first-touch", Public: public,
		}, ChunkSize)
		c := &r.chunks[0]
		half := span(PagesPerBlock, 7*PagesPerBlock) // of 512 KB all but the first block
		r.touch(0)
		c.want = half
		r.commit()
		p := r.Plan([]uint64{ChunkSize - PageSize})
		blocks := 0
		for i := range p.In {
			blocks += p.In[i].Pages
		}
		if blocks != want*PagesPerBlock {
			t.Errorf("public %v: %d pages come, want %d", public, blocks, want*PagesPerBlock)
		}
	}
}

// TBN_e of the public simulator takes a lone block of another node, too, where less than half of that is there.
func TestWholeTreeLeaves(t *testing.T) {
	for public, want := range map[bool]int{false: 1, true: 2} {
		r := runtimeOf(t, Options{
			Capacity: 1 << 30, Prefetch: "sl", Evict: "tbn", Migrate: "first-touch", Public: public,
		}, ChunkSize)
		r.Plan([]uint64{0}) // the first four blocks and the ninth, and more than half of the root
		c := &r.chunks[0]
		all := span(8*PagesPerBlock, PagesPerBlock)
		rest := span(12*PagesPerBlock, 20*PagesPerBlock)
		all = all.Or(&rest)
		first := span(0, 8*PagesPerBlock)
		c.coming, c.resident = Mask{}, all.Or(&first)
		if n := len(r.cascade(0, 0)); n != want {
			t.Errorf("public %v: %d transfers, want %d", public, n, want)
		}
	}
}

// After a program has waited, its clean pages take no room of the public simulator any more, and memory is no longer
// known to be too small.
func TestCleanTakeNoRoom(t *testing.T) {
	for public, want := range map[bool]int{false: 0, true: 16} {
		r := runtimeOf(t, Options{
			Capacity: ChunkSize, Prefetch: "sl", Evict: "lru2m", Migrate: "first-touch", Public: public,
		}, ChunkSize)
		p := r.Plan([]uint64{0})
		for i := range p.In {
			r.Arrive(&p.In[i])
		}
		r.Used(0, false)
		r.over = true
		for range 2 {
			r.Synchronized(0)
		}
		if n := r.Capacity() - PagesPerChunk; n != want || r.Oversubscribed() == public {
			t.Errorf("public %v: %d more pages, too small %v", public, n, r.Oversubscribed())
		}
		r.SetCapacity(2 * ChunkSize)
		if n := r.Capacity() - 2*PagesPerChunk; n != want {
			t.Errorf("public %v: %d more pages", public, n)
		}
	}
}

// An access that waits for the L1 counts in each of those cycles in the public simulator, so that LFU does not evict
// what keeps the SMs busy. A full register is halved, as by any access.
func TestRetriesCount(t *testing.T) {
	for public, want := range map[bool]uint64{false: 1, true: 41} {
		r := runtimeOf(t, Options{
			Capacity: ChunkSize, Prefetch: "none", Evict: "lfu", Migrate: "first-touch", Public: public,
		}, ChunkSize)
		if _, err := r.Access(0, false); err != nil {
			t.Fatal(err)
		}
		r.Retried(0, 40)
		c := &r.chunks[0]
		if got := c.accesses(); got != want {
			t.Errorf("public %v: %d accesses counted, want %d", public, got, want)
		}
		if r.Retried(0, 1<<30); public && c.accesses() != mostCount>>1 {
			t.Errorf("a full register holds %d, want %d", c.accesses(), mostCount>>1)
		}
	}
}
