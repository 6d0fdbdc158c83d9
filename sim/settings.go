package sim

import (
	"fmt"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
)

// setting is how plans reach the machine for one of control.Settings: the value that a policy asks for goes into a
// change, and from there to the machine when its time has come. A new setting is a row here and one there.
type setting struct {
	name string
	// able says why a machine cannot have it set; nil: every machine can.
	able func(g *machine.GPU) error
	// ask takes over the value that a plan asks for, and says whether it differs from the present one. d is the
	// decision.
	ask func(x *change, r *control.Request, d *Decision) (changed bool, err error)
	// take takes over the values of an earlier change that has not begun.
	take func(x, earlier *change)
	// apply sets the value in the machine.
	apply func(g *machine.GPU, x *change) error
}

// settings are in the order of control.Settings.
func settings() []setting {
	return []setting{
		{
			name: "sms", able: canMoveSMs, take: takeSMs, apply: move,
			ask: func(x *change, r *control.Request, d *Decision) (bool, error) {
				x.want.Free = freeings()[r.Free]
				return x.askShares(r.SMs, "SMs", d, smsOf)
			},
		},
		{
			name: "gating", able: canMoveSMs, apply: move,
			ask: func(x *change, r *control.Request, _ *Decision) (changed bool, _ error) {
				if r.Gated != nil && *r.Gated != x.want.Gated {
					x.want.Gated, changed = *r.Gated, true
				}
				return changed, nil
			},
			take: func(x, w *change) { x.want.Gated = w.want.Gated },
		},
		quotaSetting(),
		{
			name: "ctas",
			ask: func(x *change, r *control.Request, _ *Decision) (changed bool, _ error) {
				x.ctas = r.CTAs
				return r.CTAs != nil, nil
			},
			take:  func(x, w *change) { x.ctas = w.ctas },
			apply: func(g *machine.GPU, x *change) error { return g.Sharing.LimitCTAs(x.ctas) },
		},
		{
			name: "replication",
			ask: func(x *change, r *control.Request, _ *Decision) (changed bool, _ error) {
				if r.Replicate != nil {
					x.copies, changed = r.Replicate, *r.Replicate != x.copied
				}
				return changed, nil
			},
			take:  func(x, w *change) { x.copies = w.copies },
			apply: func(g *machine.GPU, x *change) error { return g.Sharing.Replicas.Set(*x.copies) },
		},
		{
			name: "groups", able: canMoveGroups, take: takeGroups, apply: move,
			ask: func(x *change, r *control.Request, d *Decision) (bool, error) {
				return x.askShares(r.Groups, "channel groups", d, groupsOf)
			},
		},
		tierSetting("ways", func(s *backing.MemorySplit) **int { return &s.Ways },
			func(r *control.Request) *int { return r.CPUWays }),
		tierSetting("channels", func(s *backing.MemorySplit) **int { return &s.Channels },
			func(r *control.Request) *int { return r.CPUChannels }),
		tierSetting("tokens", func(s *backing.MemorySplit) **int { return &s.Tokens },
			func(r *control.Request) *int { return r.Tokens }),
	}
}

// quotaSetting is the instructions that applications may issue.
func quotaSetting() setting {
	return setting{
		name: "quota",
		ask: func(x *change, r *control.Request, _ *Decision) (changed bool, _ error) {
			if r.Quota != nil {
				x.quota, changed = quotas(r.Quota), true
			}
			return changed, nil
		},
		take:  func(x, w *change) { x.quota = w.quota },
		apply: func(g *machine.GPU, x *change) error { return g.Sharing.SetQuotas(x.quota) },
	}
}

// tierSetting is a number by which a memory of two tiers is divided: its field in the division, and in a request.
func tierSetting(name string, at func(*backing.MemorySplit) **int, want func(*control.Request) *int) setting {
	return setting{
		name: name, able: func(g *machine.GPU) error { return g.Tiers().CanSplit() }, apply: divide,
		ask: func(x *change, r *control.Request, _ *Decision) (bool, error) {
			return replace(at(&x.split), want(r), *at(&x.divided)), nil
		},
		take: func(x, w *change) { *at(&x.split) = *at(&w.split) },
	}
}

func canMoveSMs(g *machine.GPU) error    { return g.Sharing.CanMoveSMs() }
func canMoveGroups(g *machine.GPU) error { return g.Sharing.CanMoveGroups() }

// move moves SMs and channel groups and powers SMs down or up, once for all settings that ask for it.
func move(g *machine.GPU, x *change) error {
	if x.done == nil && x.refused == nil {
		x.done, x.refused = g.Sharing.Repartition(&x.want)
	}
	return x.refused
}

// divide changes the division of the memory, once for all settings that ask for it.
func divide(g *machine.GPU, x *change) error {
	if x.divides == nil {
		err := g.Tiers().Split(&x.split)
		x.divides = &err
	}
	return *x.divides
}

func smsOf(s *sharing.Share) *int    { return &s.SMs }
func groupsOf(s *sharing.Share) *int { return &s.Groups }

func takeSMs(x, w *change)    { x.takeShares(w, smsOf) }
func takeGroups(x, w *change) { x.takeShares(w, groupsOf) }

// takeShares takes over the shares of an earlier change, and the way in which SMs are freed for it.
func (x *change) takeShares(w *change, of func(*sharing.Share) *int) {
	for k := range x.want.Shares {
		*of(&x.want.Shares[k]) = *of(&w.want.Shares[k])
	}
	x.want.Free = w.want.Free
}

// askShares is ask for SMs or channel groups.
func (x *change) askShares(list []int, unit string, d *Decision, of func(*sharing.Share) *int,
) (changed bool, err error) {
	if list == nil {
		return false, nil
	}
	if len(list) != len(x.want.Shares) {
		return false, fmt.Errorf("the plan has %d shares (%s) for %d applications", len(list), unit, len(x.want.Shares))
	}
	if d.Before == nil {
		d.Before = shares(x.want.Shares)
	}
	for i, n := range list {
		if w := of(&x.want.Shares[i]); *w != n {
			*w = n
			changed = true
		}
	}
	d.After = shares(x.want.Shares)
	return changed, nil
}

// replace takes over the values that a plan asks for, if any differs from the present one: tokens that are set cap
// those that are left, and a value that a plan repeats is not set again.
func replace(have **int, want, held *int) (changed bool) {
	if want == nil || held != nil && *want == *held {
		return false
	}
	*have = want
	return true
}

// freeings are the machine's constants for a policy's.
func freeings() map[control.Freeing]sharing.Freeing {
	return map[control.Freeing]sharing.Freeing{
		"": sharing.ByEstimate, control.FreeByDrain: sharing.ByDraining,
		control.FreeBySwitch: sharing.BySwitching,
	}
}

// quotas are a policy's quotas as a type of the machine.
func quotas(q *control.Quota) *sharing.Quotas {
	schemes := map[control.QuotaScheme]sm.QuotaScheme{
		control.Naive: sm.QuotaNaive, control.Elastic: sm.QuotaElastic,
		control.Rollover: sm.QuotaRollover, control.RolloverTime: sm.QuotaRolloverTime,
	}
	return &sharing.Quotas{Scheme: schemes[q.Scheme], Period: q.Period, PerSM: q.PerSM, Goal: q.Goal}
}
