package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// Sentry watches the CTAs of a tenant on the SMs of a machine for progress.
type Sentry struct {
	list  []*SM
	last  []int     // [tenant] the SM on which a warp had news; most programs have them there again
	state isa.State // of the warp looked at
}

// NewSentry watches some SMs.
func NewSentry(list []*SM, tenants int) Sentry { return Sentry{list: list, last: make([]int, tenants)} }

// Runs says that an SM has CTAs of a tenant, and that none of them is held back.
func (w *Sentry) Runs(tenant mem.TenantID) bool {
	for _, s := range w.list {
		if s.pipe.ctas.residencies[tenant].ctas > 0 && !s.pipe.frozen && !s.lsu.translation.hold {
			return true
		}
	}
	return false
}

// News looks at the warps of a tenant. It says whether one has reached a line or state in which none was before, and
// how many it looked at. It begins with the SM that had the last news, and looks at the others if that has no news.
func (w *Sentry) News(tenant mem.TenantID, h *isa.History) (n isa.News, warps uint64) {
	last := w.last[tenant]
	if n = w.on(last, tenant, h, &warps); n.Own && n.Common {
		return n, warps
	}
	for i := range w.list {
		if i == last {
			continue
		}
		here := w.on(i, tenant, h, &warps)
		if here.Own && (here.Common || !n.Common) {
			w.last[tenant] = i
		}
		n.Own, n.Common = n.Own || here.Own, n.Common || here.Common
	}
	return n, warps
}

// on looks at the warps of a tenant on an SM.
func (w *Sentry) on(sm int, tenant mem.TenantID, h *isa.History, warps *uint64) (n isa.News) {
	p := &w.list[sm].pipe
	for i := range p.ctas.blocks {
		b := &p.ctas.blocks[i]
		if b.k == nil || b.k.Tenant != tenant {
			continue
		}
		for m := b.slots; m != 0; m &= m - 1 {
			wp := &p.warps.slot[bits.TrailingZeros64(m)]
			if wp.state == free || wp.pc < 0 {
				continue
			}
			wp.exec.State(int(wp.in), &w.state)
			is := h.Add(&w.state, uint64(b.k.ID), wp.pc)
			n.Own, n.Common = n.Own || is.Own, n.Common || is.Common
			*warps++
		}
	}
	return n
}

// Leaving adds the contexts of a tenant that are being stored to list.
func (w *Sentry) Leaving(tenant mem.TenantID, list []*Context) []*Context {
	for _, s := range w.list {
		for _, c := range s.contexts.moving {
			if c != nil && c.store && c.K.Tenant == tenant {
				list = append(list, c)
			}
		}
	}
	return list
}
