package machine

import (
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
)

// dispatcher hands CTAs to SMs, at most one per SM and cycle, and no more in all than the machine's rate: breadth
// first, as GPGPU-Sim does, or each SM those of its chunk (chunks.go); and records their ends.
type dispatcher struct {
	tenants    []*Tenant
	sms        []*sm.SM
	contexts   *contextStore
	evictor    *evictor
	turns      *turns
	firstError *timing.FirstError
	clock      *timing.Clock
	wakeups    timing.Wakeups
	replicas   *replicas
	flushEach  bool // L1s are flushed at a kernel's end
	profile    bool // kernels keep stall cycles by PTX line

	rate rate // of CTAs, of the machine

	parts   int     // chunks a grid is divided into; 0: none, CTAs go breadth first
	present [][]int // [tenant][partition] SMs the tenant has there

	owners [][]int // [SM] tenants whose CTAs may run there
	// Bitset of SMs that may take a CTA: one is asked again when a CTA has ended on it, or
	// something is new.
	open     []uint64
	launched int       // kernels so far,
	running  int       // and those not finished
	finished []*Kernel // since Run was called
}

// add queues a kernel behind its tenant's others.
func (d *dispatcher) add(k *Kernel, now uint64) {
	t := d.tenants[k.Tenant]
	d.launched++
	d.running++
	d.clock.Progress, t.useful = now, now
	t.begins(now)
	t.kernels = append(t.kernels, k)
	d.divide(k)
	d.offer(k.ready)
	d.wakeups.WakeDriver(now)
}

// giveAll gives every SM to a tenant; -1 leaves all SMs without an owner.
func (d *dispatcher) giveAll(tenant int) {
	for i := range d.owners {
		d.owners[i] = d.owners[i][:0]
		if tenant >= 0 {
			d.owners[i] = append(d.owners[i], tenant)
		}
	}
}

func (d *dispatcher) tick(now uint64) uint64 {
	if d.rate.gap > 0 {
		return d.tickRated(now)
	}
	next := engine.Never
	for k, word := range d.open {
		for ; word != 0; word &= word - 1 {
			i := k<<6 + bits.TrailingZeros64(word)
			wait := d.serve(i, now)
			if wait == engine.Never {
				d.open[k] &^= 1 << (i & 63)
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
func (d *dispatcher) tickRated(now uint64) uint64 {
	next, first := engine.Never, d.rate.last+1
	for j := range d.sms {
		i := (first + j) % len(d.sms)
		if d.open[i>>6]&(1<<(i&63)) == 0 {
			continue
		}
		wait := d.ask(i, now)
		if wait == engine.Never {
			d.open[i>>6] &^= 1 << (i & 63)
		}
		next = min(next, wait)
	}
	return next
}

// ask is serve under the machine's rate.
func (d *dispatcher) ask(i int, now uint64) uint64 {
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
func (d *dispatcher) serve(i int, now uint64) uint64 {
	owners := d.owners[i]
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
	return d.evictor.place(i, now)
}

// offer has every SM asked whether it takes a CTA, from cycle at on.
func (d *dispatcher) offer(at uint64) {
	for i := range d.sms {
		d.open[i>>6] |= 1 << (i & 63)
	}
	d.wakeups.WakeDispatch(at)
}

// pending is the tenant's oldest kernel with a CTA that fits on s now; wait is the cycle in which a launch latency
// ends, if a kernel waits for nothing else.
func (d *dispatcher) pending(tenant int, s *sm.SM, now uint64) (k *Kernel, wait uint64) {
	wait = engine.Never
	for _, k := range d.tenants[tenant].kernels {
		switch {
		case !d.has(k, s.ID):
		case k.ready > now:
			wait = min(wait, k.ready)
		case s.Fits(&k.Kernel):
			return k, wait
		}
	}
	return nil, wait
}

func (d *dispatcher) place(k *Kernel, i int, now uint64) {
	if k.next == 0 {
		k.Start = now
	}
	d.firstError.Note(d.sms[i].Start(&k.Kernel, d.take(k, i), now))
	d.wakeups.WakeSM(i, now+1)
}

// retire records the CTAs that ended on s.
func (d *dispatcher) retire(s *sm.SM, now uint64) {
	for _, ended := range s.Done {
		t := d.tenants[ended.Tenant]
		t.useful = max(t.useful, now)
		for _, k := range t.kernels {
			if &k.Kernel != ended {
				continue
			}
			if k.left--; k.left == 0 {
				d.flush(k)
				if !d.replicas.takes(k, now) {
					d.end(k, now)
				}
			}
			break
		}
	}
	s.Done = s.Done[:0]
	d.contexts.free(s.ID)
	d.clock.Progress = max(d.clock.Progress, now)
	d.open[s.ID>>6] |= 1 << (s.ID & 63)
	d.wakeups.WakeDispatch(now)
}

// end records the end of a kernel.
func (d *dispatcher) end(k *Kernel, now uint64) {
	t := d.tenants[k.Tenant]
	k.Done, k.End = true, now
	d.running--
	d.finished = append(d.finished, k)
	j := slices.Index(t.kernels, k)
	t.kernels = append(t.kernels[:j], t.kernels[j+1:]...)
	t.ended(now)
	if len(t.kernels) == 0 {
		d.turns.asked = now + 1
		d.wakeups.WakeDriver(now + 1)
	}
}

// flush invalidates L1s at a kernel's end: on idle SMs the whole L1, and on SMs with CTAs of other applications only
// the lines of the kernel's application.
func (d *dispatcher) flush(k *Kernel) {
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
