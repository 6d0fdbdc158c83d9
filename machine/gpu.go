// Package machine is the GPU: SMs, crossbars, LLC slices, DRAM channels and
// address translation, and the one loop that advances them.
//
// A reader must know three types: GPU (the machine and its tick), Kernel (a
// launch and its progress) and Tenant (an application's share of the machine).
package machine

import (
	"math/bits"

	"heddle/engine"
	"heddle/machine/cache"
	"heddle/machine/noc"
	"heddle/machine/sm"
	"heddle/machine/vm"
	"heddle/mem"
	"heddle/mem/addrmap"
	"heddle/sheets"
	"heddle/stat"
)

// Tenant is an application's share of the machine.
type Tenant struct {
	Name   string
	SMs    []int // SMs its CTAs may run on
	Groups []int // channel groups it owns; nil: all, shared

	kernels []*Kernel // launched and not finished, oldest first
	busy    uint64    // cycles with a kernel on the GPU, up to since
	since   uint64
	owed    uint64   // cycle before which the last request of its SMs cannot be answered
	allowed []uint64 // bitset of its channels, for the isolation invariant
}

// Kernel is a launch.
type Kernel struct {
	sm.Kernel
	Name       string
	Start, End uint64 // first CTA issued; last store acknowledged
	Done       bool
	next, left int // next CTA to dispatch; CTAs not finished
	ready      uint64
	alone      bool // its CTAs are independent (isa.Independent)
	talks      bool // they may talk to each other
}

// GPU is the machine.
type GPU struct {
	Sheet   *sheets.Machine
	Tenants []*Tenant

	pace
	wheel *engine.Wheel // of the SM side
	below *engine.Wheel // of the memory side

	// overlap.go
	other     *otherCore // nil: there is one core
	apart     bool       // the two sides run at once
	perCycle  int        // requests the SM side makes in a cycle at most,
	perStride int        // and in a stride

	stride stride
	base   stages
	slab   *mem.Slab

	shared      *addrmap.Map           // of the whole machine
	maps        [mostMaps]*addrmap.Map // mapOf
	sm          []*sm.SM
	slice       []*cache.Slice
	channel     []*channel
	request     *noc.Crossbar // SMs and MMU to slices
	reply       *noc.Crossbar // slices to SMs and MMU
	mmu         *vm.MMU       // nil when the machine does not translate
	pager       *vm.Pager     // nil when it does
	tables      *vm.Tables
	tlbs        []*vm.TLB // L1 TLB of each SM
	localMapped []uint64  // per tenant: bytes of the local window that have frames
	dispatch    dispatcher

	// What moves while applications run: repartition.go, handover.go, copy.go.
	stack        []*stack // HBM stacks whose channels exchange pages; empty on machines without
	driver       *vm.Driver
	copies       copier
	own          owners
	hand         handover
	changing     int             // SMs changing hands
	saved        [][]*sm.Context // [tenant] CTAs off the machine, oldest first
	restoring    [][]*sm.Context // [SM] whose images are still in use
	imageEnd     []uint64        // [tenant] end of the images in the context window
	images       []int           // [tenant] in use
	turns        turns           // time slicing
	evictions    []eviction      // SMK: CTAs on their way off an SM
	Evicted      Evictions
	Repartitions []*Repartition
	smsMeter     meter // cycles in which an SM was changing hands,
	pagesMeter   meter // a channel was handed over or a page moved,
	eitherMeter  meter // either of both

	// Tables are the counters of every component kind.
	Tables []*stat.Table

	finished []*Kernel // since the last Run returned
	kernels  int       // launches so far
	running  int       // kernels launched and not finished
	watchdog uint64
	profile  bool
	err      error
	every    bool
	mmuPort  int
	reqFlits [2]int // flits of a request per sector: read, write
	repFlits [2]int // of a reply: data, acknowledgement
	bursts   [9]int // of DRAM, by sectors
	perBlock uint32 // DRAM accesses in a block of the address map
	nocClock engine.Clock
	llcClock engine.Clock
}

