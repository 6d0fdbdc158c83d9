package machine

import (
	"fmt"
	"slices"

	"heddle/mem"
)

// Share is what a tenant is to have: SMs and channel groups; 0 groups where memory is shared.
type Share struct{ SMs, Groups int }

// Repartition is one change of who owns what, as far as it has come.
type Repartition struct {
	Start  uint64
	SMs    []SMMove
	Groups []GroupMove
}

// GroupMove is a channel group changing hands.
type GroupMove struct {
	Group, From, To        int
	Start, Handed, Emptied uint64 // 0: not yet
	// Pages of the old owner that left because they were touched, or in the
	// background; pages of the new owner that moved in.
	Touched, Swept, Gained uint64

	touched0, swept0, gained0 uint64 // the counts when the group was handed over
}

// CanMoveSMs says why SMs cannot change hands between the machine's tenants; nil when
// they can.
func (g *GPU) CanMoveSMs() error {
	if g.turns.quantum > 0 {
		return fmt.Errorf("applications take turns on the whole machine: no SM is one application's")
	}
	for i, owners := range g.dispatch.owners {
		if len(owners) > 1 {
			return fmt.Errorf("SM %d is shared by %d applications: only SMs of one can change hands", i, len(owners))
		}
	}
	return nil
}

// CanMoveGroups says why channel groups cannot change hands between the machine's
// tenants; nil when they can.
func (g *GPU) CanMoveGroups() error {
	if g.translation.tables == nil {
		return fmt.Errorf("machine %s does not translate addresses (vm.enabled): pages cannot move between channels",
			g.Sheet.Name)
	}
	if !g.translation.tables.Frames().PerGroup() && g.copies.how != Rewrite {
		return fmt.Errorf("machine %s spreads a page of %d bytes over all channel groups: "+
			"pages cannot move between channels", g.Sheet.Name, g.Sheet.VM.Page)
	}
	for _, t := range g.Tenants {
		if t.Groups == nil {
			return fmt.Errorf("application %s shares the channels: only slices can be repartitioned", t.Name)
		}
	}
	return nil
}

// Settled says that no SM and no channel group is changing hands. Pages may still
// be where their owners lost the channels.
// Where every page has to be laid out anew, that must be over too.
func (g *GPU) Settled() bool {
	if g.changing() || g.groups.phase != handIdle {
		return false
	}
	if g.copies.how == Rewrite && g.translation.tables != nil {
		for t := range g.Tenants {
			if g.translation.tables.Outside(mem.TenantID(t)) > 0 {
				return false
			}
		}
	}
	return true
}

// changing says that SMs are changing hands.
func (g *GPU) changing() bool { return g.mover.changing > 0 || g.turns.changing > 0 }

// Repartition begins to give every tenant its share; what moves is chosen here:
// SMs with the fewest resident CTAs, groups with the fewest of the loser's pages.
// An SM is drained when its CTAs are expected to end within the next `within`
// cycles, else switched (UGPU, section 3.3). The shares need not add up to the machine:
// SMs and groups may become nobody's, and come from nobody. Where channel groups cannot
// move, shares name those that are held: 0 where memory is shared. The machine must be
// Settled. The error says why the shares cannot be.
func (g *GPU) Repartition(want []Share, within uint64) (*Repartition, error) {
	if err := g.admissible(want); err != nil {
		return nil, err
	}
	now := g.Now()
	r := &Repartition{Start: now}
	sms := transfers(want, g.holdings.sm, func(s Share) int { return s.SMs }, func(a, b int) int {
		return 2*(g.sms.list[a].Resident()-g.sms.list[b].Resident()) + sign(b-a)
	})
	for _, m := range sms {
		r.SMs = append(r.SMs, g.mover.begin(m, now, within))
	}
	if g.movesGroups(want) {
		groups := transfers(want, g.holdings.group, func(s Share) int { return s.Groups }, func(a, b int) int {
			return 2*(g.pagesIn(a)-g.pagesIn(b)) + sign(b-a)
		})
		for _, m := range groups {
			r.Groups = append(r.Groups, GroupMove{Group: m.what, From: m.from, To: m.to, Start: now})
		}
	}
	g.Repartitions = append(g.Repartitions, r)
	g.mover.carryOut(r, now)
	if len(r.Groups) > 0 {
		g.groups.begin(r, now)
	}
	g.agenda.wakeDriver(now)
	return r, nil
}

