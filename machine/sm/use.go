package sm

import (
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// Use is the resources that CTAs take of an SM, or that an SM has.
type Use struct{ CTAs, Threads, Regs, Shared int }

// Plus adds v.
func (u Use) Plus(v Use) Use {
	return Use{u.CTAs + v.CTAs, u.Threads + v.Threads, u.Regs + v.Regs, u.Shared + v.Shared}
}

// Minus subtracts v.
func (u Use) Minus(v Use) Use {
	return Use{u.CTAs - v.CTAs, u.Threads - v.Threads, u.Regs - v.Regs, u.Shared - v.Shared}
}

// Within says whether u fits into v.
func (u Use) Within(v Use) bool {
	return u.CTAs <= v.CTAs && u.Threads <= v.Threads && u.Regs <= v.Regs && u.Shared <= v.Shared
}

// Whole is the share that stands for all of an SM's resource, in the unit of Dominant.
const Whole = 1 << 20

// Dominant is the largest share that u takes of any resource in the machine, in parts of
// Whole: what dominant resource fairness compares.
func (u Use) Dominant(of Use) int {
	part := func(n, of int) int { return n * Whole / max(1, of) }
	return max(part(u.CTAs, of.CTAs), part(u.Threads, of.Threads), part(u.Regs, of.Regs), part(u.Shared, of.Shared))
}

// Has are the resources of an SM.
func (s *SM) Has() Use {
	return Use{s.cfg.CTAs, min(s.cfg.Threads, s.cfg.Warps*isa.Lanes), s.cfg.Regs, s.cfg.Shared}
}

// Needs are the resources that a CTA of k takes.
func (s *SM) Needs(k *Kernel) Use {
	g := &k.Geo
	return Use{1, g.Warps * isa.Lanes, g.Warps * s.cfg.RegsPerWarp(g.Regs), g.SharedBytes}
}

// Used are the resources that the resident CTAs of a tenant take.
func (s *SM) Used(tenant mem.TenantID) (u Use) {
	for i := range s.pipe.ctas.blocks {
		if k := s.pipe.ctas.blocks[i].k; k != nil && k.Tenant == tenant {
			u = u.Plus(s.Needs(k))
		}
	}
	return u
}

// MayGrowOn says whether k may have another CTA on s by its own limit.
func (k *Kernel) MayGrowOn(s *SM) bool { return k.Most == 0 || s.pipe.ctas.of(k) < k.Most }
