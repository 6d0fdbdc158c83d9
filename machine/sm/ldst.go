package sm

import (
	"math/bits"

	"heddle/engine"
	"heddle/isa"
	"heddle/mem"
)

// memOp is a warp memory instruction in flight.
type memOp struct {
	at     uint64 // latest arrival of its parts
	reg    uint32 // destination registers in the warp's list
	left   int32  // accesses that have not answered
	queued int32  // accesses still before the L1
	warp   int16
	tenant uint8
	ndst   uint8
	space  isa.Space
	kind   isa.Kind
	bypass bool   // does not look into the L1
	seen   bool   // SM.Quiet
	cycles uint16 // shared memory: bank cycles
}

// memory turns an issued memory instruction into accesses in the LD/ST queue.
func (s *SM) memory(w int, wp *warp, in *isa.Instr, now uint64) {
	st := &s.tmp.step
	op := s.newOp()
	o := &s.ops[op]
	*o = memOp{reg: in.Reg, ndst: in.NDst, warp: int16(w), tenant: wp.k.Tenant, space: st.Space, kind: in.Kind}
	wp.loads++
	for _, r := range wp.regs(in.Reg, in.NDst) {
		wp.ready[r] = notReady
	}
	acc := s.tmp.co.acc[:1]
	acc[0] = access{op: op}
	o.left, o.queued = 1, 1
	switch {
	case in.Kind == isa.Fence:
		o.space = isa.NoSpace
		fallthrough
	case st.Space == isa.Const || st.Space == isa.Param || st.Space == isa.NoSpace:
		o.cycles = 1
	case st.Space == isa.Shared:
		serial := in.Kind == isa.Atomic || in.Kind == isa.Reduce
		o.cycles = uint16(s.tmp.conflicts.cycles(wp.pc, st.Mask, &st.Addr, in.Width, serial))
		wp.row[SharedAccesses]++
		wp.row[SharedConflicts] += uint64(o.cycles - 1)
	default:
		acc = s.global(wp, in, op)
	}
	if s.cfg.sharedCollectors {
		s.place(w, acc, now)
		return
	}
	s.enqueue()
	for _, a := range acc {
		a.at = now + s.cfg.front
		s.ldq.Push(a)
	}
}

// enqueue counts a memory instruction before the load/store unit where collectors are
// not shared.
func (s *SM) enqueue() {
	if s.cfg.sharedCollectors {
		return
	}
	if s.ldInsts++; s.ldInsts >= s.cfg.memQueue {
		s.noMem = ^uint64(0)
	}
}

// dequeue notes that the load/store unit has sent all parts of one on.
func (s *SM) dequeue(now uint64) {
	if s.ldInsts--; s.noMem == 0 || s.ldInsts >= s.cfg.memQueue {
		return
	}
	s.noMem = 0
	for i := range s.sched {
		s.sched[i].room = now
	}
}

// global coalesces an access to global or local memory.
func (s *SM) global(wp *warp, in *isa.Instr, op int32) []access {
	st, o, c := &s.tmp.step, &s.ops[op], &s.tmp.co
	switch in.Kind {
	case isa.Atomic, isa.Reduce:
		wp.row[Atomics]++
		c.mergeAtomic(st.Mask, &st.Addr, in.Width)
		o.bypass = true
	case isa.Store:
		wp.row[Stores]++
		s.merge(wp, in, int(o.warp), true)
	default:
		wp.row[Loads]++
		s.merge(wp, in, int(o.warp), false)
		o.bypass = in.Cache == isa.CacheGlobal || in.Cache == isa.CacheVolatile || s.cfg.l1.SkipGlobal && st.Space == isa.Global
	}
	o.left, o.queued = int32(c.n), int32(c.n)
	for i := range c.n {
		c.acc[i].op = op
	}
	return c.acc[:c.n]
}

// merge coalesces, laying local memory out as hardware does: consecutive 4-byte
// words of the threads of the machine are neighbours, so a warp's access to the
// same local offset is one line.
func (s *SM) merge(wp *warp, in *isa.Instr, w int, bytes bool) {
	st := &s.tmp.step
	s.tmp.co.n = 0
	if st.Space != isa.Local {
		s.tmp.co.merge(st.Mask, &st.Addr, in.Width, bytes)
		return
	}
	stride := s.cfg.localStride
	first := wp.k.LocalBase + uint64(s.ID*s.cfg.Threads+w*isa.Lanes)*4
	for i := range st.Addr {
		st.Addr[i] = first + st.Addr[i]>>2*stride + uint64(i)*4 + st.Addr[i]&3
	}
	for k := uint8(0); ; k += 4 {
		s.tmp.co.merge(st.Mask, &st.Addr, min(4, in.Width-k), bytes)
		if k+4 >= in.Width {
			return
		}
		for i := range st.Addr {
			st.Addr[i] += stride
		}
	}
}

func (s *SM) newOp() int32 {
	if n := len(s.freeOps); n > 0 {
		op := s.freeOps[n-1]
		s.freeOps = s.freeOps[:n-1]
		return op
	}
	s.ops = append(s.ops, memOp{})
	return int32(len(s.ops) - 1)
}

// memoryStage serves the LD/ST queue, and fetches the next instruction's accesses for
// it from where those wait (collect.go).
func (s *SM) memoryStage(now uint64) {
	s.serve(now)
	if s.before != 0 && s.ldq.Len() == 0 && s.port <= now+1 {
		s.takeMemory(now)
	}
}

