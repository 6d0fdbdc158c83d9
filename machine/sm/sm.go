// Package sm is the streaming multiprocessor: resident CTAs and warps, warp
// schedulers with a scoreboard, execution units with latencies and initiation
// intervals, shared memory, the coalescer and the L1 data cache.
//
// A reader must know three types. SM is one multiprocessor and its tick; Kernel
// is a launch as the SMs see it; warp is a resident warp: where it is in its
// code, when its registers are ready, and what it waits for.
//
// Timing is driven by function: a warp executes the moment it issues, and what
// it did (isa.Step) is charged to units and caches. A warp whose next operands
// are ready at a known cycle sleeps in a small ring until then; one that waits
// for memory or a barrier is not looked at until the answer arrives.
package sm

import (
	"math/bits"

	"heddle/engine"
	"heddle/isa"
	"heddle/mem"
	"heddle/mem/mshr"
	"heddle/mem/tags"
	"heddle/stat"
)

// ringSize is the reach of the wake-up ring in cycles; longer waits are re-armed.
const ringSize = 64

// notReady marks a register a load has yet to bring.
const notReady = ^uint32(0)

// Kernel is one launch.
type Kernel struct {
	ID        int
	Tenant    uint8
	Stream    int
	Grid      isa.Grid
	Code      *isa.Code
	Geo       isa.Geometry
	LocalBase uint64 // virtual address of the tenant's local-memory window
	Most      int    // resident CTAs allowed per SM beyond the resource limits; 0: no limit

	Away int                 // CTAs whose context is in memory
	lane [mem.Lanes]Progress // by the core that counts
	// Prof[pc] counts issues and, per Cause, the warp-cycles spent waiting to issue pc. Nil: not kept.
	Prof []PC
}

// Progress is how far a launch has come.
type Progress struct {
	WarpInsts, ThreadInsts uint64
	Finished               int    // CTAs that have ended
	Running                int    // resident warps that have not exited
	CTACycles              uint64 // sum of the cycles CTAs were resident where they ended
	_                      [24]byte
}

// Progress adds up what the cores have counted.
func (k *Kernel) Progress() (p Progress) {
	for i := range k.lane {
		l := &k.lane[i]
		p.WarpInsts += l.WarpInsts
		p.ThreadInsts += l.ThreadInsts
		p.Finished += l.Finished
		p.Running += l.Running
		p.CTACycles += l.CTACycles
	}
	return p
}

// PC is the profile of one instruction.
type PC struct {
	Issues uint64
	Stall  [NumCauses]uint64
}

type warpState uint8

const (
	free warpState = iota
	running
	barred    // waits at a barrier
	fenced    // waits for its stores
	finishing // has exited; loads or stores are still out
	restoring // its context is being loaded
	atomic    // waits until its atomic is performed (Config.atomicWait)
)

// warp is a resident warp.
type warp struct {
	code          *isa.Code
	ready         []uint32 // per register: cycle, counted from t0, at which a dependent may issue
	exec          isa.CTA
	pc            int32
	in            int16 // warp number within the CTA
	state         warpState
	cause         Cause
	k             *Kernel
	row           *[numCounters]uint64 // the tenant's counters on this SM
	t0            uint64
	since         uint64 // cycle of the last issue
	loads, stores int32  // memory instructions, store packets in flight
	cta           int16
	buf           uint8 // instructions left in the fetch buffer
}

// regs are the registers in names the instruction writes, then those it reads.
func (wp *warp) regs(from uint32, n uint8) []uint16 { return wp.code.Regs[from : from+uint32(n)] }

// block is a resident CTA.
type block struct {
	k     *Kernel
	exec  isa.CTA
	slots uint64 // its warp slots
	live  int    // warps not yet retired
	regs  int
	start uint64 // cycle at which it became resident here
	bar   [16]barrier
}

type barrier struct {
	expect  int    // threads; 0: all warps of the CTA
	threads int    // of the warps that have arrived
	arrived int    // warps, those of bar.arrive included
	slots   uint64 // warps that wait
}

// unit is one execution unit: the cycle it can start its next instruction.
type unit struct{ free uint64 }

// TLB is the SM's first-level translation buffer.
type TLB interface {
	Lookup(tenant uint8, vpn uint64) (ppn uint64, ok bool)
	Insert(tenant uint8, vpn, ppn uint64)
}

// MMU takes L1 TLB misses; false is back-pressure.
type MMU interface {
	Request(now uint64, tenant uint8, vpn uint64, sm int, token int32) bool
}

// Pager says, on a machine that does not translate, which pages are on the device.
type Pager interface {
	// Absent names the page an access has to wait for, by its first address.
	Absent(tenant uint8, addr uint64) (page uint64, absent bool)
	// Fault asks for it; Arrived follows.
	Fault(now uint64, tenant uint8, page uint64)
}

