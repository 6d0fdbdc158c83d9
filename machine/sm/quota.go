package sm

import (
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/mem"
)

// An SM can ration the issue slots of the applications on it (Wang et al., Quality of
// Service Support for Fine-Grained Sharing on GPUs, ISCA 2017): each has a quota of thread
// instructions for a quota period, every issue takes the lanes that execute from it, and warps of
// one whose quota is used up are held back until the next quota period.
//
// What the paper leaves open is read like this. A quota is signed and a warp instruction is
// never split, so that the last one may overshoot, by 31 lanes at most. Instructions no lane
// executes are free. Applications with a goal that have no CTA on the SM count as out of
// quota, so that no application waits for one that cannot run. A quota period begins with a cycle, before anything
// issues in it; an elastic one in the cycle behind the event that uses up the last quota.
// Schedulers choose among the warps that are not held back as they do among all.

// QuotaScheme says what happens to quotas when a quota period ends, and which application goes first.
type QuotaScheme uint8

// The schemes of the paper. In each but QuotaElastic the best-effort applications, which
// have no goal, issue without limit while all with a goal that are resident are out of quota.
const (
	QuotaNaive    QuotaScheme = iota // each quota period begins with its full quota, no more and no less
	QuotaElastic                     // the next one also begins once all resident applications are out of quota
	QuotaRollover                    // with a goal: the rest, or the overshoot, counts in the next period
	// QuotaRolloverTime is QuotaRollover, but best-effort applications issue only while those
	// with a goal are out of quota.
	QuotaRolloverTime
)

func (s QuotaScheme) String() string {
	return [...]string{"naive", "elastic", "rollover", "rollover-time"}[s]
}

// Quotas are the quotas of one SM.
type Quotas struct {
	Scheme QuotaScheme
	Period uint64  // core cycles of a quota period; an elastic one may be shorter
	Amount []int64 // [tenant] thread instructions of a quota period
	Goal   []bool  // [tenant] it has a target
}

// quotaState has the present quotas of an SM.
type quotaState struct {
	scheme QuotaScheme
	period uint64
	next   uint64 // cycle with which the next quota period begins
	held   uint64 // warp slots whose tenants may not issue
	since  uint64 // cycle up to which idle warps are counted
	of     []tenantQuota
}

// tenantQuota is the quota of one tenant.
type tenantQuota struct {
	left   int64 // thread instructions it may still issue in this quota period
	amount int64 // of a quota period
	goal   bool
	slots  uint64 // of its resident warps
	// Warps that could have issued when idle warps were last looked at and did not, and
	// those of them that are held back.
	idle, held uint64
}

// SetQuotas begins a quota period with cycle now, which has not run yet, and another one every Period cycles. With a
// goal, the rest of the last quota period rolls over. It may be called for every quota period; without a call the SM
// continues with the same amounts. nil removes the quotas.
func (s *SM) SetQuotas(q *Quotas, now uint64) {
	p := &s.pipe
	if s.wakeAt(now); q == nil {
		p.clearQuotas(now)
		return
	}
	r := p.quotas
	if r == nil {
		r = &quotaState{since: now, next: math.MaxUint64, of: make([]tenantQuota, len(p.ctas.rows))}
		p.quotas = r
		p.watchAll()
	}
	if now > 0 {
		r.refill(now - 1)
	}
	r.scheme, r.period, r.next = q.Scheme, q.Period, now
	for t := range r.of {
		r.of[t].amount, r.of[t].goal = q.Amount[t], q.Goal[t]
	}
	r.refill(now)
	p.holdBack(now)
	p.lookIdle(now)
}

func (p *pipeline) clearQuotas(now uint64) {
	if p.quotas == nil {
		return
	}
	p.lookIdle(now)
	p.quotas = nil
	p.watchAll()
	p.halt()
	for _, row := range p.ctas.rows {
		row[QuotaLeft] = 0
	}
}

// watchAll finds out again which resident warps are watched.
func (p *pipeline) watchAll() {
	for w := range p.warps.slot {
		if wp := &p.warps.slot[w]; wp.k != nil {
			wp.watched = wp.k.Prof != nil || p.quotas != nil
		}
	}
}

// refill begins the quota periods due up to cycle now; true when there was one. An SM on which no warp waits for a
// new period is not looked at meanwhile, so there may be several.
func (r *quotaState) refill(now uint64) bool {
	if now < r.next {
		return false
	}
	n := (now-r.next)/r.period + 1
	r.next += n * r.period
	for t := range r.of {
		x := &r.of[t]
		if x.goal && r.scheme >= QuotaRollover {
			x.left += int64(n) * x.amount
		} else {
			x.left = x.amount
		}
	}
	return true
}

