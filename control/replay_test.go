package control

import (
	"encoding/json"
	"strings"
	"testing"
)

const twoSamples = `[
 {"cycle": 1000, "epoch": 1, "idle_sms": 0, "gated_sms": 0, "apps": [
  {"name": "DXTC", "sms": 40, "groups": 4, "cycles": 1000, "insts": 100000, "llc_accesses": 1, "dram_bytes": 128},
  {"name": "PVC", "sms": 40, "groups": 4, "cycles": 1000, "insts": 1000000, "llc_accesses": 5000, "dram_bytes": 321428}
 ]},
 {"cycle": 2000, "epoch": 2, "idle_sms": 0, "moving": true, "apps": [
  {"name": "DXTC", "sms": 44, "groups": 3, "insts": 5}, {"name": "PVC", "sms": 36, "groups": 5, "insts": 5}
 ]}
]`

// A file of samples gives a plan each, in the words of the contract.
func TestReplay(t *testing.T) {
	plans, err := replayed(t, "ugpu", nil, "s.json", []byte(twoSamples))
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Cycle uint64
		Apps  []struct {
			Name        string
			SMs, Groups int
		}
		Why []string
	}
	text, err := json.Marshal(plans)
	if err != nil || json.Unmarshal(text, &got) != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Cycle != 1000 || got[0].Apps[0].Name != "DXTC" || got[0].Apps[0].SMs != 64 ||
		got[0].Apps[1].Groups != 7 || len(got[0].Why) == 0 {
		t.Errorf("%s", text)
	}
	// something changes hands: nothing is asked for
	if got[1].Apps[0].SMs != 44 || got[1].Apps[1].Groups != 5 || got[1].Why[0] != moving {
		t.Errorf("%s", text)
	}
	// A plan with nothing to say still has every field of the contract.
	const met = `[{"cycle": 1, "epoch": 1, "gated_sms": 3, "apps": [
  {"name": "a", "sms": 1, "insts": 10, "cycles": 1, "qos": 10}]}]`
	for _, policy := range []string{"smqos", "spart", "rollover"} {
		plans, err := replayed(t, policy, nil, "s.json", []byte(met))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(plans)
		if err != nil || !strings.Contains(string(text), `"gated_sms":3`) || !strings.Contains(string(text), `"why":[`) {
			t.Errorf("%s: %s, %v", policy, text, err)
		}
	}
	if plans, err := replayed(t, "ugpu", nil, "s.json", []byte(" [ ] ")); err != nil || len(plans) != 0 {
		t.Errorf("%v, %v", plans, err)
	}
}

// replayed is Replay of a policy with these parameters.
func replayed(t testing.TB, name string, p Params, file string, text []byte) ([]Plan, error) {
	t.Helper()
	e, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return Replay(e, made(t, name, p), file, text)
}

func TestReplayRefuses(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`"insts": 5}, `, `"inst": 5}, `, `s.json:7: unknown key "inst"`},
		{`"cycle": 2000`, `"cycle": 200`, "s.json:6: sample 2 is at cycle 200 and the one before at 1000"},
		{`"epoch": 2,`, `"epoch": "two",`, "s.json:6: epoch is a string"},
		{`"sms": 44`, `"sms": -1`, "s.json:6: sample 2: application DXTC: sms, groups and qos cannot be negative"},
		{`"name": "PVC", "sms": 36`, `"name": "DXTC", "sms": 36`, "two applications are called DXTC"},
		{`{"name": "PVC", "sms": 36, "groups": 5, "insts": 5}`, ``, "s.json:8: not valid JSON"},
		{
			`, {"name": "PVC", "sms": 36, "groups": 5, "insts": 5}`, ``,
			"s.json:6: sample 2 has 1 applications and the first has 2",
		},
		{` ]}
]`, ` ]}`, "the array of samples has no end"},
		{` ]}
]`, ` ]}
] []`, "something follows"},
		{`[
 {"cycle": 1000`, `
 {"cycle": 1000`, "a JSON array of samples is expected"},
		{`"insts": 5}, `, `"insts": -5}, `, "s.json:7: apps.insts is a number -5"},
		{`"insts": 5}, `, `"insts": 9007199254740993}, `, "sample 2: application 1: insts is 9007199254740993, more " +
			"than 2^53"},
		{`"name": "PVC", "sms": 36`, `"name": "CP", "sms": 36`, "sample 2 has the applications DXTC, CP and the " +
			"first has DXTC, PVC"},
		{`"epoch": 2,`, `"epoch": 0,`, "s.json:6: sample 2 has epoch 0 and the one before has 1"},
		{`"sms": 44`, `"sms": 44, "sms_leaving": 45`, "application DXTC: 45 SMs are leaving it, and it has 44"},
		{`"sms": 44`, `"sms": 44, "qos": 1e7`, "application DXTC: qos is 1e+07 thread instructions per core cycle: " +
			"at most"},
		{`"sms": 44`, `"sms": 65537`, "application DXTC: no machine has more than 65536 SMs"},
		{`"epoch": 2,`, `"epoch": 2, "sms_gating": -1,`, "sms_gating cannot be negative"},
		{`"idle_sms": 0, "moving"`, `"idle_sms": 65537, "moving"`, "sample 2: idle_sms, gated_sms, sms_gating: no " +
			"machine"},
		{`"groups": 5, "insts": 5}`, `"groups": 65537, "insts": 5}`, "no machine has more than 65536 channel groups"},
	} {
		text := strings.Replace(twoSamples, c.from, c.to, 1)
		if text == twoSamples {
			t.Fatalf("%q is not in the samples", c.from)
		}
		if _, err := replayed(t, "ugpu", nil, "s.json", []byte(text)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.to, err, c.want)
		}
	}
}

