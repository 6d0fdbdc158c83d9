package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/mshr"
)

// memOp is a warp memory instruction in flight.
type memOp struct {
	at     uint64 // latest arrival of its parts
	reg    uint32 // destination registers in the warp's list
	left   int32  // accesses that have not answered
	queued int32  // accesses still before the L1
	warp   int16
	tenant mem.TenantID
	ndst   uint8
	space  isa.Space
	kind   isa.Kind
	change isa.Change
	group  uint32 // of the warp's groups of copies, of an AsyncCopy
	bypass bool   // does not look into the L1
	flags  mem.Flags
	seen   bool   // SM.Quiet
	cycles uint16 // shared memory: bank cycles; with l1Config.tags: those of the L1 beyond its lookups
	// Of an access of the texture units: turns of its lanes that it has yet to book, then their cycles.
	texels, filtered uint16
}

// operations are the memory instructions in flight, named by their index.
type operations struct {
	list []memOp
	free []int32
}

func (x *operations) get() int32 {
	if n := len(x.free); n > 0 {
		op := x.free[n-1]
		x.free = x.free[:n-1]
		return op
	}
	x.list = append(x.list, memOp{})
	return int32(len(x.list) - 1)
}

func (x *operations) put(op int32) { x.free = append(x.free, op) }

func (l *loadStore) build(id int, cfg *Config, slab *mem.Slab, rows []*[numCounters]uint64, tlb TLB, mmu MMU) {
	l.cfg, l.rows = cfg, rows
	perScheduler := cfg.collect.each + 2
	each := 2 * isa.Lanes
	if cfg.texture.rate > 0 {
		each = isa.TextureRows * isa.Lanes
	}
	l.queue = mem.NewRing[access]((cfg.collect.memQueue + 1 + cfg.issue.schedulers*perScheduler) * each)
	l.translation = translation{tlb: tlb, mmu: mmu, sm: id, pending: make([]tlbMiss, cfg.translation.misses)}
	l.l1.queue = mem.NewRing[access](max(cfg.l1.bankCount, cfg.l1.tags)*(cfg.l1.depth+2) + 8)
	l.l1.mshrs = mshr.New(0, cfg.l1.mshrs, cfg.l1.merge)
	l.link = link{room: cfg.l1.missQueue, apart: cfg.l1.apart, port: mem.Port(id), slab: slab, stock: slab.NewStock()}
	l.link.out = mem.NewRing[int32](max(1, cfg.l1.missQueue))
}

// issue turns a memory instruction of the pipeline into accesses, and queues them.
func (l *loadStore) issue(p *pipeline, w int, wp *warp, in *isa.Instr, now uint64) {
	st := &p.work.step
	if in.Back > 0 {
		for i := range st.Addr {
			st.Addr[i] -= uint64(in.Back)
		}
	}
	op := l.ops.get()
	o := &l.ops.list[op]
	*o = memOp{reg: in.Reg, ndst: in.NDst, warp: int16(w), tenant: wp.k.Tenant, space: st.Space, kind: in.Kind}
	o.change, o.group = in.Change, wp.copies.group
	wp.loads++
	wp.setReady(in.Reg, in.NDst, notReady)
	var acc []access
	o.left, o.queued = 1, 1
	switch {
	case in.Kind == isa.Fence:
		o.space = isa.NoSpace
		fallthrough
	case st.Space == isa.Const || st.Space == isa.Param || st.Space == isa.NoSpace:
		o.cycles, acc = 1, p.work.co.alone(op)
	case st.Space == isa.Shared:
		acc = p.work.co.alone(op)
		serial := isAtomic(in.Kind) && !l.cfg.ldst.broadcast
		o.cycles = uint16(p.work.conflicts.cycles(wp.pc, elected(in, st.Mask), &st.Addr, in.Width, serial))
		wp.row[SharedAccesses]++
		wp.row[SharedConflicts] += uint64(o.cycles - 1)
	case in.Cache.Textured() && l.cfg.texture.rate > 0:
		acc = l.texture(p.work, wp, in, op)
	default:
		acc = l.global(p.work, wp, in, op)
	}
	if l.cfg.collect.shared {
		p.collect.place(l.cfg.issue.schedOf[w], acc, in.Reads, now)
		return
	}
	p.collect.enqueue()
	l.push(acc, now+l.cfg.ldst.front)
}

