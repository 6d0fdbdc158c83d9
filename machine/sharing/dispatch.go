package sharing

import (
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/mem"
)

// Dispatcher hands CTAs to SMs, at most one per SM and cycle, and no more in all than the machine's rate: breadth
// first, as GPGPU-Sim does, or each SM those of its chunk (chunks.go); and records their ends.
type Dispatcher struct {
	tenants    []*Tenant
	sms        []*sm.SM
	contexts   *ContextStore
	holdings   *holdings
	evictor    *evictor
	turns      *TimeSlices
	replicas   *Replicas
	firstError *timing.FirstError
	clock      *timing.Clock
	wakeups    timing.Wakeups
	flushEach  bool // L1s are flushed at a kernel's end
	profile    bool // kernels keep stall cycles by PTX line
	apart      bool // SMs count the progress of kernels apart

	rate rate // of CTAs, of the machine

	parts   int     // chunks a grid is divided into; 0: none, CTAs go breadth first
	present [][]int // [tenant][partition] SMs the tenant has there

	Finished []*Kernel // since the machine's Run was called
	launched int       // kernels so far,
	running  int       // and those not finished
}

// Running is the number of kernels that have been launched and have not ended.
func (d *Dispatcher) Running() int { return d.running }

// Open says that SM i is to be asked whether it takes a CTA; Close that it takes none before something is new.
func (d *Dispatcher) Open(i int) bool { return d.holdings.open[i>>6]>>(i&63)&1 != 0 }

// Close is described at Open.
func (d *Dispatcher) Close(i int) { d.holdings.open[i>>6] &^= 1 << (i & 63) }

// Before says that SM i gets a CTA before SM j if both ask in the same cycle.
func (d *Dispatcher) Before(i, j int) bool { return d.rate.before(i, j) }

// RateFree is the first cycle in which the machine's rate allows another CTA.
func (d *Dispatcher) RateFree() uint64 { return d.rate.free >> 8 }

// add queues a kernel behind its tenant's others.
func (d *Dispatcher) add(k *Kernel, now uint64) {
	t := d.tenants[k.Tenant]
	d.launched++
	d.running++
	d.clock.Progress, t.Useful = now, now
	t.Begins(now)
	t.Kernels = append(t.Kernels, k)
	d.divide(k)
	d.holdings.offer(k.Ready)
	d.wakeups.WakeMoves(now)
}

// Tick hands out CTAs, and returns the next cycle in which an SM may take one.
func (d *Dispatcher) Tick(now uint64) uint64 {
	if d.rate.gap > 0 {
		return d.tickRated(now)
	}
	next := engine.Never
	for k, word := range d.holdings.open {
		for ; word != 0; word &= word - 1 {
			i := k<<6 + bits.TrailingZeros64(word)
			wait := d.serve(i, now)
			if wait == engine.Never {
				d.Close(i)
			}
			next = min(next, wait)
		}
	}
	return next
}

// rate bounds the CTAs that are handed out to all SMs together. Times are in 1/256 cycles.
type rate struct {
	gap  uint64 // between two of them; 0: no bound
	free uint64 // the next one may go
	last int    // SM that got the one before; those behind it come first
}

// before says that SM i gets a CTA before SM j if both ask in the same cycle. The SMs that follow the last one that
// got a CTA come first.
func (r *rate) before(i, j int) bool {
	if r.gap == 0 || (i > r.last) == (j > r.last) {
		return i < j
	}
	return i > r.last
}

// tickRated is tick where CTAs go out at a rate: SMs take turns.
func (d *Dispatcher) tickRated(now uint64) uint64 {
	next, first := engine.Never, d.rate.last+1
	for j := range d.sms {
		i := (first + j) % len(d.sms)
		if !d.Open(i) {
			continue
		}
		wait := d.Ask(i, now)
		if wait == engine.Never {
			d.Close(i)
		}
		next = min(next, wait)
	}
	return next
}

// Ask gives SM i a CTA as Tick does, if the machine's rate allows it. It returns when to ask again.
func (d *Dispatcher) Ask(i int, now uint64) uint64 {
	r := &d.rate
	if r.gap > 0 && r.free >= (now+1)<<8 {
		return r.free >> 8
	}
	resident := d.sms[i].Resident()
	wait := d.serve(i, now)
	if d.sms[i].Resident() > resident {
		r.free, r.last = max(r.free, now<<8)+r.gap, i
	}
	return wait
}

// serve gives SM i a CTA if one of its owners has one that fits. It returns when
// to ask again: in the next cycle when it took one, Never when nothing fits that is
// ready or will be.
func (d *Dispatcher) serve(i int, now uint64) uint64 {
	owners := d.holdings.owners[i]
	switch len(owners) {
	case 0:
		return engine.Never
	case 1:
		if d.contexts.restore(owners[0], i, now) {
			return now + 1
		}
		k, wait := d.pending(owners[0], d.sms[i], now)
		if k == nil {
			return wait
		}
		d.place(k, i, now)
		return now + 1
	}
	return d.serveShared(i, now)
}

