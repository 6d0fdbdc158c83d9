package uvm

// Advice is the hints that a program has given on an allocation (2.2.4, cudaMemAdvise), any of them together.
// ReadMostly goes before all others, then Mapped.
type Advice uint8

const (
	// ReadMostly lets the device get copies of pages that it reads, while the host keeps them (duplicate.go).
	ReadMostly Advice = 1 << iota
	// PreferHost keeps its pages on the host. In the dissertation that is a soft pin: a page migrates by the static
	// threshold, or when it is written. With Options.HostStays it never migrates: when the device faults, the
	// driver maps it to the page on the host, as CUDA's documentation has it.
	PreferHost
	// PreferDevice makes its pages come when they are touched first, also pages that thrash.
	PreferDevice
	// Mapped keeps it on the host, to which the device is mapped: it never faults.
	Mapped
)

// Advise changes the hints on the allocation that begins at base. If it loses ReadMostly, the device's copies of its
// pages become the pages.
func (r *Runtime) Advise(base uint64, set, clear Advice) {
	x := r.allocationOf(base)
	if x == nil {
		return
	}
	for i := x.first; i < x.first+x.chunks; i++ {
		c := &r.chunks[i]
		if c.advice = c.advice&^clear | set; c.advice&ReadMostly == 0 {
			c.twice.here = c.twice.here.And(&c.staged) // those are dropped, as has been planned
		}
	}
}

// maps says that a fault of an absent page has the driver map the device to the host, and ends the fault.
func (r *Runtime) maps(p page) bool {
	c, k := &r.chunks[p.chunk()], p.index()
	if c.advice&PreferHost == 0 || c.resident.Has(k) || c.coming.Has(k) {
		return false
	}
	if _, pinned := r.limit(c, k/PagesPerBlock); !pinned {
		return false
	}
	c.asked.Clear(k)
	return true
}
