package interconnect

import (
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/noc"
	"github.com/heddle-sim/heddle/mem"
)

// InterSlice is the network between slices. Where not every SM reaches every slice, a request enters at a slice near
// its SM and goes on from there to its home, the slice in front of the line's channel. A table by the part that asks
// and the home says where it enters; the next hop is chosen once per hop:
//
//   - NUBA: SMs have links to the slices of their partition, and slices a network to each other. A line that is at
//     home there is looked up. Other requests go on, and the slice's tags do not see them, except loads that a copy
//     may answer while copies are made.
//   - An L3 of the GPU's own: SMs reach its banks, where everything is looked up and which are no line's home; CPU
//     cores and the MMU reach the LLC's slices. Writes go through, so there is nothing to recall: no other component
//     writes what the GPU reads.
//   - SM-side: SMs reach the slices of their half, where everything is looked up, and each
//     slice has a link to its fellow in the other half. A home knows whether its fellow has
//     a copy of a line, and recalls it when the line is written.
//
// An answer goes back the way its request came. Requests, answers and recalls have networks, or classes of a link,
// of their own.
type InterSlice struct {
	// Entry is the slice at which a request enters, by the part of the machine that it comes from and the home slice
	// of its line; nil: there is one part, and no network between slices.
	Entry [][]int16
	part  []int16 // by SM

	request, answer, recall noc.Network // from slice to slice; recall: nil where copies are read-only
	Lengths                 Lengths     // lengths of packets in these networks
	own                     mem.Port    // the port of slice 0
	mmu                     int         // port of the MMU there; -1: it is near slices as SMs are,
	mmuPart                 int         // of this part

	PartitionCopies PartitionCopies // copies pages between partitions; nil: pages stay
	Sampler         *cache.Sampler  // measures for the policy that replicates; nil: no policy chooses
	mayHoldAny      bool            // any line may have a copy (SM-side)
	reachesAll      bool            // an SM could ask a line's home itself (SM-side, one switch)
	Replicate       bool            // read-only lines may have copies (NUBA)
	asking          []uint64        // bitset of slices with requests for others,
	recalling       []uint64        // bitset of slices with recalls
	fellow          []int16         // by slice: its partner in the other half (SM-side)
	linkTurn        []bool          // by slice: requests from links go first into the network between slices
	farTurn         []bool          // by slice: answers that come over that network go first to the SMs
}

// PartitionCopies copies pages from partition to partition over the network between slices.
type PartitionCopies interface {
	// Tick sends lines, and gives slices the lines that have arrived; it returns the next cycle with work.
	Tick(now uint64) uint64
	// Came takes a line that has arrived at a slice's port.
	Came(slice int, h int32, now uint64)
	// Written takes the answer to the write of a line.
	Written(h int32, now uint64)
}

// enterMMU is the network, input and output of a request of the MMU to a slice.
func (x *InterSlice) enterMMU(f *Fabric, slice int) (net noc.Network, in, out int) {
	if x.mmu >= 0 {
		return x.request, x.mmu, slice
	}
	return f.request, f.mmuPort, int(x.Entry[x.mmuPart][slice])
}

// injectNear sends a request of an SM to where it enters the slices.
func (f *Fabric) injectNear(port int, h int32, r *mem.Req, flits int, now uint64) bool {
	x := &f.Between
	r.Slice = int16(f.Layouts.Slice(r.Line))
	entry := int(x.Entry[x.part[port]][r.Slice])
	if x.reachesAll && !f.Accounts[f.Owner(r)].Owns(f.Layouts.ChannelOf(entry)) {
		entry = int(r.Slice) // nobody keeps copies in another's slice
	}
	return f.enter(f.request, port, entry, h, r, flits, now)
}

// looksUp says that a request is looked up in a slice that is not its home.
func (x *InterSlice) looksUp(r *mem.Req) bool {
	return x.mayHoldAny || x.Replicate && r.Op == mem.Read && r.Flags&mem.ReadOnly != 0
}

