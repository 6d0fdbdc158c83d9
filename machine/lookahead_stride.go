package machine

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/isa"
)

// hasInterCTASync says that CTAs of a kernel may wait for each other or observe the order of
// their accesses: there are atomics on global memory, fences or volatile accesses.
func hasInterCTASync(c *isa.Code) bool {
	for i := range c.Instr {
		in := &c.Instr[i]
		if in.Space == isa.Shared {
			continue
		}
		switch in.Kind {
		case isa.Atomic, isa.Reduce, isa.Fence:
			return true
		case isa.Load, isa.Store:
			if in.Cache == isa.CacheVolatile {
				return true
			}
		}
	}
	return false
}

// strideEnd is the end of a stride that may begin in cycle now; now when none may.
func (l *lookahead) strideEnd(now, until uint64) uint64 {
	if !l.limits.strides || now < l.retry {
		return now
	}
	for _, n := range strideLengths[l.longest(now):] {
		end := min(until, now-now%n+n)
		if l.driverIdleUntil(end, end) && l.mayStride(now, end, int(n)) {
			return end
		}
		l.retry = end
	}
	return now
}

// longest is the first of strideLengths to try for a stride that begins in cycle now: behind a
// cycle in which the mover has looked at SMs, its period.
func (l *lookahead) longest(now uint64) int {
	if now == l.stride.drove {
		return max(l.limits.longest, 1)
	}
	return l.limits.longest
}

// following is the end of the stride that begins at the end of this one if it is as long as it
// may be.
func (l *lookahead) following(end uint64) uint64 {
	n := strideLengths[l.limits.longest]
	if l.wakeups.Front.Due(l.wakeups.Driver) == end-1 {
		n = movePeriod
	}
	return end - end%n + n
}

// driverIdleUntil says that up to cycle next the driver has no work but in the last cycle of
// the stride to end, and of that from there to next: there the strides run it. An SM that
// wakes does so in any cycle.
func (l *lookahead) driverIdleUntil(end, next uint64) bool {
	due := l.wakeups.Front.Due(l.wakeups.Driver)
	return due >= next-1 ||
		due == end-1 && end%movePeriod == 0 && next == end+movePeriod && l.mover.awake() >= next-1
}

// mayStride says whether the cycles up to end, n at most, may be a stride, and should.
func (l *lookahead) mayStride(now, end uint64, n int) bool {
	if l.host.tells(now) < end {
		return false
	}
	warps := 0
	for _, t := range l.tenants {
		for _, k := range t.kernels {
			if k.interCTASync || k.ready > now && k.ready < end {
				return false
			}
			warps += k.Geo.CTAs * k.Geo.Warps
		}
	}
	if warps < len(l.sms.list) { // few leave most cycles idle
		return false
	}
	if l.fabric.request.Crossbar.Room(l.fabric.nocClock.Ticks(now)) < n*l.limits.flits+l.limits.burst {
		return false
	}
	for _, t := range l.tenants {
		for _, k := range t.kernels {
			if k.ready <= now && !l.outlasts(t, k, n) {
				return false
			}
		}
	}
	return true
}

// outlasts says that a kernel cannot end within n cycles.
func (l *lookahead) outlasts(t *Tenant, k *Kernel, n int) bool {
	if len(t.kernels) == 1 && t.owed > l.clock.Now+uint64(n) { // it waits for an answer
		return true
	}
	if k.next < k.Geo.CTAs && k.Code.AtLeast(0) > n {
		return true
	}
	if k.Away > 0 { // to come back takes longer than a request is in an LLC slice's pipeline
		return true
	}
	for _, i := range t.SMs {
		if s := l.sms.list[i]; !s.Busy() && s.Outlasts(&k.Kernel, n) { // what loads a context may be about to end
			return true
		}
	}
	return false
}

// runWindow takes the machine to cycle end in a stride. With a second core that one
// runs the memory side of the next stride meanwhile, where it is certain that there is one,
// and SMs, where CTAs are independent.
func (l *lookahead) runWindow(end, until uint64) {
	z, now := &l.stride, l.clock.Now
	z.running, z.from, z.end = true, now, end
	l.clock.Strode += end - now
	if l.core != nil {
		l.core.trial.start()
	}
	if l.memoryEnd < end {
		l.strideMemory(end)
	}
	z.arrived, z.coming = z.coming, z.arrived
	for _, s := range l.slices {
		s.Part()
	}
	next := l.following(end)
	l.divide(end, next, until)
	switch {
	case l.second.memory:
		l.clock.Overlapped += next - end
		l.memoryEnd = next
	case l.second.sms:
		l.clock.Overlapped += end - now
	}
	l.wakeups.Front.Skip(now)
	l.strideSMs(next)
	l.strideRequests()
	l.strideDriver()
	l.wakeups.Front.Skip(end)
	if l.second.memory || l.second.sms {
		idle := l.core.idle()
		l.core.wait()
		if l.second.memory && l.second.sms {
			l.second.balance(len(l.sms.list), idle)
		}
	}
	for i, s := range l.slices {
		if s.Join() {
			l.wakeups.WakeSlice(i, end)
		}
	}
	if l.firstError.Err != nil { // as far as with two cores
		l.strideMemory(next)
		l.clock.MemoryCycle = end
	}
	z.running = false
	l.clock.Now = end
	if l.core != nil {
		l.core.trial.end(end - now)
	}
}

