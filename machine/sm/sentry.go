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

// News says whether a warp of a tenant has come to an instruction that none had reached before. The SM with the last
// news is asked first, and the others only if no warp there is in a new state; then all warps are looked at and
// remembered.
func (w *Sentry) News(tenant mem.TenantID, seen *isa.Seen) (news bool) {
	if w.list[w.last[tenant]].pipe.news(tenant, seen, false) {
		return true
	}
	for i, s := range w.list {
		if s.pipe.news(tenant, seen, true) {
			news, w.last[tenant] = true, i
		}
	}
	return news
}

func (p *pipeline) news(tenant mem.TenantID, seen *isa.Seen, all bool) (news bool) {
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
			new := seen.State(isa.Mix(wp.exec.State(int(wp.in)), uint64(b.k.ID)))
			if new && !all {
				return true
			}
			news = new || all && seen.Line(wp.pc) || news
		}
	}
	return news
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
