package sharing

import (
	"slices"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/mem"
)

// Sharing an SM from inside, as simultaneous multikernel does (Wang et al., SMK, HPCA 2016, its SMK-P): the next CTA
// on an SM belongs to the application with the smallest dominant share of it. If there is no room for this CTA, CTAs
// of richer applications are evicted, one at a time.

// eviction is a CTA on its way off an SM on which others stay.
type eviction struct {
	sm, tenant int
	saved      *sm.Context // nil while its warps come to rest
}

// Evictions is the number of CTAs evicted so far, and the bytes of their contexts.
type Evictions struct {
	CTAs  int
	Bytes uint64
}

// evictor shares out the SMs that several applications use, and evicts CTAs.
type evictor struct {
	sms      []*sm.SM
	holdings *holdings
	contexts *ContextStore
	meters   *timing.Meters
	wakeups  timing.Wakeups
	line     int // bytes of a line of a context

	leaving []eviction // CTAs on their way off an SM
	evicted Evictions
	most    [][]int // [tenant][SM] CTAs at most; negative: no limit. nil: there are no limits
	last    []int   // [SM] index of the owner that placed a CTA last
	closed  []bool  // [SM] takes none while a CTA is evicted for another
	order   []int   // byShare's
	young   []int   // victim's
}

// limit sets the limits of CTAs.
func (v *evictor) limit(most [][]int) {
	v.most = nil
	for _, row := range most {
		v.most = append(v.most, slices.Clone(row))
	}
}

// limited says that the CTAs of a tenant on SM i have a limit.
func (v *evictor) limited(tenant, i int) bool { return v.most != nil && v.most[tenant][i] >= 0 }

// above is the number of CTAs that a tenant has on SM i beyond its limit.
func (v *evictor) above(tenant, i int) int {
	return v.sms[i].Used(mem.TenantID(tenant)).CTAs - v.most[tenant][i]
}

// atLimit says that a tenant may have no more CTAs on SM i.
func (v *evictor) atLimit(tenant, i int) bool { return v.limited(tenant, i) && v.above(tenant, i) >= 0 }

// trim begins to evict a CTA of the richest application that has more on SM i than its
// limit; above says that one has, but all of its CTAs are being loaded.
func (v *evictor) trim(i int, owners []int, now uint64) (evicting, above bool) {
	for j := len(owners) - 1; j >= 0; j-- {
		t := owners[j]
		if !v.limited(t, i) || v.above(t, i) <= 0 {
			continue
		}
		above = true
		if v.young = v.sms[i].Youngest(mem.TenantID(t), v.young); len(v.young) > 0 {
			v.begin(i, v.young[0], now)
			return true, true
		}
	}
	return false, above
}

// byShare is the owners of an SM, the one with the smallest dominant share first;
// among equals the one whose turn it is.
func (v *evictor) byShare(i int) []int {
	s, own := v.sms[i], v.holdings.owners[i]
	n := len(own)
	out := v.order[:0]
	for j := range n {
		t := own[(v.last[i]+1+j)%n]
		out = append(out, t)
		share := s.Used(mem.TenantID(t)).Dominant(s.Has())
		for k := len(out) - 1; k > 0 && s.Used(mem.TenantID(out[k-1])).Dominant(s.Has()) > share; k-- {
			out[k-1], out[k] = out[k], out[k-1]
		}
	}
	v.order = out
	return out
}

// victim is the CTA to evict from an SM first so that one of k fits: of the richest
// other tenant, which must not become poorer by it than k's tenant will be with its
// CTA. -1 when such evictions do not make room. owners are in order of their shares.
func (v *evictor) victim(s *sm.SM, k *sm.Kernel, owners []int) int {
	has, need := s.Has(), s.Needs(k)
	rich := s.Used(k.Tenant).Plus(need).Dominant(has)
	var used sm.Use
	for _, t := range owners {
		used = used.Plus(s.Used(mem.TenantID(t)))
	}
	first := -1
	for j := len(owners) - 1; j >= 0; j-- {
		t := mem.TenantID(owners[j])
		mine := s.Used(t)
		if t == k.Tenant {
			continue
		}
		v.young = s.Youngest(t, v.young)
		for _, c := range v.young {
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

func (v *evictor) begin(i, cta int, now uint64) {
	s := v.sms[i]
	v.leaving = append(v.leaving, eviction{sm: i, tenant: int(s.CTA(cta).Tenant)})
	s.Evict(cta, now)
	v.contexts.Free(i)
	v.closed[i] = true
	v.meters.SMs.Add(now, 1)
	v.wakeups.WakeMoves(now)
}

// tick advances the evictions as far as possible.
func (v *evictor) tick(now uint64) uint64 {
	if len(v.leaving) == 0 {
		return engine.Never
	}
	still := v.leaving[:0]
	for _, e := range v.leaving {
		if v.advance(&e, now) {
			v.meters.SMs.Add(now, -1)
			v.closed[e.sm] = false
			v.holdings.offer(now + 1)
		} else {
			still = append(still, e)
		}
	}
	v.leaving = still
	return now + 1
}

// advance carries an eviction as far as possible; true when it is over.
func (v *evictor) advance(e *eviction, now uint64) bool {
	s := v.sms[e.sm]
	switch {
	case e.saved == nil && s.Rested():
		e.saved = s.SaveEvicted(now, v.contexts.image)
		v.wakeups.WakeSM(e.sm, now+1)
		if e.saved == nil {
			return true // it has ended
		}
		v.evicted.CTAs++
		v.evicted.Bytes += uint64(e.saved.Lines * v.line)
	case e.saved != nil && !s.Busy():
		v.contexts.keep(e.tenant, e.saved)
		return true
	}
	return false
}
