package sim

import (
	"fmt"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/machine/sharing"
)

// What became of the decisions of a run, for its result and its timeline.

// finish puts the outcomes of the decisions into the result.
func (c *controller) finish(res *Result, now uint64) {
	m := &Moved{}
	for i := range c.decisions {
		if e, err := control.Find(c.decisions[i].Policy); err == nil && len(e.Settings) > 0 {
			m.Decisions++
		}
	}
	for _, x := range c.begun {
		if x.moved() {
			m.Repartitions++
		}
		i, ok := x.decides["sms"]
		if !ok { // gating alone
			i = x.first()
		}
		c.followSMs(&c.decisions[i], x.done, m)
		if i, ok := x.decides["groups"]; ok {
			c.followGroups(&c.decisions[i], x.done, m)
		}
	}
	var sms, pages, either uint64
	sms, pages, either = c.r.gpu.MovingCycles()
	m.SMCycles, m.PageCycles = sms, pages
	m.EpochShare = ratio(float64(either), float64(now))
	m.WorstEpoch = c.worst
	m.MoveBytes, m.Commands = c.r.gpu.Copied()
	res.Moved = m
	if m.EpochShare > overheadShare {
		res.Warnings = append(res.Warnings,
			fmt.Sprintf("SMs or pages were changing hands in %.0f %% of the time (SMs %.0f %%, pages %.0f %%): "+
				"a period of %d cycles is short, give a longer one", 100*m.EpochShare, 100*ratio(float64(sms),
				float64(now)), 100*ratio(float64(pages), float64(now)),
				c.r.spec.Sharing.FirstDecision(c.r.sheet)))
	}
	c.spans(now)
}

// moved says that something began to move. Nothing moves if every application already has what a plan wants.
func (x *change) moved() bool { return len(x.done.SMs)+len(x.done.Groups) > 0 }

// name is that of a tenant; empty without a tenant.
func (c *controller) name(tenant int) string {
	if tenant < 0 {
		return ""
	}
	return c.r.apps[tenant].spec.Name
}

// followSMs fills in a decision's moves of SMs and adds them up.
func (c *controller) followSMs(d *Decision, r *sharing.Repartition, m *Moved) {
	for _, x := range r.SMs {
		d.SMs = append(d.SMs, SMMove{
			SM: x.SM, From: c.name(x.From), To: c.name(x.To), Gate: x.Gate, How: string(x.How),
			Start: x.Start, End: x.End, CTAs: x.CTAs, Bytes: x.Bytes,
		})
		if x.From != x.To {
			m.SMs++
		}
		if x.Gate {
			m.Gated++
		}
		m.ContextBytes += x.Bytes
		switch x.How {
		case sharing.Drain:
			m.Drained++
		case sharing.Switch:
			m.Switched++
		case sharing.Wake:
			m.Woken++
		}
	}
	for i, n := range r.Left {
		if n != 0 {
			d.Left = append(d.Left, fmt.Sprintf("%s: %+d SM", c.name(i), n))
		}
	}
	if n := r.LeftGated; n != 0 {
		d.Left = append(d.Left, fmt.Sprintf("gated: %+d SM", n))
	}
}

// followGroups is followSMs for channel groups and their pages.
func (c *controller) followGroups(d *Decision, r *sharing.Repartition, m *Moved) {
	for k := range r.Groups {
		x := &r.Groups[k]
		c.r.gpu.Sharing.Count(x)
		waiting := uint64(c.r.gpu.Sharing.Waiting(x))
		d.Groups = append(d.Groups, GroupMove{
			Group: x.Group, From: c.name(x.From), To: c.name(x.To), Start: x.Start, Handed: x.Handed,
			Emptied: x.Emptied,
			Touched: x.Touched, Swept: x.Swept, Gained: x.Gained, Waiting: waiting,
		})
		m.Groups++
		m.PagesTouched += x.Touched
		m.PagesSwept += x.Swept
		m.PagesGained += x.Gained
		m.PagesWaiting += waiting
	}
}

// smState names what an SM does while it changes hands, is powered down or wakes, and the tenant for which it does
// that (-1: none).
func smState(x *sharing.SMMove) (name string, tenant int) {
	switch {
	case x.How == sharing.Wake:
		return "waking", x.To
	case x.How == sharing.Switch:
		return "switching", max(x.From, 0)
	case x.From < 0 && x.Gate:
		return "powering down", -1
	}
	return "draining", max(x.From, 0)
}

// owned is the owner of an SM or group (-1: none) from a cycle on, and whether it is powered down.
type owned struct {
	tenant int
	since  uint64
	gated  bool
}

// firstOwners is whose SMs and channel groups were at the start.
func (c *controller) firstOwners() (sms, groups []owned) {
	sms, groups = make([]owned, c.r.sheet.SM.Count), make([]owned, c.r.gpu.Groups())
	for i := range sms {
		sms[i].tenant = -1
	}
	for i := range groups {
		groups[i].tenant = -1
	}
	for t, s := range c.r.first {
		for _, k := range s.SMs {
			sms[k].tenant = t
		}
		for _, k := range s.Groups {
			groups[k].tenant = t
		}
	}
	return sms, groups
}

// spans draws the owners of each SM and channel group over time, the times in which SMs were powered down, and the
// repartitions.
func (c *controller) spans(now uint64) {
	sms, groups := c.firstOwners()
	bar := func(track string, h owned, until uint64) {
		if h.gated && until > h.since {
			c.r.span(track, "gated", h.since, until, -1)
		}
		if h.tenant >= 0 && until > h.since {
			c.r.span(track, c.r.apps[h.tenant].spec.Name, h.since, until, h.tenant)
		}
	}
	for _, x := range c.begun {
		if !x.moved() {
			continue
		}
		r := x.done
		end := r.Start
		for _, x := range r.SMs {
			bar(smTrack(x.SM), sms[x.SM], x.Start)
			until := x.End
			if until == 0 {
				until = now
			}
			name, tenant := smState(&x)
			c.r.span(smTrack(x.SM), name, x.Start, until, tenant)
			sms[x.SM] = owned{x.To, until, x.Gate && x.End > 0}
			end = max(end, until)
		}
		for _, x := range r.Groups {
			if x.Handed == 0 {
				continue
			}
			bar(groupTrack(x.Group), groups[x.Group], x.Start)
			c.r.span(groupTrack(x.Group), "handing over", x.Start, x.Handed, max(x.From, 0))
			groups[x.Group] = owned{tenant: x.To, since: x.Handed}
			end = max(end, x.Handed)
		}
		c.r.span("repartitions", fmt.Sprintf("decision %d", x.first()), r.Start, end, 0)
	}
	for i, h := range sms {
		bar(smTrack(i), h, now)
	}
	for i, h := range groups {
		bar(groupTrack(i), h, now)
	}
}

func groupTrack(i int) string { return fmt.Sprintf("channels %d", i) }
