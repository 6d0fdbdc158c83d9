package residency

import (
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/mem"
)

// Migration is pages that the host wants on one side.
type Migration struct {
	Done    bool
	side    Side
	Bytes   int64 // bytes that crossed the link for it so far
	at, end uint64
	left    int  // transfers of the present chunk, or of all that is written back
	writes  bool // the program's wait for the device, with which dirty pages go back
}

// Side says where the host wants pages, and what for.
type Side uint8

const (
	// DeviceSide: the pages come to the device.
	DeviceSide Side = iota
	// HostReadsSide: the host has them; pages that are mostly read stay on the device, too.
	HostReadsSide
	// HostWritesSide: the host alone has them.
	HostWritesSide
)

// Migrate asks for the pages of a managed range to be on one side; nil if the machine has no unified
// memory on demand. Run returns when it has ended.
func (u *Unified) Migrate(tenant int, r *mem.Region, off, n int64, side Side) *Migration {
	if !u.On() || r.Kind != mem.Managed || n <= 0 {
		return nil
	}
	key := managedKey(mem.TenantID(tenant), r.Base+uint64(off))
	m := &Migration{side: side, at: key, end: key + uint64(n)}
	u.asked = append(u.asked, m)
	u.serveHost(u.clock.Now)
	if !m.Done {
		u.wakeups.WakeMMU(u.clock.Now)
	}
	return m
}

// serveHost advances the migrations that the host has asked for.
func (u *Unified) serveHost(now uint64) {
	kept := u.asked[:0]
	for _, m := range u.asked {
		switch {
		case m.writes:
			m.Done = m.left == 0
		case m.side == DeviceSide:
			u.prefetch(now, m)
		default:
			u.withdraw(now, m)
		}
		if !m.Done {
			kept = append(kept, m)
		} else {
			u.clock.ReturnToHost = true
		}
	}
	u.asked = kept
}

// withdraw brings a range back to the host.
func (u *Unified) withdraw(now uint64, m *Migration) {
	if m.left > 0 {
		return
	}
	p, more := u.runtime.Withdraw(m.at, m.end-m.at, m.side == HostWritesSide)
	for i := range p.Out {
		e := &p.Out[i]
		if e.WriteBack {
			m.Bytes += int64(e.Pages) * uvm.PageSize
		}
		if e.Stays {
			m.left++
			u.dma.evict(now, e, m)
		} else {
			u.dma.evict(now, e, nil)
		}
	}
	m.Done = !more
}

// prefetch brings a range to the device, a chunk of 2 MB at a time (3.1.5).
func (u *Unified) prefetch(now uint64, m *Migration) {
	for m.left == 0 {
		if m.at >= m.end {
			m.Done = true
			return
		}
		end := min(m.end, m.at&^(uvm.ChunkSize-1)+uvm.ChunkSize)
		p := u.runtime.Fetch(m.at, end-m.at)
		m.at, m.left = end, len(p.In)
		for i := range p.In {
			m.Bytes += int64(p.In[i].Pages) * uvm.PageSize
		}
		u.carryOut(now, p)
		u.dma.of(m, len(p.In))
	}
}

// Synchronized notes that a tenant's program has waited for the device (cudaDeviceSynchronize). It returns what the
// program also waits for; nil: nothing.
func (u *Unified) Synchronized(tenant int) *Migration {
	if !u.On() {
		return nil
	}
	p, now := u.runtime.Synchronized(mem.TenantID(tenant)), u.clock.Now
	if len(p.Out) == 0 {
		return nil
	}
	m := &Migration{writes: true, left: len(p.Out)}
	for i := range p.Out {
		for e := &p.Out[i]; e != nil; e = e.Rest {
			m.Bytes += int64(e.Pages) * uvm.PageSize
		}
		u.dma.evict(now, &p.Out[i], m)
	}
	u.asked = append(u.asked, m)
	return m
}