// divide says what the second core does in the stride to cycle end, whose successor would
// end at next.
func (l *lookahead) divide(end, next, until uint64) {
	p := &l.second
	p.memory, p.sms = false, false
	if !l.hasCore() {
		return
	}
	most := 2 * strideLengths[l.limits.longest]
	memory := l.fabric.slab.Live() >= busy && !l.host.carrying(end-1) && next <= until && l.fabric.pipeline > most+1 &&
		l.driverIdleUntil(end, next) && l.mayStride(l.clock.Now, next, int(most))
	sms := l.independent()
	if (memory || sms) && l.core.trial.both() {
		p.memory, p.sms = memory, sms
	}
}

// independent says that SMs may run at once.
func (l *lookahead) independent() bool {
	if l.limits.profile { // of a kernel, which all SMs count in
		return false
	}
	for _, t := range l.tenants {
		for _, k := range t.kernels {
			if !k.alone {
				return false
			}
		}
	}
	return true
}

// secondStride is the second core's part of a stride: the memory side up to cycle end, SMs,
// or both.
func (l *lookahead) secondStride(end uint64) {
	n := 0
	if l.second.memory {
		if l.second.sms {
			n = l.strideLane(1, 0, l.second.head)
		}
		l.strideMemory(end)
	}
	if l.second.sms {
		l.strideLane(1, n, len(l.sms.list))
	}
}

// balance divides the next stride anew: one of the cores has waited for the other at the end
// of this one. Beside the first core's dispatcher and request crossbar, which come when all
// SMs have run, the other can only run the memory side; so it leaves that for later the
// more SMs it is to have. Which core runs what decides how long it takes, no result.
func (p *secondPart) balance(sms int, idle bool) {
	portion := max(1, sms/portions)
	if idle {
		p.head = min(p.head+portion, sms)
	} else {
		p.head = max(p.head-portion, 0)
	}
}

// strideMemory runs the memory side up to cycle end.
func (l *lookahead) strideMemory(end uint64) {
	for _, s := range l.slices {
		s.Lead(true)
	}
	for at := l.wakeups.Back.Next(); at < end; at = l.wakeups.Back.Next() {
		l.wakeups.Back.Run(at, l.visitMemory)
	}
	l.wakeups.Back.Skip(end)
	for _, s := range l.slices {
		s.Lead(false)
	}
}

// strideRequests runs the request crossbar, and before it the link to the host, whose lines go to
// slices, too. Nothing else is where the MMU is on machines that take strides.
func (l *lookahead) strideRequests() {
	z := &l.stride
	at, copies := l.wakeups.Front.Take(l.wakeups.Request), l.wakeups.Front.Take(l.wakeups.MMU)
	for c := z.from; c < z.end; c++ {
		if copies <= c || l.limits.every {
			copies = l.host.tick(c)
		}
		n := 0
		for lane := range z.sent {
			out := &z.sent[lane][c-z.from]
			if len(*out) == 0 {
				continue
			}
			t := l.fabric.nocClock.Ticks(c)
			n += len(*out)
			for _, d := range *out {
				r := &l.fabric.slab.R[d.h]
				l.fabric.sent(r, c)
				l.fabric.request.Crossbar.Push(t, int(d.port), int(r.Slice), int(d.flits), d.h, r.Tenant)
			}
			*out = (*out)[:0]
		}
		if n > 0 || at <= c || l.limits.every {
			at = l.fabric.tickRequest(c)
		}
	}
	if at != engine.Never {
		l.wakeups.WakeRequest(at)
	}
	if copies != engine.Never {
		l.wakeups.WakeMMU(copies)
	}
}

// strideDriver runs the driver in the last cycle of the stride, if it has work then: it is
// the last stage of a cycle, so that all it looks at is as far.
func (l *lookahead) strideDriver() {
	last := l.stride.end - 1
	if l.wakeups.Front.Due(l.wakeups.Driver) != last || l.firstError.Err != nil {
		return
	}
	l.wakeups.Front.Take(l.wakeups.Driver)
	l.stride.drove = l.stride.end
	if at := l.tickDriver(last); at != engine.Never {
		l.wakeups.WakeDriver(at)
	}
}

// arrives keeps an answer for the SM at a port of the reply crossbar.
func (l *lookahead) arrives(port int, h int32, now uint64) {
	z := &l.stride
	z.coming[port] = append(z.coming[port], delivery{now, h})
}

// departs keeps a request, which a core has made, for the request crossbar.
func (l *lookahead) departs(lane, port int, h int32, flits int, now uint64) {
	z := &l.stride
	out := &z.sent[lane][now-z.from]
	*out = append(*out, departure{h, int16(port), int16(flits)})
}
