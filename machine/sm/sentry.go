package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// Sentry watches the CTAs of a tenant on the SMs of a machine for progress.
type Sentry struct {
	list []*SM
	last []int // [tenant] the SM on which a warp had news; most programs have them there again
}

// NewSentry watches some SMs.
func NewSentry(list []*SM, tenants int) Sentry { return Sentry{list, make([]int, tenants)} }

// Runs says that an SM has CTAs of a tenant, and that none of them is held back.
func (w *Sentry) Runs(tenant mem.TenantID) bool {
	for _, s := range w.list {
		if s.pipe.ctas.residencies[tenant].ctas > 0 && !s.pipe.frozen && !s.lsu.translation.hold {
			return true
		}
	}
	return false
}

// News says whether warps of a tenant have reached a line or state that is new. The SM with the last news is asked
// first, and the others only if no warp there is in a new state. Then all warps are looked at and remembered.
func (w *Sentry) News(tenant mem.TenantID, h *isa.History) (n isa.News) {
	if n = w.list[w.last[tenant]].pipe.news(tenant, h, false); n.Own && n.Common {
		return n
	}
	for i, s := range w.list {
		here := s.pipe.news(tenant, h, true)
		if here.Own && (here.Common || !n.Common) {
			w.last[tenant] = i
		}
		n.Own, n.Common = n.Own || here.Own, n.Common || here.Common
	}
	return n
}

// news looks at the warps of a tenant on an SM: at all, or up to the first that does what nobody has done before.
func (p *pipeline) news(tenant mem.TenantID, h *isa.History, all bool) (n isa.News) {
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
			own, common := wp.exec.State(int(wp.in))
			is := isa.News{
				Own:    h.Own.State(isa.Mix(own, uint64(b.k.ID))),
				Common: h.Common.State(isa.Mix(common, uint64(b.k.ID))),
			}
			if is.Own && is.Common && !all {
				return is
			}
			n.Own = is.Own || all && h.Own.Line(wp.pc) || n.Own
			n.Common = is.Common || all && h.Common.Line(wp.pc) || n.Common
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
