package sim

import (
	"fmt"

	"heddle/control"
	"heddle/machine"
	"heddle/machine/sm"
	"heddle/sheets"
)

// dynamic lists the sharing modes in which a policy moves SMs and channel groups
// between slices, and how pages follow.
var dynamic = map[string]struct {
	policy      string
	copying     machine.Copying
	targetLarge bool // an application with a target begins with the larger slice (UGPU, section 6.7)
}{
	"ugpu":      {policy: "ugpu", copying: machine.PageMove},
	"ugpu-soft": {policy: "ugpu", copying: machine.ReadWrite},
	"ugpu-ori":  {policy: "ugpu", copying: machine.Rewrite},
	"ugpu-qos":  {policy: "ugpu-qos", copying: machine.PageMove, targetLarge: true},
	"bp-cd":     {policy: "cd-search", copying: machine.PageMove},
}

// defaultEpoch is the policy's epoch in core cycles (UGPU, section 3.3).
const defaultEpoch = 5_000_000

// governor asks the policy at the end of every epoch and has the machine do what
// it says.
type governor struct {
	r       *run
	policy  control.Policy
	epoch   uint64
	history []control.Sample
	last    []counts // per tenant, at the last epoch's end
	moved   uint64   // the machine's moving cycles at the last epoch's end
	worst   float64
	decided uint64 // cycle of the last decision
	out     []Decision
	begun   []*machine.Repartition // per decision, nil where nothing moves
}

// counts are the counters a sample is made of, as they stand.
type counts struct {
	machine.Totals
	busy, smCycles uint64
}

// newGovernor makes the governor of a dynamic sharing mode; nil for the others.
func newGovernor(r *run) (*governor, error) {
	p, err := PolicyOf(&r.spec.Sharing, r.sheet, r.gpu.Groups())
	if p == nil || err != nil {
		return nil, err
	}
	if err := r.gpu.CanMoveGroups(); err != nil {
		return nil, fmt.Errorf("sharing mode %s: %w", r.spec.Sharing.Mode, err)
	}
	return &governor{r: r, policy: p, epoch: r.spec.Sharing.FirstDecision(), last: make([]counts, len(r.apps))}, nil
}

// FirstDecision is the core cycle at which the mode's policy first moves anything; 0
// for static modes.
func (s *Sharing) FirstDecision() uint64 {
	switch _, ok := dynamic[s.Mode]; {
	case !ok:
		return 0
	case s.Epoch == 0:
		return defaultEpoch
	}
	return s.Epoch
}

// PolicyOf makes the policy of a sharing mode on a machine with the given number of
// channel groups; nil for static modes, which take no epoch and no parameters.
func PolicyOf(s *Sharing, m *sheets.Machine, groups int) (control.Policy, error) {
	d, ok := dynamic[s.Mode]
	if !ok {
		if len(s.Params) > 0 || s.Epoch > 0 {
			return nil, fmt.Errorf("sharing mode %s is static: params and epoch belong to the modes with a policy: ugpu, ugpu-soft, ugpu-ori, ugpu-qos and bp-cd", s.Mode)
		}
		return nil, nil
	}
	if !m.VM.Enabled {
		return nil, fmt.Errorf("sharing mode %s: machine %s does not translate addresses (vm.enabled), so no page can move; ugpu does", s.Mode, m.Name)
	}
	p, err := control.New(d.policy, control.FromSheet(m, groups, m.DRAM.Channels/groups), s.Params)
	if err != nil {
		return nil, fmt.Errorf("sharing mode %s: %w", s.Mode, err)
	}
	return p, nil
}

// next is the end of the epoch that cycle now lies in.
func (g *governor) next(now uint64) uint64 { return (now/g.epoch + 1) * g.epoch }

// decide samples the epoch that ends now, asks the policy and begins what its plan
// changes. The hardware's latency does not delay it: the unit starts that many
// cycles before the epoch ends (UGPU, section 3.3).
func (g *governor) decide(now uint64) {
	s := g.sample(now)
	g.history = append(g.history, s)
	plan := control.Plan{}
	if g.r.gpu.Settled() {
		plan = g.policy(g.history)
	} else {
		plan = control.Hold(&s, "the last repartition is not over: SMs or channels are still changing hands")
	}
	d := Decision{Cycle: now, Sample: s, Plan: plan}
	want := make([]machine.Share, len(s.Apps))
	for i, a := range plan.Alloc {
		want[i] = machine.Share{SMs: a.SMs, Groups: a.Groups}
		d.Changed = d.Changed || a.SMs != s.Apps[i].SMs || a.Groups != s.Apps[i].Groups
	}
	var begun *machine.Repartition
	if d.Changed {
		var err error
		if begun, err = g.r.gpu.Repartition(want, g.epoch); err != nil {
			d.Changed = false
			d.Plan.Why = append(d.Plan.Why, "not done: "+err.Error())
		}
	}
	g.out, g.begun = append(g.out, d), append(g.begun, begun)
}

