package sim

import (
	"heddle/host"
	"heddle/mem"
)

// managed remembers, on a machine that does not translate, which pages of a
// managed region are on the device. Machines with translation keep that in their
// page tables and fault on first touch.
type managed struct {
	r      *mem.Region
	page   int64
	device []bool
}

// move sets the pages of [off, off+n) to the wanted side and returns the bytes
// that have to cross the link.
func (m *managed) move(off, n int64, toDevice bool) (bytes int64) {
	for p := off / m.page; p*m.page < off+n; p++ {
		if m.device[p] != toDevice {
			m.device[p] = toDevice
			bytes += min(m.page, m.r.Len()-p*m.page)
		}
	}
	return bytes
}

func (r *run) managedOf(a *app, reg *mem.Region) *managed {
	for _, m := range a.managed {
		if m.r == reg {
			return m
		}
	}
	page := int64(r.sheet.VM.Page)
	if page == 0 {
		page = 4096
	}
	m := &managed{r: reg, page: page, device: make([]bool, (reg.Len()+page-1)/page)}
	a.managed = append(a.managed, m)
	return m
}

// pages moves the pages of a managed range to one side and returns the bytes that
// cross the link for it.
func (r *run) pages(a *app, reg *mem.Region, off, n int64, toDevice bool) int64 {
	if reg.Kind != mem.Managed || n == 0 {
		return 0
	}
	if r.sheet.VM.Enabled {
		if toDevice {
			return r.gpu.Prefetch(a.id, reg, off, n)
		}
		return r.gpu.Evict(a.id, reg, off, n)
	}
	return r.managedOf(a, reg).move(off, n, toDevice)
}

// migrateAll brings all managed memory of the application to a device that cannot
// fault; the answer is the cycle at which it is there.
func (r *run) migrateAll(a *app, now uint64) uint64 {
	if r.sheet.VM.Enabled {
		return now
	}
	var bytes int64
	for _, reg := range a.ctx.Space().Regions() {
		bytes += r.pages(a, reg, 0, reg.Len(), true)
	}
	if bytes == 0 {
		return now
	}
	return r.link.transfer(now, false, bytes)
}

func (r *run) prefetchEnd(a *app, op *host.Op, now uint64) uint64 {
	bytes := r.pages(a, op.Dst, op.DstOff, op.N, op.ToDevice)
	if bytes == 0 {
		return now
	}
	return r.link.transfer(now, !op.ToDevice, bytes)
}

// onHost says whether a copy finds the region's bytes on the host side.
func onHost(r *mem.Region) bool { return r.Kind == mem.Host }

func (r *run) copyEnd(op *host.Op, now uint64) uint64 {
	switch {
	case op.Initial, onHost(op.Src) && onHost(op.Dst):
		return now
	case onHost(op.Src):
		return r.link.transfer(now, false, op.N)
	case onHost(op.Dst):
		return r.link.transfer(now, true, op.N)
	}
	return now + uint64(float64(op.N)*r.link.onDevice+0.5)
}

// copied fills the LLC with what a host-to-device copy brought, on machines whose
// sheet says that copies go through it.
func (r *run) copied(a *app, op *host.Op) {
	if op.Kind == host.OpCopy && r.sheet.LLC.PrefillCopies && onHost(op.Src) && !onHost(op.Dst) {
		r.gpu.Prefill(a.id, op.Dst.Base+uint64(op.DstOff), op.N)
	}
	r.span("copies/"+a.spec.Name, op.Name, op.Start, r.gpu.Now(), a.id)
}
