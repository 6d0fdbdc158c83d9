package cache

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/tags"
)

// Slices that serve lines of others. A line has one home, the slice in front of its channel.
// Where there is a network between slices (NUBA, and GPUs whose LLC has two halves) requests
// come to a slice from the SMs near it and over that network, wait in queues of their own and
// are served in turn (NUBA, Figure 5). A slice may hold a copy of another's line, and asks its
// home for what it does not hold: it keeps what it waits for in its own MSHRs, and the home
// answers it as it would an SM.
//
// What keeps them from waiting for each other in a circle (RATIONALE.md): what has crossed the
// network needs nothing of it but room for its answer. So a copy on its way leaves one MSHR and
// one way of its set to lines of its own, a head that waits for another slice holds up its own
// queue only, and answers that go back have a queue apart from those that stay.

// peers is what a slice has for that.
type peers struct {
	on   bool
	port mem.Port // of the slice, where the answers to what it asks arrive
	keep bool     // lines stay that only other partitions have asked for

	forward mem.Ring[int32]   // requests for other slices: what this one asks, and what it passes on
	far     mem.Queue[Answer] // answers for others than the SMs near by, as Reply is for those
	recall  mem.Queue[int32]  // writes whose copies must be forgotten before they are acknowledged
	copies  func(line uint64) bool

	awaited []uint8 // by set: lines whose bytes another slice is to send,
	asked   []bool  // and by line index whether it is one
	foreign []bool  // by line index: the line is, or will be, a copy of another slice's line
	doomed  []bool  // by line index: the bytes on their way are out of date; no lookup may find them later
}

// Peers is how a slice reaches other slices.
type Peers struct {
	Port  mem.Port // the slice's own port, for its requests to others
	Queue int      // requests that wait for the network between slices, at least 1
	Keep  bool     // a home also keeps lines that only other partitions use
	// Copies says whether the slice of the other half holds a line, whose copies writes invalidate. Its home knows
	// that from a presence bit for each line. nil: copies are read-only.
	Copies func(line uint64) bool
}

// SetPeers gives an empty slice its peers.
func (s *Slice) SetPeers(x Peers) {
	s.inputs = len(s.in)
	n := len(s.tags.Tag)
	s.peers = peers{
		on: true, port: x.Port, keep: x.Keep, copies: x.Copies, forward: mem.NewRing[int32](max(1, x.Queue)),
		awaited: make([]uint8, s.cfg.sets), asked: make([]bool, n), foreign: make([]bool, n), doomed: make([]bool, n),
	}
}

func (x *peers) empty() bool { return x.far.Len() == 0 && x.forward.Len() == 0 && x.recall.Len() == 0 }

// CanAcceptFar says whether there is room, at clock now, for a request that has crossed the
// network between slices.
func (s *Slice) CanAcceptFar(now uint64) bool { return s.in[1].room(now) }

// AcceptFar takes a request that has crossed the network between slices, as Accept does.
func (s *Slice) AcceptFar(h int32, now uint64) (at uint64) {
	s.slab.R[h].Flags |= mem.Crossed
	at = now + s.cfg.cross
	s.in[1].queue.Push(arrival{at, h})
	return at
}

// Far is the queue of answers for other slices, which leave over the network between slices.
func (s *Slice) Far() *mem.Queue[Answer] { return &s.peers.far }

// Forward is the queue of requests for other slices.
func (s *Slice) Forward() *mem.Ring[int32] { return &s.peers.forward }

// Recall is the queue of writes that are acknowledged only when copies of their lines are invalidated.
func (s *Slice) Recall() *mem.Queue[int32] { return &s.peers.recall }

// Holds says whether the slice has a line or waits for it.
func (s *Slice) Holds(line uint64) bool { return s.tags.Find(line) != tags.None }

// elsewhere says that the home of a request's line is another slice.
func (s *Slice) elsewhere(r *mem.Req) bool { return s.peers.on && int(r.Slice) != s.ID }

