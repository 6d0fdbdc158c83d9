package link

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/mem"
)

// Arbiter chooses the next transfer of a direction, among those that may begin now. Both directions use the same one.
type Arbiter interface {
	// Next chooses a transfer: an index into waiting, which is oldest first, or -1 for none. It is called while a
	// direction is idle.
	Next(way int, waiting []Transfer, may func(t *Transfer) bool) int
	// Begun notes a transfer that has begun and the cycles it takes.
	Begun(way int, t *Transfer, now, cycles uint64)
	// High is the tenant that has priority at present; -1: none.
	High() int
}

// ArbiterNames are the names of all arbiters.
func ArbiterNames() []string { return []string{"fr-fcfs", "rr", "static", "adaptive"} }

// Parameters are the parameters of all arbiters.
type Parameters struct {
	Tenants int
	High    int // of `static`: the application with priority
	// Of `adaptive`: core cycles between two measurements, the ratio up to which two measures are similar,
	// that by which the serviced share of an application may be below another's, the transfers pending
	// from which on that does not count; bytes of memory allocated.
	Period             uint64
	Queue              int
	Similar, Deviation float64
	Allocated          func(tenant mem.TenantID) uint64
}

// number is one of the parameters, by its name in a machine sheet.
type number struct {
	name  string
	value float64
}

// numbers are those of the adaptive order.
func (p *Parameters) numbers() []number {
	return []number{
		{"link_period", float64(p.Period)},
		{"link_queue", float64(p.Queue)},
		{"link_similar", p.Similar},
		{"link_deviation", p.Deviation},
	}
}

// NewArbiter makes an arbiter by its name.
func NewArbiter(name string, p Parameters) (Arbiter, error) {
	switch name {
	case "fr-fcfs":
		return FirstReady{}, nil
	case "rr":
		return &RoundRobin{}, nil
	case "static":
		if p.High < 0 || p.High >= p.Tenants {
			return nil, fmt.Errorf("arbiter static: there is no application %d, of %d", p.High, p.Tenants)
		}
		return &Static{high: p.High}, nil
	case "adaptive":
		for _, n := range p.numbers() {
			if !(n.value >= 1) {
				return nil, fmt.Errorf("uvm.%s is %g: with memory.unified.link: adaptive it is 1 or more", n.name,
					n.value)
			}
		}
		return newAdaptive(&p), nil
	}
	return nil, fmt.Errorf("arbiter %q: use %s", name, strings.Join(ArbiterNames(), ", "))
}

// firstOf is the oldest transfer of a tenant that may go; -1 if there is none.
func firstOf(tenant mem.TenantID, waiting []Transfer, may func(t *Transfer) bool) int {
	for i := range waiting {
		if waiting[i].Tenant == tenant && may(&waiting[i]) {
			return i
		}
	}
	return -1
}
