// Package cache is the last-level cache: one Slice per crossbar port, write-back,
// sectored, with MSHRs, an input pipeline (GPGPU-Sim calls it the ROP queue), a
// queue to its DRAM channel and a queue of replies.
//
// A reader must know three types: Config (the sheet's numbers), Slice (its queues and tick) and mem.Fetch (its
// request to the memory below).
package cache

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/mshr"
	"github.com/heddle-sim/heddle/mem/tags"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// Counter indices of a slice's row in the machine's "llc" table.
const (
	Accesses = iota
	Hits
	Pending
	Misses
	Reads
	Writes
	Atomics
	Writebacks
	Stalls
	WalkReads
	Latency
	CopyReads
	CopyHits
	Passed
	Recalls
	numCounters
)

// Counters describes them, in index order.
func Counters() []stat.Desc {
	return []stat.Desc{
		{Name: "accesses", Unit: "sectors", Doc: "sectors presented to the tags"},
		{
			Name: "hits", Unit: "sectors",
			Doc: "sectors found valid, and written sectors that were present, at least in part",
		},
		{Name: "pending_hits", Unit: "sectors", Doc: "sectors found on their way from DRAM"},
		{Name: "misses", Unit: "sectors", Doc: "sectors fetched from DRAM, and written sectors that were not present"},
		{Name: "reads", Unit: "requests", Doc: "read requests"},
		{Name: "writes", Unit: "requests", Doc: "write requests"},
		{Name: "atomics", Unit: "requests", Doc: "atomic and reduction requests"},
		{Name: "writebacks", Unit: "sectors", Doc: "dirty sectors written to DRAM"},
		{Name: "stall_cycles", Unit: "cycles", Doc: "cycles the head request could not be served"},
		{Name: "walk_reads", Unit: "requests", Doc: "page-table reads"},
		{
			Name: "queue_cycles", Unit: "cycles",
			Doc: "sum over requests of the time from arrival to the tags, pipeline included",
		},
		{Name: "copy_reads", Unit: "sectors", Doc: "sectors of other slices' lines that were looked up here, for a " +
			"copy"},
		{Name: "copy_hits", Unit: "sectors", Doc: "of those, found"},
		{Name: "passed", Unit: "requests", Doc: "writes and atomics sent on to the slice of the other half"},
		{Name: "recalls", Unit: "requests", Doc: "writes that made the other half forget its copy of the line"},
	}
}

// Config is what a slice needs of the sheet.
type Config struct {
	latency, hit       uint64
	cross              uint64    // latency of requests of other slices
	miss               uint64    // from a miss to the clock in which it may be taken; 0: at once
	fill               uint64    // added to answers that waited for a fill
	cycles             [9]uint64 // that sectors keep the data array busy, by their number
	writes             [9]uint64 // the same of written ones
	mshrs, merge       int
	inQueue, missQueue int
	replies, fills     int
	sectors            int
	fetchOnWrite       bool
	sets, ways, line   int
	repl               string
	atomics            atomicCosts
}

// Derive reads the sheet.
func Derive(l *sheets.LLC) (*Config, error) {
	if l.Line <= 0 || l.Sector <= 0 || l.Line%l.Sector != 0 || l.Line/l.Sector > 8 {
		return nil, fmt.Errorf("llc.line = %d, llc.sector = %d: a line has 1 to 8 whole sectors", l.Line, l.Sector)
	}
	c := &Config{
		latency: uint64(l.Latency), hit: uint64(max(1, l.HitLatency)),
		fill: uint64(l.FillLatency), mshrs: l.MSHRs, merge: l.Merge, inQueue: max(1, l.InQueue),
		missQueue: max(1, l.MissQueue+l.ToDRAM), replies: max(1, l.OutQueue), fills: max(1,
			l.FromDRAM), sectors: l.Line / l.Sector, fetchOnWrite: l.WriteAlloc == "fetch",
		sets: l.Sets, ways: l.Ways, line: l.Line, repl: l.Repl,
	}
	if c.cross = uint64(l.CrossLatency); c.cross == 0 {
		c.cross = c.latency
	}
	if l.MissLatency > 0 {
		c.miss = uint64(l.MissLatency) + 1 // the memory looks at the queue before the slice does
	}
	c.atomics = deriveAtomics(l)
	per := max(1, l.PortBytes/l.Sector)
	for n := range c.cycles {
		c.cycles[n] = uint64((n + per - 1) / per)
		c.writes[n] = c.cycles[n]
		if l.WritePort > 0 {
			c.writes[n] = uint64((n*l.Sector + l.WritePort - 1) / l.WritePort)
		}
	}
	return c, nil
}

