package machine

import (
	"slices"

	"heddle/engine"
	"heddle/machine/sm"
)

// Sharing an SM from inside, as simultaneous multikernel does (Wang et al., SMK, HPCA
// 2016, its SMK-P): the next CTA on an SM is of the application with the smallest
// dominant share of it, and one that finds no room for its CTA has those of richer ones
// evicted, one at a time.

// eviction is a CTA on its way off an SM on which others stay.
type eviction struct {
	sm, tenant int
	saved      *sm.Context // nil while its warps come to rest
}

// Evictions is how many CTAs were evicted so far, and the bytes of their contexts.
type Evictions struct {
	CTAs  int
	Bytes uint64
}

// shareOut is dispatchTo for an SM that several applications share.
func (g *GPU) shareOut(i int, now uint64) uint64 {
	next, s := engine.Never, g.sm[i]
	if g.dispatch.closed[i] {
		return next // the end of the eviction asks again
	}
	owners := g.byShare(i)
	for _, t := range owners {
		if g.restore(t, i, now) {
			return now + 1
		}
		k, wait := g.pending(t, s, now)
		next = min(next, wait)
		if k != nil {
			g.place(k, i, now)
			g.dispatch.turn[i] = slices.Index(g.dispatch.owners[i], t)
			return now + 1
		}
		out := g.crowdedOut(t, s, now)
		if out == nil {
			continue
		}
		if v := g.victim(s, out, owners); v >= 0 {
			g.beginEviction(i, v, now)
			return engine.Never
		}
		if s.Used(uint8(t)).CTAs == 0 {
			return next // nobody richer takes what it waits for: it would wait for ever
		}
	}
	return next
}

// byShare is the owners of an SM, the one with the smallest dominant share first;
// among equals the one whose turn it is.
func (g *GPU) byShare(i int) []int {
	s, own := g.sm[i], g.dispatch.owners[i]
	n := len(own)
	out := g.dispatch.order[:0]
	for j := range n {
		t := own[(g.dispatch.turn[i]+1+j)%n]
		out = append(out, t)
		share := s.Used(uint8(t)).Dominant(s.Has())
		for k := len(out) - 1; k > 0 && s.Used(uint8(out[k-1])).Dominant(s.Has()) > share; k-- {
			out[k-1], out[k] = out[k], out[k-1]
		}
	}
	g.dispatch.order = out
	return out
}

// crowdedOut is the kernel whose CTA a tenant would place on an SM if there were room:
// that of a context in memory, else its oldest with a CTA left that an empty SM holds; nil
// when it has none.
func (g *GPU) crowdedOut(tenant int, s *sm.SM, now uint64) *sm.Kernel {
	if q := g.saved[tenant]; len(q) > 0 {
		return q[0].K
	}
	for _, k := range g.Tenants[tenant].kernels {
		if k.next < k.Geo.CTAs && k.ready <= now && s.AtMost(&k.Kernel) && s.Needs(&k.Kernel).Within(s.Has()) {
			return &k.Kernel
		}
	}
	return nil
}

// victim is the CTA to evict from an SM first so that one of k fits: of the richest
// other tenant, which must not become poorer by it than k's tenant will be with its
// CTA. -1 when such evictions do not make room. owners are in order of their shares.
func (g *GPU) victim(s *sm.SM, k *sm.Kernel, owners []int) int {
	has, need := s.Has(), s.Needs(k)
	rich := s.Used(k.Tenant).Plus(need).Dominant(has)
	var used sm.Use
	for _, t := range owners {
		used = used.Plus(s.Used(uint8(t)))
	}
	first := -1
	for j := len(owners) - 1; j >= 0; j-- {
		t := uint8(owners[j])
		mine := s.Used(t)
		if t == k.Tenant {
			continue
		}
		g.dispatch.young = s.Youngest(t, g.dispatch.young)
		for _, c := range g.dispatch.young {
			if used.Plus(need).Within(has) {
				return first
			}
			x := s.Needs(s.CTA(c))
			if mine.Minus(x).Dominant(has) < rich {
				break
			}
			mine, used = mine.Minus(x), used.Minus(x)
			if first < 0 {
				first = c
			}
		}
	}
	if used.Plus(need).Within(has) {
		return first
	}
	return -1
}

func (g *GPU) beginEviction(i, cta int, now uint64) {
	s := g.sm[i]
	g.evictions = append(g.evictions, eviction{sm: i, tenant: int(s.CTA(cta).Tenant)})
	s.Evict(cta)
	g.freeImages(i)
	g.dispatch.closed[i] = true
	g.smsMeter.add(now, 1)
	g.wheel.Wake(g.base.driver, now)
}

// tickEvictions takes the evictions as far as they go.
func (g *GPU) tickEvictions(now uint64) uint64 {
	if len(g.evictions) == 0 {
		return engine.Never
	}
	still := g.evictions[:0]
	for _, e := range g.evictions {
		if g.evicted(&e, now) {
			g.smsMeter.add(now, -1)
			g.dispatch.closed[e.sm] = false
			g.offer(now + 1)
		} else {
			still = append(still, e)
		}
	}
	g.evictions = still
	return now + 1
}

// evicted takes an eviction as far as it goes; true when it is over.
func (g *GPU) evicted(e *eviction, now uint64) bool {
	s := g.sm[e.sm]
	switch {
	case e.saved == nil && s.Rested():
		e.saved = s.SaveEvicted(now, g.image)
		g.wheel.Wake(e.sm, now+1)
		if e.saved == nil {
			return true // it has ended
		}
		g.Evicted.CTAs++
		g.Evicted.Bytes += uint64(e.saved.Lines * g.Sheet.L1D.Line)
	case e.saved != nil && !s.Busy():
		g.saved[e.tenant] = append(g.saved[e.tenant], e.saved)
		return true
	}
	return false
}