// pace is what the SM side changes in every cycle; it lies apart from what the memory
// side reads, which may be on another core.
type pace struct {
	_          [64]byte
	now        uint64
	progress   uint64 // last cycle at which a CTA ended, a kernel began or a plain store left an SM
	ahead      uint64 // cycle the memory side has already run; Never: none
	Overlapped uint64 // cycles in which two cores had work
	Strode     uint64 // cycles of strides
	_          [64]byte
}

// stages numbers the components of either side in the order they run within a
// cycle: the first index of each; channels and SMs begin at 0.
type stages struct {
	stack, slice, reply            int // memory side
	mmu, request, dispatch, driver int // SM side
}

// Run advances the machine until a kernel finishes, a program faults, the machine
// is stuck or cycle `until` is reached, and returns the kernels that finished.
//
// Within a cycle, in this order:
//
//  1. DRAM channels take requests from their slices, issue commands, return data;
//     HBM stacks migrate lines between their channels
//  2. LLC slices look up one request, answer hits and fills
//  3. the reply crossbar moves answers to SMs and MMU
//  4. SMs: L1 pipeline, load/store unit, operand collectors, warps that wake,
//     schedulers issue
//  5. the MMU looks up its TLB and advances page walks (a machine that does not
//     translate: pages of managed memory arrive)
//  6. the request crossbar moves requests to slices
//  7. the dispatcher gives free SMs their next CTA
//  8. the driver moves SMs, channels and pages between applications, ends turns, evicts
//     CTAs
//
// A stage that hands something to a later one is seen in the same cycle, to an
// earlier one in the next: that is the pipeline register between them. Stages 1 to
// 3 are the memory side, the others the SM side; overlap.go runs them at once, and
// stride.go several cycles of each before the next.
func (g *GPU) Run(until uint64) ([]*Kernel, error) {
	g.finished = g.finished[:0]
	defer g.other.stop()
	for g.err == nil && len(g.finished) == 0 {
		if g.now < g.stride.lead {
			g.take(g.stride.lead, until)
			continue
		}
		now := min(g.below.Next(), g.wheel.Next())
		if g.stuck(now, until) {
			return nil, g.diagnose(now)
		}
		if now >= until {
			g.now = until
			g.below.Skip(until)
			g.wheel.Skip(until)
			break
		}
		g.now = now
		if end := g.strideEnd(now, until); end > now {
			g.take(end, until)
			continue
		}
		if now != g.ahead {
			g.below.Run(now, g.visitMemory)
		}
		if g.overlaps(now, until) {
			g.overlap(now)
		} else {
			g.wheel.Run(now, g.visit)
		}
		g.now = now + 1
	}
	if g.err != nil && g.now != g.ahead { // as far as two cores are when they learn of it
		g.below.Run(g.now, g.visitMemory)
		g.ahead = g.now
	}
	return g.finished, g.err
}

// visitMemory runs one component of the memory side at the current cycle and
// returns when it wants to run next.
func (g *GPU) visitMemory(i int) uint64 {
	now, b := g.below.Now(), &g.base
	switch {
	case i < b.stack:
		return g.tickChannel(g.channel[i], now)
	case i < b.slice:
		return g.tickStack(g.stack[i-b.stack], now)
	case i < b.reply:
		return g.tickSlice(i-b.slice, now)
	}
	return g.tickReply(now)
}

// visit is visitMemory for the SM side.
func (g *GPU) visit(i int) uint64 {
	now, b := g.wheel.Now(), &g.base
	switch {
	case i < b.mmu:
		return g.tickSM(i, now)
	case i < b.request:
		return g.tickMMU(now)
	case i < b.dispatch:
		return g.tickRequest(now)
	case i < b.driver:
		return g.tickDispatch(now)
	}
	return g.tickDriver(now)
}

// Now is the current core cycle.
func (g *GPU) Now() uint64 { return g.now }

func (g *GPU) tickSM(i int, now uint64) uint64 {
	next := g.runSM(i, now)
	s := g.sm[i]
	if len(s.Done) > 0 {
		g.retire(s, now)
	}
	if s.Err != nil && g.err == nil {
		g.err = s.Err
	}
	return next
}

