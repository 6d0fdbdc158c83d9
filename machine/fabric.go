package machine

import (
	"math/bits"

	"heddle/engine"
	"heddle/internal/invariants"
	"heddle/machine/cache"
	"heddle/machine/noc"
	"heddle/machine/sm"
	"heddle/machine/vm"
	"heddle/mem"
)

// fabric carries requests from SMs and MMU to the LLC slices and answers back, and knows
// where a line lies.
type fabric struct {
	tenants     []*Tenant
	sms         []*sm.SM
	slices      []*cache.Slice
	tables      *vm.Tables // nil where addresses are not translated
	translation *translation
	lookahead   *lookahead
	agenda      agenda

	request  *noc.Crossbar // SMs and MMU to slices
	reply    *noc.Crossbar // slices to SMs and MMU
	slab     *mem.Slab     // of requests
	layouts  layouts
	mmuPort  int    // -1: the machine does not translate
	reqFlits [2]int // flits of a request per sector: read, write
	repFlits [2]int // of a reply: data, acknowledgement
	nocClock engine.Clock
	llcClock engine.Clock
	pipeline uint64 // cycles a request spends in an LLC slice's pipeline
}

// inject sends a request of an SM into the crossbar; false when its input queue is full.
func (f *fabric) inject(port int, h int32, now uint64) bool {
	r := &f.slab.R[h]
	flits := f.flitsOf(r)
	if !f.request.CanPush(port, flits) {
		return false
	}
	r.Slice = int16(f.layouts.slice(r.Line))
	if f.lookahead.stride.running {
		f.lookahead.departs(f.sms[port].Lane(), port, h, flits, now)
		return true
	}
	f.enter(port, h, r, flits, now)
	return true
}

// injectSorted sends a request of the MMU or the copy engine into their crossbar port;
// false when the port's queue for the request's LLC slice is full.
func (f *fabric) injectSorted(r mem.Req, now uint64) bool {
	r.Born, r.Port = now, mem.Port(f.mmuPort)
	r.Slice = int16(f.layouts.slice(r.Line))
	flits := f.flitsOf(&r)
	if !f.request.CanPushTo(f.mmuPort, int(r.Slice), flits) {
		return false
	}
	h := f.slab.Get(0)
	f.slab.R[h] = r
	f.enter(f.mmuPort, h, &r, flits, now)
	return true
}

// enter puts a request, for which there is room, into the crossbar.
func (f *fabric) enter(port int, h int32, r *mem.Req, flits int, now uint64) {
	f.sent(r, now)
	f.request.Push(f.nocClock.Ticks(now), port, int(r.Slice), flits, h, r.Tenant)
	f.agenda.wakeRequest(now)
}

// sent books a request that has left for the crossbar.
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

// flitsOf is the length of a request's packet.
func (f *fabric) flitsOf(r *mem.Req) int {
	flits := f.reqFlits[0]
	if r.Op == mem.Write || r.Op == mem.AtomicOp || r.Op == mem.ReduceOp {
		flits = f.reqFlits[1]
	}
	return flits * bits.OnesCount8(r.Sectors)
}

func (f *fabric) tickRequest(now uint64) uint64 {
	if f.lookahead.overlapping {
		return f.request.Switch(now)
	}
	next := f.advance(f.request, now)
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
			h, _ := f.request.Pop(o)
			if _, left := f.request.Peek(o); left {
				more = true
			}
			f.checkIsolation(h, o)
			s.Accept(h, t)
			if !f.lookahead.stride.running {
				f.agenda.wakeSlice(o, now+1)
			}
		}
	}
	return more
}

// answer sends a finished request back through the reply crossbar.
func (f *fabric) answer(slice int, h int32, now uint64) bool {
	r := &f.slab.R[h]
	port, flits := int(r.Port), f.repFlits[1]
	if r.Op != mem.Write && r.Op != mem.ReduceOp {
		flits = f.repFlits[0] * bits.OnesCount8(r.Sectors)
	}
	if !f.reply.Push(f.nocClock.Ticks(now), slice, port, flits, h, r.Tenant) {
		return false
	}
	f.agenda.wakeReply(now)
	return true
}

func (f *fabric) tickReply(now uint64) uint64 {
	next := f.advance(f.reply, now)
	for k, word := range f.reply.AvailableOutputs() {
		for ; word != 0; word &= word - 1 {
			o := k<<6 + bits.TrailingZeros64(word)
			h, _ := f.reply.Pop(o)
			if _, more := f.reply.Peek(o); more {
				next = now + 1
			}
			switch {
			case f.lookahead.stride.running:
				f.lookahead.arrives(o, h, now)
			case f.lookahead.overlapping:
				f.lookahead.keep(o, h)
			default:
				f.deliver(o, h, now)
			}
		}
	}
	return next
}

// deliver hands an answer to the SM, or the MMU, at a port of the reply crossbar.
func (f *fabric) deliver(port int, h int32, now uint64) {
	if port == f.mmuPort {
		f.translation.answer(h, now)
		f.agenda.wakeMMU(now)
		return
	}
	f.sms[port].Deliver(h, now)
	f.agenda.wakeSM(port, f.sms[port].Due())
}

// advance advances a crossbar to core cycle now and returns the core cycle of its
// next work. A crossbar needs every clock while packets wait in it.
func (f *fabric) advance(x *noc.Crossbar, now uint64) uint64 {
	t := f.nocClock.Ticks(now)
	next := t + 1
	for k := f.nocClock.Ticks(now-min(now, 1)) + 1; k < t; k++ { // a crossbar faster than the SMs
		x.Tick(k)
	}
	if now == 0 || f.nocClock.Ticks(now-1) < t {
		next = x.Tick(t)
	}
	return f.nocClock.Core(next)
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
	if int(r.Port) == f.mmuPort && r.Op != mem.Walk {
		return // a page being moved leaves or enters by right
	}
	if f.tables != nil {
		f.tables.CheckAccess(owner, r.Line)
	}
	ch := f.layouts.channelOf(slice)
	if t.allowed != nil && t.allowed[ch>>6]>>(ch&63)&1 == 0 {
		panic("isolation: a request of " + t.Name + " entered a channel it does not own")
	}
}
