package interconnect

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

// Fabric carries requests from ports to the LLC slices and answers back, and knows where a line lies. Ports
// are numbered: SMs first, then CPU cores, the MMU, and the slices, which ask each other where they hold
// copies of each other's lines (hops.go).
type Fabric struct {
	Accounts []*Account   // of each application
	Slab     *mem.Slab    // the requests under way
	Layouts  Layouts      // where lines lie
	Tables   *vm.Tables   // nil where addresses are not translated
	Sinks    []Sink       // by port up to the MMU's: the receiver of its answers
	Direct   Sink         // receiver of answers to requests that came through no network (mem.NoPort)
	Remote   RemoteMemory // takes requests for memory that stays on the host

	Slices   []*cache.Slice
	Between  InterSlice
	Lengths  Lengths // of packets in the networks of ports
	LLCClock engine.Clock
	Pipeline uint64 // core cycles that a request spends in an LLC slice's pipeline

	request  noc.Network   // of ports to the slices near them
	crossbar *noc.Crossbar // request, where it is one, whose inputs of SMs have a queue each; else nil
	reply    noc.Network   // and back
	nocClock engine.Clock
	mmuPort  int // -1: the machine does not translate
	wakeups  timing.Wakeups
}

// Account is the interconnect's record of an application.
type Account struct {
	Name     string
	Owed     uint64   // cycle before which the last request of its SMs cannot be answered
	Channels []uint64 // bitset of its channels; nil: it shares all of them
}

// Owns says whether a channel belongs to the application.
func (a *Account) Owns(channel int) bool {
	return a.Channels == nil || a.Channels[channel>>6]>>(channel&63)&1 != 0
}

// Sink takes the answers that come to a port. The component behind a port is registered when the machine is built.
type Sink interface {
	// Deliver takes the answer to a request, and frees the request.
	Deliver(h int32, now uint64)
}

// RemoteMemory is memory that requests of ports reach past the LLC (mem.Remote).
type RemoteMemory interface {
	// Accept takes a request, whose answer comes to its port; false if there is no room.
	Accept(h int32, now uint64) bool
}

// Lengths are the lengths of packets in a network, in flits, by the number of sectors.
type Lengths struct {
	read, write, Data [9]int32
	ack               int32
	entry             int32 // the answer to a page walk; 0: as long as any read's
	header            int   // bytes
	exact             bool  // a write is as long as what it writes,
	network           noc.Network
}

// request is the length of a request.
func (l *Lengths) request(r *mem.Req) int {
	n := bits.OnesCount8(r.Sectors)
	if r.Op == mem.Write || r.Op == mem.AtomicOp || r.Op == mem.ReduceOp {
		if l.exact && r.Bytes > 0 {
			return l.network.Flits(l.header + int(r.Bytes))
		}
		return int(l.write[n&15%9])
	}
	return int(l.read[n&15%9])
}

// Answer is the length of a request's answer.
func (l *Lengths) Answer(r *mem.Req) int {
	if r.Op == mem.Walk && l.entry > 0 {
		return int(l.entry)
	}
	if r.Op == mem.Write || r.Op == mem.ReduceOp {
		return int(l.ack)
	}
	return int(l.Data[bits.OnesCount8(r.Sectors)&15%9])
}

// Inject sends a request of an SM into the network; false if its input is full.
func (f *Fabric) Inject(port int, h int32, now uint64) bool {
	r := &f.Slab.R[h]
	if r.Line&mem.Remote != 0 {
		return f.Remote.Accept(h, now)
	}
	flits := f.Lengths.request(r)
	if f.hops() {
		return f.injectNear(port, h, r, flits, now)
	}
	if f.crossbar != nil && !f.crossbar.CanPush(f.nocClock.Ticks(now), port, 0, flits) { // wherever it goes
		return false
	}
	r.Slice = int16(f.Layouts.Slice(r.Line))
	return f.enter(f.request, port, int(r.Slice), h, r, flits, now)
}

// Put is Inject into a crossbar that is known to have room, and whose next tick the caller schedules.
func (f *Fabric) Put(port int, h int32, now uint64) {
	r := &f.Slab.R[h]
	r.Slice = int16(f.Layouts.Slice(r.Line))
	f.request.Push(f.nocClock.Ticks(now), port, int(r.Slice), f.Lengths.request(r), h, r.Tenant)
	f.sent(r, now)
}

// Room is the number of flits that an SM can send now, to whatever slice; 0 if requests pass several slices, or if
// the network is not one switch.
func (f *Fabric) Room(now uint64) int {
	if f.crossbar == nil || f.hops() {
		return 0
	}
	return f.crossbar.Room(f.nocClock.Ticks(now))
}

// SectorFlits is the length in flits of a request for a sector: the longer of a read and a write.
func (f *Fabric) SectorFlits() int { return max(int(f.Lengths.read[1]), int(f.Lengths.write[1])) }

// Deliver hands the answer to a request that came through no network to its port.
func (f *Fabric) Deliver(h int32, now uint64) { f.Sinks[f.Slab.R[h].Port].Deliver(h, now) }

