package residency

import (
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/addrmap"
)

// managed is what every part of unified memory works on: the runtime, which knows which pages are where, and the
// tables and MMU in which they are entered. Each part has a copy. Above it lie, in this order, hostPages, spanLog and
// duplicates; faultServer and dmaEngine; RemoteStore and zeroCopies; Unified. A part knows those before it.
type managed struct {
	runtime *uvm.Runtime // nil: managed memory is not moved on demand
	tables  *vm.Tables
	mmu     *vm.MMU
	clock   *timing.Clock
	wakeups timing.Wakeups
}

// unmap removes the translation of a page to the host from the TLBs, if they may have one.
func (m *managed) unmap(key uint64) {
	if m.runtime.UnmapRemote(key) {
		m.tables.Shoot(keyTenant(key), keyPage(key))
	}
}

// managedKey is a virtual address of a tenant among those of all.
func managedKey(tenant mem.TenantID, va uint64) uint64 {
	return uint64(tenant)<<addrmap.TenantShift | va
}

// keyTenant is the tenant of a key, keyPage its virtual page.
func keyTenant(key uint64) mem.TenantID { return mem.TenantID(key >> addrmap.TenantShift) }

func keyPage(key uint64) uint64 { return key & (1<<addrmap.TenantShift - 1) / uvm.PageSize }

// remotePage is the translation of a page to the host.
func remotePage(key uint64) uint64 { return mem.Remote/uvm.PageSize | key/uvm.PageSize }

// hostPages are the frames that pages on the host have on the device (zeroCopies), by key.
type hostPages map[uint64]uint64

// take returns the frame of a page for the transfer that brings the page.
func (h hostPages) take(key uint64) (ppn uint64, ok bool) {
	if ppn, ok = h[key]; ok {
		delete(h, key)
	}
	return ppn, ok
}

// forget gives back the frames of a freed allocation's pages.
func (h hostPages) forget(tables *vm.Tables, base, end uint64) {
	for key := base; key < end && len(h) > 0; key += uvm.PageSize {
		if ppn, ok := h.take(key); ok {
			tables.GiveFrames(keyTenant(key), []uint64{ppn})
		}
	}
}
