package sim

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/sheets"
)

// controller takes samples for the policies of a run when their triggers fire, and makes the machine do what they
// plan. Within a cycle all samples that are due are taken, then all plans made, then the settings applied, in the
// order of control.Settings.
type controller struct {
	r         *run
	source    *source
	governors []*governor
	used      []PolicyUse // as the governors are
	decisions []Decision
	begun     []*change // in order of time
	waiting   *change   // asked for and not begun: an earlier one, or its latency, is not over
	moved     uint64    // the machine's moving cycles at the last sample that set anything,
	movedAt   uint64    // its cycle,
	worst     float64   // and the largest share of a period they have had
}

// governor is a policy of a run.
type governor struct {
	entry   *control.Entry
	policy  control.Policy
	sampler *control.Sampler
	period  uint64 // core cycles; 0: none
	clock   uint64 // CPU cycles of a period, which its samples count; 0: they count core cycles
	epochs  uint64 // samples so far
	last    uint64 // cycle of the last one
	event   bool   // one of its triggers has fired
}

// change is what the plans of a cycle ask of the machine.
type change struct {
	want    sharing.Target
	quota   *sharing.Quotas      // nil: as they are
	ctas    [][]int              // nil: as they are
	split   backing.MemorySplit  // of a hybrid memory
	divided backing.MemorySplit  // how that is divided
	copies  *bool                // replication; nil: as it is,
	copied  bool                 // which is this
	at      uint64               // cycle from which it may begin
	decides map[string]int       // setting: the decision that asks for it
	done    *sharing.Repartition // nil: it moves nothing
	refused error                // why SMs and channel groups do not move
	divides *error               // why the division of the memory does not change, once that has been tried
}

// newController makes the policies of a run; nil when there are none.
func newController(r *run) (*controller, error) {
	list := r.spec.Sharing.Governed()
	if len(list) == 0 {
		return nil, nil
	}
	c := &controller{r: r, source: newSource(r)}
	for _, g := range list {
		e, p, err := g.make(r.sheet, r.gpu.Groups())
		if err != nil {
			return nil, err
		}
		if err := c.able(e); err != nil {
			return nil, err
		}
		s, err := control.NewSampler(p, len(r.apps), c.source)
		if err != nil {
			return nil, fmt.Errorf("policy %s: %w", e.Name, err)
		}
		digest, err := e.Digest()
		if err != nil {
			return nil, err
		}
		period := g.period(e, r.sheet)
		c.used = append(c.used, PolicyUse{Policy: e.Name, Period: period, Params: g.Params, Digest: digest})
		params := e.ParamsOn(r.sheet, g.Params)
		c.governors = append(c.governors, &governor{
			entry: e, policy: p, sampler: s, period: period, clock: e.EpochOf(params),
		})
		if err := c.start(e, params); err != nil {
			return nil, fmt.Errorf("policy %s: %w", e.Name, err)
		}
	}
	return c, nil
}

// moves says that a policy sets something.
func (c *controller) moves() bool {
	return c != nil && slices.ContainsFunc(c.governors, func(g *governor) bool { return len(g.entry.Settings) > 0 })
}

// make makes the policy for a machine with the given number of channel groups.
func (g *Governor) make(m *sheets.Machine, groups int) (*control.Entry, control.Policy, error) {
	e, err := g.entry()
	if err != nil {
		return nil, nil, err
	}
	on, params := control.FromSheet(m, groups, m.DRAM.Channels/groups), e.ParamsOn(m, g.Params)
	if err := g.shape(e, m); err != nil {
		return nil, nil, err
	}
	p, err := e.New(on, params)
	if own := e.PeriodOn(on, params); err == nil && e.Epoch != "" && g.Period > 0 && g.Period != own {
		err = fmt.Errorf("policy %s: period %d: its period follows from parameter %s, which gives %d core cycles "+
			"here: leave period out and set %s, in cycles of the CPU", e.Name, g.Period, e.Epoch, own,
			e.Epoch)
	}
	return e, p, err
}

// entry describes the policy.
func (g *Governor) entry() (*control.Entry, error) { return control.Find(g.Policy) }

// period is the core cycles between two samples.
func (g *Governor) period(e *control.Entry, m *sheets.Machine) uint64 {
	if g.Period > 0 {
		return g.Period
	}
	return e.PeriodOn(control.FromSheet(m, 1, m.DRAM.Channels), e.ParamsOn(m, g.Params))
}

// able says why the machine cannot do what a policy sets; nil when it can.
func (c *controller) able(e *control.Entry) error {
	for _, s := range settings() {
		if !e.Sets(s.name) || s.able == nil {
			continue
		}
		if err := s.able(c.r.gpu); err != nil {
			return fmt.Errorf("policy %s: %w", e.Name, err)
		}
	}
	return nil
}

// next is the next cycle after now at which a period ends or a change may begin.
func (c *controller) next(now uint64) uint64 {
	n := ^uint64(0)
	for _, g := range c.governors {
		if g.period > 0 {
			n = min(n, (now/g.period+1)*g.period)
		}
	}
	if w := c.waiting; w != nil {
		if w.at > now {
			n = min(n, w.at)
		} else {
			n = min(n, now+retryCycles)
		}
	}
	return n
}

