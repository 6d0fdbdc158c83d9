// Package sm is the streaming multiprocessor: resident CTAs and warps, warp
// schedulers with a scoreboard, execution units with latencies and initiation
// intervals, shared memory, the coalescer and the L1 data cache.
//
// A reader must know five types. SM is one multiprocessor and its tick; its parts are the
// pipeline, where warps are fetched, issued and executed, and the loadStore unit, where
// their memory instructions go. Kernel is a launch as the SMs see it; warp is a resident
// warp: where it is in its code, when its registers are ready, and what it waits for.
//
// A warp executes an instruction when it issues. Units and caches then take the time for what it did (isa.Step). A
// warp whose next operands are ready at a known cycle sleeps in a small ring until then; one that waits for memory or
// a barrier is not looked at until the answer arrives.
package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/mem/storebuffer"
	"github.com/heddle-sim/heddle/stat"
)

// SM is one multiprocessor. In each of its parts the fields that every tick reads come first, and tables last.
type SM struct {
	ID  int
	due uint64 // cycle of the next tick with work
	cfg *Config
	// Done lists kernels one of whose CTAs finished this tick, Settled those that end with the acknowledgement of
	// stores, and have none to come on this SM any more. The machine empties them.
	Done, Settled []*Kernel
	// Err is the first fault of a program, ErrKernel the kernel it happened in; the
	// machine stops on it.
	Err       error
	ErrKernel *Kernel

	pipe     pipeline  // warps: fetch, issue, operand collection, execution
	lsu      loadStore // their memory instructions: translation, L1, link to the interconnect
	contexts contexts  // CTAs that are stored or loaded
	stores   storebuffer.Buffer
}

// pipeline has the stages that an instruction passes from its warp to its unit, in this order.
type pipeline struct {
	id         int // of the SM
	cfg        *Config
	work       *Scratch
	frozen     bool   // no warp issues, because the SM's contexts shall be saved
	stays      bool   // warps that are done do not leave: SM.Stay
	staying    uint64 // those
	prefetched uint32 // without meaning: the sum of what Prefetch reads, so that the compiler keeps the reads
	// The quotas of applications; nil: none has one.
	quotas *quotaState
	// The contents of SM.report: kernels of CTAs that have ended, those whose last store has been acknowledged, the
	// first fault of a program and the kernel it happened in.
	done   []*Kernel
	settle []*Kernel
	fault  error
	faulty *Kernel
	over   []isa.CTA // CTAs that have ended and are to be released

	front   frontEnd // fetches instructions
	sched   []scheduler
	collect collectors // of operands, on the way to the units
	units   units
	ctas    residency // what the warps belong to
	warps   warps
	writers writers
}

// loadStore has the stages that a memory instruction passes after the pipeline has executed it, in this order.
type loadStore struct {
	cfg  *Config
	rows []*[numCounters]uint64 // counters of tenants, then of what is moved for each (mem.Moving)

	port  uint64           // cycle from which the unit is free
	tex   uint64           // and the texture units
	queue mem.Ring[access] // accesses before translation, in program order
	// Accesses whose translation has arrived, and those of restored CTAs, which have yet to
	// enter the queue.
	replay, restored mem.Queue[access]
	ops              operations // the instructions the accesses belong to

	translation translation
	l1          L1
	link        link // to the interconnect
}

// New builds an SM. scratch is the one of all SMs of the machine, table the machine's "sm"
// counter table; tlb and mmu are nil when the machine does not translate.
func New(id int, cfg *Config, scratch *Scratch, slab *mem.Slab, table *stat.Table, tlb TLB, mmu MMU) (*SM, error) {
	s := &SM{ID: id, cfg: cfg, due: engine.Never}
	var rows []*[numCounters]uint64
	for t := range table.Rows() {
		rows = append(rows, (*[numCounters]uint64)(table.Row(id, t)))
	}
	s.pipe.build(id, cfg, scratch, rows[:table.Tenants])
	s.lsu.build(id, cfg, slab, rows, tlb, mmu)
	return s, s.lsu.l1.carve(&cfg.l1, 0)
}

