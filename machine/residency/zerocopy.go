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
	unified *Unified
	on      bool
	cycles  uint64 // of the link
	pending mem.Queue[zeroCopy]
	waiting map[uint64]int    // accesses by key of the page whose walk they wait for
	frames  map[uint64]uint64 // by key of a page on the host
}

// zeroCopy is a page whose walk waits for the link, and until when it does.
type zeroCopy struct{ key, end uint64 }

func (z *zeroCopies) build(u *Unified, s *sheets.Machine) {
	z.unified, z.on, z.cycles = u, true, uint64(s.UVM.Remote)
	z.waiting, z.frames = map[uint64]int{}, map[uint64]uint64{}
}

// wait notes an access that waits for the walk of a page that may stay on the host.
func (z *zeroCopies) wait(addr uint64) { z.waiting[addr&^(uvm.PageSize-1)]++ }

// leave forgets the accesses that wait for a page's walk: it is over.
func (z *zeroCopies) leave(page uint64) { delete(z.waiting, page) }

// hold takes the link for n accesses.
func (z *zeroCopies) hold(now, key uint64, n int) (end uint64) {
	for range n {
		end = z.unified.dma.host.Ways[0].Hold(now, keyTenant(key), z.unified.dma.stream.LineSize(), z.cycles)
	}
	z.unified.runtime.Served(key, n)
	return end
}

// begin has the walk of a page wait for the link.
func (z *zeroCopies) begin(now, key uint64) {
	end := z.hold(now, key, max(1, z.waiting[key]))
	z.leave(key)
	z.pending.Push(zeroCopy{key, end})
	z.unified.wakeups.WakeMMU(end)
}

// finish ends the walks whose time on the link is over, and returns the cycle of the next. A page that has
// come meanwhile, or is on its way, needs none; one that an access has asked for meanwhile faults.
func (z *zeroCopies) finish(now uint64) (next uint64) {
	for z.pending.Len() > 0 {
		p := *z.pending.Head()
		if p.end > now {
			return p.end
		}
		u, tenant := z.unified, keyTenant(p.key)
		switch {
		case !u.runtime.Manages(p.key) || u.runtime.Where(p.key) != uvm.Fault:
		case u.runtime.Wanted(p.key) || z.waiting[p.key] > 0 && u.runtime.Asked(p.key):
			if !u.faults.file(now, p.key) {
				return max(now+1, u.faults.due())
			}
		default:
			z.hold(now, p.key, z.waiting[p.key])
			u.runtime.MapRemote(p.key)
			u.mmu.ResolveTo(now, tenant, keyPage(p.key), z.place(p.key), false)
			u.clock.Progress = now
		}
		z.leave(p.key)
		z.pending.Pop()
	}
	return engine.Never
}

// place is the frame of a page of the host, or where there is none left over, the host.
func (z *zeroCopies) place(key uint64) uint64 {
	if ppn, ok := z.frames[key]; ok {
		return ppn
	}
	u := z.unified
	f := u.tables.Frames()
	all, _ := u.runtime.Allocated(keyTenant(key))
	most := min(u.runtime.Capacity(), int(all/uvm.PageSize)) // frames of managed memory
	if u.dma.freeFrames() <= most-u.dma.used+f.Pools()*f.PerPool()/tablesShare {
		return remotePage(key)
	}
	ppn, err := u.tables.TakeFrame(keyTenant(key))
	if err != nil {
		return remotePage(key)
	}
	z.frames[key] = ppn
	return ppn
}

// take returns the frame that a page has had on the device while it was on the host, for the transfer that brings the
// page.
func (z *zeroCopies) take(key uint64) (ppn uint64, ok bool) {
	if ppn, ok = z.frames[key]; ok {
		delete(z.frames, key)
	}
	return ppn, ok
}

// forget gives back the frames of a freed allocation's pages.
func (z *zeroCopies) forget(base, end uint64) {
	for key := base; key < end && len(z.frames) > 0; key += uvm.PageSize {
		if ppn, ok := z.take(key); ok {
			z.unified.tables.GiveFrames(keyTenant(key), []uint64{ppn})
		}
	}
}