// elected is the lanes of an instruction that access memory: the first one where it does so for the warp.
func elected(in *isa.Instr, mask uint32) uint32 {
	if in.Marks&isa.Elected != 0 {
		return mask & -mask
	}
	return mask
}

// push queues the accesses of an instruction, which may be served from cycle at on.
func (l *loadStore) push(acc []access, at uint64) {
	for _, a := range acc {
		a.at = at
		l.queue.Push(a)
	}
}

// global coalesces an access to global or local memory.
func (l *loadStore) global(work *Scratch, wp *warp, in *isa.Instr, op int32) []access {
	st, o, c := &work.step, &l.ops.list[op], &work.co
	words := 0
	if l.cfg.l1.tags > 0 && !isAtomic(in.Kind) {
		words = l.words(work, wp, in)
	}
	switch in.Kind {
	case isa.Atomic, isa.Reduce:
		wp.row[Atomics]++
		c.mergeAtomic(elected(in, st.Mask), &st.Addr, in.Width)
		o.bypass = true
	case isa.Store:
		wp.row[Stores]++
		l.merge(work, wp, in, int(o.warp), true)
	default:
		wp.row[Loads]++
		l.merge(work, wp, in, int(o.warp), false)
		if in.Cache == isa.CacheReadOnly || in.Cache == isa.CacheTexture {
			o.flags = mem.ReadOnly
		}
		o.bypass = in.Cache == isa.CacheGlobal || in.Cache == isa.CacheVolatile || in.Cache == isa.CacheSurfaceL2 ||
			l.cfg.l1.skipGlobal && st.Space == isa.Global
	}
	o.left, o.queued = int32(c.n), int32(c.n)
	if words > 0 {
		o.cycles = uint16(max(0, words-(c.n+l.cfg.l1.tags-1)/l.cfg.l1.tags))
	}
	for i := range c.n {
		c.acc[i].op = op
	}
	return c.acc[:c.n]
}

// words is the cycles in which the banks of the L1, those of shared memory, deliver or take the words of an access.
// Local memory is laid out so that each lane's words have a bank of their own.
func (l *loadStore) words(work *Scratch, wp *warp, in *isa.Instr) int {
	st := &work.step
	if st.Space == isa.Local {
		return max(1, int(in.Width)/4*isa.Lanes/l.cfg.ldst.sharedBanks)
	}
	return work.conflicts.cycles(wp.pc, st.Mask, &st.Addr, in.Width, false)
}

// merge coalesces, laying local memory out as hardware does: consecutive 4-byte
// words of the threads of the machine are neighbours, so a warp's access to the
// same local offset is one line.
func (l *loadStore) merge(work *Scratch, wp *warp, in *isa.Instr, w int, bytes bool) {
	st := &work.step
	work.co.n = 0
	if st.Space != isa.Local {
		work.co.merge(st.Mask, &st.Addr, in.Width, bytes)
		return
	}
	stride := l.cfg.ldst.localStride
	first := wp.k.LocalBase + uint64(wp.k.Local.piece(l.slot(w)))*isa.Lanes*4
	for i := range st.Addr {
		st.Addr[i] = first + st.Addr[i]>>2*stride + uint64(i)*4 + st.Addr[i]&3
	}
	for k := uint8(0); ; k += 4 {
		work.co.merge(st.Mask, &st.Addr, min(4, in.Width-k), bytes)
		if k+4 >= in.Width {
			return
		}
		for i := range st.Addr {
			st.Addr[i] += stride
		}
	}
}

// slot is the number of a warp slot among those of the machine.
func (l *loadStore) slot(w int) int { return int(l.link.port)*l.cfg.Warps + w }

