package machine

import (
	"math/bits"

	"heddle/machine/cache"
)

// A hand-over of channel groups, in the order of UGPU, section 4.4: the accesses
// of everybody concerned stop before their TLBs, what has passed them drains, the
// slices that change hands write back and forget their lines, L1s and L1 TLBs are
// emptied, the page-table nodes in lost groups move, and the status registers of
// the L2 TLB are set. From then on the pages follow one by one (vm, relocate.go)
// while everybody runs.

// phase of a hand-over.
type phase uint8

const (
	handIdle  phase = iota
	handDrain       // accesses in flight end
	handFlush       // slices write back
	handEmpty       // the write-backs reach DRAM
	handNodes       // page-table nodes move
)

// handover is the one in progress.
type handover struct {
	phase   phase
	r       *Repartition
	tenants []int  // that lose or gain a group
	relaid  []bool // [tenant] has its new layout, where pages span channels
	slices  []int  // that change hands
}

func (h *handover) holds(tenant int) bool {
	if h.phase == handIdle {
		return false
	}
	for _, t := range h.tenants {
		if t == tenant {
			return true
		}
	}
	return false
}

// beginGroups stops the accesses of the tenants concerned.
func (g *GPU) beginGroups(r *Repartition) {
	h := &g.hand
	h.phase, h.r, h.tenants, h.slices = handDrain, r, h.tenants[:0], h.slices[:0]
	h.relaid = make([]bool, len(g.Tenants))
	concerned := make([]bool, len(g.Tenants))
	for i := range r.Groups {
		m := &r.Groups[i]
		if m.From >= 0 {
			concerned[m.From] = true
		}
		if m.To >= 0 {
			concerned[m.To] = true
		}
		for k := range g.slice {
			if g.shared.GroupOf(g.channelOf(k)) == m.Group {
				h.slices = append(h.slices, k)
			}
		}
	}
	for t, c := range concerned {
		if c {
			h.tenants = append(h.tenants, t)
			g.driver.Hold(uint8(t))
		}
	}
	for i, o := range g.own.sm {
		if o >= 0 && concerned[o] {
			g.sm[i].Hold()
		}
	}
	g.pagesMeter.add(g.Now(), 1)
	g.eitherMeter.add(g.Now(), 1)
}

// advanceGroups takes the hand-over as far as it goes now.
func (g *GPU) advanceGroups(now uint64) {
	h := &g.hand
	if h.phase == handDrain && g.drained() {
		for _, k := range h.slices {
			g.slice[k].StartFlush()
		}
		h.phase = handFlush
	}
	if h.phase == handFlush && g.flushSlices(now) {
		h.phase = handEmpty
	}
	if h.phase == handEmpty && g.emptied() {
		for i, o := range g.own.sm {
			if o >= 0 && h.holds(o) {
				g.sm[i].FlushL1()
				g.tlbs[i].Flush()
			}
		}
		h.phase = handNodes
	}
	if h.phase == handNodes && g.nodesMoved(now) {
		g.handGroups(now)
	}
}

// drained says that nothing of the tenants concerned is in flight.
func (g *GPU) drained() bool {
	for _, t := range g.hand.tenants {
		if g.driver.InMotion(uint8(t)) > 0 || !g.mmu.Quiet(uint8(t)) {
			return false
		}
	}
	for i, o := range g.own.sm {
		if o >= 0 && g.hand.holds(o) && !g.sm[i].Settled() {
			return false
		}
	}
	return true
}

// flushSlices writes back one line per slice and cycle; true when all are empty.
func (g *GPU) flushSlices(now uint64) bool {
	done := true
	for _, k := range g.hand.slices {
		if !g.slice[k].Flush() {
			done = false
		}
		if g.slice[k].ToDRAM.Len() > 0 {
			g.below.Wake(g.channelOf(k), now+1)
		}
	}
	return done
}

// emptied says that every write-back has left the queues of the changing channels.
func (g *GPU) emptied() bool {
	for _, k := range g.hand.slices {
		c := g.channel[g.channelOf(k)]
		if !g.slice[k].Empty() || c.delay.Len() > 0 || len(c.free) < len(c.busy) {
			return false
		}
	}
	return true
}

// nodesMoved moves page-table nodes out of the groups their tenants lose, one
// frame per tenant at a time.
func (g *GPU) nodesMoved(now uint64) bool {
	all := true
	for _, t := range g.hand.tenants {
		if g.driver.InMotion(uint8(t)) > 0 {
			all = false
			continue
		}
		after := g.groupsAfter(t)
		if err := g.relayout(t, after); err != nil && g.err == nil {
			g.err = err
		}
		none, err := g.driver.MoveNodes(now, uint8(t), after)
		if err != nil && g.err == nil {
			g.err = err
		}
		all = all && (none || err != nil)
	}
	return all
}