// SM is one multiprocessor. What every tick looks at comes first and lies together;
// the tables of 64 warps and the rest follow.
type SM struct {
	ID   int
	cfg  *Config
	lane int // the core it runs on
	tmp  *scratch

	due     uint64
	ready   uint64 // warps that may issue now
	stale   uint64 // warps whose instruction buffer is that behind a branch they took
	used    uint64 // slots of ring with warps
	ldInsts int    // memory instructions in ldq, where collectors are not shared
	before  uint64 // schedulers with a memory instruction right before the LD/ST unit,
	holding uint64 // and in a collector, where they are
	noMem   uint64 // warps that can issue none
	waits   int    // instructions in waiting
	port    uint64 // cycle from which the LD/ST unit is free
	unsent  int    // lines of contexts not yet in ldq
	stalled bool   // the L1 head waits for a fill or for room in Out
	frozen  bool   // no warp issues
	halted  uint64 // warps that issue no more: their CTA is being evicted
	held    bool   // no access enters translation
	missing bool   // the queue's head finds every entry of pending taken
	pager   Pager  // nil: every page is on the device
	l1      *tags.Array
	rows    []*[numCounters]uint64

	wants  [isa.NumUnits]uint64 // warps by the unit of their next instruction
	ldq    mem.Ring[access]     // accesses before the L1, in program order
	l1q    mem.Ring[access]     // the L1 pipeline
	replay mem.Queue[access]    // accesses whose translation has arrived
	again  mem.Queue[access]    // accesses of restored CTAs, before ldq

	// Out holds requests for the interconnect, oldest first; the machine drains it.
	Out      mem.Ring[int32]
	outside  int    // packets in Out
	linkFree uint64 // cycle from which the link to the interconnect is free
	inBank   [8]int // per L1 bank: accesses in l1q (Config.apart)
	// Done lists kernels one of whose CTAs finished this tick; the machine empties it.
	Done []*Kernel
	// Err is the first fault of a program, ErrKernel the kernel it happened in; the
	// machine stops on it.
	Err       error
	ErrKernel *Kernel

	waiting    [isa.NumUnits][]collecting // before the collectors, oldest first
	full       [isa.NumUnits]uint64       // warps of schedulers with one there
	collectDue uint64
	placed     []memInstr // memory instructions at the places of the schedulers' paths
	freePlaces []int16
	latches    []latched // the oldest first
	seq        uint64

	sched []scheduler
	units [isa.NumUnits][]unit

	fetchAt, fetchQueue uint64 // the front end: fetches asked for and not yet made

	ops     []memOp
	freeOps []int32
	mshrs   mshr.File // of the L1; a waiter's token is its memOp
	writeAt uint64    // cycle from which the port that writes arrived sectors back is free
	stallAt uint64

	slab     *mem.Slab
	inflight int // requests sent and not answered

	tlb      TLB
	mmu      MMU
	pending  []tlbMiss
	refused  *tlbMiss // the queue's head waits for it, and the MMU had no room; nil
	parked   []parked
	freePark []int32

	ring  [ringSize]uint64
	wake  [64]uint64   // cycle at which the next instruction's operands are there
	unit  [64]isa.Unit // unit of each warp's next instruction
	older [64]uint64   // slots launched before each slot's warp
	age   [64]uint64   // launch order per slot
	warps [64]warp

	freeW  uint64 // free warp slots
	blocks []block

	threads, regs, shared int // in use
	resident              int // CTAs

	l1s       []*tags.Array // one per carve-out
	moving    []*Context    // contexts being stored or loaded; nil: a free entry
	transfers int           // of them

	several bool     // CTAs of several applications may be resident at once
	leaving int      // block that is being evicted; -1: none
	stays   []tenure // per tenant
}

// tenure is how many CTAs of a tenant are resident, and since when any is.
type tenure struct {
	ctas  int
	since uint64
}

type scheduler struct {
	memPath
	mask uint64 // warp slots
	last int
	room uint64 // cycle at which there was room for one more memory instruction again
}

// New builds an SM. table is the machine's "sm" counter table; tlb and mmu are nil
// when the machine does not translate.
func New(id int, cfg *Config, slab *mem.Slab, table *stat.Table, tlb TLB, mmu MMU) (*SM, error) {
	s := &SM{ID: id, cfg: cfg, tmp: &cfg.tmp[0], slab: slab, tlb: tlb, mmu: mmu, due: engine.Never, leaving: -1,
		mshrs: mshr.New(0, cfg.l1.MSHRs, cfg.l1.Merge)}
	s.blocks = make([]block, cfg.CTAs)
	s.freeW = 1<<cfg.Warps - 1
	if cfg.Warps == 64 {
		s.freeW = ^uint64(0)
	}
	s.wants[0] = ^uint64(0)
	for i := range s.wake {
		s.wake[i] = engine.Never
	}
	s.sched = make([]scheduler, cfg.schedulers)
	for w := range cfg.Warps {
		s.sched[w%cfg.schedulers].mask |= 1 << w
	}
	n := 0
	for _, k := range cfg.units {
		n += k
	}
	all := make([]unit, n)
	for u, k := range cfg.units {
		s.units[u], all = all[:k:k], all[k:]
	}
	for u := range s.waiting {
		s.waiting[u] = make([]collecting, 0, cfg.schedulers)
	}
	s.collectDue = engine.Never
	if cfg.sharedCollectors {
		s.buildPaths()
	}
	s.ldq = mem.NewRing[access]((cfg.memQueue + 1 + cfg.schedulers*(cfg.collectors+2)) * 2 * isa.Lanes)
	s.l1q = mem.NewRing[access](cfg.l1.Banks*(cfg.l1.Latency+2) + 8)
	s.pending = make([]tlbMiss, cfg.tlbMisses)
	s.Out = mem.NewRing[int32](max(1, cfg.l1.MissQueue))
	s.stays = make([]tenure, table.Tenants)
	for t := range table.Tenants {
		s.rows = append(s.rows, (*[numCounters]uint64)(table.Row(id, t)))
	}
	return s, s.carve(0)
}

