package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/isa"
)

// notReady marks a register whose load is under way.
const notReady = ^uint32(0)

type warpState uint8

const (
	free warpState = iota
	running
	atBarrier // waits at a barrier
	fenced    // waits for its stores
	copying   // waits for its asynchronous copies (Await)
	finishing // has exited; loads or stores are still out
	restoring // its context is being loaded
	asleep    // wakes at a known cycle (nanosleep)
	inAtomic  // waits until its atomic is performed (issueConfig.atomicWait)
)

// warp is a resident warp.
type warp struct {
	code  *isa.Code
	ready []uint32 // per register: cycle, counted from t0, at which a dependent may issue
	exec  isa.CTA
	late  []kept // stores that have been executed and not issued, the oldest first
	place
	in            int16 // warp number within the CTA
	state         warpState
	cause         Cause
	k             *Kernel
	progress      *Progress            // of the kernel, where this SM counts
	row           *[numCounters]uint64 // the tenant's counters on this SM
	t0            uint64
	since         uint64 // cycle of the last issue
	fence         uint32 // cycle, counted from t0, in which its fence lets it go on, if its accesses do
	loads, stores int32  // memory instructions, store packets in flight
	copies        asyncCopies
	cta           int16
	buf           uint8 // instructions left in the fetch buffer
	watched       bool  // there is a quota, or a profile of its kernel
}

// setReady sets the cycle, counted from t0, from which dependents of n registers may issue. The names of the
// registers are in the code from a place on.
func (wp *warp) setReady(from uint32, n uint8, at uint32) {
	names := wp.code.Regs
	for end := from + uint32(n); from < end; from++ {
		wp.ready[names[from]] = at
	}
}

// operands is the cycle, counted from t0, from which on an instruction has all registers that it reads or writes, or
// notReady. The computer's branch prediction cannot predict their number. So four are always looked at; those of
// another instruction are masked out.
func (wp *warp) operands(in *isa.Instr) uint32 {
	names, ready := wp.code.Regs[in.Reg:], wp.ready
	if in.NReg > 4 || len(names) < 4 {
		var t uint32
		for _, r := range names[:in.NReg] {
			t = max(t, ready[r])
		}
		return t
	}
	four := (*[4]uint16)(names)
	some := &operandMasks[in.NReg&7]
	return max(max(ready[four[0]]&some[0], ready[four[1]]&some[1]), max(ready[four[2]]&some[2], ready[four[3]]&some[3]))
}

// operandMasks has, by the number of operands, ones for the operands that exist.
var operandMasks = [8][4]uint32{
	1: {^uint32(0)},
	2: {^uint32(0), ^uint32(0)},
	3: {^uint32(0), ^uint32(0), ^uint32(0)},
	4: {^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)},
}

// threads is the number of threads of a warp, the last one of a CTA may be partial.
func (wp *warp) threads() int {
	return min(isa.Lanes, wp.k.Geo.Threads-int(wp.in)*isa.Lanes)
}

// warps are the warp slots of an SM: the warps that may issue, and the times at which the others will. A
// set of slots is a mask with a bit for each.
type warps struct {
	ready  uint64               // may issue now
	stale  uint64               // have branched, and the instructions in their buffer are wrong
	halted uint64               // issue no more: their CTA is being evicted, or the quota of their tenant is used up
	wants  [isa.NumUnits]uint64 // by the unit of the next instruction
	wakes  ring                 // those that wake, by cycle
	wake   [64]uint64           // cycle at which the next instruction's operands are there
	unit   [64]isa.Unit         // of the next instruction
	older  [64]uint64           // launched before the one in a slot
	age    [64]uint64           // launch order
	slot   [64]warp
	// Cycles from the arrival of the last warp at a barrier, and cycles for each warp.
	barrier, barrierWarp uint64
}

func (ws *warps) build(cfg *issueConfig) {
	ws.barrier, ws.barrierWarp = cfg.barrier, cfg.barrierWarp
	ws.wants[0] = ^uint64(0)
	for i := range ws.wake {
		ws.wake[i] = engine.Never
	}
}

// bit is the mask of slot w. Slots are below 64, so that the compiler need not provide for more.
func bit(w int) uint64 { return 1 << (w & 63) }

// sleep puts a warp into the ring.
func (ws *warps) sleep(w int, now uint64) {
	ws.wakes.put(w, min(ws.wake[w], now+ringSize-1))
}

// next is the earliest cycle after now at which one wakes.
func (ws *warps) next(now uint64) uint64 {
	if ws.wakes.used == 0 {
		return engine.Never
	}
	return now + 1 + ws.wakes.wait(now+1)
}

