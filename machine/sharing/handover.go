package sharing

import (
	"math/bits"

	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/cache"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
)

// A hand-over of channel groups, in the order of UGPU, section 4.4: the accesses of the applications concerned stop
// before their TLBs, accesses that have passed them drain, the slices that change hands write back and forget their
// lines, L1s and L1 TLBs are emptied, the page-table nodes in lost groups move, and the status registers of the L2
// TLB are set. From then on the pages follow one by one (vm, relocate.go) while all applications run.

// phase of a hand-over.
type phase uint8

const (
	handIdle  phase = iota
	handDrain       // accesses in flight end
	handFlush       // slices write back
	handEmpty       // the write-backs reach DRAM
	handNodes       // page-table nodes move
)

// handover hands channel groups over; its state is that of the one in progress.
type handover struct {
	tenants    []*Tenant
	sms        []*sm.SM
	tlbs       []*vm.TLB
	slices     []*cache.Slice
	memory     *backing.Memory
	mmu        *vm.MMU
	driver     *vm.Driver
	tables     *vm.Tables
	layouts    *interconnect.Layouts
	holdings   *holdings
	meters     *timing.Meters
	firstError *timing.FirstError
	clock      *timing.Clock
	wakeups    timing.Wakeups

	phase     phase
	plan      *Repartition
	log       []*Repartition // all plans that have moved groups so far
	concerned []int          // tenants that lose or gain a group
	relaid    []bool         // [tenant] has its new layout, where pages span channels
	flushing  []int          // slices that change hands
}

func (h *handover) holds(tenant int) bool {
	if h.phase == handIdle {
		return false
	}
	for _, t := range h.concerned {
		if t == tenant {
			return true
		}
	}
	return false
}

// begin stops the accesses of the tenants concerned.
func (h *handover) begin(r *Repartition, now uint64) {
	h.phase, h.plan, h.concerned, h.flushing = handDrain, r, h.concerned[:0], h.flushing[:0]
	h.log = append(h.log, r)
	h.relaid = make([]bool, len(h.tenants))
	concerned := make([]bool, len(h.tenants))
	for i := range r.Groups {
		m := &r.Groups[i]
		if m.From >= 0 {
			concerned[m.From] = true
		}
		if m.To >= 0 {
			concerned[m.To] = true
		}
		for k := range h.slices {
			if h.layouts.Whole.GroupOf(h.layouts.ChannelOf(k)) == m.Group {
				h.flushing = append(h.flushing, k)
			}
		}
	}
	for t, c := range concerned {
		if c {
			h.concerned = append(h.concerned, t)
			h.driver.Hold(mem.TenantID(t))
		}
	}
	for i, o := range h.holdings.sm {
		if o >= 0 && concerned[o] {
			h.sms[i].Hold()
		}
	}
	h.meters.Pages.Add(now, 1)
	h.meters.Either.Add(now, 1)
}

// tick advances the hand-over as far as possible now, and returns the next cycle with work.
func (h *handover) tick(now uint64) uint64 {
	if h.phase == handIdle {
		return engine.Never
	}
	if h.phase == handDrain && h.drained() {
		for _, k := range h.flushing {
			h.slices[k].StartFlush()
		}
		h.phase = handFlush
	}
	if h.phase == handFlush && h.flushSlices(now) {
		h.phase = handEmpty
	}
	if h.phase == handEmpty && h.emptied() {
		for i, o := range h.holdings.sm {
			if o >= 0 && h.holds(o) {
				h.sms[i].L1().Flush()
				h.tlbs[i].Flush()
			}
		}
		h.phase = handNodes
	}
	if h.phase == handNodes && h.nodesMoved(now) {
		h.hand(now)
		return engine.Never
	}
	return now + 1
}

// drained says that nothing of the tenants concerned is in flight.
func (h *handover) drained() bool {
	for _, t := range h.concerned {
		if h.driver.InMotion(mem.TenantID(t)) > 0 || !h.mmu.Quiet(mem.TenantID(t)) {
			return false
		}
	}
	for i, o := range h.holdings.sm {
		if o >= 0 && h.holds(o) && !h.sms[i].Drained() {
			return false
		}
	}
	return true
}

// flushSlices writes back one line per slice and cycle; true when all are empty.
func (h *handover) flushSlices(now uint64) bool {
	done := true
	for _, k := range h.flushing {
		if !h.slices[k].Flush() {
			done = false
		}
		if h.slices[k].Below.Len() > 0 {
			h.wakeups.WakeChannel(h.layouts.ChannelOf(k), now+1)
		}
	}
	return done
}

// emptied says that all write-backs have left the queues of the channels that change hands.
func (h *handover) emptied() bool {
	for _, k := range h.flushing {
		if !h.memory.Quiet(k) {
			return false
		}
	}
	return true
}

// nodesMoved moves page-table nodes out of the groups their tenants lose, one
// frame per tenant at a time.
func (h *handover) nodesMoved(now uint64) bool {
	all := true
	for _, t := range h.concerned {
		if h.driver.InMotion(mem.TenantID(t)) > 0 {
			all = false
			continue
		}
		after := h.groupsAfter(t)
		h.firstError.Note(h.relayout(t, after))
		none, err := h.driver.MoveNodes(now, mem.TenantID(t), after)
		h.firstError.Note(err)
		all = all && (none || err != nil)
	}
	return all
}

