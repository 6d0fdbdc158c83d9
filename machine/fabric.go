package machine

import (
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/noc"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
)

// fabric carries requests from ports, SMs and the MMU, to the LLC slices and answers back, and
// knows where a line lies. Ports are numbered SMs first, then the MMU, then the slices, which
// ask each other where they hold copies of each other's lines (hops.go).
type fabric struct {
	tenants []*Tenant
	slices  []*cache.Slice
	tables  *vm.Tables // nil where addresses are not translated
	wakeups timing.Wakeups

	sinks  []sink       // by port up to the MMU's: where its answers go
	direct sink         // and those of requests that come through no network (mem.NoPort)
	remote remoteMemory // takes requests for memory that stays on the host

	request    noc.Network   // of ports to the slices near them
	crossbar   *noc.Crossbar // request, where it is one, whose inputs of SMs have a queue each; else nil
	reply      noc.Network   // and back
	lengths    lengths       // of packets in them
	interSlice interSlice    // between slices
	slab       *mem.Slab     // of requests
	layouts    layouts
	mmuPort    int // -1: the machine does not translate
	nocClock   engine.Clock
	llcClock   engine.Clock
	pipeline   uint64 // cycles a request spends in an LLC slice's pipeline
}

// sink takes the answers that come to a port. The component that asks there is registered when the machine is built.
type sink interface {
	// Deliver takes the answer to a request, which it frees.
	Deliver(h int32, now uint64)
}

// remoteMemory is memory that requests of ports reach past the LLC (mem.Remote).
type remoteMemory interface {
	// Accept takes a request, whose answer comes to its port; false when there is no room.
	Accept(h int32, now uint64) bool
}

// lengths are the lengths of packets in a network, in flits, by the number of sectors.
type lengths struct {
	read, write, data [9]int32
	ack               int32
	entry             int32 // the answer to a page walk; 0: as long as any read's
	header            int   // bytes
	exact             bool  // a write is as long as what it writes,
	network           noc.Network
}

// request is the length of a request.
func (l *lengths) request(r *mem.Req) int {
	n := bits.OnesCount8(r.Sectors)
	if r.Op == mem.Write || r.Op == mem.AtomicOp || r.Op == mem.ReduceOp {
		if l.exact && r.Bytes > 0 {
			return l.network.Flits(l.header + int(r.Bytes))
		}
		return int(l.write[n&15%9])
	}
	return int(l.read[n&15%9])
}

// answer is the length of its answer.
func (l *lengths) answer(r *mem.Req) int {
	if r.Op == mem.Walk && l.entry > 0 {
		return int(l.entry)
	}
	if r.Op == mem.Write || r.Op == mem.ReduceOp {
		return int(l.ack)
	}
	return int(l.data[bits.OnesCount8(r.Sectors)&15%9])
}

// inject sends a request of an SM into the network; false when its input is full.
func (f *fabric) inject(port int, h int32, now uint64) bool {
	r := &f.slab.R[h]
	if r.Line&mem.Remote != 0 {
		return f.remote.Accept(h, now)
	}
	flits := f.lengths.request(r)
	if f.interSlice.entry != nil {
		return f.injectNear(port, h, r, flits, now)
	}
	if f.crossbar != nil && !f.crossbar.CanPush(f.nocClock.Ticks(now), port, 0, flits) { // wherever it goes
		return false
	}
	r.Slice = int16(f.layouts.slice(r.Line))
	return f.enter(f.request, port, int(r.Slice), h, r, flits, now)
}

// put is inject into a crossbar that is known to have room, and that the caller runs.
func (f *fabric) put(port int, h int32, now uint64) {
	r := &f.slab.R[h]
	r.Slice = int16(f.layouts.slice(r.Line))
	f.request.Push(f.nocClock.Ticks(now), port, int(r.Slice), f.lengths.request(r), h, r.Tenant)
	f.sent(r, now)
}

// injectMMU sends a request of the MMU or the copy engine into their port; false when the
// port has no room for a request to its LLC slice.
func (f *fabric) injectMMU(r mem.Req, now uint64) bool {
	r.Born, r.Port = now, mem.Port(f.mmuPort)
	r.Slice = int16(f.layouts.slice(r.Line))
	net, in, to := f.request, f.mmuPort, int(r.Slice)
	if f.interSlice.entry != nil {
		net, in, to = f.interSlice.enterMMU(f, to)
	}
	flits := f.lengths.request(&r)
	if !net.CanPush(f.nocClock.Ticks(now), in, to, flits) {
		return false
	}
	h := f.slab.Get()
	f.slab.R[h] = r
	f.enter(net, in, to, h, &r, flits, now)
	return true
}