// Slice is one LLC slice.
type Slice struct {
	ID   int
	cfg  *Config
	tags *tags.Array
	slab *mem.Slab
	rows [][]uint64

	fills    mem.Ring[mem.Fetch] // data that was brought and is not in the tags yet
	fillPort uint64              // cycle from which the data array takes the next fill
	port     uint64              // cycle from which tags and data array are free
	changer  *changer            // of words, for atomics
	now      uint64              // the clock of the last Tick
	mshrs    mshr.File           // a waiter's token is the request's handle
	flushAt  int                 // next line index of a flush in progress
	sampler  *Sampler            // nil: this slice is not sampled

	// Below holds the slice's requests to the memory below, oldest first: lines to fetch or to write.
	Below mem.Ring[mem.Fetch]
	Taken uint64 // fetches and write-backs that have left Below so far
	// Reply holds answered requests with the cycle they may leave, oldest first.
	Reply      mem.Queue[Answer]
	replyLimit int

	in     [2]input // from the interconnect: of SMs, and over the network between slices
	inputs int      // of those that are used
	turn   int      // the input to serve next
	peers  peers
}

// Answer is a finished request on its way to the interconnect.
type Answer struct {
	At uint64
	H  int32
}

// New builds a slice. set is its set-index function over line addresses.
func New(id int, cfg *Config, slab *mem.Slab, table *stat.Table, set func(line uint64) uint32) (*Slice, error) {
	t, err := tags.New(cfg.sets, cfg.ways, cfg.line, cfg.repl, set)
	if err != nil {
		return nil, fmt.Errorf("llc: %w", err)
	}
	s := &Slice{ID: id, cfg: cfg, changer: &changer{}, tags: t, slab: slab, replyLimit: cfg.replies}
	s.mshrs = mshr.New(len(t.Tag), cfg.mshrs, cfg.merge)
	s.Below = mem.NewRing[mem.Fetch](cfg.missQueue)
	s.fills = mem.NewRing[mem.Fetch](cfg.fills)
	s.inputs = 1
	for i, latency := range [...]uint64{cfg.latency, cfg.cross} {
		s.in[i].latency, s.in[i].limit = latency, cfg.inQueue+int(latency)
	}
	for i := range table.Rows() {
		s.rows = append(s.rows, table.Row(id, i))
	}
	return s, nil
}

// CanAccept says whether the input queue has room for another request at clock now. Requests in the pipeline do not
// count, as in GPGPU-Sim, where only the queue behind it exerts back-pressure.
func (s *Slice) CanAccept(now uint64) bool { return s.in[0].room(now) }

// Accept takes a request from the interconnect at clock now, and returns the clock at which it reaches the tags.
func (s *Slice) Accept(h int32, now uint64) (at uint64) {
	at = now + s.cfg.latency
	s.in[0].queue.Push(arrival{at, h})
	return at
}

// Tick serves the tags; its times are clocks of the slice, not core cycles. It puts
// one fill into the data array, looks up what is due and returns the next cycle with work; Never while only a
// fill, room in Below or room in Reply can help.
func (s *Slice) Tick(now uint64) uint64 {
	s.now = now
	if s.fills.Len() > 0 && s.fillPort <= now {
		f := s.fills.Pop()
		s.fillPort = now + s.cycles(f.Sectors)
		s.filled(f.Token, f.Sectors, now)
	}
	next := s.lookups(now)
	if s.fills.Len() > 0 {
		return min(next, s.fillPort)
	}
	return next
}

// cycles is how long the data array is busy with some sectors.
func (s *Slice) cycles(sectors uint8) uint64 {
	return s.cfg.cycles[bits.OnesCount8(sectors)]
}

// lookups serves requests at the tags, of either input in turn, and returns when it can serve
// the next. A head that stalls holds up its own input only.
func (s *Slice) lookups(now uint64) uint64 {
	next := engine.Never
	for tried := 0; tried < s.inputs; tried++ {
		q := &s.in[s.turn]
		if s.turn++; s.turn >= s.inputs {
			s.turn = 0
		}
		if q.queue.Len() == 0 || q.stalled {
			continue
		}
		a := q.queue.Head()
		if at := max(a.at, s.port); at > now {
			next = min(next, at)
			continue
		}
		if !s.serve(a.h, now) {
			q.stalled, q.stallAt = true, now
			continue
		}
		tried = -1
		s.rows[s.slab.R[a.h].Tenant][Latency] += now - (a.at - q.latency)
		q.pop(now)
	}
	return next
}

// Retry lets stalled heads try again: an event has happened that they may have waited for.
func (s *Slice) Retry(now uint64) {
	for i := range s.inputs {
		if q := &s.in[i]; q.stalled {
			q.stalled = false
			s.rows[s.slab.R[q.queue.Head().h].Tenant][Stalls] += now - q.stallAt
		}
	}
}