// relayout gives a tenant whose pages span its channels the address map of the
// groups it is to have; once per hand-over.
func (g *GPU) relayout(t int, groups uint64) (err error) {
	h := &g.hand
	if g.tables.Frames().PerGroup() || h.relaid[t] {
		return nil
	}
	h.relaid[t] = true
	var list []int
	for m := groups; m != 0; m &= m - 1 {
		list = append(list, bits.TrailingZeros64(m))
	}
	next := uint64(1 + 2*t)
	if g.tables.Layout(uint8(t)) == next {
		next++
	}
	if g.maps[next], err = g.shared.Restrict(list); err == nil {
		g.tables.SetLayout(uint8(t), next)
	}
	return err
}

// groupsAfter is the mask of the groups a tenant keeps or gets.
func (g *GPU) groupsAfter(t int) (mask uint64) {
	for k, o := range g.own.group {
		if o == t {
			mask |= 1 << k
		}
	}
	for i := range g.hand.r.Groups {
		m := &g.hand.r.Groups[i]
		switch t {
		case m.From:
			mask &^= 1 << m.Group
		case m.To:
			mask |= 1 << m.Group
		}
	}
	return mask
}

// handGroups makes the new owners owners and lets everybody go on.
func (g *GPU) handGroups(now uint64) {
	h := &g.hand
	gained := make([]uint64, len(g.Tenants))
	for i := range h.r.Groups {
		m := &h.r.Groups[i]
		m.Handed = now
		g.own.group[m.Group] = m.To
		if m.From >= 0 {
			k := g.pool(m.Group)
			m.touched0, m.swept0 = g.driver.Touched[m.From][k], g.driver.Swept[m.From][k]
		}
		if m.To >= 0 {
			gained[m.To] |= 1 << m.Group
			m.gained0 = g.driver.Gained[m.To][g.pool(m.Group)]
		}
	}
	for _, t := range h.tenants {
		g.ownGroups(t)
		if err := g.tables.SetGroups(uint8(t), g.Tenants[t].Groups); err != nil && g.err == nil {
			g.err = err
		}
		g.driver.SetStatus(uint8(t), gained[t])
		g.driver.Release(now, uint8(t))
	}
	for i := range h.r.Groups {
		if m := &h.r.Groups[i]; m.From >= 0 && g.left(m) == 0 {
			m.Emptied = now
		}
	}
	for i, o := range g.own.sm {
		if o >= 0 && h.holds(o) {
			g.sm[i].Release(now)
			g.wheel.Wake(i, now+1)
		}
	}
	h.phase = handIdle
	g.pagesMeter.add(now, -1)
	g.eitherMeter.add(now, -1)
	g.progress = now
	g.wheel.Wake(g.base.mmu, now+1)
}

// ownGroups lists a tenant's groups and channels as own says.
func (g *GPU) ownGroups(t int) {
	x := g.Tenants[t]
	x.Groups = x.Groups[:0]
	for k, o := range g.own.group {
		if o == t {
			x.Groups = append(x.Groups, k)
		}
	}
	x.allow(g.shared)
}

// leftGroups notes which groups a tenant has lost and no page of it is left in.
func (g *GPU) leftGroups(now uint64, tenant int) {
	for i := len(g.Repartitions) - 1; i >= 0; i-- {
		for k := range g.Repartitions[i].Groups {
			m := &g.Repartitions[i].Groups[k]
			if m.From == tenant && m.Handed > 0 && m.Emptied == 0 && g.left(m) == 0 {
				m.Emptied = now
			}
		}
	}
}

// Waiting is the number of pages a group's old owner still has in it.
func (g *GPU) Waiting(m *GroupMove) int {
	if m.From < 0 || m.Handed == 0 || g.own.group[m.Group] == m.From {
		return 0
	}
	return g.left(m)
}

// left is the number of pages of a group's old owner that have to leave it yet.
func (g *GPU) left(m *GroupMove) int {
	if !g.tables.Frames().PerGroup() {
		return g.tables.Outside(uint8(m.From))
	}
	return g.tables.Pages(uint8(m.From), m.Group)
}

// pool is the pool of frames of a group; where pages span channels there is one.
func (g *GPU) pool(group int) int {
	if g.tables.Frames().PerGroup() {
		return group
	}
	return 0
}

// Count brings the page counts of a group's move up to date.
func (g *GPU) Count(m *GroupMove) {
	if m.Handed == 0 {
		return
	}
	k := g.pool(m.Group)
	if m.From >= 0 {
		m.Touched, m.Swept = g.driver.Touched[m.From][k]-m.touched0, g.driver.Swept[m.From][k]-m.swept0
	}
	if m.To >= 0 {
		m.Gained = g.driver.Gained[m.To][k] - m.gained0
	}
}

// written is told that a write-back somebody waited for is in DRAM's queue.
func (g *GPU) written(f *cache.Fetch) {
	if f.Tag < -1 {
		g.copies.written(-2 - f.Tag)
		g.wheel.Wake(g.base.driver, g.Now())
	}
}