// movesGroups says whether tenants are to have other channel groups than they have.
func (g *GPU) movesGroups(want []Share) bool {
	for i, w := range want {
		if w.Groups != len(g.Tenants[i].Groups) {
			return true
		}
	}
	return false
}

// admissible checks shares against the machine and the tenants' memory.
func (g *GPU) admissible(want []Share) error {
	if err := g.CanMoveSMs(); err != nil {
		return err
	}
	if !g.Settled() {
		return fmt.Errorf("the last repartition is not over")
	}
	if len(want) != len(g.Tenants) {
		return fmt.Errorf("%d shares for %d applications", len(want), len(g.Tenants))
	}
	sms := 0
	for i, w := range want {
		if w.SMs < 1 {
			return fmt.Errorf("application %s would have %d SMs: at least one", g.Tenants[i].Name, w.SMs)
		}
		sms += w.SMs
	}
	if sms > len(g.holdings.sm) {
		return fmt.Errorf("%d SMs are more than the machine's %d", sms, len(g.holdings.sm))
	}
	if g.movesGroups(want) {
		return g.admissibleGroups(want)
	}
	return nil
}

func (g *GPU) admissibleGroups(want []Share) error {
	if err := g.CanMoveGroups(); err != nil {
		return err
	}
	groups := 0
	for i, w := range want {
		if w.Groups < 1 {
			return fmt.Errorf("application %s would have %d channel groups: at least one", g.Tenants[i].Name, w.Groups)
		}
		groups += w.Groups
		f := g.translation.tables.Frames()
		pages := int(g.Footprint(i) / uint64(g.Sheet.VM.Page))
		if room := w.Groups * f.PerPool() * f.Pools() / g.fabric.layouts.whole.Groups(); pages > room {
			return fmt.Errorf("application %s has %d pages: %d channel groups hold %d",
				g.Tenants[i].Name, pages, w.Groups, room)
		}
	}
	if groups > len(g.holdings.group) {
		return fmt.Errorf("%d channel groups are more than the machine's %d", groups, len(g.holdings.group))
	}
	return nil
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}

// pagesIn is the number of frames the owner of a group has in it.
func (g *GPU) pagesIn(group int) int {
	if g.holdings.group[group] < 0 || !g.translation.tables.Frames().PerGroup() {
		return 0
	}
	return g.translation.tables.Pages(mem.TenantID(g.holdings.group[group]), group)
}

// transfer is one thing and its old and new owner.
type transfer struct{ what, from, to int }

// transfers pairs what some have too much of with those who have too little.
// Each loser gives first what sorts first; free things are given before any.
func transfers(want []Share, owner []int, of func(Share) int, cmp func(a, b int) int) (out []transfer) {
	var give []transfer
	for i := range owner {
		if owner[i] < 0 {
			give = append(give, transfer{i, -1, -1})
		}
	}
	have := make([]int, len(want))
	for t, w := range want {
		var mine []int
		for i, o := range owner {
			if o == t {
				mine = append(mine, i)
			}
		}
		have[t] = len(mine)
		slices.SortFunc(mine, cmp)
		for k := range max(0, len(mine)-of(w)) {
			give = append(give, transfer{mine[k], t, -1})
		}
	}
	for t, w := range want {
		for ; have[t] < of(w) && len(give) > 0; have[t]++ {
			x := give[0]
			give = give[1:]
			x.to = t
			out = append(out, x)
		}
	}
	for _, x := range give { // given up, and nobody's now
		if x.from >= 0 {
			out = append(out, x)
		}
	}
	return out
}

// tickDriver advances hand-overs of SMs and channels, and page copies. While
// something is changing hands it looks every cycle.
func (g *GPU) tickDriver(now uint64) uint64 {
	return min(g.copies.tick(now), g.turns.tick(now), g.evictor.tick(now), g.mover.tick(now), g.groups.tick(now))
}