// Stalled says whether a head request waits for a fill or for room.
func (s *Slice) Stalled() bool { return s.in[0].stalled || s.in[1].stalled }

func (s *Slice) serve(h int32, now uint64) bool {
	r := &s.slab.R[h]
	if s.full(r) {
		return false
	}
	row := s.rows[r.Tenant]
	n := bits.OnesCount8(r.Sectors)
	var found uint8 // before the lookup
	if s.sampler != nil {
		found = s.there(r)
	}
	switch {
	case r.Op != mem.Read && r.Op != mem.Walk && s.elsewhere(r):
		if !s.passOn(h, r, row) {
			return false
		}
	case r.Op == mem.Write:
		if !s.write(r, row) {
			return false
		}
		row[Writes]++
		s.done(h, r, now)
	default:
		hit, ok := s.read(h, r, row)
		if !ok {
			return false
		}
		switch r.Op {
		case mem.Read:
			row[Reads]++
		case mem.Walk:
			row[WalkReads]++
		default:
			row[Atomics]++
		}
		if hit {
			s.done(h, r, now)
		}
	}
	row[Accesses] += uint64(n)
	s.port = now + s.cycles(r.Sectors)
	if r.Op == mem.Write {
		s.port = now + s.cfg.writes[n]
	}
	if s.cfg.atomics.each > 0 && (r.Op == mem.AtomicOp || r.Op == mem.ReduceOp) {
		s.port = max(s.port, s.changer.perform(&s.cfg.atomics, r, now))
	}
	if s.sampler != nil && r.Op != mem.Walk {
		s.sampler.served(s.tags.Set(r.Line), r, s.elsewhere(r), found == r.Sectors)
	}
	return true
}

// there are the sectors of a request that the slice has.
func (s *Slice) there(r *mem.Req) uint8 {
	i := s.tags.Find(r.Line)
	if i == tags.None {
		return 0
	}
	return r.Sectors & (s.tags.Line[i].Valid | s.tags.Line[i].Dirty)
}

// full says that there is no room for the answer of a request.
func (s *Slice) full(r *mem.Req) bool {
	if r.Flags&mem.Crossed != 0 {
		return s.peers.far.Len() >= s.replyLimit
	}
	return s.Reply.Len() >= s.replyLimit || s.peers.recall.Len() >= s.replyLimit
}

// done ends a request that has been served.
func (s *Slice) done(h int32, r *mem.Req, now uint64) {
	switch {
	case r.Flags&mem.Crossed != 0:
		s.peers.far.Push(Answer{now + s.cfg.hit, h})
	case s.peers.copies != nil && s.recalls(h, r):
	default:
		s.Reply.Push(Answer{now + s.cfg.hit, h})
		inTime(&s.Reply)
	}
}

// inTime puts the youngest answer before those that leave later: a hit overtakes those that a fill
// of the same clock has completed.
func inTime(q *mem.Queue[Answer]) {
	for i := q.Len() - 1; i > 0 && q.At(i-1).At > q.At(i).At; i-- {
		*q.At(i - 1), *q.At(i) = *q.At(i), *q.At(i - 1)
	}
}

// read serves reads, atomics and walks: all need the bytes. A request that has to
// wait does so in the line's MSHR.
func (s *Slice) read(h int32, r *mem.Req, row []uint64) (hit, ok bool) {
	t := s.tags
	i := t.Find(r.Line)
	var valid, pending uint8
	if i != tags.None {
		valid, pending = t.Line[i].Valid, t.Line[i].Pending
	}
	need := r.Sectors &^ valid
	if need == 0 {
		t.Use(i)
		s.modify(i, r)
		row[Hits] += uint64(bits.OnesCount8(r.Sectors))
		if s.elsewhere(r) {
			row[CopyReads] += uint64(bits.OnesCount8(r.Sectors))
			row[CopyHits] += uint64(bits.OnesCount8(r.Sectors))
		}
		return true, true
	}
	miss := need &^ pending
	if miss != 0 && (!s.mshrs.Room(miss) || !s.mayAsk(r, i, miss)) {
		return false, false
	}
	if i == tags.None {
		if i = s.allocate(r.Line, r.Tenant, 1); i == tags.None {
			return false, false
		}
	} else if !s.mshrs.Mergeable(i, need) {
		return false, false
	}
	t.Use(i)
	s.mshrs.Wait(i, h, need)
	row[Hits] += uint64(bits.OnesCount8(r.Sectors & valid))
	row[Pending] += uint64(bits.OnesCount8(need & pending))
	row[Misses] += uint64(bits.OnesCount8(miss))
	switch {
	case s.elsewhere(r):
		row[CopyReads] += uint64(bits.OnesCount8(r.Sectors))
		if miss != 0 {
			s.ask(i, miss, r)
		}
	case miss != 0:
		s.fetch(i, miss, r.Tenant)
	}
	return false, true
}

