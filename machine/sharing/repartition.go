package sharing

import (
	"cmp"
	"fmt"

	"github.com/heddle-sim/heddle/mem"
)

// Repartition is one change of the owners of SMs and channel groups, with its progress so far.
type Repartition struct {
	Start  uint64
	SMs    []SMMove
	Groups []GroupMove
	// Left is the number of SMs of the target that each tenant still lacks, or has too many of (negative), once these
	// moves and all earlier ones are over: SMs that it should have given were on their way themselves. LeftGated is
	// the same for SMs to be powered down.
	Left      []int
	LeftGated int
}

// GroupMove is a channel group changing hands.
type GroupMove struct {
	Group, From, To        int
	Start, Handed, Emptied uint64 // 0: not yet
	// Touched and Swept are pages of the old owner that left because they were touched, or in the background; Gained
	// are pages of the new owner that moved in.
	Touched, Swept, Gained uint64

	touched0, swept0, gained0 uint64 // the counts when the group was handed over
}

// CanMoveSMs says why SMs cannot change hands between the machine's tenants; nil when
// they can.
func (p *Sharing) CanMoveSMs() error {
	if p.TimeSlices.quantum > 0 {
		return fmt.Errorf("applications take turns on the whole machine: no SM belongs to one application")
	}
	for i, owners := range p.holdings.owners {
		if len(owners) > 1 {
			return fmt.Errorf("SM %d is shared by %d applications: only SMs of one application can change "+
				"hands", i, len(owners))
		}
	}
	return nil
}

// CanMoveGroups says why channel groups cannot change hands between the machine's
// tenants; nil when they can.
func (p *Sharing) CanMoveGroups() error {
	if p.translation.Tables == nil {
		return fmt.Errorf("machine %s does not translate addresses (vm.enabled): pages cannot move between channels",
			p.sheet.Name)
	}
	if !p.translation.Tables.Frames().PerGroup() && !p.rewrites {
		return fmt.Errorf("machine %s spreads a page of %d bytes over all channel groups: "+
			"pages cannot move between channels", p.sheet.Name, p.sheet.VM.Page)
	}
	for _, t := range p.Tenants {
		if t.Groups == nil {
			return fmt.Errorf("application %s shares the channels: only slices can be repartitioned", t.Name)
		}
	}
	return nil
}

// NothingMoves says that no SM and no channel group is changing hands, and that no SM is being powered down or is
// waking. Pages may still lie in channels that their owners have lost. If every page needs another layout, that must
// be over, too.
func (p *Sharing) NothingMoves() bool {
	if p.changing() || p.groups.phase != handIdle {
		return false
	}
	if p.rewrites && p.translation.Tables != nil {
		for t := range p.Tenants {
			if p.translation.Tables.Outside(mem.TenantID(t)) > 0 {
				return false
			}
		}
	}
	return true
}

// changing says that SMs are changing hands.
func (p *Sharing) changing() bool { return len(p.mover.moving) > 0 || p.TimeSlices.changing > 0 }

// Repartition begins to bring the machine to a target. It chooses which SMs and groups move: SMs with the fewest
// resident CTAs, groups with the fewest of the loser's pages. A tenant that shall have more SMs gets idle ones first,
// then gated ones, then those of others. The shares need not add up to the machine: SMs and groups may lose their
// owner, or come from none. If channel groups cannot move, shares name the groups that are held: 0 if memory is
// shared. SMs of an earlier target may still be on their way (CanBegin). A newer target replaces only the moves that
// have not begun. An SM on its way counts as arrived, and is not chosen again before it arrives. The record lists the
// moves that this prevents (Left), and the caller asks for them again. The error says why the target is impossible.
func (p *Sharing) Repartition(t *Target) (*Repartition, error) {
	if err := t.admissible(p); err != nil {
		return nil, err
	}
	now := p.clock.Now
	r := &Repartition{Start: now}
	var sms []grant
	sms, r.Left, r.LeftGated = t.chooseSMs(p)
	for _, m := range sms {
		r.SMs = append(r.SMs, p.mover.begin(m, t, now))
	}
	if t.movesGroups(p) {
		c := choice{owner: p.holdings.group, free: cmp.Compare[int], give: func(a, b int) int {
			return 2*(p.pagesIn(a)-p.pagesIn(b)) + cmp.Compare(b, a)
		}}
		for _, w := range t.Shares {
			c.want = append(c.want, w.Groups)
		}
		groups, _ := c.transfers()
		for _, m := range groups {
			r.Groups = append(r.Groups, GroupMove{Group: m.what, From: m.from, To: m.to, Start: now})
		}
	}
	p.Repartitions = append(p.Repartitions, r)
	p.mover.carryOut(r, now)
	if len(r.Groups) > 0 {
		p.groups.begin(r, now)
	}
	p.wakeups.WakeMoves(now)
	return r, nil
}