// On says which core the SM runs on from now on.
func (s *SM) On(lane int) { s.lane, s.tmp = lane, &s.cfg.tmp[lane] }

// Lane is the core the SM runs on.
func (s *SM) Lane() int { return s.lane }

// Tick advances the SM through cycle now and returns the next cycle at which it
// has work of its own.
func (s *SM) Tick(now uint64) uint64 {
	if s.l1q.Len() > 0 && !s.stalled && s.l1q.Head().at <= now {
		s.cacheStage(now)
	}
	if s.unsent > 0 || s.again.Len() > 0 {
		s.feed(now)
	}
	if s.ldq.Len()+s.replay.Len() > 0 || s.before != 0 {
		s.memoryStage(now)
	}
	if s.collectDue <= now {
		s.collectStage(now)
	}
	slot := now % ringSize
	for woken := s.ring[slot]; woken != 0; woken &= woken - 1 {
		s.arm(bits.TrailingZeros64(woken), now)
	}
	s.ring[slot] = 0
	s.used &^= 1 << slot
	if s.issuable() != 0 && !s.frozen {
		s.issueStage(now)
	}
	s.due = s.next(now)
	return s.due
}

// Due is the cycle at which the SM has work of its own: what the last Tick asked
// for, or earlier when something was delivered since.
func (s *SM) Due() uint64 { return s.due }

// Outlasts says that the warps of k have more instructions to issue than they can in n
// cycles.
func (s *SM) Outlasts(k *Kernel, n int) bool {
	if s.resident == 0 {
		return false
	}
	sum, most := 0, n*len(s.sched)*s.cfg.width
	for m := ^s.freeW; m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		if w >= s.cfg.Warps {
			break
		}
		wp := &s.warps[w]
		if wp.k != k || wp.state == free || wp.state == finishing {
			continue
		}
		l := k.Code.AtLeast(wp.pc)
		if sum += l; l > n || sum > most {
			return true
		}
	}
	return false
}

func (s *SM) wakeAt(at uint64) { s.due = min(s.due, at) }

// arm makes a sleeping warp ready if its time has come, or puts it back to sleep.
func (s *SM) arm(w int, now uint64) {
	switch at := s.wake[w]; {
	case at <= now && s.warps[w].state == finishing:
		s.wake[w] = engine.Never
		s.warps[w].loads--
		s.retire(w, now)
	case at <= now:
		s.ready |= 1 << w
	case at != engine.Never:
		s.sleep(w, now)
	}
}

func (s *SM) sleep(w int, now uint64) {
	at := min(s.wake[w], now+ringSize-1)
	slot := at % ringSize
	s.ring[slot] |= 1 << w
	s.used |= 1 << slot
}

// waitsForL1 says that an access can do nothing before the L1 takes one more: what
// goes elsewhere or is not translated yet can.
func (s *SM) waitsForL1(a *access) bool {
	o := &s.ops[a.op]
	return s.stalled && s.l1q.Full() && a.phys && !o.bypass && (o.space == isa.Global || o.space == isa.Local)
}

// next is the earliest cycle after now with work that no delivery announces.
func (s *SM) next(now uint64) uint64 {
	if s.issuable() != 0 && !s.frozen {
		return now + 1
	}
	if (s.unsent > 0 || s.again.Len() > 0) && s.ldq.Len() < contextDepth {
		return now + 1
	}
	n := max(now+1, s.collectDue)
	if s.before != 0 && s.ldq.Len() == 0 { // the last shared access's last cycle
		n = min(n, max(now+2, s.port)-1)
	}
	if s.l1q.Len() > 0 && !s.stalled {
		n = min(n, max(now+1, s.l1q.Head().at))
	}
	if s.replay.Len() > 0 {
		n = now + 1
	} else if s.ldq.Len() > 0 && !s.missing && !s.waitsForL1(s.ldq.Head()) {
		n = min(n, max(now+1, s.port, s.ldq.Head().at))
	}
	if s.used != 0 { // slots from that of the next cycle on
		n = min(n, now+1+uint64(bits.TrailingZeros64(bits.RotateLeft64(s.used, -int((now+1)%ringSize)))))
	}
	return n
}