func (s *Slice) fetch(i int32, sectors uint8, tenant mem.TenantID) {
	s.tags.Await(i, sectors)
	s.mshrs.Ask(sectors)
	s.below(&mem.Fetch{Line: s.tags.Tag[i], Token: i, Sectors: sectors, Tenant: tenant})
}

// below queues a lookup's request to the memory.
func (s *Slice) below(f *mem.Fetch) {
	f.Slice = int16(s.ID)
	if s.cfg.miss > 0 {
		f.At = s.now + s.cfg.miss
	}
	s.Below.Push(*f)
}

// modify marks what an atomic changes.
func (s *Slice) modify(i int32, r *mem.Req) {
	if r.Op == mem.AtomicOp || r.Op == mem.ReduceOp {
		s.tags.Line[i].Dirty |= r.Sectors
	}
}

// allocate makes room for a line, writing its victim's dirty sectors back. It
// needs room in Below for that and for extra requests of the caller.
func (s *Slice) allocate(line uint64, tenant mem.TenantID, extra int) int32 {
	t := s.tags
	v := t.Victim(line)
	if v == tags.None {
		return v
	}
	if d := t.Line[v].Dirty; d != 0 {
		if s.Below.Len()+extra+1 > s.cfg.missQueue {
			return tags.None
		}
		owner := t.Line[v].Tenant
		s.rows[owner][Writebacks] += uint64(bits.OnesCount8(d))
		s.below(&mem.Fetch{Line: t.Tag[v], Owner: mem.ForNobody, Sectors: d, Tenant: owner})
	}
	t.Fill(v, line, tenant)
	if s.peers.on {
		s.peers.foreign[v] = false
	}
	return v
}

// write is write-back with allocation. A sector written completely becomes valid;
// one written in part stays invalid until a read (lazy) or this write (fetch)
// brings the rest from DRAM.
func (s *Slice) write(r *mem.Req, row []uint64) bool {
	t := s.tags
	i := t.Find(r.Line)
	part := r.Sectors &^ r.Full
	if s.cfg.fetchOnWrite && part != 0 && (s.Below.Len()+2 > s.cfg.missQueue || !s.mshrs.Room(part)) {
		return false
	}
	if i == tags.None {
		if i = s.allocate(r.Line, r.Tenant, 1); i == tags.None {
			return false
		}
	}
	t.Use(i)
	hits := uint64(bits.OnesCount8(r.Sectors & (t.Line[i].Valid | t.Line[i].Dirty)))
	row[Hits] += hits
	row[Misses] += uint64(bits.OnesCount8(r.Sectors)) - hits
	t.Line[i].Valid |= r.Full &^ t.Line[i].Pending
	t.Line[i].Dirty |= r.Sectors
	if miss := part &^ t.Line[i].Valid &^ t.Line[i].Pending; s.cfg.fetchOnWrite && miss != 0 {
		s.fetch(i, miss, r.Tenant)
	}
	return true
}

// CanFill says whether DRAM may hand over another line.
func (s *Slice) CanFill() bool { return !s.fills.Full() }

// Fill takes data that DRAM has fetched; the next Tick puts them into the data array.
func (s *Slice) Fill(f mem.Fetch) { s.fills.Push(f) }

// filled brings sectors of line index i and answers the requests that waited.
func (s *Slice) filled(i int32, sectors uint8, now uint64) {
	t := s.tags
	t.Arrive(i, sectors)
	at := s.mshrs.Arrive(i, sectors)
	crossed := mem.Crossed // all requests that waited were of other partitions
	for at.More() {
		h, _, done := s.mshrs.Next(&at)
		r := &s.slab.R[h]
		crossed &= r.Flags
		if done {
			s.modify(i, r)
			s.done(h, r, now+s.cfg.fill)
		}
	}
	if s.peers.on {
		s.keepOrDrop(i, sectors, crossed != 0)
	}
	s.Retry(now)
}

// Prefill makes a line present and clean without traffic: a host-to-device copy
// that GPGPU-Sim's -gpgpu_perf_sim_memcpy routes through the L2. It must not be
// called while requests are in flight.
func (s *Slice) Prefill(line uint64, sectors uint8, tenant mem.TenantID) {
	i := s.tags.Find(line)
	if i == tags.None {
		if i = s.tags.Victim(line); i == tags.None {
			return
		}
		s.tags.Fill(i, line, tenant)
	}
	s.tags.Use(i)
	s.tags.Line[i].Valid |= sectors
}

// Queued is the number of requests in the input pipelines and queues.
func (s *Slice) Queued() int { return s.in[0].queue.Len() + s.in[1].queue.Len() }
