package machine

import (
	"fmt"
	"slices"

	"heddle/machine/sm"
)

// Share is what a tenant is to have: SMs and channel groups.
type Share struct{ SMs, Groups int }

// Repartition is one change of who owns what, as far as it has come.
type Repartition struct {
	Start  uint64
	SMs    []SMMove
	Groups []GroupMove
}

// SMMove is an SM changing hands; -1 stands for nobody.
type SMMove struct {
	SM, From, To int
	How          How
	Start, End   uint64 // End 0: not yet
	CTAs         int    // resident at the start
	Bytes        uint64 // of contexts stored

	deadline uint64 // a drain that is not over by then becomes a switch
	step     step
	saved    []*sm.Context // on their way to memory
}

// How an SM was freed (UGPU, section 3.3).
type How string

// The ways to free an SM.
const (
	Idle   How = "idle"
	Drain  How = "drain"
	Switch How = "switch"
)

// step is how far an SM's move has come.
type step uint8

const (
	draining step = iota // waits for its CTAs to end
	freezing             // waits for its warps to come to rest
	storing              // contexts are on their way to memory
	handed
)

// GroupMove is a channel group changing hands.
type GroupMove struct {
	Group, From, To        int
	Start, Handed, Emptied uint64 // 0: not yet
	// Pages of the old owner that left because they were touched, or in the
	// background; pages of the new owner that moved in.
	Touched, Swept, Gained uint64

	touched0, swept0, gained0 uint64 // the counts when the group was handed over
}

// owners says who has each SM and channel group; -1: nobody.
type owners struct{ sm, group []int }

// contextWindow is the virtual address of a tenant's saved contexts, above its
// local memory.
const contextWindow = 3 << 38

