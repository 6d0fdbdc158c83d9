package sim

import (
	"strings"
	"testing"

	"heddle/control"
	"heddle/machine"
)

// A change is put together setting by setting, of what policies may set; a plan that is not
// for all applications is refused, and changes nothing.
func TestAsk(t *testing.T) {
	entry := func(settings ...string) *control.Entry { return &control.Entry{Settings: settings} }
	x := &change{want: []machine.Share{{SMs: 40, Groups: 4}, {SMs: 40, Groups: 4}}, decides: map[string]int{}}
	plan := control.Request{SMs: []int{41, 39}, Groups: []int{5, 3}}
	if _, after, changed, err := x.ask(entry("sms"), plan, 0); err != nil || !changed ||
		after[0].SMs != 41 || after[0].Groups != 4 {
		t.Errorf("%+v %v %v: a policy that sets SMs sets no groups", after, changed, err)
	}
	if before, after, changed, err := x.ask(entry("groups"), plan, 1); err != nil || !changed ||
		before[0].SMs != 41 || after[1].Groups != 3 || x.decides["sms"] != 0 || x.decides["groups"] != 1 {
		t.Errorf("%+v to %+v, %v, %v, decided by %v", before, after, changed, err, x.decides)
	}
	if _, _, changed, err := x.ask(entry("sms", "groups"), plan, 2); err != nil || changed {
		t.Errorf("what is wanted already is a change: %v, %v", changed, err)
	}
	short := control.Request{SMs: []int{80}}
	if _, _, changed, err := x.ask(entry("sms"), short, 3); changed || err == nil ||
		!strings.Contains(err.Error(), "1 shares (SMs) for 2 applications") || x.want[0].SMs != 41 {
		t.Errorf("%v, %v, %+v", changed, err, x.want)
	}
	if _, after, _, err := x.ask(entry(), plan, 4); err != nil || after != nil {
		t.Errorf("%+v, %v of a policy that sets nothing", after, err)
	}
}