// serve serves the head of the LD/ST queue: shared memory for as many cycles as its
// banks need, the L1 for as many sectors as its banks deliver in a cycle, requests
// that bypass the L1 straight to the interconnect.
func (s *SM) serve(now uint64) {
	var banks uint8
	for s.replay.Len() > 0 {
		if !s.enter(s.replay.Head(), &banks, now) {
			return
		}
		s.replay.Pop()
	}
	for s.ldq.Len() > 0 && s.port <= now {
		a := s.ldq.Head()
		if a.at > now {
			return
		}
		o := &s.ops[a.op]
		if o.space == isa.Global || o.space == isa.Local {
			op := a.op
			if !a.phys && (s.missing || !s.translate(a, now)) || a.op >= 0 && !s.enter(a, &banks, now) {
				return
			}
			s.ldq.Pop()
			s.left(op, now)
			continue
		}
		if banks != 0 {
			return
		}
		lat := uint64(1)
		if o.space == isa.Shared { // the data is complete at the end of the last bank cycle
			lat = s.cfg.sharedLatency + uint64(o.cycles)
		}
		s.port = now + uint64(o.cycles)
		op := a.op
		s.ldq.Pop()
		s.left(op, now)
		s.answer(op, now+lat+s.cfg.back, now)
	}
}

// left notes that an access of op has left the LD/ST queue.
func (s *SM) left(op int32, now uint64) {
	if s.ops[op].queued--; s.ops[op].queued == 0 && !s.cfg.sharedCollectors {
		s.dequeue(now)
	}
}

// enter takes a translated access into the L1 pipeline or, bypassing it, to the
// interconnect. banks are the L1 banks used this cycle.
func (s *SM) enter(a *access, banks *uint8, now uint64) bool {
	o := &s.ops[a.op]
	if o.bypass {
		if s.outFull(a.sectors) || *banks == 0xff {
			return false
		}
		*banks = 0xff
		s.bypass(a, o, now)
		return true
	}
	b := s.banks(a)
	if *banks&b != 0 || s.l1q.Full() || s.cfg.apart && !s.intoBanks(b) {
		return false
	}
	*banks |= b
	e := *a
	e.at = now + s.cfg.l1Latency + s.cfg.tlbLatency
	s.l1q.Push(e)
	return true
}

// bypass sends an access that does not look into the L1.
func (s *SM) bypass(a *access, o *memOp, now uint64) {
	op, full := mem.Read, uint8(0)
	switch o.kind {
	case isa.Store: // of a context: data goes straight to memory
		op, full = mem.Write, a.full
	case isa.Atomic:
		op = mem.AtomicOp
	case isa.Reduce:
		op = mem.ReduceOp
	}
	s.send(a.line, a.sectors, full, op, o, -1-a.op, now)
}

// send queues a request; the caller has made sure of room.
func (s *SM) send(line uint64, sectors, full uint8, kind mem.Op, o *memOp, tag int32, now uint64) {
	h := s.slab.Get(s.lane)
	s.slab.R[h] = mem.Req{Line: line, Born: now, Tag: tag, SM: int16(s.ID), Sectors: sectors, Full: full, Op: kind, Tenant: o.tenant}
	s.Out.Push(h)
	s.outside += s.packets(sectors)
	s.inflight++
	s.rows[o.tenant][Requests]++
}

// answer completes one access of op: its data is usable from cycle at.
func (s *SM) answer(op int32, at, now uint64) {
	o := &s.ops[op]
	o.at = max(o.at, at)
	if o.left--; o.left > 0 {
		return
	}
	w := int(o.warp)
	if w == noWarp {
		s.freeOps = append(s.freeOps, op)
		s.moved(int(o.reg), now)
		return
	}
	wp := &s.warps[w]
	wp.loads--
	for _, r := range wp.regs(o.reg, o.ndst) {
		wp.ready[r] = uint32(o.at - wp.t0)
	}
	s.freeOps = append(s.freeOps, op)
	switch wp.state {
	case running:
		if s.wake[w] == engine.Never {
			s.plan(w, wp, now, now)
			if wp.cause != MemoryWait {
				wp.cause = MemoryWait
			}
		}
	case atomic:
		if isAtomic(o.kind) {
			wp.state = running
			s.plan(w, wp, o.at, now)
			wp.cause = MemoryWait
		}
	case fenced:
		s.unfence(w, now)
	case finishing:
		s.retire(w, now)
	}
}

// unfence lets a warp go on whose memory operations have all been performed.
func (s *SM) unfence(w int, now uint64) {
	if wp := &s.warps[w]; wp.loads == 0 && wp.stores == 0 {
		s.resume(w, AtFence, now)
	}
}

// Deliver hands the SM an answer from the interconnect and frees the request. Due says
// when the SM wants to look at it.
func (s *SM) Deliver(h int32, now uint64) {
	s.inflight--
	r := &s.slab.R[h]
	s.rows[r.Tenant][RequestLatency] += now - r.Born
	if r.Op == mem.Write && r.Tag >= 0 {
		s.acked(int(r.Tag), now)
		s.slab.Put(s.lane, h)
		return
	}
	s.wakeAt(now)
	switch r.Op {
	case mem.Write:
		s.answer(-1-r.Tag, now, now) // of a context
	case mem.Read:
		if r.Tag >= 0 {
			s.fill(r.Tag, r.Sectors, now)
			break
		}
		at := now
		if s.cfg.writePort {
			at = max(now, s.writeSectors(bits.OnesCount8(r.Sectors), r.Sectors, now))
		}
		s.answer(-1-r.Tag, at+s.cfg.back, now)
	default:
		s.answer(-1-r.Tag, now+s.cfg.back, now)
	}
	s.slab.Put(s.lane, h)
}

func (s *SM) acked(w int, now uint64) {
	wp := &s.warps[w]
	if wp.stores--; wp.stores > 0 || wp.state != fenced && wp.state != finishing {
		return
	}
	s.wakeAt(now)
	if wp.state == fenced {
		s.unfence(w, now)
	} else {
		s.retire(w, now)
	}
}
