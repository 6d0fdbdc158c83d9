package sharing

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/mem"
)

// Share is the part of the machine that a tenant shall have: SMs and channel groups; 0 groups if memory is shared.
type Share struct{ SMs, Groups int }

// Target is the division that the machine shall reach, once all moves that have begun are over.
type Target struct {
	Shares []Share // of each tenant
	// Gated is how many of the SMs without a future owner shall be powered down; KeepGated: those that are, unless a
	// tenant gets them.
	Gated  int
	Free   Freeing
	Within uint64 // core cycles that ByEstimate lets CTAs take to end by themselves
}

// KeepGated, as a target's number of gated SMs, leaves gating as it is.
const KeepGated = -1

// Freeing says how an SM with CTAs is freed for its new owner.
type Freeing uint8

// The ways to choose between draining an SM and storing its contexts.
const (
	ByEstimate  Freeing = iota // drained if its CTAs are expected to end in time, else switched (UGPU, section 3.3)
	ByDraining                 // its CTAs end by themselves, however long they take
	BySwitching                // their contexts are stored at once
)

// CanBegin says that a target can begin now. SMs can be asked for while SMs of earlier
// targets are on their way, but not while channel groups of a tenant that would gain or lose
// SMs are handed over; channel groups only when nothing moves (NothingMoves).
func (p *Sharing) CanBegin(t *Target) bool {
	if len(t.Shares) != len(p.Tenants) || p.TimeSlices.changing > 0 {
		return false
	}
	if t.movesGroups(p) {
		return p.NothingMoves()
	}
	have := p.mover.ends(len(p.Tenants))
	for i, w := range t.Shares {
		if w.SMs != have[i] && p.groups.holds(i) {
			return false
		}
	}
	return true
}

// admissible checks a target against the machine and the tenants' memory.
func (t *Target) admissible(p *Sharing) error {
	if err := p.CanMoveSMs(); err != nil {
		return err
	}
	if len(t.Shares) != len(p.Tenants) {
		return fmt.Errorf("%d shares for %d applications", len(t.Shares), len(p.Tenants))
	}
	if !p.CanBegin(t) {
		return fmt.Errorf("the last repartition is still under way")
	}
	sms := 0
	for i, w := range t.Shares {
		if w.SMs < 0 {
			return fmt.Errorf("application %s would have %d SMs", p.Tenants[i].Name, w.SMs)
		}
		sms += w.SMs
	}
	all := len(p.holdings.sm)
	if sms > all {
		return fmt.Errorf("%d SMs are more than the machine's %d", sms, all)
	}
	if t.Gated > all-sms {
		return fmt.Errorf("%d SMs would be gated: only %d have no owner", t.Gated, all-sms)
	}
	if t.movesGroups(p) {
		return t.admissibleGroups(p)
	}
	return nil
}

func (t *Target) admissibleGroups(p *Sharing) error {
	if err := p.CanMoveGroups(); err != nil {
		return err
	}
	groups := 0
	for i, w := range t.Shares {
		if w.Groups < 1 {
			return fmt.Errorf("application %s would have %d channel groups: at least one", p.Tenants[i].Name, w.Groups)
		}
		groups += w.Groups
		f := p.translation.Tables.Frames()
		pages := int(p.translation.Footprint(i) / uint64(p.sheet.VM.Page))
		if room := w.Groups * f.PerPool() * f.Pools() / p.layouts.Whole.Groups(); pages > room {
			return fmt.Errorf("application %s has %d pages: %d channel groups hold %d",
				p.Tenants[i].Name, pages, w.Groups, room)
		}
	}
	if groups > len(p.holdings.group) {
		return fmt.Errorf("%d channel groups are more than the machine's %d", groups, len(p.holdings.group))
	}
	return nil
}

// movesGroups says whether a target gives tenants other channel groups than they have.
func (t *Target) movesGroups(p *Sharing) bool {
	for i, w := range t.Shares {
		if w.Groups != len(p.Tenants[i].Groups) {
			return true
		}
	}
	return false
}