// Tick advances the SM through cycle now and returns the next cycle at which it
// has work of its own. Stages come from the last to the first, so that each finds what the
// one before it has done in an earlier cycle.
func (s *SM) Tick(now uint64) uint64 {
	p, l := &s.pipe, &s.lsu
	if p.quotas != nil {
		p.refill(now)
	}
	if l.l1.queue.Len() > 0 && !l.l1.stalled && l.l1.queue.Head().at <= now {
		l.cacheStage(p, now)
	}
	if s.contexts.unsent > 0 || l.restored.Len() > 0 {
		s.feed(now)
		p.collect.letPass(s.contexts.unsent > 0 || l.restored.Len() > 0, now)
	}
	if l.queue.Len()+l.replay.Len() > 0 || p.collect.dispatchLatch != 0 {
		s.memoryStage(now)
	}
	if p.collect.due <= now {
		p.collectStage(now)
	}
	if p.warps.wakes.has(now) {
		p.wakeStage(now)
	}
	if r := p.issuable(); r != 0 && !p.frozen {
		p.issueStage(l, r, now)
	}
	if p.quotas != nil {
		p.lookIdle(now)
	}
	if len(p.done) > 0 || len(p.settle) > 0 || p.fault != nil {
		s.report()
	}
	s.due = s.next(now)
	return s.due
}

// report reports CTAs that have ended, kernels whose stores are over and a program's fault to the machine.
func (s *SM) report() {
	s.Settled, s.pipe.settle = append(s.Settled, s.pipe.settle...), s.pipe.settle[:0]
	if done := s.pipe.done; len(done) > 0 {
		s.Done, s.pipe.done = append(s.Done, done...), done[:0]
	}
	if s.pipe.fault != nil {
		s.Err, s.ErrKernel, s.pipe.fault = s.pipe.fault, s.pipe.faulty, nil
	}
}

// Retired says that the machine has recorded the CTAs that have ended (Done). It empties the list, and hands the
// functional state of the CTAs back.
func (s *SM) Retired() {
	s.Done = s.Done[:0]
	for i, exec := range s.pipe.over {
		exec.Release()
		s.pipe.over[i] = nil
	}
	s.pipe.over = s.pipe.over[:0]
}

// Due is the cycle at which the SM has work of its own: the one that the last Tick returned, or an earlier one if it
// got a delivery since.
func (s *SM) Due() uint64 { return s.due }

// Out holds requests for the interconnect, oldest first; the machine drains it.
func (s *SM) Out() *mem.Ring[int32] { return &s.lsu.link.out }

// Outlasts says that the warps of k have more instructions left than they can issue in n cycles.
func (s *SM) Outlasts(k *Kernel, n int) bool {
	c := &s.pipe.ctas
	return c.resident > 0 && s.pipe.warps.outlast(^c.free, k, n, n*len(s.pipe.sched)*s.cfg.issue.width)
}

// Stay says whether finished warps have to stay on the SM. If they need not stay any longer, they leave; it returns
// true if some did.
func (s *SM) Stay(on bool, now uint64) bool {
	p := &s.pipe
	if p.stays = on; on || p.staying == 0 {
		return false
	}
	for p.staying != 0 {
		w := bits.TrailingZeros64(p.staying)
		p.staying &^= bit(w)
		p.retire(w, now)
	}
	s.wakeAt(now)
	return true
}

func (s *SM) wakeAt(at uint64) { s.due = min(s.due, at) }

// next is the earliest cycle after now with work that no delivery announces.
func (s *SM) next(now uint64) uint64 {
	p, l := &s.pipe, &s.lsu
	soon := now + 1
	if p.warps.wakes.has(soon) || p.collect.due <= soon || l.replay.Len() > 0 ||
		p.issuable() != 0 && !p.frozen {
		return soon
	}
	if (s.contexts.unsent > 0 || l.restored.Len() > 0) && l.queue.Len() < contextDepth {
		return soon
	}
	n := max(soon, p.collect.due)
	if p.quotas != nil && p.quotas.held != 0 { // the next quota period lets them go on
		n = min(n, max(soon, p.quotas.next))
	}
	if p.collect.dispatchLatch != 0 && l.queue.Len() == 0 { // the last shared access's last cycle
		n = min(n, max(now+2, l.port)-1)
	}
	if l.l1.queue.Len() > 0 && !l.l1.stalled {
		n = min(n, max(soon, l.l1.queue.Head().at))
	}
	if l.queue.Len() > 0 && !l.translation.full && !(l.l1.stalled && l.waitsForL1(l.queue.Head())) {
		n = min(n, max(soon, l.port, l.queue.Head().at))
	}
	return min(n, p.warps.next(now))
}

// memoryStage serves the load/store unit, and fetches the accesses of the next instruction for it from the collectors
// (collect.go).
func (s *SM) memoryStage(now uint64) {
	s.lsu.serve(&s.pipe, now)
	if s.pipe.collect.dispatchLatch != 0 && s.lsu.queue.Len() == 0 && s.lsu.port <= now+1 {
		s.lsu.push(s.pipe.collect.takeMemory(now), now+1)
	}
}