// retryCycles is how often a change that waits for an earlier one is tried: a small part
// of what moving an SM takes.
const retryCycles = 250

// happened fires a trigger.
func (c *controller) happened(t control.Trigger) {
	if c == nil {
		return
	}
	for _, g := range c.governors {
		g.event = g.event || slices.Contains(g.entry.On, t)
	}
}

// tick asks the policies whose triggers have fired, and begins what they ask for.
func (c *controller) tick(now uint64) {
	var due []*governor
	for _, g := range c.governors {
		if g.event || g.period > 0 && now%g.period == 0 && now > g.last {
			due = append(due, g)
		}
	}
	if len(due) > 0 {
		c.decide(due, now)
	}
	if w := c.waiting; w != nil && now >= w.at && c.r.gpu.Sharing.CanBegin(&w.want) {
		c.waiting = nil
		c.begin(w, now)
	}
}

// decide takes the samples, lets the policies plan, and merges their plans.
func (c *controller) decide(due []*governor, now uint64) {
	c.source.settle()
	var samples []any
	for _, g := range due {
		g.epochs++
		g.last, g.event = now, false
		clock := c.source.clock(now, g.epochs)
		if g.clock > 0 {
			clock.Cycle = g.epochs * g.clock
		}
		samples = append(samples, g.sampler.Take(clock))
	}
	c.meter(due, now)
	x := c.newer(due, now)
	for i, g := range due {
		plan := g.policy.Decide(samples[i])
		d := Decision{Policy: g.entry.Name, Cycle: now, Sample: samples[i], Plan: plan, Why: plan.Reasons()}
		request := plan.Request()
		if err := x.ask(g.entry, &request, &d, len(c.decisions)); err != nil {
			d.refuse(err)
		}
		for k := range d.Before {
			d.Before[k].Name, d.After[k].Name = c.r.apps[k].spec.Name, c.r.apps[k].spec.Name
		}
		if d.Changed {
			x.want.Within, x.at = max(x.want.Within, g.period), max(x.at, now+request.Latency)
		}
		c.decisions = append(c.decisions, d)
	}
	if c.waiting = x; len(x.decides) == 0 {
		c.waiting = nil
	}
}

// newer is a change that keeps what applications will have when all moves that have begun are over. It takes over the
// settings of the waiting change that the due policies do not set. Those that they set are replaced by their newer
// targets.
func (c *controller) newer(due []*governor, now uint64) *change {
	x := &change{want: c.source.target(), at: now, decides: map[string]int{}, copied: c.r.gpu.Sharing.Replicas.On()}
	x.divided = c.r.gpu.Tiers().Divided()
	for _, s := range settings() {
		sets := func(g *governor) bool { return g.entry.Sets(s.name) }
		w := c.waiting
		if w == nil || slices.ContainsFunc(due, sets) {
			continue
		}
		if i, asked := w.decides[s.name]; asked {
			x.want.Within, x.at, x.decides[s.name] = max(x.want.Within, w.want.Within), max(x.at, w.at), i
			s.take(x, w)
		}
	}
	return x
}

// ask puts what a plan asks for into the change, setting by setting, and into its decision: what the
// applications had and what the plan wants now, if the policy sets SMs or groups. It is an error if the
// plan is not for all applications.
func (x *change) ask(e *control.Entry, r *control.Request, d *Decision, decision int) error {
	for _, s := range settings() {
		if !e.Sets(s.name) {
			continue
		}
		changed, err := s.ask(x, r, d)
		if err != nil {
			return err
		}
		if changed {
			x.decides[s.name] = decision
			d.Changed = true
		}
	}
	return nil
}

// shares are the machine's in the words of policies.
func shares(of []sharing.Share) (out []control.Share) {
	for _, s := range of {
		out = append(out, control.Share{Alloc: control.Alloc{SMs: s.SMs, Groups: s.Groups}})
	}
	return out
}

// begin makes the machine do what a change asks for, in the order of the settings, or notes why it cannot.
func (c *controller) begin(x *change, now uint64) {
	for _, s := range settings() {
		i, asked := x.decides[s.name]
		if !asked {
			continue
		}
		err := s.apply(c.r.gpu, x)
		switch d := &c.decisions[i]; {
		case err == nil && d.Refused == "":
			d.Begun = now
		case err != nil && d.Refused == "": // of all its settings, once
			d.refuse(err)
		}
	}
	if x.done != nil {
		c.begun = append(c.begun, x)
	}
}

// refuse notes why a decision has no effect.
func (d *Decision) refuse(err error) {
	d.Changed, d.Refused = false, err.Error()
	d.Why = append(slices.Clone(d.Why), "not done: "+err.Error())
}

// meter keeps the largest share of a period in which something was moving.
func (c *controller) meter(due []*governor, now uint64) {
	for _, g := range due {
		if len(g.entry.Settings) > 0 && now > c.movedAt {
			_, _, moving := c.r.gpu.MovingCycles()
			c.worst = max(c.worst, ratio(float64(moving-c.moved), float64(now-c.movedAt)))
			c.moved, c.movedAt = moving, now
		}
	}
}

// first is the first decision that a change belongs to.
func (x *change) first() int {
	n := -1
	for _, i := range x.decides {
		if n < 0 || i < n {
			n = i
		}
	}
	return n
}