// What a policy cannot do without is not taken for nothing.
func TestReplayNeeds(t *testing.T) {
	whole := `[{"cycle": 1, "epoch": 1, "apps": [{"name": "a", "sms": 1, "insts": 1, "cycles": 1}]}]`
	for _, c := range []struct{ policy, from, to, want string }{
		{"smqos", ``, ``, ""},
		{"smqos", `"epoch": 1, `, ``, "s.json:1: sample 1 has no epoch, which policy smqos decides by"},
		{"smqos", `"epoch": 1, `, `"epoch": 0, `, "sample 1: epoch 0"},
		{"smqos", `, "insts": 1`, ``, "sample 1: application 1 has no insts"},
		{"smqos", `"sms"`, `"SMS"`, "sample 1: application 1 has no sms"},
		{"smqos", `"sms": 1`, `"sms": null`, "sample 1: application 1 has no sms"},
		{"spart", `"epoch": 1, `, ``, ""},
		{"spart", `, "cycles": 1`, ``, "sample 1: application 1 has no cycles"},
		{"rollover", `, "cycles": 1`, ``, "sample 1: application 1 has no cycles"},
		{"smqos", whole, `[{"cycle": 1, "epoch": 1}]`, "sample 1 has no apps"},
		{"ugpu", whole, `[{}]`, "sample 1 has no apps"},
		{"ugpu", whole, `[1]`, "s.json:1: a sample is an object in braces, not a number"},
	} {
		text := strings.Replace(whole, c.from, c.to, 1)
		_, err := replayed(t, c.policy, nil, "s.json", []byte(text))
		if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %s:\n got %v\nwant %s", c.policy, text, err, c.want)
		}
	}
}

// Whatever the file, there are plans or an error, and no panic.
func FuzzReplay(f *testing.F) {
	f.Add([]byte(twoSamples), uint8(0))
	f.Add([]byte(`[{"apps":null}]`), uint8(1))
	f.Add([]byte(`[null,{}]`), uint8(2)) // JSON has no comments
	f.Fuzz(func(t *testing.T, text []byte, n uint8) {
		all := All()
		e := all[int(n)%len(all)]
		p, err := e.New(paper(), nil)
		if err != nil {
			t.Fatal(err)
		}
		plans, err := Replay(&e, p, "s.json", text)
		if (plans == nil) == (err == nil) {
			t.Errorf("%v, %v", plans, err)
		}
	})
}

// A policy of one's own need not ask what applications hold: its samples are checked all the same.
func TestCheckerWithoutHeld(t *testing.T) {
	type sample struct {
		Clock
		Apps []struct {
			Insts uint64 `json:"insts"`
		}
	}
	s := &sample{}
	s.Apps = append(s.Apps, struct {
		Insts uint64 `json:"insts"`
	}{1})
	c := checker{entry: &Entry{Name: "own"}, instances: -1}
	if err := c.sample(s); err != nil {
		t.Error(err)
	}
	s.Apps[0].Insts = 1 << 60
	if err := c.sample(s); err == nil {
		t.Error("2^60 instructions")
	}
}