// pagesIn is the number of frames the owner of a group has in it.
func (p *Sharing) pagesIn(group int) int {
	if p.holdings.group[group] < 0 || !p.translation.Tables.Frames().PerGroup() {
		return 0
	}
	return p.translation.Tables.Pages(mem.TenantID(p.holdings.group[group]), group)
}

// grant is one thing and its old and new owner; -1: nobody.
type grant struct {
	what, from, to int
	gate           bool // an SM that is powered down then
}

// choice has the number of things that each tenant shall have, and the things that may change hands.
type choice struct {
	want  []int            // [tenant]
	owner []int            // [thing] its owner when all moves that have begun are over
	fixed func(i int) bool // says that a thing is on its way; nil: none is
	free  func(a, b int) int
	give  func(a, b int) int // the order in which things without an owner and those of a loser are given
}

// transfers gives things of tenants that have too many to tenants that have too few. Each loser gives first what
// sorts first, and keeps a thing that is not on its way unless it shall have none; free things are given before any.
// left is the number of things that tenants then still lack, or have too many of (negative), because the things to
// give are on their way themselves.
func (c *choice) transfers() (out []grant, left []int) {
	give := c.spare(-1)
	slices.SortFunc(give, func(a, b grant) int { return c.free(a.what, b.what) })
	left = slices.Clone(c.want)
	for _, o := range c.owner {
		if o >= 0 {
			left[o]--
		}
	}
	for t := range c.want {
		mine := c.spare(t)
		slices.SortFunc(mine, func(a, b grant) int { return c.give(a.what, b.what) })
		n := max(0, min(-left[t], len(mine)-min(1, c.want[t])))
		give = append(give, mine[:n]...)
		left[t] += n
	}
	for t := range c.want {
		for ; left[t] > 0 && len(give) > 0; left[t]-- {
			x := give[0]
			give = give[1:]
			x.to = t
			out = append(out, x)
		}
	}
	for _, x := range give { // given up, without an owner now
		if x.from >= 0 {
			out = append(out, x)
		}
	}
	return out, left
}

// spare lists the things of an owner that are not on their way, as given up.
func (c *choice) spare(owner int) (out []grant) {
	for i, o := range c.owner {
		if o == owner && (c.fixed == nil || !c.fixed(i)) {
			out = append(out, grant{what: i, from: owner, to: -1})
		}
	}
	return out
}

// chooseSMs decides which SMs change hands for a target, which are powered down or woken, and which part of the
// target is left out.
func (t *Target) chooseSMs(p *Sharing) (out []grant, left []int, leftGated int) {
	v := &p.mover
	c := choice{owner: v.owners(), fixed: v.onWay, free: v.poweredFirst, give: func(a, b int) int {
		return 2*(p.sms[a].Resident()-p.sms[b].Resident()) + cmp.Compare(b, a)
	}}
	for _, w := range t.Shares {
		c.want = append(c.want, w.SMs)
	}
	out, left = c.transfers()
	if t.Gated < 0 {
		return out, left, 0
	}
	more := t.Gated // SMs to power down beyond those that are, or will be
	for _, m := range v.moving {
		if m.Gate {
			more--
		}
	}
	free := slices.DeleteFunc(c.spare(-1), func(x grant) bool {
		return slices.ContainsFunc(out, func(y grant) bool { return y.what == x.what })
	})
	for _, x := range free {
		if v.gated[x.what].Count() > 0 {
			more--
		}
	}
	for _, x := range free { // those that are powered down wake, or others are powered down
		switch asleep := v.gated[x.what].Count() > 0; {
		case asleep && more < 0:
			out = append(out, x)
			more++
		case !asleep && more > 0:
			x.gate = true
			out = append(out, x)
			more--
		}
	}
	for i := range out {
		if x := &out[i]; x.from >= 0 && x.to < 0 && more > 0 {
			x.gate = true
			more--
		}
	}
	return out, left, more
}