// runSM is tickSM without what concerns others than the SM.
func (g *GPU) runSM(i int, now uint64) uint64 {
	s := g.sm[i]
	next := s.Due()
	if next <= now || g.every {
		next = s.Tick(now)
	}
	if s.Out().Len() == 0 {
		return next
	}
	if s.LinkFree() <= now && g.inject(i, *s.Out().Head(), now) {
		s.Sent(now)
		next = min(next, s.Due())
	}
	if s.Out().Len() > 0 {
		next = min(next, max(now+1, s.LinkFree()))
	}
	return next
}

// inject sends a request of an SM into the crossbar; false when its input queue is full.
func (g *GPU) inject(port int, h int32, now uint64) bool {
	r := &g.slab.R[h]
	flits := g.flitsOf(r)
	if !g.request.CanPush(port, flits) {
		return false
	}
	r.Slice = int16(g.mapOf(r.Line).Slice(r.Line))
	if g.stride.on {
		g.stride.departs(g.sm[port].Lane(), port, h, flits, now)
		return true
	}
	g.enter(port, h, r, flits, now)
	return true
}

// injectSorted sends a request of the MMU or the copy engine into their crossbar port;
// false when the port's queue for the request's LLC slice is full.
func (g *GPU) injectSorted(r mem.Req, now uint64) bool {
	r.Born, r.SM = now, -1
	r.Slice = int16(g.mapOf(r.Line).Slice(r.Line))
	flits := g.flitsOf(&r)
	if !g.request.CanPushTo(g.mmuPort, int(r.Slice), flits) {
		return false
	}
	h := g.slab.Get(0)
	g.slab.R[h] = r
	g.enter(g.mmuPort, h, &r, flits, now)
	return true
}

// enter puts a request, for which there is room, into the crossbar.
func (g *GPU) enter(port int, h int32, r *mem.Req, flits int, now uint64) {
	g.sent(r, now)
	g.request.Push(g.nocClock.Ticks(now), port, int(r.Slice), flits, h, r.Tenant)
	g.wheel.Wake(g.base.request, now)
}

// sent books a request that has left for the crossbar.
func (g *GPU) sent(r *mem.Req, now uint64) {
	if r.Op == mem.Write {
		g.progress = max(g.progress, now)
	}
	t := g.Tenants[r.Tenant]
	t.owed = max(t.owed, now+g.stride.pipeline)
}

// flitsOf is the length of a request's packet.
func (g *GPU) flitsOf(r *mem.Req) int {
	flits := g.reqFlits[0]
	if r.Op == mem.Write || r.Op == mem.AtomicOp || r.Op == mem.ReduceOp {
		flits = g.reqFlits[1]
	}
	return flits * bits.OnesCount8(r.Sectors)
}

func (g *GPU) tickRequest(now uint64) uint64 {
	if g.apart {
		return g.request.Switch(now)
	}
	next := g.nocTick(g.request, now)
	if g.handOver(now) {
		return now + 1
	}
	return next
}

// handOver gives slices the requests that have reached them; true when some are
// left for the next cycle.
func (g *GPU) handOver(now uint64) (more bool) {
	t := g.llcClock.Ticks(now)
	for k, word := range g.request.AvailableOutputs() {
		for ; word != 0; word &= word - 1 {
			o := k<<6 + bits.TrailingZeros64(word)
			s := g.slice[o]
			if !s.CanAccept(t) {
				more = true
				continue
			}
			h, _ := g.request.Pop(o)
			if _, left := g.request.Peek(o); left {
				more = true
			}
			g.checkIsolation(h, o)
			s.Accept(h, t)
			if !g.stride.on {
				g.below.Wake(g.base.slice+o, now+1)
			}
		}
	}
	return more
}

func (g *GPU) tickSlice(i int, now uint64) uint64 {
	s, t := g.slice[i], g.llcClock.Ticks(now)
	next := t + 1 // where now lies between two clocks of the slice
	for k := g.llcClock.Ticks(now - min(now, 1)); k < t; {
		k++
		next = g.clockSlice(s, k, now)
	}
	if s.ToDRAM.Len() > 0 {
		g.below.Wake(g.channelOf(i), now)
	}
	return g.llcClock.Core(next)
}

