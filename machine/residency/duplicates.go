package residency

import (
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/stat"
)

// duplicates handles writes to pages that host and device both have, because programs mostly read them
// (uvm.ReadMostly). Such a write is a fault. The page leaves the tables and keeps its frame, and the driver takes the
// fault in a batch like any other. Then the page is back, and only the device has it. All accesses to the page wait
// meanwhile.
type duplicates struct {
	managed
	row    [][]uint64
	frames map[uint64]collapse // by key
}

// collapse is a page whose copy on the host shall become void.
type collapse struct {
	frame    uint64
	enqueued bool // the driver knows of it
}

func (d *duplicates) build(m managed, t *stat.Table) {
	d.managed, d.frames = m, map[uint64]collapse{}
	for k := range t.Tenants {
		d.row = append(d.row, t.Row(0, k))
	}
}

// begin takes a page that an access will write out of the tables. It does nothing if the page is out already.
func (d *duplicates) begin(key uint64) {
	if ppn, ok := d.tables.Withdraw(keyTenant(key), keyPage(key)); ok {
		d.frames[key] = collapse{frame: ppn}
	}
}

// waits says that a page is out of the tables for a write.
func (d *duplicates) waits(key uint64) bool {
	if len(d.frames) == 0 {
		return false
	}
	_, ok := d.frames[key]
	return ok
}

// end ends a fault if it is that of a write. Only the device has the page from now on.
func (d *duplicates) end(now, key uint64) bool {
	frame, ok := d.take(key)
	if !ok {
		return false
	}
	tenant := keyTenant(key)
	if d.runtime.Collapse(key) {
		d.row[tenant][uvmCollapsed]++
	}
	d.tables.Enter(tenant, keyPage(key), frame)
	d.mmu.Resolve(now, tenant, keyPage(key))
	return true
}

// take gives the frame of a page that is out of the tables to the caller.
func (d *duplicates) take(key uint64) (frame uint64, ok bool) {
	if len(d.frames) == 0 {
		return 0, false
	}
	c, ok := d.frames[key]
	delete(d.frames, key)
	return c.frame, ok
}

// forget gives back the frames of pages of an allocation that is freed.
func (d *duplicates) forget(base, end uint64) {
	for key := base; key < end && len(d.frames) > 0; key += uvm.PageSize {
		if ppn, ok := d.take(key); ok {
			d.tables.GiveFrames(keyTenant(key), []uint64{ppn})
		}
	}
}

// arrived counts those pages of a transfer of which the host keeps copies.
func (d *duplicates) arrived(j *dmaJob) {
	for _, key := range j.pages {
		if d.runtime.Duplicated(key) {
			d.row[j.tenant][uvmDuplicated]++
		}
	}
}
