package residency

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// zeroCopies is how the dissertation's public simulator serves accesses to a page that stays on the host: each that
// has found no translation takes the direction to the device for uvm.remote cycles, behind the transfer under way and
// before those that wait. Then it goes on as one to memory of the device, through the caches, and the TLB of its SM
// keeps the translation, so that those that find it there do not know of the host. It has no L2 TLB: ours does not
// keep such a translation. Whether the page migrates is asked at the ends of walks only.
//
// Accesses of a page share one walk here. They go on when those that have waited for its end have had their cycles of
// the link. For accesses that have come meanwhile, it is checked again whether the page migrates; if not, their
// cycles follow.
//
// The place that such accesses have on the device is a frame that the page keeps until it has left the device, or its
// allocation is freed. It does not count as one of managed memory before the page itself comes. Where none is left
// over the accesses are those of RemoteStore.
type zeroCopies struct {
	dma     *dmaEngine
	faults  *faultServer
	on      bool
	cycles  uint64 // of the link
	pending mem.Queue[zeroCopy]
	waiting map[uint64]int // accesses by key of the page whose walk they wait for
}

// zeroCopy is a page whose walk waits for the link, and until when it does.
type zeroCopy struct{ key, end uint64 }

func (z *zeroCopies) build(dma *dmaEngine, faults *faultServer, s *sheets.Machine) {
	z.dma, z.faults, z.on, z.cycles = dma, faults, true, uint64(s.UVM.Remote)
	z.waiting, dma.atHost = map[uint64]int{}, hostPages{}
}

// wait notes an access that waits for the walk of a page that may stay on the host.
func (z *zeroCopies) wait(addr uint64) { z.waiting[addr&^(uvm.PageSize-1)]++ }

// leave forgets the accesses that wait for a page's walk: it is over.
func (z *zeroCopies) leave(page uint64) { delete(z.waiting, page) }

// hold takes the link for n accesses.
func (z *zeroCopies) hold(now, key uint64, n int) (end uint64) {
	for range n {
		end = z.dma.host.Ways[0].Hold(now, keyTenant(key), z.dma.stream.LineSize(), z.cycles)
	}
	z.dma.runtime.Served(key, n)
	return end
}

// begin has the walk of a page wait for the link.
func (z *zeroCopies) begin(now, key uint64) {
	end := z.hold(now, key, max(1, z.waiting[key]))
	z.leave(key)
	z.pending.Push(zeroCopy{key, end})
	z.dma.wakeups.WakeMMU(end)
}

// finish ends the walks whose time on the link is over, and returns the cycle of the next. A page that has
// come meanwhile, or is on its way, needs none; one that an access has asked for meanwhile faults.
func (z *zeroCopies) finish(now uint64) (next uint64) {
	for z.pending.Len() > 0 {
		p := *z.pending.Head()
		if p.end > now {
			return p.end
		}
		d, tenant := z.dma, keyTenant(p.key)
		switch {
		case !d.runtime.Manages(p.key) || d.runtime.Where(p.key) != uvm.Fault:
		case d.runtime.Wanted(p.key) || z.waiting[p.key] > 0 && d.runtime.Asked(p.key):
			if !z.faults.file(now, p.key) {
				return max(now+1, z.faults.due())
			}
		default:
			z.hold(now, p.key, z.waiting[p.key])
			d.runtime.MapRemote(p.key)
			d.mmu.ResolveTo(now, tenant, keyPage(p.key), z.place(p.key), false)
			d.clock.Progress = now
		}
		z.leave(p.key)
		z.pending.Pop()
	}
	return engine.Never
}

// place is the frame of a page of the host, or where there is none left over, the host.
func (z *zeroCopies) place(key uint64) uint64 {
	d := z.dma
	if ppn, ok := d.atHost[key]; ok {
		return ppn
	}
	f := d.tables.Frames()
	all, _ := d.runtime.Allocated(keyTenant(key))
	most := min(d.runtime.Capacity(), int(all/uvm.PageSize)) // frames of managed memory
	if d.freeFrames() <= most-d.used+f.Pools()*f.PerPool()/tablesShare {
		return remotePage(key)
	}
	ppn, err := d.tables.TakeFrame(keyTenant(key))
	if err != nil {
		return remotePage(key)
	}
	d.atHost[key] = ppn
	return ppn
}
