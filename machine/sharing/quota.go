package sharing

import (
	"fmt"

	"github.com/heddle-sim/heddle/machine/sm"
)

// Quotas say how many thread instructions applications may issue on each SM in a quota period.
type Quotas struct {
	Scheme sm.QuotaScheme
	Period uint64    // length of a quota period in core cycles
	PerSM  [][]int64 // [tenant][SM] thread instructions of a quota period
	Goal   []bool    // [tenant] it has a target; the others are best effort
}

// SetQuotas begins a quota period on every SM with the current cycle, and another one every Period cycles. An SM
// refills its quotas itself. A call at the end of a quota period sets the amounts of the next one. nil removes the
// quotas. A tenant with a goal needs a quota on every SM. With elastic quota periods every tenant needs one, because
// an application that may never issue would never end. The error says what is wrong.
func (p *Sharing) SetQuotas(q *Quotas) error {
	if q == nil {
		for i, s := range p.sms {
			s.SetQuotas(nil, p.clock.Now)
			p.wakeups.WakeSM(i, p.clock.Now)
		}
		return nil
	}
	if err := q.check(p.Tenants, len(p.sms)); err != nil {
		return err
	}
	own := sm.Quotas{Scheme: q.Scheme, Period: q.Period, Amount: make([]int64, len(p.Tenants)), Goal: q.Goal}
	for i, s := range p.sms {
		for t := range own.Amount {
			own.Amount[t] = q.PerSM[t][i]
		}
		s.SetQuotas(&own, p.clock.Now)
		p.wakeups.WakeSM(i, p.clock.Now)
	}
	return nil
}

// mostQuota bounds an amount, so that what rolls over never overflows.
const mostQuota = 1 << 40

// check refuses quotas that do not have one number for each tenant and SM.
func (q *Quotas) check(tenants []*Tenant, sms int) error {
	switch {
	case q.Scheme > sm.QuotaRolloverTime:
		return fmt.Errorf("quotas: there is no scheme %d", uint8(q.Scheme))
	case q.Period == 0:
		return fmt.Errorf("quotas: a quota period needs at least one cycle")
	case len(q.Goal) != len(tenants):
		return fmt.Errorf("quotas: goals of %d applications, there are %d", len(q.Goal), len(tenants))
	}
	if err := perSM("quotas", tenants, sms, len(q.PerSM), func(t int) int { return len(q.PerSM[t]) }); err != nil {
		return err
	}
	for t, row := range q.PerSM {
		least := int64(0)
		if q.Goal[t] || q.Scheme == sm.QuotaElastic {
			least = 1
		}
		for i, n := range row {
			if n < least || n > mostQuota {
				return fmt.Errorf("quotas (%s): application %s has %d thread instructions on SM %d: must be %d to %d",
					q.Scheme, tenants[t].Name, n, i, least, int64(mostQuota))
			}
		}
	}
	return nil
}

// perSM is the error of a setting that has not one number for each tenant and SM.
func perSM(what string, tenants []*Tenant, sms, given int, of func(tenant int) int) error {
	if given != len(tenants) {
		return fmt.Errorf("%s of %d applications, there are %d", what, given, len(tenants))
	}
	for i, t := range tenants {
		if n := of(i); n != sms {
			return fmt.Errorf("%s of application %s on %d SMs, there are %d", what, t.Name, n, sms)
		}
	}
	return nil
}

// LimitCTAs limits the CTAs of each application on an SM, by tenant and SM, from the current cycle on; a negative
// number means that dominant resource fairness decides, as it does without limits. An application below its limit
// gets a CTA if there is room, and waits if there is none. Of an application above it the youngest CTAs are evicted,
// one at a time. 0 keeps it off the SM while the limit holds. nil removes the limits. It is an error if the table
// does not have one number for each tenant and SM, or if it limits an SM that belongs to one application.
func (p *Sharing) LimitCTAs(most [][]int) error {
	if most != nil {
		length := func(t int) int { return len(most[t]) }
		if err := perSM("limits", p.Tenants, len(p.sms), len(most), length); err != nil {
			return err
		}
	}
	for t, row := range most {
		for i, n := range row {
			if n >= 0 && len(p.holdings.owners[i]) < 2 {
				return fmt.Errorf("limits: application %[2]s on SM %[1]d: a limit of CTAs needs an SM that "+
					"several applications share (sharing: smk)", i, p.Tenants[t].Name)
			}
		}
	}
	p.evictor.limit(most)
	p.holdings.offer(p.clock.Now)
	return nil
}
