package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
)

// The way out of an SM. Requests wait for the link to the interconnect, which takes
// one per cycle however many sectors it asks for: the crossbar sees to the width.
//
// GPGPU-Sim's L1 knows sectors only, and so does its local crossbar (l1Config.apart): the
// queue counts them, the link takes one of them per cycle, and each bank of the L1 has a
// pipeline of its own with a place for each cycle of a lookup. The sectors of an access
// stay together here; there they part where the queue is full.

// link is the way out to the interconnect.
type link struct {
	out      mem.Ring[int32] // requests, the oldest first
	waiting  int             // packets in out
	free     uint64          // cycle from which the link takes the next request
	inflight int             // requests sent and not answered
	room     int             // for packets in out
	apart    bool            // sectors take the link one by one
	port     mem.Port        // the SM's, where answers come back
	slab     *mem.Slab
	stock    *mem.Stock // of free requests
}

// packets is what a request takes of the queue and of the link's cycles.
func (k *link) packets(sectors uint8) int {
	if k.apart {
		return bits.OnesCount8(sectors)
	}
	return 1
}

// full says that there is no room for a request.
func (k *link) full(sectors uint8) bool {
	return k.waiting > 0 && k.waiting+k.packets(sectors) > k.room
}

// request queues a request for some sectors, which the caller fills in. The caller has made sure that there is room.
func (k *link) request(sectors uint8) *mem.Req {
	h := k.stock.Get()
	k.out.Push(h)
	k.waiting += k.packets(sectors)
	k.inflight++
	return &k.slab.R[h]
}

// sent takes the oldest request out: the link has it.
func (k *link) sent(now uint64) {
	n := k.packets(k.slab.R[k.out.Pop()].Sectors)
	k.waiting -= n
	k.free = now + uint64(n)
}

// most is the most requests that can be made in some cycles.
func (k *link) most(cycles int) int { return k.room + cycles + 1 }

// LinkFree is the first cycle in which the link can take a request.
func (s *SM) LinkFree() uint64 { return s.lsu.link.free }

// Sent takes the oldest request out of Out: the link has it.
func (s *SM) Sent(now uint64) {
	s.lsu.link.sent(now)
	if s.lsu.l1.stalled {
		s.lsu.unstall(now)
		s.wakeAt(now + 1)
	}
}