// routeRequests takes requests from where they have entered to their homes.
func (f *Fabric) routeRequests(now uint64) (next uint64) {
	x := &f.Between
	more := f.nearSlices(now)
	if f.forward(now) {
		more = true
	}
	next = f.advance(x.request, now)
	if x.PartitionCopies != nil {
		next = min(next, x.PartitionCopies.Tick(now))
	}
	if f.acceptLocal(now) || more {
		return now + 1
	}
	return next
}

// SendBetween sends a request from one slice to another; false when the network between them has no room.
func (f *Fabric) SendBetween(from int, r mem.Req, now uint64) bool {
	x := &f.Between
	r.Born, r.Port = now, x.own+mem.Port(from)
	flits := x.Lengths.request(&r)
	if !x.request.CanPush(f.nocClock.Ticks(now), from, int(r.Slice), flits) {
		return false
	}
	h := f.Slab.Get()
	f.Slab.R[h] = r
	return f.enter(x.request, from, int(r.Slice), h, &r, flits, now)
}

// Crossing is the set of slices at which a request of another slice has arrived, a bit each.
func (f *Fabric) Crossing() []uint64 { return f.Between.request.AvailableOutputs() }

// AcceptCopied gives a slice a line that was copied to it.
func (f *Fabric) AcceptCopied(slice int, h int32, now uint64) {
	f.checkReplicas(&f.Slab.R[h], slice)
	f.WakeTags(slice, f.Slices[slice].AcceptFar(h, f.LLCClock.Ticks(now)), now)
}

// FlitsBetween is the number of flits that a port of the network between slices carries in a number of cycles.
func (f *Fabric) FlitsBetween(cycles uint64) uint64 { return f.nocClock.Ticks(cycles) }

// LineFlits is the length in flits of an answer with a number of sectors in that network.
func (f *Fabric) LineFlits(sectors uint8) uint64 {
	return uint64(f.Between.Lengths.Data[bits.OnesCount8(sectors)])
}

// nearSlices gives slices, or the network between them, the requests that have come from the
// ports near them; true when some are left for the next cycle.
func (f *Fabric) nearSlices(now uint64) (more bool) {
	x := &f.Between
	t, noc := f.LLCClock.Ticks(now), f.nocClock.Ticks(now)
	for k, word := range f.request.AvailableOutputs() {
		for ; word != 0; word &= word - 1 {
			o := k<<6 + bits.TrailingZeros64(word)
			h, _ := f.request.Peek(o)
			r := &f.Slab.R[h]
			s := f.Slices[o]
			switch home := int(r.Slice); {
			case home == o || x.looksUp(r):
				if !s.CanAccept(t) {
					f.request.Pass(o)
					more = true
					continue
				}
				if home == o {
					f.checkIsolation(h, o)
					f.checkReplicas(r, o)
				}
				f.WakeTags(o, s.Accept(h, t), now)
			default:
				if s.Forward().Len() > 0 && !x.linkTurn[o] ||
					!x.request.Push(noc, o, home, x.Lengths.request(r), h, r.Tenant) {
					f.request.Pass(o)
					more = true
					continue
				}
				x.linkTurn[o] = false
				s.Passed(r)
			}
			f.request.Pop(o, noc)
			if _, left := f.request.Peek(o); left || f.request.Again() {
				more = true
			}
		}
	}
	return more
}