// plan finds out when the warp's next instruction can issue: when it has been
// fetched and every register it reads or writes is ready. The warp may issue from
// cycle now on: a caller in the issue stage, where this cycle is over for the
// warp, passes the next one.
func (ws *warps) plan(w int, wp *warp, fetch, now uint64) {
	in := &wp.code.Instr[wp.pc]
	t := wp.operands(in)
	if t == notReady {
		wp.cause, ws.wake[w] = MemoryWait, engine.Never
		return
	}
	at := wp.t0 + uint64(t)
	if u := in.Unit; ws.unit[w] != u {
		ws.wants[ws.unit[w]] &^= bit(w)
		ws.wants[u] |= bit(w)
		ws.unit[w] = u
	}
	wp.cause = Dependency
	if fetch >= at {
		at, wp.cause = fetch, Fetch
	}
	ws.planAt(w, at, now)
}

// planAt makes the warp ready in cycle at.
func (ws *warps) planAt(w int, at, now uint64) {
	ws.wake[w] = at
	if at <= now {
		ws.ready |= bit(w)
		return
	}
	ws.sleep(w, now)
}

// stop keeps the warp from issuing until it is planned again.
func (ws *warps) stop(w int, state warpState) {
	ws.slot[w].state, ws.wake[w] = state, engine.Never
}

// doze keeps the warp from issuing before a cycle.
func (ws *warps) doze(w int, until, now uint64) {
	ws.slot[w].state, ws.wake[w] = asleep, until
	ws.sleep(w, now)
}

// awake plans a warp that has slept long enough.
func (ws *warps) awake(w int, now uint64) {
	wp := &ws.slot[w]
	wp.state = running
	if ws.plan(w, wp, now, now); wp.cause == Fetch {
		wp.cause = Asleep
	}
}

// resume plans a warp that another part had stopped.
func (ws *warps) resume(w int, cause Cause, now uint64) { ws.resumeAt(w, cause, now+1, now) }

// resumeAt lets it continue in cycle at.
func (ws *warps) resumeAt(w int, cause Cause, at, now uint64) {
	wp := &ws.slot[w]
	wp.state = running
	ws.plan(w, wp, at, now)
	if wp.cause != MemoryWait {
		wp.cause = cause
	}
}

// unfence continues a warp when all of its memory operations have been performed.
func (ws *warps) unfence(w int, now uint64) {
	if wp := &ws.slot[w]; wp.loads == 0 && wp.stores == 0 {
		ws.resumeAt(w, AtFence, max(now+1, wp.t0+uint64(wp.fence)), now)
	}
}

// launched puts warp slot w into the order of launches.
func (ws *warps) launched(w int, age uint64) {
	ws.age[w], ws.older[w] = age, 0
	for v, a := range ws.age {
		if a < age || a == age && v < w {
			ws.older[w] |= 1 << v
			ws.older[v] &^= 1 << w
		} else if v != w {
			ws.older[v] |= 1 << w
		}
	}
}

// outlast says that the warps of k in some slots have more than most instructions to
// issue, or one of them more than n.
func (ws *warps) outlast(slots uint64, k *Kernel, n, most int) bool {
	sum := 0
	for m := slots; m != 0; m &= m - 1 {
		wp := &ws.slot[bits.TrailingZeros64(m)]
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

// arrive puts the warp at a barrier of its CTA and opens it if it was the last.
func (ws *warps) arrive(w int, b *block, st *isa.Step, fetch, now uint64) {
	wp := &ws.slot[w]
	wp.row[Barriers]++
	bar := &b.bar[st.Bar&15]
	bar.expect = int(st.Expect)
	bar.threads += wp.threads()
	bar.arrived++
	bar.taken = max(bar.taken, now) + ws.barrierWarp
	if st.Arrive { // bar.arrive does not wait
		ws.plan(w, wp, fetch, now+1)
	} else {
		ws.stop(w, atBarrier)
		bar.slots |= 1 << w
	}
	ws.openBarriers(b, now)
}

// openBarriers opens every barrier at which all have arrived: the threads that it expects, or every warp of the CTA;
// hardware counts exited warps as arrived.
func (ws *warps) openBarriers(b *block, now uint64) {
	for i := range b.bar {
		bar := &b.bar[i]
		if bar.arrived == 0 {
			continue
		}
		if bar.expect > 0 && bar.threads >= bar.expect || bar.expect == 0 && bar.arrived >= b.live-ws.in(b, finishing) {
			ws.open(bar, now)
		}
	}
}

// in is how many warps of a CTA are in a state.
func (ws *warps) in(b *block, state warpState) int {
	n := 0
	for m := b.slots; m != 0; m &= m - 1 {
		if ws.slot[bits.TrailingZeros64(m)].state == state {
			n++
		}
	}
	return n
}

func (ws *warps) open(bar *barrier, now uint64) {
	at := max(bar.taken, now) + ws.barrier
	for m := bar.slots; m != 0; m &= m - 1 {
		ws.resumeAt(bits.TrailingZeros64(m), AtBarrier, at, now)
	}
	*bar = barrier{}
}