// relayout gives a tenant whose pages span its channels the address map of the groups that it shall have; once per
// hand-over.
func (h *handover) relayout(t int, groups uint64) (err error) {
	if h.tables.Frames().PerGroup() || h.relaid[t] {
		return nil
	}
	h.relaid[t] = true
	var list []int
	for m := groups; m != 0; m &= m - 1 {
		list = append(list, bits.TrailingZeros64(m))
	}
	next := uint64(1 + 2*t)
	if h.tables.Layout(mem.TenantID(t)) == next {
		next++
	}
	if h.layouts.Of[next], err = h.layouts.Whole.Restrict(list); err == nil {
		h.tables.SetLayout(mem.TenantID(t), next)
	}
	return err
}

// groupsAfter is the mask of the groups a tenant keeps or gets.
func (h *handover) groupsAfter(t int) (mask uint64) {
	for k, o := range h.holdings.group {
		if o == t {
			mask |= 1 << k
		}
	}
	for i := range h.plan.Groups {
		m := &h.plan.Groups[i]
		switch t {
		case m.From:
			mask &^= 1 << m.Group
		case m.To:
			mask |= 1 << m.Group
		}
	}
	return mask
}

// hand gives the groups to their new owners, and all applications continue.
func (h *handover) hand(now uint64) {
	gained := make([]uint64, len(h.tenants))
	for i := range h.plan.Groups {
		m := &h.plan.Groups[i]
		m.Handed = now
		h.holdings.group[m.Group] = m.To
		if m.From >= 0 {
			k := h.pool(m.Group)
			m.touched0, m.swept0 = h.driver.Touched[m.From][k], h.driver.Swept[m.From][k]
		}
		if m.To >= 0 {
			gained[m.To] |= 1 << m.Group
			m.gained0 = h.driver.Gained[m.To][h.pool(m.Group)]
		}
	}
	for _, t := range h.concerned {
		h.own(t)
		h.firstError.Note(h.tables.SetGroups(mem.TenantID(t), h.tenants[t].Groups))
		h.driver.SetStatus(mem.TenantID(t), gained[t])
		h.driver.Release(now, mem.TenantID(t))
	}
	for i := range h.plan.Groups {
		if m := &h.plan.Groups[i]; m.From >= 0 && h.left(m) == 0 {
			m.Emptied = now
		}
	}
	for i, o := range h.holdings.sm {
		if o >= 0 && h.holds(o) {
			h.sms[i].Release(now)
			h.wakeups.WakeSM(i, now+1)
		}
	}
	h.phase = handIdle
	h.meters.Pages.Add(now, -1)
	h.meters.Either.Add(now, -1)
	h.clock.Progress = now
	h.wakeups.WakeMMU(now + 1)
}

// own lists a tenant's groups and channels as the holdings say.
func (h *handover) own(t int) {
	x := h.tenants[t]
	x.Groups = x.Groups[:0]
	for k, o := range h.holdings.group {
		if o == t {
			x.Groups = append(x.Groups, k)
		}
	}
	x.allow(h.layouts.Whole)
}

// leave notes the groups that a tenant has lost and that hold no more pages of it.
func (h *handover) leave(now uint64, tenant int) {
	for i := len(h.log) - 1; i >= 0; i-- {
		for k := range h.log[i].Groups {
			m := &h.log[i].Groups[k]
			if m.From == tenant && m.Handed > 0 && m.Emptied == 0 && h.left(m) == 0 {
				m.Emptied = now
			}
		}
	}
}

// left is the number of pages of a group's old owner that are still in it and must leave.
func (h *handover) left(m *GroupMove) int {
	if !h.tables.Frames().PerGroup() {
		return h.tables.Outside(mem.TenantID(m.From))
	}
	return h.tables.Pages(mem.TenantID(m.From), m.Group)
}

// pool is the pool of frames of a group; where pages span channels there is one.
func (h *handover) pool(group int) int {
	if h.tables.Frames().PerGroup() {
		return group
	}
	return 0
}

// Waiting is the number of pages that a group's old owner still has in it.
func (p *Sharing) Waiting(m *GroupMove) int {
	if m.From < 0 || m.Handed == 0 || p.holdings.group[m.Group] == m.From {
		return 0
	}
	return p.groups.left(m)
}

// Count brings the page counts of a group's move up to date.
func (p *Sharing) Count(m *GroupMove) { p.groups.count(m) }

func (h *handover) count(m *GroupMove) {
	if m.Handed == 0 {
		return
	}
	k := h.pool(m.Group)
	if m.From >= 0 {
		m.Touched, m.Swept = h.driver.Touched[m.From][k]-m.touched0, h.driver.Swept[m.From][k]-m.swept0
	}
	if m.To >= 0 {
		m.Gained = h.driver.Gained[m.To][k] - m.gained0
	}
}
