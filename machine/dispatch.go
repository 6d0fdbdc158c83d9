package machine

import (
	"math/bits"

	"heddle/engine"
	"heddle/isa"
	"heddle/machine/sm"
)

// dispatcher hands CTAs to SMs: breadth first, at most one per SM and cycle, as
// GPGPU-Sim does.
type dispatcher struct {
	owners [][]int  // per SM: tenants whose CTAs may run there
	turn   []int    // per SM: index of the owner served last, for SMs that several share
	open   []uint64 // bitset of SMs that may take a CTA: an SM is asked again when one has ended on it, or something is new
	closed []bool   // per SM: takes none while a CTA is evicted for another
	order  []int    // byShare's
	young  []int    // victim's
}

// localWindow is the virtual address of a tenant's local-memory window: above
// everything an allocator hands out, below the bits that tell tenants apart.
const localWindow = 1 << 39

// Launch queues a grid; its CTAs are dispatched in order. The kernel is Done when
// its last CTA has ended and its last store is acknowledged.
func (g *GPU) Launch(tenant, stream int, name string, grid isa.Grid) *Kernel {
	geo := grid.Geometry()
	t := g.Tenants[tenant]
	_, alone := grid.(isa.Independent)
	k := &Kernel{Name: name, left: geo.CTAs, alone: alone, talks: !alone && talks(grid.Code()), ready: g.Now() + uint64(g.Sheet.SM.LaunchDelay)}
	k.Kernel = sm.Kernel{
		ID: g.kernels, Tenant: uint8(tenant), Stream: stream, Grid: grid, Code: grid.Code(), Geo: geo,
		LocalBase: localWindow, Most: (geo.CTAs + len(t.SMs) - 1) / len(t.SMs),
	}
	if g.profile {
		k.Prof = make([]sm.PC, len(k.Code.Instr))
	}
	if err := g.mapLocal(k); err != nil && g.err == nil {
		g.err = err
	}
	g.kernels++
	g.running++
	g.progress = g.Now()
	if len(t.kernels) == 0 {
		t.since = g.Now()
	}
	t.kernels = append(t.kernels, k)
	g.offer(k.ready)
	g.wheel.Wake(g.base.driver, g.now)
	return k
}

func (g *GPU) tickDispatch(now uint64) uint64 {
	next := engine.Never
	for k, word := range g.dispatch.open {
		for ; word != 0; word &= word - 1 {
			i := k<<6 + bits.TrailingZeros64(word)
			wait := g.dispatchTo(i, now)
			if wait == engine.Never {
				g.dispatch.open[k] &^= 1 << (i & 63)
			}
			next = min(next, wait)
		}
	}
	return next
}

// dispatchTo gives SM i a CTA if one of its owners has one that fits. It returns when
// to ask again: in the next cycle when it took one, Never when nothing fits that is
// ready or will be.
func (g *GPU) dispatchTo(i int, now uint64) uint64 {
	owners := g.dispatch.owners[i]
	switch len(owners) {
	case 0:
		return engine.Never
	case 1:
		if g.restore(owners[0], i, now) {
			return now + 1
		}
		k, wait := g.pending(owners[0], g.sm[i], now)
		if k == nil {
			return wait
		}
		g.place(k, i, now)
		return now + 1
	}
	return g.shareOut(i, now)
}

// offer has every SM asked whether it takes a CTA, from cycle at on.
func (g *GPU) offer(at uint64) {
	for i := range g.sm {
		g.dispatch.open[i>>6] |= 1 << (i & 63)
	}
	g.wheel.Wake(g.base.dispatch, at)
}

// pending is the tenant's oldest kernel with a CTA that fits on s now; wait is
// the cycle at which a launch latency ends, when that is what hinders.
func (g *GPU) pending(tenant int, s *sm.SM, now uint64) (k *Kernel, wait uint64) {
	wait = engine.Never
	for _, k := range g.Tenants[tenant].kernels {
		switch {
		case k.next == k.Geo.CTAs:
		case k.ready > now:
			wait = min(wait, k.ready)
		case s.Fits(&k.Kernel):
			return k, wait
		}
	}
	return nil, wait
}

func (g *GPU) place(k *Kernel, i int, now uint64) {
	if k.next == 0 {
		k.Start = now
	}
	if err := g.sm[i].Start(&k.Kernel, k.next, now); err != nil && g.err == nil {
		g.err = err
	}
	k.next++
	g.wheel.Wake(i, now+1)
}

// retire books the CTAs that ended on s.
func (g *GPU) retire(s *sm.SM, now uint64) {
	for _, d := range s.Done {
		t := g.Tenants[d.Tenant]
		for j, k := range t.kernels {
			if &k.Kernel != d {
				continue
			}
			if k.left--; k.left == 0 {
				k.Done, k.End = true, now
				g.running--
				g.finished = append(g.finished, k)
				t.kernels = append(t.kernels[:j], t.kernels[j+1:]...)
				if len(t.kernels) == 0 {
					t.busy += now - t.since
					g.turns.asked = now + 1
					g.wheel.Wake(g.base.driver, now+1)
				}
				g.flush(k)
			}
			break
		}
	}
	s.Done = s.Done[:0]
	if len(g.restoring[s.ID]) > 0 {
		g.freeImages(s.ID)
	}
	g.progress = max(g.progress, now)
	g.dispatch.open[s.ID>>6] |= 1 << (s.ID & 63)
	g.wheel.Wake(g.base.dispatch, now)
}

// flush invalidates the L1s of SMs that are idle at a kernel's end; what its application
// has in those of SMs on which only others stay.
func (g *GPU) flush(k *Kernel) {
	if !g.Sheet.L1D.FlushEach {
		return
	}
	for _, i := range g.Tenants[k.Tenant].SMs {
		switch s := g.sm[i]; {
		case s.Resident() == 0:
			s.FlushL1()
		case s.Used(k.Tenant).CTAs == 0:
			s.ForgetL1(k.Tenant)
		}
	}
}