// sample is what the counters of the epoch that ends now say.
func (g *governor) sample(now uint64) control.Sample {
	gpu := g.r.gpu
	gpu.Settle()
	s := control.Sample{Cycle: now, Epoch: g.epoch}
	for i, a := range g.r.apps {
		n := counts{Totals: gpu.Totals(i), busy: gpu.Busy(i), smCycles: gpu.SMCounter(i, sm.ActiveCycles)}
		d := n.Minus(&g.last[i].Totals)
		t := gpu.Tenants[i]
		s.Apps = append(s.Apps, control.App{
			Name: a.spec.Name, SMs: len(t.SMs), Groups: len(t.Groups), Cycles: n.busy - g.last[i].busy, SMCycles: n.smCycles - g.last[i].smCycles,
			Insts: d.ThreadInsts, LLCAccesses: d.LLCAccesses, LLCHits: d.LLCHits, DRAMBytes: d.DRAMBytes, Footprint: gpu.Footprint(i), QoS: a.spec.QoS,
		})
		g.last[i] = n
	}
	_, _, moving := gpu.MovingCycles()
	g.worst = max(g.worst, ratio(float64(moving-g.moved), float64(g.epoch)))
	g.moved = moving
	return s
}

// finish puts what became of the decisions into the result.
func (g *governor) finish(res *Result, now uint64) {
	m := &Moved{Decisions: len(g.out)}
	for i := range g.out {
		if r := g.begun[i]; r != nil {
			g.follow(&g.out[i], r, m)
		}
	}
	var sms, pages, either uint64
	sms, pages, either = g.r.gpu.MovingCycles()
	m.SMCycles, m.PageCycles = sms, pages
	m.EpochShare = ratio(float64(either), float64(now))
	m.WorstEpoch = g.worst
	m.MoveBytes, m.Commands = g.r.gpu.Copied()
	res.Decisions, res.Moved = g.out, m
	g.spans(now)
}

// follow fills in one decision's moves and adds them up.
func (g *governor) follow(d *Decision, r *machine.Repartition, m *Moved) {
	name := func(t int) string {
		if t < 0 {
			return ""
		}
		return g.r.apps[t].spec.Name
	}
	m.Repartitions++
	for _, x := range r.SMs {
		d.SMs = append(d.SMs, SMMove{SM: x.SM, From: name(x.From), To: name(x.To), How: string(x.How), Start: x.Start, End: x.End, CTAs: x.CTAs, Bytes: x.Bytes})
		m.SMs++
		m.ContextBytes += x.Bytes
		switch x.How {
		case machine.Drain:
			m.Drained++
		case machine.Switch:
			m.Switched++
		}
	}
	for k := range r.Groups {
		x := &r.Groups[k]
		g.r.gpu.Count(x)
		waiting := uint64(g.r.gpu.Waiting(x))
		d.Groups = append(d.Groups, GroupMove{
			Group: x.Group, From: name(x.From), To: name(x.To), Start: x.Start, Handed: x.Handed, Emptied: x.Emptied,
			Touched: x.Touched, Swept: x.Swept, Gained: x.Gained, Waiting: waiting,
		})
		m.Groups++
		m.PagesTouched += x.Touched
		m.PagesSwept += x.Swept
		m.PagesGained += x.Gained
		m.PagesWaiting += waiting
	}
}

// spans draws who owned each SM and channel group when, and the repartitions.
func (g *governor) spans(now uint64) {
	type held struct {
		tenant int
		since  uint64
	}
	sms, groups := make([]held, g.r.sheet.SM.Count), make([]held, g.r.gpu.Groups())
	for i := range sms {
		sms[i].tenant = -1
	}
	for i := range groups {
		groups[i].tenant = -1
	}
	for t, s := range g.r.first {
		for _, k := range s.SMs {
			sms[k].tenant = t
		}
		for _, k := range s.Groups {
			groups[k].tenant = t
		}
	}
	bar := func(track string, h held, until uint64) {
		if h.tenant >= 0 && until > h.since {
			g.r.span(track, g.r.apps[h.tenant].spec.Name, h.since, until, h.tenant)
		}
	}
	for i, r := range g.begun {
		if r == nil {
			continue
		}
		end := r.Start
		for _, x := range r.SMs {
			bar(smTrack(x.SM), sms[x.SM], x.Start)
			until := x.End
			if until == 0 {
				until = now
			}
			g.r.span(smTrack(x.SM), map[machine.How]string{machine.Idle: "draining", machine.Drain: "draining", machine.Switch: "switching"}[x.How], x.Start, until, max(x.From, 0))
			sms[x.SM] = held{x.To, until}
			end = max(end, until)
		}
		for _, x := range r.Groups {
			if x.Handed == 0 {
				continue
			}
			bar(groupTrack(x.Group), groups[x.Group], x.Start)
			g.r.span(groupTrack(x.Group), "handing over", x.Start, x.Handed, max(x.From, 0))
			groups[x.Group] = held{x.To, x.Handed}
			end = max(end, x.Handed)
		}
		g.r.span("repartitions", fmt.Sprintf("decision %d", i), r.Start, end, 0)
	}
	for i, h := range sms {
		bar(smTrack(i), h, now)
	}
	for i, h := range groups {
		bar(groupTrack(i), h, now)
	}
}

func groupTrack(i int) string { return fmt.Sprintf("channels %d", i) }