// forward sends the requests that slices make to others or pass on; true if some are left.
func (f *Fabric) forward(now uint64) (more bool) {
	x := &f.Between
	for k, word := range x.asking {
		for ; word != 0; word &= word - 1 {
			i := k<<6 + bits.TrailingZeros64(word)
			s := f.Slices[i]
			q := s.Forward()
			r := &f.Slab.R[*q.Head()]
			if !x.request.Push(f.nocClock.Ticks(now), i, int(r.Slice), x.Lengths.request(r), *q.Head(), r.Tenant) {
				x.linkTurn[i] = false
				more = true
				continue
			}
			q.Pop()
			x.linkTurn[i] = true
			if s.Stalled() {
				s.Retry(f.LLCClock.Ticks(now))
				f.wakeups.WakeSlice(i, now+1)
			}
			if q.Len() > 0 {
				more = true
			} else {
				x.asking[k] &^= 1 << (i & 63)
			}
		}
	}
	return more
}

// acceptLocal gives slices the requests that have come from others; true when some are left.
func (f *Fabric) acceptLocal(now uint64) (more bool) {
	x := &f.Between
	t := f.LLCClock.Ticks(now)
	for k, word := range x.request.AvailableOutputs() {
		for ; word != 0; word &= word - 1 {
			o := k<<6 + bits.TrailingZeros64(word)
			s := f.Slices[o]
			if !s.CanAcceptFar(t) {
				more = true
				continue
			}
			h, _ := x.request.Pop(o, f.nocClock.Ticks(now))
			f.checkIsolation(h, o)
			f.checkReplicas(&f.Slab.R[h], o)
			f.WakeTags(o, s.AcceptFar(h, t), now)
			if _, left := x.request.Peek(o); left || x.request.Again() {
				more = true
			}
		}
	}
	return more
}

// checkReplicas panics, in builds with the invariants tag, when a line is written that another
// partition's slice has a copy of: only lines that are not written have copies.
func (f *Fabric) checkReplicas(r *mem.Req, home int) {
	if !invariants.On || f.Between.mayHoldAny || r.Op == mem.Read || r.Op == mem.Walk {
		return
	}
	for i, s := range f.Slices {
		if i != home && s.Holds(r.Line) {
			invariants.Fail("line %#x is written at slice %d, and slice %d has a copy", r.Line, home, i)
		}
	}
}

// ForgetCopies makes other slices invalidate their copies of a line.
func (f *Fabric) ForgetCopies(line uint64, home int) {
	for _, entry := range f.Between.Entry {
		if i := int(entry[home]); i != home {
			f.Slices[i].Invalidate(line)
		}
	}
}

// Served notes the requests and answers that a slice has for other slices after it has run.
func (f *Fabric) Served(i int, now uint64) {
	if !f.hops() {
		return
	}
	s := f.Slices[i]
	if s.Forward().Len() > 0 {
		f.Between.asking[i>>6] |= 1 << (i & 63)
		f.wakeups.WakeRequest(now)
	}
	if s.Recall().Len() > 0 {
		f.Between.recalling[i>>6] |= 1 << (i & 63)
		f.wakeups.WakeReply(now)
	}
}

// answerFar sends a finished request back to the slice it came from, or the MMU.
func (f *Fabric) answerFar(slice int, h int32, now uint64) bool {
	r, x := &f.Slab.R[h], &f.Between
	out := 0
	switch p := r.Port; {
	case r.Origin == mem.OfPartitionCopy && r.Op == mem.Write: // it is at its new place
		x.PartitionCopies.Written(h, now)
		return true
	case p >= x.own:
		out = int(p - x.own)
	case int(p) == f.mmuPort && x.mmu >= 0:
		out = x.mmu
	case int(p) == f.mmuPort:
		out = int(x.Entry[x.mmuPart][slice])
	default:
		out = int(x.Entry[x.part[p]][slice])
	}
	if !x.answer.Push(f.nocClock.Ticks(now), slice, out, x.Lengths.Answer(r), h, r.Tenant) {
		return false
	}
	f.wakeups.WakeReply(now)
	return true
}

