package link

import (
	"fmt"
	"strings"

	"heddle/mem"
)

// Arbiter chooses which of the waiting transfers of a direction goes next, among those that may go now.
// Both directions ask the same one.
type Arbiter interface {
	// Next is an index into waiting, oldest first, or -1 for none. It changes nothing.
	Next(way int, waiting []Transfer, may func(t *Transfer) bool) int
	// Begun tells of a transfer that has begun and the cycles it takes.
	Begun(way int, t *Transfer, now, cycles uint64)
	// High is the tenant that goes first at present; -1: none does.
	High() int
}

// ArbiterNames are the arbiters there are.
func ArbiterNames() []string { return []string{"fr-fcfs", "rr", "static", "adaptive"} }

// NewArbiter makes an arbiter by its name for so many tenants; of `static`, high goes first.
func NewArbiter(name string, tenants, high int) (Arbiter, error) {
	switch name {
	case "fr-fcfs":
		return FirstReady{}, nil
	case "rr":
		return &RoundRobin{}, nil
	case "static":
		if high < 0 || high >= tenants {
			return nil, fmt.Errorf("arbiter static: there is no application %d, of %d", high, tenants)
		}
		return &Static{high: high}, nil
	case "adaptive":
		return NewAdaptive(tenants), nil
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