// serve serves the head of the LD/ST queue: shared memory for as many cycles as its
// banks need, the L1 for as many sectors as its banks deliver in a cycle, or an instruction
// for as long as its lookups and words take (l1Config.tags), requests that bypass the L1 straight
// to the interconnect.
func (l *loadStore) serve(p *pipeline, now uint64) {
	var banks uint8
	misses := 0 // in the L1 TLB
	for l.replay.Len() > 0 {
		if !l.enter(l.replay.Head(), &banks, now) {
			return
		}
		l.replay.Pop()
	}
	for l.queue.Len() > 0 && l.port <= now {
		a := l.queue.Head()
		if a.at > now {
			return
		}
		o := &l.ops.list[a.op]
		if o.space == isa.Global || o.space == isa.Local {
			op := a.op
			if o.texels > 0 && !l.filter(a, o, now) {
				return
			}
			if a.state&translated == 0 && (l.translation.full || !l.translate(a, now)) ||
				a.op >= 0 && !l.enter(a, &banks, now) {
				return
			}
			miss := a.op < 0
			if !miss {
				l.translation.entered(a, now)
			}
			l.queue.Pop()
			l.left(p, op, now)
			if miss {
				if misses++; misses >= l.cfg.translation.ports {
					l.port = now + 1
					return
				}
			}
			continue
		}
		if banks != 0 {
			return
		}
		lat := uint64(1)
		if o.space == isa.Shared { // the data is complete at the end of the last bank cycle
			lat = l.cfg.ldst.sharedLatency + uint64(o.cycles)
		}
		l.port = now + uint64(o.cycles)
		op := a.op
		l.queue.Pop()
		l.left(p, op, now)
		l.answer(p, op, now+lat+l.cfg.ldst.back, now)
	}
}

// left notes that an access of op has left the LD/ST queue.
func (l *loadStore) left(p *pipeline, op int32, now uint64) {
	o := &l.ops.list[op]
	if o.queued--; o.queued == 0 {
		p.collect.dequeue(now)
	}
}

// enter takes a translated access into the L1 pipeline or, bypassing it, to the
// interconnect. banks are the L1 banks used this cycle.
func (l *loadStore) enter(a *access, banks *uint8, now uint64) bool {
	o := &l.ops.list[a.op]
	if o.bypass || a.line&mem.Remote != 0 {
		if l.link.full(a.sectors) || *banks == 0xff {
			return false
		}
		if l.cfg.l1.tags > 0 && !isAtomic(o.kind) {
			if !l.lookUp(o, banks, now) {
				return false
			}
		} else {
			*banks = 0xff
		}
		if isAtomic(o.kind) && l.cfg.ldst.atomicSector > 0 {
			l.port = now + l.cfg.ldst.atomic(o, bits.OnesCount8(a.sectors))
		}
		l.bypass(a, o, now)
		return true
	}
	if l.cfg.l1.tags > 0 {
		if l.l1.queue.Full() || !l.lookUp(o, banks, now) {
			return false
		}
		l.pipe(a, now)
		return true
	}
	b := l.cfg.l1.banks(a)
	if *banks&b != 0 || l.l1.queue.Full() || l.cfg.l1.apart && !l.l1.intoBanks(b, l.cfg.l1.depth) {
		return false
	}
	*banks |= b
	l.pipe(a, now)
	return true
}

// pipe puts an access into the pipeline of the L1.
func (l *loadStore) pipe(a *access, now uint64) {
	e := *a
	e.at = now + l.cfg.l1.latency + l.cfg.translation.latency
	l.l1.queue.Push(e)
}

// atomic is the cycles in which the unit sends some sectors of an atomic: a header and the operands of each, unless
// the one sector of a reduction goes with its header.
func (c *ldstConfig) atomic(o *memOp, sectors int) uint64 {
	n := c.atomicSector * uint64(1+sectors)
	if sectors == 1 && c.atomicSingle > 0 {
		n = c.atomicSingle
	}
	switch {
	case o.change == isa.Compare:
		return 2 * n
	case o.kind == isa.Atomic && c.atomicSingle > 0:
		return max(n, 2*c.atomicSingle)
	}
	return n
}

