package vm

import (
	"fmt"
	"math"
	"slices"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// Pager is memory management without translation. Virtual addresses are physical ones, but a page of a managed region
// is either on the device or on the host. The first access to a page on the host is a far fault. Real hardware needs
// a translation to notice; a machine without modelled TLBs (the timing reference among them) has ideal ones, and pays
// only for the fault.
//
// Pages are counted from the start of their region and named by the virtual
// address they begin at.
type Pager struct {
	page     int64
	cost     uint64      // core cycles per far fault
	slots    int         // faults handled at once
	capacity int64       // bytes; 0: no limit
	used     []int64     // [tenant] bytes on the device
	managed  [][]managed // [tenant], by base
	faults   []Fault     // oldest first; the first slots of them are being handled
	row      [][]uint64  // [tenant] counters
	err      error
}

// managed is a managed region.
type managed struct {
	base, end uint64
	device    []bool // by page
	absent    int    // pages of it on the host
}

// Fault is a page on its way to the device.
type Fault struct {
	Page   uint64
	Tenant mem.TenantID
	since  uint64
	end    uint64 // of its handling, once that has begun
}

// Counters of a Pager, per tenant.
const (
	PagerFaults = iota
	PagerCycles
)

// PagerDesc describes them.
func PagerDesc() []stat.Desc {
	return []stat.Desc{
		{Name: "faults", Unit: "faults", Doc: "first touches of a managed page on the host"},
		{Name: "fault_cycles", Unit: "cycles", Doc: "cycles from fault to resolution, summed over faults"},
	}
}

// NewPager makes the pager of a machine without translation, which handles at most
// slots faults at once. The table of counters has PagerDesc and one instance.
func NewPager(s *sheets.Machine, tenants, slots int, counters *stat.Table) *Pager {
	p := &Pager{
		page: 4096, slots: slots, capacity: s.DRAM.Capacity, used: make([]int64, tenants), managed: make([][]managed,
			tenants),
		cost: uint64(math.Round(s.VM.FaultUs * s.Clock.Core)),
	}
	if s.VM.Page > 0 {
		p.page = int64(s.VM.Page)
	}
	for t := range tenants {
		p.row = append(p.row, counters.Row(0, t))
	}
	return p
}

// Map takes n bytes of device memory for a region that is there from the start.
func (p *Pager) Map(tenant mem.TenantID, n int64) error { return p.take(tenant, n) }

// Unmap returns n bytes of device memory.
func (p *Pager) Unmap(tenant mem.TenantID, n int64) { p.used[tenant] -= n }

// Reserve makes a managed region known, all of it on the host.
func (p *Pager) Reserve(tenant mem.TenantID, base uint64, n int64) {
	pages := int((n + p.page - 1) / p.page)
	m := managed{base: base, end: base + uint64(n), device: make([]bool, pages), absent: pages}
	p.managed[tenant] = slices.Insert(p.managed[tenant], p.index(tenant, base)+1, m)
}

// Forget frees a managed region.
func (p *Pager) Forget(tenant mem.TenantID, base uint64) {
	i := p.index(tenant, base)
	m := &p.managed[tenant][i]
	p.Move(tenant, base, int64(m.end-base), false)
	p.managed[tenant] = slices.Delete(p.managed[tenant], i, i+1)
}

// Release frees all memory of a tenant.
func (p *Pager) Release(tenant mem.TenantID) { p.used[tenant], p.managed[tenant] = 0, nil }

// Move brings the pages that [base, base+n) touches to one side and returns the bytes that cross the link; to the
// device only as far as it has room.
func (p *Pager) Move(tenant mem.TenantID, base uint64, n int64, toDevice bool) (bytes int64) {
	i := p.index(tenant, base)
	if i < 0 || n <= 0 {
		return 0
	}
	m := &p.managed[tenant][i]
	first, last := int64(base-m.base)/p.page, (int64(base-m.base)+n-1)/p.page
	for k := int(first); k <= int(min(last, int64(len(m.device)-1))); k++ {
		if m.device[k] == toDevice {
			continue
		}
		size := p.length(m, k)
		if !toDevice {
			p.used[tenant] -= size
		} else if p.take(tenant, size) != nil {
			return bytes // the rest faults when touched
		}
		m.set(k, toDevice)
		bytes += size
	}
	return bytes
}

// Absent says whether an access has to wait for its page, and for which.
func (p *Pager) Absent(tenant mem.TenantID, addr uint64) (page uint64, absent bool) {
	i := p.index(tenant, addr)
	if i < 0 {
		return 0, false
	}
	m := &p.managed[tenant][i]
	if m.absent == 0 || addr >= m.end {
		return 0, false
	}
	k := int64(addr-m.base) / p.page
	return m.base + uint64(k*p.page), !m.device[k]
}

// Fault asks for a page that is absent; asking again for one on its way is free.
func (p *Pager) Fault(now uint64, tenant mem.TenantID, page uint64) {
	if slices.ContainsFunc(p.faults, func(f Fault) bool { return f.Page == page && f.Tenant == tenant }) {
		return
	}
	p.row[tenant][PagerFaults]++
	f := Fault{Page: page, Tenant: tenant, since: now, end: never}
	if len(p.faults) < p.slots {
		f.end = now + p.cost
	}
	p.faults = append(p.faults, f)
}

// Next is the cycle at which a page arrives; never if none is on its way.
func (p *Pager) Next() uint64 {
	if len(p.faults) == 0 {
		return never
	}
	return p.faults[0].end
}

// Pop takes a page that has arrived by now.
func (p *Pager) Pop(now uint64) (f Fault, ok bool) {
	if p.Next() > now {
		return f, false
	}
	f = p.faults[0]
	p.faults = slices.Delete(p.faults, 0, 1)
	if len(p.faults) >= p.slots {
		p.faults[p.slots-1].end = now + p.cost
	}
	p.row[f.Tenant][PagerCycles] += now - f.since
	if _, absent := p.Absent(f.Tenant, f.Page); !absent { // freed or fetched meanwhile
		return f, true
	}
	m := &p.managed[f.Tenant][p.index(f.Tenant, f.Page)]
	k := int(int64(f.Page-m.base) / p.page)
	if err := p.take(f.Tenant, p.length(m, k)); err != nil && p.err == nil {
		p.err = fmt.Errorf("managed memory, page 0x%x: %w", f.Page, err)
	}
	m.set(k, true)
	return f, true
}

// Err is the error of a fault that found no room: a Pager does not evict pages.
func (p *Pager) Err() error { return p.err }

// index is the last managed region that begins at or before addr; -1: none.
func (p *Pager) index(tenant mem.TenantID, addr uint64) int {
	list := p.managed[tenant]
	lo, hi := 0, len(list)
	for lo < hi {
		if mid := (lo + hi) / 2; list[mid].base <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// length is the bytes of page k of a region.
func (p *Pager) length(m *managed, k int) int64 {
	return min(p.page, int64(m.end-m.base)-int64(k)*p.page)
}

func (p *Pager) take(tenant mem.TenantID, n int64) error {
	var used int64
	for _, u := range p.used {
		used += u
	}
	if p.capacity > 0 && used+n > p.capacity {
		return fmt.Errorf("tenant %d: %w: %d bytes asked, %d of %d in use", tenant, ErrNoFrame, n, used, p.capacity)
	}
	p.used[tenant] += n
	return nil
}

func (m *managed) set(k int, device bool) {
	if m.device[k] == device {
		return
	}
	m.device[k] = device
	if device {
		m.absent--
	} else {
		m.absent++
	}
}