// CanRepartition says why the machine cannot move SMs and channel groups between
// its tenants; nil when it can.
func (g *GPU) CanRepartition() error {
	if g.tables == nil {
		return fmt.Errorf("machine %s does not translate addresses (vm.enabled): pages cannot move between channels", g.Sheet.Name)
	}
	if !g.tables.Frames().PerGroup() && g.copies.how != Rewrite {
		return fmt.Errorf("machine %s spreads a page of %d bytes over all channel groups: pages cannot move between channels", g.Sheet.Name, g.Sheet.VM.Page)
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
	if g.changing > 0 || g.hand.phase != handIdle {
		return false
	}
	if g.copies.how == Rewrite {
		for t := range g.Tenants {
			if g.tables.Outside(uint8(t)) > 0 {
				return false
			}
		}
	}
	return true
}

// handing says that SMs or channel groups are changing hands.
func (g *GPU) handing() bool { return g.changing > 0 || g.hand.phase != handIdle }

// Repartition begins to give every tenant its share; what moves is chosen here:
// SMs with the fewest resident CTAs, groups with the fewest of the loser's pages.
// An SM is drained when its CTAs are expected to end within the next `within`
// cycles, else switched (UGPU, section 3.3). The machine must be Settled. The
// error says why the shares cannot be.
func (g *GPU) Repartition(want []Share, within uint64) (*Repartition, error) {
	if err := g.admissible(want); err != nil {
		return nil, err
	}
	now := g.Now()
	r := &Repartition{Start: now}
	sms := transfers(want, g.own.sm, func(s Share) int { return s.SMs }, func(a, b int) int {
		return 2*(g.sm[a].Resident()-g.sm[b].Resident()) + sign(b-a)
	})
	for _, m := range sms {
		r.SMs = append(r.SMs, g.beginSM(m, now, within))
	}
	groups := transfers(want, g.own.group, func(s Share) int { return s.Groups }, func(a, b int) int {
		return 2*(g.pagesIn(a)-g.pagesIn(b)) + sign(b-a)
	})
	for _, m := range groups {
		r.Groups = append(r.Groups, GroupMove{Group: m.what, From: m.from, To: m.to, Start: now})
	}
	g.Repartitions = append(g.Repartitions, r)
	g.changing += len(r.SMs)
	g.smsMeter.add(now, len(r.SMs))
	g.eitherMeter.add(now, len(r.SMs))
	if len(r.Groups) > 0 {
		g.beginGroups(r)
	}
	g.wheel.Wake(g.base.driver, now)
	return r, nil
}

// admissible checks shares against the machine and the tenants' memory.
func (g *GPU) admissible(want []Share) error {
	if err := g.CanRepartition(); err != nil {
		return err
	}
	if !g.Settled() {
		return fmt.Errorf("the last repartition is not over")
	}
	if len(want) != len(g.Tenants) {
		return fmt.Errorf("%d shares for %d applications", len(want), len(g.Tenants))
	}
	sms, groups, room := 0, 0, 0
	for i, w := range want {
		if w.SMs < 1 || w.Groups < 1 {
			return fmt.Errorf("application %s would have %d SMs and %d channel groups: at least one of each", g.Tenants[i].Name, w.SMs, w.Groups)
		}
		sms, groups = sms+w.SMs, groups+w.Groups
		f := g.tables.Frames()
		pages := int(g.Footprint(i) / uint64(g.Sheet.VM.Page))
		if room = w.Groups * f.PerPool() * f.Pools() / g.shared.Groups(); pages > room {
			return fmt.Errorf("application %s has %d pages: %d channel groups hold %d", g.Tenants[i].Name, pages, w.Groups, room)
		}
	}
	if sms > len(g.own.sm) || groups > len(g.own.group) {
		return fmt.Errorf("%d SMs and %d channel groups are more than the machine's %d and %d", sms, groups, len(g.own.sm), len(g.own.group))
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
	if g.own.group[group] < 0 || !g.tables.Frames().PerGroup() {
		return 0
	}
	return g.tables.Pages(uint8(g.own.group[group]), group)
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

// beginSM starts to free an SM.
func (g *GPU) beginSM(x transfer, now, within uint64) SMMove {
	s := g.sm[x.what]
	m := SMMove{SM: x.what, From: x.from, To: x.to, Start: now, CTAs: s.Resident(), How: Idle, deadline: now + within}
	g.dispatch.owners[x.what] = nil
	if m.CTAs > 0 {
		if m.How = Drain; remaining(s, now) > within {
			m.How, m.deadline = Switch, now
		}
	}
	return m
}

func (g *GPU) freeze(m *SMMove, now uint64) {
	m.How, m.step = Switch, freezing
	g.sm[m.SM].Freeze(now)
}

// remaining estimates how long the CTAs on an SM will take: what those of their
// kernels took so far, less their age. Without a CTA to go by, or beyond the mean,
// one that has run for t is expected to run for another t.
func remaining(s *sm.SM, now uint64) (most uint64) {
	s.EachCTA(func(k *sm.Kernel, since uint64) {
		age, left := now-since, now-since
		if p := k.Progress(); p.Finished > 0 {
			if mean := p.CTACycles / uint64(p.Finished); mean > age {
				left = mean - age
			}
		}
		most = max(most, left)
	})
	return most
}

// advanceSM takes an SM's move as far as it goes now; true when the SM is free.
func (g *GPU) advanceSM(m *SMMove, now uint64) bool {
	s := g.sm[m.SM]
	if m.step == draining && s.Resident() > 0 && now >= m.deadline && !s.Busy() {
		g.freeze(m, now)
	}
	if m.step == freezing && s.Quiet() {
		g.store(m, s, now)
	}
	if m.step == storing && !s.Busy() && len(m.saved) > 0 {
		g.saved[m.From] = append(g.saved[m.From], m.saved...)
		m.saved = nil
		g.offer(now + 1)
	}
	return (m.step == draining && s.Resident() == 0 || m.step == storing) && !s.Busy() && s.Settled()
}

// store takes the CTAs off an SM, into images in their owner's memory.
func (g *GPU) store(m *SMMove, s *sm.SM, now uint64) {
	m.step = storing
	m.saved = s.Save(now, func(k *sm.Kernel, bytes int) uint64 {
		m.Bytes += uint64(bytes)
		return g.image(k, bytes)
	})
	g.wheel.Wake(m.SM, now+1)
}

// image finds memory for the context of a CTA of k, in the context window of its
// tenant, and returns its virtual address.
func (g *GPU) image(k *sm.Kernel, bytes int) uint64 {
	n := g.imageSize(bytes)
	addr := contextWindow + g.imageEnd[k.Tenant]
	g.imageEnd[k.Tenant] += n
	g.images[k.Tenant]++
	if g.tables == nil {
		return addr
	}
	if err := g.tables.MapRegion(k.Tenant, addr, n); err != nil && g.err == nil {
		g.err = fmt.Errorf("no memory for the context of a CTA of %s: %w", g.Tenants[k.Tenant].Name, err)
	}
	return addr
}

// imageSize is the memory an image of so many bytes takes: whole pages.
func (g *GPU) imageSize(bytes int) uint64 {
	page := max(g.Sheet.VM.Page, g.Sheet.LLC.Line)
	return uint64((bytes + page - 1) / page * page)
}

// handSM gives a free SM to its new owner.
func (g *GPU) handSM(m *SMMove, now uint64) {
	m.step, m.End = handed, max(now, 1)
	g.changing--
	g.smsMeter.add(now, -1)
	g.eitherMeter.add(now, -1)
	g.progress = now
	g.clearSM(m.SM)
	g.own.sm[m.SM] = m.To
	for i, t := range g.Tenants {
		t.SMs = t.SMs[:0]
		for k, o := range g.own.sm {
			if o == i {
				t.SMs = append(t.SMs, k)
			}
		}
		for _, k := range t.kernels { // CTAs spread over the SMs there are now
			k.Most = (k.Geo.CTAs + len(t.SMs) - 1) / max(1, len(t.SMs))
		}
	}
	if m.To < 0 {
		return
	}
	g.dispatch.owners[m.SM] = append(g.dispatch.owners[m.SM], m.To)
	if g.hand.holds(m.To) {
		g.sm[m.SM].Hold()
	}
	g.offer(now + 1)
}

// clearSM flushes what a free SM's last owner left in it.
func (g *GPU) clearSM(i int) {
	g.sm[i].FlushL1()
	if g.tlbs != nil {
		g.tlbs[i].Flush()
	}
}

// tickDriver advances hand-overs of SMs and channels, and page copies. While
// something is changing hands it looks every cycle.
func (g *GPU) tickDriver(now uint64) uint64 {
	next := min(g.copies.tick(now), g.tickTurns(now), g.tickEvictions(now))
	if g.changing > 0 && g.turns.quantum == 0 {
		r := g.Repartitions[len(g.Repartitions)-1]
		for i := range r.SMs {
			if m := &r.SMs[i]; m.step != handed && g.advanceSM(m, now) {
				g.handSM(m, now)
			}
		}
	}
	if g.hand.phase != handIdle {
		g.advanceGroups(now)
	}
	if g.handing() {
		return now + 1
	}
	return next
}

// restore puts a saved CTA of a tenant back on an SM, before any new one goes
// there; false when none waits or the oldest does not fit.
func (g *GPU) restore(tenant, i int, now uint64) bool {
	q := g.saved[tenant]
	if len(q) == 0 || !g.sm[i].Fits(q[0].K) {
		return false
	}
	c := q[0]
	g.saved[tenant] = append(q[:0], q[1:]...)
	if err := g.sm[i].Restore(c, now); err != nil && g.err == nil {
		g.err = err
	}
	g.restoring[i] = append(g.restoring[i], c)
	g.wheel.Wake(i, now+1)
	return true
}

// freeImages gives back the memory of contexts that are complete again.
func (g *GPU) freeImages(i int) {
	keep := g.restoring[i][:0]
	for _, c := range g.restoring[i] {
		if !c.Loaded() {
			keep = append(keep, c)
			continue
		}
		t := c.K.Tenant
		n := g.imageSize(c.Lines * g.Sheet.L1D.Line)
		if g.tables != nil {
			g.tables.Unmap(t, c.Addr, n)
		}
		if c.Addr+n == contextWindow+g.imageEnd[t] {
			g.imageEnd[t] -= n
		}
		if g.images[t]--; g.images[t] == 0 {
			g.imageEnd[t] = 0
		}
	}
	g.restoring[i] = keep
}

// meter adds up the cycles in which at least one of something goes on.
type meter struct {
	n            int
	since, total uint64
}

func (m *meter) add(now uint64, n int) {
	if m.n == 0 && n > 0 {
		m.since = now
	}
	m.n += n
	if m.n == 0 && n < 0 {
		m.total += now - m.since
	}
}

// at is the sum up to a cycle.
func (m *meter) at(now uint64) uint64 {
	if m.n > 0 {
		return m.total + now - m.since
	}
	return m.total
}