// pending is the tenant's oldest kernel with a CTA that fits on s now; wait is the cycle in which a launch latency
// ends, if a kernel waits for nothing else.
func (d *Dispatcher) pending(tenant int, s *sm.SM, now uint64) (k *Kernel, wait uint64) {
	wait = engine.Never
	for _, k := range d.tenants[tenant].Kernels {
		switch {
		case !d.has(k, s.ID):
		case k.Ready > now:
			wait = min(wait, k.Ready)
		case s.Fits(&k.Kernel):
			return k, wait
		}
	}
	return nil, wait
}

func (d *Dispatcher) place(k *Kernel, i int, now uint64) {
	if k.Next == 0 {
		k.Start = now
	}
	d.firstError.Note(d.sms[i].Start(&k.Kernel, d.take(k, i), now))
	d.wakeups.WakeSM(i, now+1)
}

// Retire records the CTAs that ended on s.
func (d *Dispatcher) Retire(s *sm.SM, now uint64) {
	for _, ended := range s.Done {
		t := d.tenants[ended.Tenant]
		t.Useful = max(t.Useful, now)
		for _, k := range t.Kernels {
			if &k.Kernel != ended {
				continue
			}
			if k.Left--; k.Left == 0 {
				d.close(k, now)
			}
			break
		}
	}
	s.Retired()
	d.contexts.Free(s.ID)
	d.clock.Progress = max(d.clock.Progress, now)
	d.holdings.open[s.ID>>6] |= 1 << (s.ID & 63)
	d.wakeups.WakeDispatch(now)
}

// Settle ends kernels whose last store has been acknowledged, on s and on all SMs.
func (d *Dispatcher) Settle(s *sm.SM, now uint64) {
	for _, settled := range s.Settled {
		for _, k := range d.tenants[settled.Tenant].Kernels {
			if &k.Kernel == settled {
				d.close(k, now)
				break
			}
		}
	}
	s.Settled = s.Settled[:0]
}

// close ends a kernel without CTAs if all of its stores have been acknowledged.
func (d *Dispatcher) close(k *Kernel, now uint64) {
	if k.Closing = true; k.Progress().Posted > 0 {
		return
	}
	d.flush(k)
	if !d.replicas.takes(k, now) {
		d.end(k, now)
	}
}

// end records the end of a kernel.
func (d *Dispatcher) end(k *Kernel, now uint64) {
	t := d.tenants[k.Tenant]
	k.Done, k.End = true, now
	k.Ended()
	d.running--
	d.Finished = append(d.Finished, k)
	j := slices.Index(t.Kernels, k)
	t.Kernels = append(t.Kernels[:j], t.Kernels[j+1:]...)
	t.Ends(now)
	if len(t.Kernels) == 0 {
		d.turns.asked = now + 1
		d.wakeups.WakeMoves(now + 1)
	}
}

// flush invalidates L1s at a kernel's end: on idle SMs the whole L1, and on SMs with CTAs of other applications only
// the lines of the kernel's application.
func (d *Dispatcher) flush(k *Kernel) {
	if !d.flushEach {
		return
	}
	for _, i := range d.tenants[k.Tenant].SMs {
		switch s := d.sms[i]; {
		case s.Resident() == 0:
			s.L1().Flush()
		case s.Used(k.Tenant).CTAs == 0:
			s.L1().Forget(k.Tenant)
		}
	}
}

// serveShared is serve for an SM that several applications share: the next CTA is of the one with the smallest dominant
// share, and evicts others' if there is no room.
func (d *Dispatcher) serveShared(i int, now uint64) uint64 {
	next, s, v := engine.Never, d.sms[i], d.evictor
	if v.closed[i] {
		return next // the end of the eviction asks again
	}
	owners := v.byShare(i)
	if v.most != nil {
		evicting, above := v.trim(i, owners, now)
		if evicting {
			return next
		}
		if above {
			next = now + 1
		}
	}
	for _, t := range owners {
		if v.atLimit(t, i) {
			continue
		}
		if d.contexts.restore(t, i, now) {
			return now + 1
		}
		k, wait := d.pending(t, s, now)
		next = min(next, wait)
		if k != nil {
			d.place(k, i, now)
			v.last[i] = slices.Index(d.holdings.owners[i], t)
			return now + 1
		}
		out := d.crowdedOut(t, s, now)
		if out == nil {
			continue
		}
		if v.limited(t, i) {
			if s.Used(mem.TenantID(t)).CTAs == 0 {
				return next // as below
			}
			continue
		}
		if c := v.victim(s, out, owners); c >= 0 {
			v.begin(i, c, now)
			return engine.Never
		}
		if s.Used(mem.TenantID(t)).CTAs == 0 {
			return next // no richer application takes the room that it waits for: it would wait for ever
		}
	}
	return next
}

// crowdedOut is the kernel whose CTA a tenant would place on an SM if there were room: the kernel of a context in
// memory, else the oldest kernel with a CTA that fits on an empty SM; nil if it has none.
func (d *Dispatcher) crowdedOut(tenant int, s *sm.SM, now uint64) *sm.Kernel {
	if c := d.contexts.oldest(tenant); c != nil {
		return c.K
	}
	for _, k := range d.tenants[tenant].Kernels {
		if d.has(k, s.ID) && k.Ready <= now && k.MayGrowOn(s) && s.Needs(&k.Kernel).Within(s.Has()) {
			return &k.Kernel
		}
	}
	return nil
}
