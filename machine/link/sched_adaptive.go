package link

import "heddle/mem"

// Adaptive is the application-aware provisioning of Ganguly, 7.2.2, equations 6 to 9. Every period it
// measures each application: its transfers per unit of memory allocated, T, and its mean transfer size,
// weighted by size, per unit of time, which is the less the higher its arithmetic intensity. Where the
// one is similar, the other chooses who goes first: more transfers, or lower intensity. Where neither or
// both tell applications apart and disagree, they take turns (RR-FR-FCFS). Who is served late by a share
// of its service time that is above the others' by a threshold goes first until it has caught up. It
// conserves work: who goes first but has nothing that may go lets others pass. Cost: four counters per
// application.
//
// Readings: the text names no numbers and no schedulers are public. Late is measured by waiting over
// service time; the second application is compared with the first in the order of their T.
type Adaptive struct {
	p      Parameters
	turns  RoundRobin
	sum    []measure // of the present period
	end    uint64    // of it
	high   int
	behind int // who catches up; -1: nobody
}

// measure is what an application's transfers did: squares are of their bytes.
type measure struct{ transfers, bytes, squares, allocated, wait, service float64 }

func newAdaptive(p *Parameters) *Adaptive {
	return &Adaptive{p: *p, sum: make([]measure, p.Tenants), end: p.Period, high: -1, behind: -1}
}

// Next implements Arbiter.
func (x *Adaptive) Next(way int, waiting []Transfer, may func(t *Transfer) bool) int {
	for _, first := range [2]int{x.behind, x.high} {
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
	m := &x.sum[t.Tenant]
	m.transfers++
	m.bytes += float64(t.Bytes)
	m.squares += float64(t.Bytes) * float64(t.Bytes)
	m.wait += float64(now - t.Queued)
	m.service += float64(cycles)
	x.behind = x.late()
	if now >= x.end {
		for k := range x.sum {
			x.sum[k].allocated = float64(x.p.Allocated(mem.TenantID(k)))
		}
		x.high = highest(x.sum, x.p.Similar)
		clear(x.sum)
		x.end = now + x.p.Period
	}
}

// late is the application that is served later than one that goes first by more than may be.
func (x *Adaptive) late() int {
	if x.high < 0 || x.sum[x.high].service == 0 {
		return -1
	}
	most := x.p.Deviation * (1 + x.sum[x.high].wait/x.sum[x.high].service)
	worst := -1
	for i, m := range x.sum {
		if d := 1 + m.wait/max(1, m.service); i != x.high && m.service > 0 && d > most {
			worst, most = i, d
		}
	}
	return worst
}

// highest is who goes first by what all did; -1: nobody clearly.
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
	perTime := compare(a.squares*b.bytes, b.squares*a.bytes, similar) // of one period: more is lower intensity
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
