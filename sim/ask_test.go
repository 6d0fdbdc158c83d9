package sim

import (
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
)

// A change is put together setting by setting, of what policies may set; a plan that is not
// for all applications is refused, and changes nothing.
func TestAsk(t *testing.T) {
	entry := func(settings ...string) *control.Entry { return &control.Entry{Settings: settings} }
	x := &change{
		want:    sharing.Target{Shares: []sharing.Share{{SMs: 40, Groups: 4}, {SMs: 40, Groups: 4}}},
		decides: map[string]int{},
	}
	gated, quota := 3, &control.Quota{Scheme: control.Elastic, Period: 10, PerSM: [][]int64{{5}}, Goal: []bool{true}}
	plan := control.Request{
		SMs: []int{41, 39}, Groups: []int{5, 3}, Gated: &gated, Quota: quota, CTAs: [][]int{{2}},
		Free: control.FreeByDrain,
	}
	ask := func(r control.Request, decision int, settings ...string) (Decision, error) {
		var d Decision
		err := x.ask(entry(settings...), &r, &d, decision)
		return d, err
	}
	if d, err := ask(plan, 0, "sms"); err != nil || !d.Changed || d.After[0].SMs != 41 || d.After[0].Groups != 4 ||
		x.want.Free != sharing.ByDraining {
		t.Errorf("%+v %v: a policy that sets SMs sets no groups", d, err)
	}
	if d, err := ask(plan, 1, "groups"); err != nil || !d.Changed || d.Before[0].SMs != 41 || d.After[1].Groups != 3 ||
		x.decides["sms"] != 0 || x.decides["groups"] != 1 {
		t.Errorf("%+v, %v, decided by %v", d, err, x.decides)
	}
	if d, err := ask(plan, 2, "sms", "groups"); err != nil || d.Changed {
		t.Errorf("what is wanted already is a change: %+v, %v", d, err)
	}
	short := control.Request{SMs: []int{80}}
	if d, err := ask(short, 3, "sms"); d.Changed || err == nil ||
		!strings.Contains(err.Error(), "1 shares (SMs) for 2 applications") || x.want.Shares[0].SMs != 41 {
		t.Errorf("%+v, %v, %+v", d, err, x.want)
	}
	if d, err := ask(plan, 4); err != nil || d.After != nil || x.want.Gated != 0 || x.quota != nil || x.ctas != nil {
		t.Errorf("%+v, %v of a policy that sets nothing: %+v", d, err, x)
	}
	if d, err := ask(plan, 5, "gating"); err != nil || !d.Changed || x.want.Gated != 3 || d.After != nil {
		t.Errorf("%+v, %v: %+v", d, err, x)
	}
	if d, err := ask(plan, 6, "gating"); err != nil || d.Changed || x.decides["gating"] != 5 {
		t.Errorf("%+v, %v: as many SMs are gated already", d, err)
	}
	if d, err := ask(plan, 7, "quota", "ctas"); err != nil || !d.Changed || x.quota.Scheme != sm.QuotaElastic ||
		x.quota.PerSM[0][0] != 5 || x.ctas[0][0] != 2 || x.decides["quota"] != 7 {
		t.Errorf("%+v, %v: %+v", d, err, x)
	}
}
