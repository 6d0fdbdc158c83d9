package sim

import (
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/mem"
)

// pages moves the pages of a managed range to one side and returns the bytes that
// cross the link for it.
func (r *run) pages(a *app, reg *mem.Region, off, n int64, toDevice bool) int64 {
	if reg.Kind != mem.Managed || n == 0 {
		return 0
	}
	if toDevice {
		return r.gpu.Prefetch(a.id, reg, off, n)
	}
	return r.gpu.Evict(a.id, reg, off, n)
}

// prefetch moves pages of managed memory that is not moved on demand; nil where none cross the link.
func (r *run) prefetch(a *app, op *host.Op) *transfer.HostCopy {
	bytes := r.pages(a, op.Dst, op.DstOff, op.N, op.ToDevice)
	if bytes == 0 {
		return nil
	}
	return r.gpu.Carry(a.id, bytes, !op.ToDevice)
}

// onHost says whether a copy finds the region's bytes on the host side.
func onHost(r *mem.Region) bool { return r.Kind == mem.Host }

// copy begins a copy that takes time; nil: it takes none. For an application with accesses_only, only the accesses of
// its kernels are simulated, and no copies, because traces of kernels' accesses have none.
func (r *run) copy(a *app, op *host.Op) *transfer.HostCopy {
	if op.Initial || a.spec.AccessesOnly || onHost(op.Src) && onHost(op.Dst) {
		return nil
	}
	return r.gpu.Copy(a.id, op.Dst, op.DstOff, op.Src, op.SrcOff, op.N)
}

// copied fills the LLC with what a host-to-device copy brought, on machines whose
// sheet says that copies go through it.
func (r *run) copied(a *app, op *host.Op) {
	if op.Kind == host.OpCopy && r.sheet.LLC.PrefillCopies && onHost(op.Src) && !onHost(op.Dst) {
		r.gpu.Prefill(a.id, op.Dst.Base+uint64(op.DstOff), op.N)
	}
	r.col.copied(a.id, op.Start, r.gpu.Now())
	r.span("copies/"+a.spec.Name, op.Name, op.Start, r.gpu.Now(), a.id)
}

// toHost waits until the host has the pages of a managed range, to write or to read them: pages that only the device
// has come back over the link.
func (d *device) toHost(r *mem.Region, off, n int64, write bool) error {
	op := &host.Op{
		Kind: host.OpPrefetch, Name: "migrate " + r.Name + " to host", Dst: r, DstOff: off, N: n, Write: write,
	}
	d.driver.ops = append(d.driver.ops, op)
	return d.Wait(op)
}
