package link

import "github.com/heddle-sim/heddle/mem"

// Adaptive is the application-aware provisioning of Ganguly, 7.2.2, equations 6 to 9. Every period it measures the
// pages that come to each application, without write-backs and copies, and adds half of the earlier sum. It computes
// two numbers: T, the transfers per byte allocated; and bytes, which are fewer for a higher arithmetic intensity. If
// one number is similar, the other chooses the application that goes first: more transfers, or lower intensity. If
// both are similar, or if they disagree, applications take turns (RR-FR-FCFS). An application with a much smaller
// share of serviced transfers than the first one catches up, unless the first one has many pending. If the first one
// has no transfer that may go, others pass. Cost: three counters per application, two per direction.
type Adaptive struct {
	p      Parameters
	turns  RoundRobin
	sum    []measure // of the present period, half of the one before, and so on
	end    uint64    // of it
	high   int
	served [2][]float64 // transfers of each direction in the period
	behind [2]int       // the tenant that catches up; -1: nobody
	queued []float64    // transfers that wait
}

// measure is what an application's transfers of pages to the device did in a period.
type measure struct{ transfers, bytes, allocated float64 }

func newAdaptive(p *Parameters) *Adaptive {
	x := &Adaptive{
		p: *p, sum: make([]measure, p.Tenants), end: p.Period, high: -1, behind: [2]int{-1, -1},
		queued: make([]float64, p.Tenants),
	}
	for way := range x.served {
		x.served[way] = make([]float64, p.Tenants)
	}
	return x
}

// Next implements Arbiter.
func (x *Adaptive) Next(way int, waiting []Transfer, may func(t *Transfer) bool) int {
	x.watch(way, waiting)
	for _, first := range [2]int{x.behind[way], x.high} {
		if first < 0 {
			continue
		}
		if i := firstOf(mem.TenantID(first), waiting, may); i >= 0 {
			return i
		}
	}
	return x.turns.Next(way, waiting, may)
}

// Begun implements Arbiter.
func (x *Adaptive) Begun(way int, t *Transfer, now, cycles uint64) {
	x.turns.Begun(way, t, now, cycles)
	x.served[way][t.Tenant]++
	if m := &x.sum[t.Tenant]; way == 0 && !t.Copy {
		m.transfers++
		m.bytes += float64(t.Bytes)
	}
	if now < x.end {
		return
	}
	for k := range x.sum {
		x.sum[k].allocated = float64(x.p.Allocated(mem.TenantID(k)))
	}
	x.high, x.end = highest(x.sum, x.p.Similar), now+x.p.Period
	for k, m := range x.sum {
		x.sum[k].transfers, x.sum[k].bytes = m.transfers/2, m.bytes/2
	}
	clear(x.served[0])
	clear(x.served[1])
}

// watch says which tenant catches up in a direction.
func (x *Adaptive) watch(way int, waiting []Transfer) {
	b := &x.behind[way]
	if x.high < 0 {
		*b = -1
		return
	}
	clear(x.queued)
	for i := range waiting {
		x.queued[waiting[i].Tenant]++
	}
	first := x.performance(way, x.high)
	switch {
	case x.queued[x.high] > float64(x.p.Queue) || *b >= 0 && x.performance(way, *b) >= first:
		*b = -1
		return
	case *b >= 0:
		return
	}
	least := first / x.p.Deviation
	for i := range x.queued {
		if p := x.performance(way, i); i != x.high && p < least {
			*b, least = i, p
		}
	}
}

// performance is the share of the transfers an application has asked for in the period that have been serviced.
func (x *Adaptive) performance(way, tenant int) float64 {
	served := x.served[way][tenant]
	if asked := served + x.queued[tenant]; asked > 0 {
		return served / asked
	}
	return 1
}

// highest is the application that goes first by what all did; -1: none clearly.
func highest(sum []measure, similar float64) int {
	best := -1
	for i := range sum {
		if sum[i].bytes > 0 && (best < 0 || prefers(&sum[i], &sum[best], similar) > 0) {
			best = i
		}
	}
	for i := range sum {
		if i != best && sum[i].bytes > 0 && prefers(&sum[best], &sum[i], similar) <= 0 {
			return -1
		}
	}
	return best
}

// prefers is 1 where a goes before b (equation 9), -1 where b goes before a, 0 where neither is clear.
func prefers(a, b *measure, similar float64) int {
	perMemory := compare(a.transfers*b.allocated, b.transfers*a.allocated, similar)
	perTime := compare(a.bytes, b.bytes, similar) // of one period: more is lower intensity
	switch {
	case perMemory == 0:
		return perTime
	case perTime == 0 || perTime == perMemory:
		return perMemory
	}
	return 0
}

// compare is 1 or -1 where one is clearly larger.
func compare(a, b, similar float64) int {
	switch {
	case a > similar*b:
		return 1
	case b > similar*a:
		return -1
	}
	return 0
}

// High implements Arbiter.
func (x *Adaptive) High() int { return x.high }