// enter puts a request into a network; false when there is no room.
func (f *fabric) enter(net noc.Network, in, out int, h int32, r *mem.Req, flits int, now uint64) bool {
	if !net.Push(f.nocClock.Ticks(now), in, out, flits, h, r.Tenant) {
		return false
	}
	f.sent(r, now)
	f.wakeups.WakeRequest(now)
	return true
}

// sent books a request that has left for the network.
func (f *fabric) sent(r *mem.Req, now uint64) {
	t := f.tenants[f.owner(r)]
	t.owed = max(t.owed, now+f.pipeline)
}

// owner is the tenant a request is of, or for whom it moves something.
func (f *fabric) owner(r *mem.Req) mem.TenantID {
	if n := mem.TenantID(len(f.tenants)); r.Tenant >= n {
		return r.Tenant - n
	}
	return r.Tenant
}

func (f *fabric) tickRequest(now uint64) uint64 {
	next := f.advance(f.request, now)
	if f.interSlice.entry != nil {
		return min(next, f.routeRequests(now))
	}
	if f.handOver(now) {
		return now + 1
	}
	return next
}

// handOver gives slices the requests that have reached them; true when some are
// left for the next cycle.
func (f *fabric) handOver(now uint64) (more bool) {
	t := f.llcClock.Ticks(now)
	for k, word := range f.request.AvailableOutputs() {
		for ; word != 0; word &= word - 1 {
			o := k<<6 + bits.TrailingZeros64(word)
			s := f.slices[o]
			if !s.CanAccept(t) {
				more = true
				continue
			}
			h, _ := f.request.Pop(o, now)
			if _, left := f.request.Peek(o); left || f.request.Again() {
				more = true
			}
			f.checkIsolation(h, o)
			f.wakeTags(o, s.Accept(h, t), now)
		}
	}
	return more
}

// wakeTags runs a slice when a request that it has just taken reaches its tags, at a clock of slices.
func (f *fabric) wakeTags(slice int, at, now uint64) {
	f.wakeups.WakeSlice(slice, max(now+1, f.llcClock.Core(at)))
}

// answer sends a finished request back.
func (f *fabric) answer(slice int, h int32, now uint64) bool {
	r := &f.slab.R[h]
	if r.Port == mem.NoPort {
		f.direct.Deliver(h, now)
		return true
	}
	if f.interSlice.entry != nil && !f.nearTurn(slice) {
		return false
	}
	if !f.reply.Push(f.nocClock.Ticks(now), slice, int(r.Port), f.lengths.answer(r), h, r.Tenant) {
		return false
	}
	f.wakeups.WakeReply(now)
	return true
}

func (f *fabric) tickReply(now uint64) uint64 {
	next := engine.Never
	if f.interSlice.entry != nil {
		next = f.routeReplies(now)
	}
	next = min(next, f.advance(f.reply, now))
	for k, word := range f.reply.AvailableOutputs() {
		for ; word != 0; word &= word - 1 {
			o := k<<6 + bits.TrailingZeros64(word)
			h, _ := f.reply.Pop(o, f.nocClock.Ticks(now))
			if _, more := f.reply.Peek(o); more || f.reply.Again() {
				next = now + 1
			}
			f.sinks[o].Deliver(h, now)
		}
	}
	return next
}

// advance advances a network to core cycle now and returns the core cycle of its
// next work.
func (f *fabric) advance(x noc.Network, now uint64) uint64 {
	t := f.nocClock.Ticks(now)
	next := t + 1
	for k := f.nocClock.Ticks(now-min(now, 1)) + 1; k < t; k++ { // a network faster than the SMs
		x.Between(k)
	}
	if now == 0 || f.nocClock.Ticks(now-1) < t {
		next = x.Tick(t)
	}
	return f.nocClock.Core(next)
}

// syncCounters brings the counters of the networks up to a cycle that has not run.
func (f *fabric) syncCounters(now uint64) {
	t := f.nocClock.Ticks(now)
	for _, n := range [...]noc.Network{f.request, f.reply, f.interSlice.request, f.interSlice.answer} {
		if n != nil {
			n.Settle(t)
		}
	}
}

// checkIsolation panics, in builds with the invariants tag, when a request of an
// application with channels of its own reaches a slice of another's.
func (f *fabric) checkIsolation(h int32, slice int) {
	if !invariants.On {
		return
	}
	r := &f.slab.R[h]
	owner := f.owner(r)
	t := f.tenants[owner]
	if int(r.Port) == f.mmuPort && r.Op != mem.Walk || r.Origin == mem.OfPartitionCopy {
		return // a page being moved leaves or enters by right
	}
	if f.tables != nil {
		f.tables.CheckAccess(owner, r.Line, r.Op != mem.Read && r.Op != mem.Walk)
	}
	ch := f.layouts.channelOf(slice)
	if t.allowed != nil && t.allowed[ch>>6]>>(ch&63)&1 == 0 {
		panic("isolation: a request of " + t.Name + " entered a channel it does not own")
	}
}