// refill begins the quota periods due up to cycle now, where there are quotas.
func (p *pipeline) refill(now uint64) {
	if p.quotas.refill(now) {
		p.holdBack(now)
	}
}

// goalsOut says that no resident application with a goal has quota left.
func (r *quotaState) goalsOut() bool {
	for t := range r.of {
		if x := &r.of[t]; x.goal && x.slots != 0 && x.left > 0 {
			return false
		}
	}
	return true
}

// allOut says that no resident application has quota left, and there is one.
func (r *quotaState) allOut() bool {
	var any uint64
	for t := range r.of {
		x := &r.of[t]
		if any |= x.slots; x.slots != 0 && x.left > 0 {
			return false
		}
	}
	return any != 0
}

// may says that a tenant may issue; goalsOut is known.
func (r *quotaState) may(x *tenantQuota, goalsOut bool) bool {
	switch {
	case x.goal || r.scheme == QuotaElastic:
		return x.left > 0
	case r.scheme == QuotaRolloverTime:
		return goalsOut
	}
	return goalsOut || x.left > 0
}

// holdBack finds out which tenants' warps are held back, after the quotas or the resident CTAs have changed.
func (p *pipeline) holdBack(now uint64) {
	r := p.quotas
	for t := range r.of {
		r.of[t].slots = 0
	}
	for i := range p.ctas.blocks {
		if b := &p.ctas.blocks[i]; b.k != nil {
			r.of[b.k.Tenant].slots |= b.slots
		}
	}
	if r.scheme == QuotaElastic && r.allOut() {
		r.next = min(r.next, now+1)
	}
	r.held = 0
	out := r.goalsOut()
	for t := range r.of {
		if x := &r.of[t]; !r.may(x, out) {
			r.held |= x.slots
		}
	}
	p.halt()
}

// halt finds out which warps issue no more: those of the CTA that leaves, and those that are held back.
func (p *pipeline) halt() {
	p.warps.halted = p.ctas.evicted()
	if p.quotas != nil {
		p.warps.halted |= p.quotas.held
	}
}

// charge takes the lanes of an instruction from its tenant's quota.
func (p *pipeline) charge(t mem.TenantID, lanes, now uint64) {
	r := p.quotas
	x := &r.of[t]
	if invariants.On && !r.may(x, r.goalsOut()) {
		invariants.Fail("cycle %d: tenant %d issues with a quota of %d left (%s)", now, t, x.left, r.scheme)
	}
	had := x.left > 0
	if x.left -= int64(lanes); had && x.left <= 0 {
		p.holdBack(now)
	}
}

// holdBackAnew is holdBack after CTAs have come or gone, if there are quotas.
func (p *pipeline) holdBackAnew(now uint64) {
	if p.quotas != nil {
		p.quotas.refill(now)
		p.holdBack(now)
	}
}

// lookIdle counts idle warps up to cycle now, without it, and finds out how many there are
// from then on. Cycles in which the SM has nothing to do have as many as the one before.
func (p *pipeline) lookIdle(now uint64) {
	r := p.quotas
	if r == nil {
		return
	}
	p.countIdle(now)
	idle := p.roomFor(p.warps.ready &^ p.ctas.evicted())
	if p.frozen {
		idle = 0
	}
	for t := range r.of {
		x := &r.of[t]
		x.idle, x.held = uint64(bits.OnesCount64(idle&x.slots)), uint64(bits.OnesCount64(idle&x.slots&r.held))
	}
}

// countIdle counts idle warps up to cycle now, without it.
func (p *pipeline) countIdle(now uint64) {
	r := p.quotas
	if now <= r.since {
		return
	}
	n := now - r.since
	for t := range r.of {
		p.ctas.rows[t][IdleWarpCycles] += n * r.of[t].idle
		p.ctas.rows[t][QuotaHeldCycles] += n * r.of[t].held
	}
	r.since = now
}

// settleQuotas brings the counters of quotas up to cycle now, without it: a quota period that
// begins with it has not begun.
func (p *pipeline) settleQuotas(now uint64) {
	r := p.quotas
	if r == nil {
		return
	}
	p.countIdle(now)
	if now > 0 { // it holds back no other warp: with any warp held back the SM has begun it itself
		r.refill(now - 1)
	}
	for t := range r.of {
		p.ctas.rows[t][QuotaLeft] = uint64(max(0, r.of[t].left))
	}
}
