package sharing

import "github.com/heddle-sim/heddle/machine/timing"

// holdings has the owners of SMs and channel groups. A part that changes the owners of SMs has all SMs asked again
// whether they take a CTA (offer).
type holdings struct {
	sm, group []int   // the one owner; -1: nobody, or several
	owners    [][]int // [SM] tenants whose CTAs may run there
	// Bitset of SMs that may take a CTA: one is asked again when a CTA has ended on it, or
	// something is new.
	open    []uint64
	wakeups timing.Wakeups
}

// giveAll gives every SM to a tenant; -1 leaves all SMs without an owner.
func (h *holdings) giveAll(tenant int) {
	for i := range h.owners {
		h.owners[i] = h.owners[i][:0]
		if tenant >= 0 {
			h.owners[i] = append(h.owners[i], tenant)
		}
	}
}

// offer has every SM asked whether it takes a CTA, from cycle at on.
func (h *holdings) offer(at uint64) {
	for i := range h.owners {
		h.open[i>>6] |= 1 << (i & 63)
	}
	h.wakeups.WakeDispatch(at)
}

// shared says that some SM has several owners.
func (h *holdings) shared() bool {
	for _, owners := range h.owners {
		if len(owners) > 1 {
			return true
		}
	}
	return false
}