// InjectMMU sends a request of the MMU or the copy engine into their port; false when the
// port has no room for a request to its LLC slice.
func (f *Fabric) InjectMMU(r mem.Req, now uint64) bool {
	r.Born, r.Port = now, mem.Port(f.mmuPort)
	r.Slice = int16(f.Layouts.Slice(r.Line))
	net, in, to := f.request, f.mmuPort, int(r.Slice)
	if f.hops() {
		net, in, to = f.Between.enterMMU(f, to)
	}
	flits := f.Lengths.request(&r)
	if !net.CanPush(f.nocClock.Ticks(now), in, to, flits) {
		return false
	}
	h := f.Slab.Get()
	f.Slab.R[h] = r
	f.enter(net, in, to, h, &r, flits, now)
	return true
}

// enter puts a request into a network; false when there is no room.
func (f *Fabric) enter(net noc.Network, in, out int, h int32, r *mem.Req, flits int, now uint64) bool {
	if !net.Push(f.nocClock.Ticks(now), in, out, flits, h, r.Tenant) {
		return false
	}
	f.sent(r, now)
	f.wakeups.WakeRequest(now)
	return true
}

// sent records a request that has left for the network.
func (f *Fabric) sent(r *mem.Req, now uint64) {
	a := f.Accounts[f.Owner(r)]
	a.Owed = max(a.Owed, now+f.Pipeline)
}

// Owner is the application that made a request, or for which the request moves data.
func (f *Fabric) Owner(r *mem.Req) mem.TenantID {
	if n := mem.TenantID(len(f.Accounts)); r.Tenant >= n {
		return r.Tenant - n
	}
	return r.Tenant
}

// TickRequest moves requests to slices in core cycle now, and returns the next cycle with work.
func (f *Fabric) TickRequest(now uint64) uint64 {
	next := f.advance(f.request, now)
	if f.hops() {
		return min(next, f.routeRequests(now))
	}
	if f.handOver(now) {
		return now + 1
	}
	return next
}

// handOver gives slices the requests that have reached them; true when some are
// left for the next cycle.
func (f *Fabric) handOver(now uint64) (more bool) {
	t := f.LLCClock.Ticks(now)
	for k, word := range f.request.AvailableOutputs() {
		for ; word != 0; word &= word - 1 {
			o := k<<6 + bits.TrailingZeros64(word)
			s := f.Slices[o]
			if !s.CanAccept(t) {
				more = true
				continue
			}
			h, _ := f.request.Pop(o, now)
			if _, left := f.request.Peek(o); left || f.request.Again() {
				more = true
			}
			f.checkIsolation(h, o)
			f.WakeTags(o, s.Accept(h, t), now)
		}
	}
	return more
}

// WakeTags schedules a slice for the clock at which a request that it has just taken reaches its tags.
func (f *Fabric) WakeTags(slice int, at, now uint64) {
	f.wakeups.WakeSlice(slice, max(now+1, f.LLCClock.Core(at)))
}

// hops says that a request may pass several slices.
func (f *Fabric) hops() bool { return f.Between.Entry != nil }

// Answer sends a finished request back, to a port near the slice or over the network between slices; false if there
// is no room.
func (f *Fabric) Answer(slice int, h int32, far bool, now uint64) bool {
	if far {
		return f.answerFar(slice, h, now)
	}
	r := &f.Slab.R[h]
	if r.Port == mem.NoPort {
		f.Direct.Deliver(h, now)
		return true
	}
	if f.hops() && !f.nearTurn(slice) {
		return false
	}
	if !f.reply.Push(f.nocClock.Ticks(now), slice, int(r.Port), f.Lengths.Answer(r), h, r.Tenant) {
		return false
	}
	f.wakeups.WakeReply(now)
	return true
}

// TickReply moves answers to the requesting ports in core cycle now, and returns the next cycle with work.
func (f *Fabric) TickReply(now uint64) uint64 {
	next := engine.Never
	if f.hops() {
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
			f.Sinks[o].Deliver(h, now)
		}
	}
	return next
}

// advance advances a network to core cycle now and returns the core cycle of its
// next work.
func (f *Fabric) advance(x noc.Network, now uint64) uint64 {
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

// Settle brings the counters of the networks up to a cycle that has not run.
func (f *Fabric) Settle(now uint64) {
	t := f.nocClock.Ticks(now)
	for _, n := range [...]noc.Network{f.request, f.reply, f.Between.request, f.Between.answer} {
		if n != nil {
			n.Settle(t)
		}
	}
}

// checkIsolation panics, in builds with the invariants tag, when a request of an
// application with channels of its own reaches a slice of another's.
func (f *Fabric) checkIsolation(h int32, slice int) {
	if !invariants.On {
		return
	}
	r := &f.Slab.R[h]
	owner := f.Owner(r)
	a := f.Accounts[owner]
	if int(r.Port) == f.mmuPort && r.Op != mem.Walk || r.Origin == mem.OfPartitionCopy {
		return // a page being moved leaves or enters by right
	}
	if f.Tables != nil {
		f.Tables.CheckAccess(owner, r.Line, r.Op != mem.Read && r.Op != mem.Walk)
	}
	if !a.Owns(f.Layouts.ChannelOf(slice)) {
		panic("isolation: a request of " + a.Name + " entered a channel it does not own")
	}
}