// lookUp says whether an L1 that looks up some lines of an instruction in a cycle takes one more; looked is how many
// so far. With the last line the instruction keeps the unit until its words have passed.
func (l *loadStore) lookUp(o *memOp, looked *uint8, now uint64) bool {
	if *looked >= uint8(l.cfg.l1.tags) {
		return false
	}
	*looked++
	if o.queued == 1 {
		*looked = 0xff
		l.port = now + 1 + uint64(o.cycles)
	}
	return true
}

// bypass sends an access that does not look into the L1.
func (l *loadStore) bypass(a *access, o *memOp, now uint64) {
	op, full := mem.Read, uint8(0)
	switch o.kind {
	case isa.Store: // of a context: data goes straight to memory
		op, full = mem.Write, a.full
	case isa.Atomic:
		op = mem.AtomicOp
	case isa.Reduce:
		op = mem.ReduceOp
	}
	l.send(a.line, a.sectors, full, a.bytes, op, o, -1-a.op, now)
}

// send sends a request of o; the caller has made sure of room.
func (l *loadStore) send(line uint64, sectors, full, bytes uint8, kind mem.Op, o *memOp, tag int32, now uint64) {
	row := o.tenant
	if o.warp == noWarp { // of a context
		row = mem.Moving(row, len(l.rows)/2)
	}
	*l.link.request(sectors) = mem.Req{
		Line: line, Born: now, Tag: tag, Port: l.link.port, Sectors: sectors, Full: full, Op: kind, Tenant: row,
		Flags: o.flags, Bytes: bytes, Change: o.change,
	}
	l.rows[row][Requests]++
	if w := l.translation.watch; w != nil {
		w.Sent(line, kind)
	}
}

// answer completes one access of op, a warp's: its data is usable from cycle at.
func (l *loadStore) answer(p *pipeline, op int32, at, now uint64) {
	o := &l.ops.list[op]
	o.at = max(o.at, at)
	if o.left--; o.left > 0 {
		return
	}
	if o.filtered > 0 {
		l.deliver(o)
	}
	l.ops.put(op)
	p.loaded(o, now)
}

// waitsForL1 says that an access can do nothing before the L1, whose head stalls, takes one more:
// accesses that go elsewhere or are not translated yet can.
func (l *loadStore) waitsForL1(a *access) bool {
	o := &l.ops.list[a.op]
	return l.l1.queue.Full() && a.state&translated != 0 && !o.bypass && (o.space == isa.Global || o.space == isa.Local)
}

// Deliver hands the SM an answer from the interconnect and frees the request. Due says
// when the SM wants to look at it.
func (s *SM) Deliver(h int32, now uint64) {
	p, l := &s.pipe, &s.lsu
	l.link.inflight--
	r := &l.link.slab.R[h]
	l.rows[r.Tenant][RequestLatency] += now - r.Born
	if w := l.translation.watch; w != nil {
		w.Answered(r.Line)
	}
	switch {
	case r.Op == mem.Write && r.Tag >= 0:
		if p.stored(r.Tag, now) {
			s.wakeAt(now)
		}
	case r.Op == mem.Read && r.Tag >= 0:
		s.wakeAt(now)
		l.fill(p, r.Tag, r.Sectors, now)
	default:
		s.wakeAt(now)
		s.bypassed(r, now)
	}
	l.link.stock.Put(h)
	if len(p.done) > 0 {
		s.report()
	}
}

// bypassed answers the access of a request that has not looked into the L1.
func (s *SM) bypassed(r *mem.Req, now uint64) {
	op, at := -1-r.Tag, now
	if r.Op == mem.Read && s.cfg.l1.writePort {
		at = max(now, s.lsu.l1.writeBack(bits.OnesCount8(r.Sectors), r.Sectors, now))
	}
	at += s.cfg.ldst.back + s.cfg.l1.returnLatency
	o := &s.lsu.ops.list[op]
	if o.warp != noWarp {
		s.lsu.answer(&s.pipe, op, at, now)
		return
	}
	transfer := int(o.reg)
	s.lsu.ops.put(op)
	s.moved(transfer, now)
}