// mayAsk says whether there is room towards where a read that misses sectors of a line has to ask
// for them. i is the line's index, or none. For a copy the last MSHR, and the last way of a set,
// are not available: those are for lines whose home is here.
func (s *Slice) mayAsk(r *mem.Req, i int32, miss uint8) bool {
	if !s.elsewhere(r) {
		return !s.Below.Full()
	}
	x := &s.peers
	if x.forward.Full() || s.mshrs.Pending()+bits.OnesCount8(miss)+s.cfg.sectors > s.cfg.mshrs {
		return false
	}
	return i != tags.None && s.tags.Line[i].Pending != 0 || int(x.awaited[s.tags.Set(r.Line)]) < s.cfg.ways-1
}

// ask has the home of line index i send sectors.
func (s *Slice) ask(i int32, sectors uint8, r *mem.Req) {
	l, x := &s.tags.Line[i], &s.peers
	if l.Pending == 0 {
		x.awaited[int(i)/s.cfg.ways]++
		x.asked[i] = true
	}
	x.foreign[i] = true
	s.tags.Await(i, sectors)
	s.mshrs.Ask(sectors)
	req := mem.Req{
		Line: r.Line, Born: r.Born, Tag: i, Port: x.port, Slice: r.Slice, Sectors: sectors, Op: mem.Read,
		Tenant: r.Tenant, Flags: r.Flags & mem.ReadOnly,
	}
	h := s.slab.Get()
	s.slab.R[h] = req
	x.forward.Push(h)
}

// keepOrDrop decides whether line index i stays, some sectors of which have come; crossed says that
// only other partitions have waited for them.
func (s *Slice) keepOrDrop(i int32, sectors uint8, crossed bool) {
	l, x := &s.tags.Line[i], &s.peers
	if l.Pending != 0 {
		return
	}
	if x.asked[i] {
		x.awaited[int(i)/s.cfg.ways]--
		x.asked[i] = false
	}
	if x.doomed[i] || crossed && !x.keep && l.Dirty == 0 && l.Valid == sectors {
		x.doomed[i] = false
		s.tags.Release(i)
	}
}

// passOn performs here what a write or an atomic has to do with a line whose home is elsewhere,
// and sends it on to its home: a write also goes into the copy, an atomic makes it useless.
func (s *Slice) passOn(h int32, r *mem.Req, row []uint64) bool {
	x := &s.peers
	if x.forward.Full() {
		return false
	}
	if i := s.tags.Find(r.Line); i != tags.None {
		l := &s.tags.Line[i]
		switch {
		case l.Pending != 0: // the bytes that come may have left before the write gets there
			x.doomed[i] = true
		case r.Op == mem.Write:
			s.tags.Use(i)
			l.Valid |= r.Full
		default:
			s.tags.Release(i)
		}
	}
	row[Passed]++
	x.forward.Push(h)
	return true
}

// recalls begins to have the other half forget its copy of a line that has been written here,
// at home; false when there is none. The write is acknowledged afterwards.
func (s *Slice) recalls(h int32, r *mem.Req) bool {
	if r.Op == mem.Read || r.Op == mem.Walk || !s.peers.copies(r.Line) {
		return false
	}
	r.Flags |= mem.Invalidation
	s.rows[r.Tenant][Recalls]++
	s.peers.recall.Push(h)
	return true
}

// Recalled acknowledges a write of the Recall queue: the copy is gone.
func (s *Slice) Recalled(h int32, now uint64) {
	s.slab.R[h].Flags &^= mem.Invalidation
	s.Reply.Push(Answer{now, h})
}

// Invalidate removes a copy, because the line has been written at its home.
func (s *Slice) Invalidate(line uint64) {
	i := s.tags.Find(line)
	if i == tags.None {
		return
	}
	if s.tags.Line[i].Pending != 0 {
		s.peers.doomed[i] = true
		return
	}
	s.tags.Release(i)
}
