package residency

import (
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/mem"
)

// RemoteStore is memory that kernels use while it stays on the host (2.2.4). Their requests go from the SMs' links to
// the link to the host instead of the crossbar. They are not cached, and share the link with transfers of pages.
type RemoteStore struct {
	fabric  *interconnect.Fabric
	host    *transfer.HostLink
	pages   *transfer.PageStream
	wakeups timing.Wakeups
	clock   *timing.Clock
	latency uint64
	sector  int
	way     [2]mem.Ring[remoteAccess] // reads, writes; oldest first, which is also in order of their ends
}

// remoteAccess is a request on its way, and the cycle in which its answer is back.
type remoteAccess struct {
	h  int32
	at uint64
}

// remoteQueue bounds the accesses under way in each direction: the tags of a PCIe link.
// Estimate: PCI Express 3.0 allows 256 with extended tags.
const remoteQueue = 256

func (x *RemoteStore) build(pages *transfer.PageStream, b *Parts) {
	x.fabric, x.host, x.pages, x.clock, x.wakeups = b.Fabric, b.Host, pages, b.Clock, b.Wakeups
	x.latency, x.sector = uint64(b.Sheet.UVM.Remote), b.Sheet.LLC.Sector
	for i := range x.way {
		x.way[i] = mem.NewRing[remoteAccess](remoteQueue)
	}
}

// Accept takes a request of an SM; false if the greatest number of them is under way.
func (x *RemoteStore) Accept(h int32, now uint64) bool {
	r := &x.fabric.Slab.R[h]
	k := 0
	if r.Op == mem.Write {
		k = 1
	}
	if x.way[k].Full() {
		return false
	}
	n := bits.OnesCount8(r.Sectors) * x.sector
	end, cycles := x.host.Ways[k].Share(now, x.fabric.Owner(r), n)
	x.pages.Delay(k, cycles)
	x.host.Delay(k, now, cycles)
	x.way[k].Push(remoteAccess{h, end + x.latency})
	if r.Op == mem.Write {
		x.clock.Progress = now
	}
	x.wakeups.WakeMMU(end + x.latency)
	return true
}

// deliver hands back the answers that have come, and returns the cycle of the next one.
func (x *RemoteStore) deliver(now uint64) (next uint64) {
	next = engine.Never
	for k := range x.way {
		for q := &x.way[k]; q.Len() > 0; {
			if q.Head().at > now {
				next = min(next, q.Head().at)
				break
			}
			h := q.Pop().h
			x.fabric.Deliver(h, now)
		}
	}
	return next
}