// clockSlice is clock t of a slice: tags, and an answer that leaves. It returns the
// next clock with work.
func (g *GPU) clockSlice(s *cache.Slice, t, now uint64) uint64 {
	next := s.Tick(t)
	if s.Reply.Len() == 0 {
		return next
	}
	a := s.Reply.Head()
	if a.At > t || !g.answer(s.ID, a.H, now) {
		return min(next, max(a.At, t+1))
	}
	s.Reply.Pop()
	if s.Stalled() {
		s.Retry(t)
	}
	return t + 1
}

// answer sends a finished request back through the reply crossbar.
func (g *GPU) answer(slice int, h int32, now uint64) bool {
	r := &g.slab.R[h]
	port, flits := int(r.SM), g.repFlits[1]
	if port < 0 {
		port = g.mmuPort
	}
	if r.Op != mem.Write && r.Op != mem.ReduceOp {
		flits = g.repFlits[0] * bits.OnesCount8(r.Sectors)
	}
	if !g.reply.Push(g.nocClock.Ticks(now), slice, port, flits, h, r.Tenant) {
		return false
	}
	g.below.Wake(g.base.reply, now)
	return true
}

func (g *GPU) tickReply(now uint64) uint64 {
	next := g.nocTick(g.reply, now)
	for k, word := range g.reply.AvailableOutputs() {
		for ; word != 0; word &= word - 1 {
			o := k<<6 + bits.TrailingZeros64(word)
			h, _ := g.reply.Pop(o)
			if _, more := g.reply.Peek(o); more {
				next = now + 1
			}
			switch {
			case g.stride.on:
				g.stride.arrives(o, h, now)
			case g.apart:
				g.other.arrived = append(g.other.arrived, arrival{o, h})
			default:
				g.deliver(o, h, now)
			}
		}
	}
	return next
}

// deliver hands an answer to the SM, or the MMU, at a port of the reply crossbar.
func (g *GPU) deliver(port int, h int32, now uint64) {
	if port == g.mmuPort {
		g.answerMMU(h, now)
		g.wheel.Wake(g.base.mmu, now)
		return
	}
	g.sm[port].Deliver(h, now)
	g.wheel.Wake(port, g.sm[port].Due())
}

// nocTick advances a crossbar to core cycle now and returns the core cycle of its
// next work. A crossbar needs every clock while packets wait in it.
func (g *GPU) nocTick(x *noc.Crossbar, now uint64) uint64 {
	t := g.nocClock.Ticks(now)
	next := t + 1
	for k := g.nocClock.Ticks(now-min(now, 1)) + 1; k < t; k++ { // a crossbar faster than the SMs
		x.Tick(k)
	}
	if now == 0 || g.nocClock.Ticks(now-1) < t {
		next = x.Tick(t)
	}
	return g.nocClock.Core(next)
}

func (g *GPU) tickMMU(now uint64) uint64 {
	if g.mmu == nil {
		return g.tickPager(now)
	}
	next := g.mmu.Tick(now)
	for {
		r, ok := g.mmu.PopReply()
		if !ok {
			break
		}
		next = now + 1 // there is room again for what waited behind it
		g.sm[r.SM].Translated(r.Tenant, r.VPN, r.PPN, now)
		g.wheel.Wake(int(r.SM), now)
	}
	if err := g.mmu.Err(); err != nil && g.err == nil {
		g.err = err
	}
	for n := g.mmu.Reads(); n > 0; n-- { // a walker waits for its own slice only
		next = now + 1
		addr, tenant, walker := g.mmu.PeekRead()
		line := addr &^ uint64(g.Sheet.LLC.Line-1)
		sector := (addr - line) / uint64(g.Sheet.LLC.Sector)
		sent := g.injectSorted(mem.Req{Line: line, Tag: walker, Sectors: 1 << sector, Op: mem.Walk, Tenant: tenant}, now)
		g.mmu.TakeRead(sent)
	}
	return min(next, g.copies.send(now))
}

// answerMMU takes an answer at the MMU's port: of a page walk, or of the copy
// engine that shares the port.
func (g *GPU) answerMMU(h int32, now uint64) {
	r := &g.slab.R[h]
	if r.Op == mem.Walk {
		g.mmu.ReadDone(now, r.Tag)
	} else {
		g.copies.answered(r, now)
	}
	g.slab.Put(0, h)
}