// nearTurn says whether an answer of a slice itself may leave for a port near it: answers that
// pass through from other slices take turns with its own.
func (f *Fabric) nearTurn(slice int) bool {
	x := &f.Between
	if x.farTurn[slice] {
		if h, ok := x.answer.Peek(slice); ok && f.Slab.R[h].Port < x.own && f.Slab.R[h].Flags&mem.Invalidation == 0 {
			return false
		}
	}
	return true
}

// routeReplies takes answers and recalls that have crossed the network, and sends them on.
func (f *Fabric) routeReplies(now uint64) (next uint64) {
	x := &f.Between
	next = engine.Never
	if x.recall != nil {
		next = f.recalls(now)
	}
	next = min(next, f.advance(x.answer, now))
	noc := f.nocClock.Ticks(now)
	for k, word := range x.answer.AvailableOutputs() {
		for ; word != 0; word &= word - 1 {
			o := k<<6 + bits.TrailingZeros64(word)
			h, _ := x.answer.Peek(o)
			if !f.arrived(o, h, now) {
				next = now + 1
				continue
			}
			x.answer.Pop(o, noc)
			if _, left := x.answer.Peek(o); left || x.answer.Again() {
				next = now + 1
			}
		}
	}
	return next
}

// arrived takes an answer that has come to a slice, or to the MMU, over the network between
// slices; false when it has to wait.
func (f *Fabric) arrived(o int, h int32, now uint64) bool {
	r, x := &f.Slab.R[h], &f.Between
	switch {
	case o == x.mmu:
		f.Sinks[f.mmuPort].Deliver(h, now)
		return true
	case r.Flags&mem.Invalidation != 0: // the copy is gone
		f.Slices[o].Recalled(h, f.LLCClock.Ticks(now))
		f.wakeups.WakeSlice(o, now+1)
		return true
	case r.Origin == mem.OfPartitionCopy:
		x.PartitionCopies.Came(o, h, now)
		return true
	case r.Port >= x.own:
		s := f.Slices[o]
		if !s.CanFill() {
			return false
		}
		s.Fill(mem.Fetch{Line: r.Line, Token: r.Tag, Slice: int16(o), Sectors: r.Sectors, Tenant: r.Tenant})
		f.Slab.Put(h)
		f.wakeups.WakeSlice(o, now+1)
		return true
	}
	if !f.reply.Push(f.nocClock.Ticks(now), o, int(r.Port), f.Lengths.Answer(r), h, r.Tenant) {
		x.farTurn[o] = true
		return false
	}
	x.farTurn[o] = false
	return true
}

// recalls sends writes whose copies must be forgotten to the other half, and returns the acknowledgements.
func (f *Fabric) recalls(now uint64) (next uint64) {
	x := &f.Between
	noc := f.nocClock.Ticks(now)
	next = f.advance(x.recall, now)
	for k, word := range x.recall.AvailableOutputs() {
		for ; word != 0; word &= word - 1 {
			o := k<<6 + bits.TrailingZeros64(word)
			h, _ := x.recall.Peek(o)
			r := &f.Slab.R[h]
			if !x.answer.Push(noc, o, int(r.Slice), int(x.Lengths.ack), h, r.Tenant) {
				next = now + 1
				continue
			}
			f.Slices[o].Invalidate(r.Line)
			x.recall.Pop(o, noc)
			next = now + 1
		}
	}
	for k, word := range x.recalling {
		for ; word != 0; word &= word - 1 {
			i := k<<6 + bits.TrailingZeros64(word)
			s := f.Slices[i]
			q := s.Recall()
			r := &f.Slab.R[*q.Head()]
			if x.recall.Push(noc, i, int(x.fellow[i]), int(x.Lengths.ack), *q.Head(), r.Tenant) {
				if q.Pop(); q.Len() == 0 {
					x.recalling[k] &^= 1 << (i & 63)
				}
				if s.Stalled() {
					s.Retry(f.LLCClock.Ticks(now))
					f.wakeups.WakeSlice(i, now+1)
				}
			}
			next = now + 1
		}
	}
	return next
}
