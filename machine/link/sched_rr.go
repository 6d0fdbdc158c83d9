package link

import "github.com/heddle-sim/heddle/mem"

// RoundRobin is RR-FR-FCFS (Ganguly, 2.3.2): applications take turns, each with its oldest transfer that
// may go; an application without one is passed over.
type RoundRobin struct{ last [2]mem.TenantID }

// Next implements Arbiter.
func (x *RoundRobin) Next(way int, waiting []Transfer, may func(t *Transfer) bool) int {
	best, rank := -1, 0
	for i := range waiting {
		t := waiting[i].Tenant - x.last[way] - 1 // how far behind the one served last
		if (best < 0 || int(t) < rank) && may(&waiting[i]) {
			best, rank = i, int(t)
		}
	}
	return best
}

// Begun implements Arbiter.
func (x *RoundRobin) Begun(way int, t *Transfer, _, _ uint64) { x.last[way] = t.Tenant }

// High implements Arbiter.
func (x *RoundRobin) High() int { return -1 }
