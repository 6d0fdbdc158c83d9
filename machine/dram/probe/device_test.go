package probe

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/machine/dram/checker"
)

func read(t testing.TB, file string) []byte {
	data, err := os.ReadFile("../testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// presetNames are the presets of the table, by timing.
func presetNames(t testing.TB) (names []string) {
	var list []preset
	if err := json.Unmarshal(read(t, "presets_ck_ns.json"), &list); err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		names = append(names, p.Timing)
	}
	return names
}

// TestPresetRules: the constraints derived from a preset are those the reference
// lists for the device.
func TestPresetRules(t *testing.T) {
	want, err := LoadDevice("../testdata/devices.json", "ddr4_3200aa")
	if err != nil {
		t.Fatal(err)
	}
	got, err := LoadDevice("../testdata/presets_ck_ns.json", "DDR4_3200AA")
	if err != nil {
		t.Fatal(err)
	}
	compareDevices(t, got, want)

	// The reference's HBM device is the HBM2 preset with other values, and one-clock ACTs.
	var full struct {
		Dev struct {
			Timing map[string]float64 `json:"timing_ticks"`
			Cycles map[string]float64 `json:"command_cycles"`
		} `json:"hbm_v1tab"`
	}
	if err := json.Unmarshal(read(t, "devices.json"), &full); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(preset{
		Std: "HBM2", Timing: "hbm_v1tab", CK: full.Dev.Timing, Cycles: full.Dev.Cycles,
		OrgVals: map[string]int{
			"channel_width": 128, "pseudochannel": 1, "bankgroup": 4, "bank": 4, "row": 16384,
			"column": 128,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err = ParseDevice("hbm.json", text, ""); err != nil {
		t.Fatal(err)
	}
	if want, err = LoadDevice("../testdata/devices.json", "hbm_v1tab"); err != nil {
		t.Fatal(err)
	}
	compareDevices(t, got, want)
}

func compareDevices(t *testing.T, got, want *Device) {
	t.Helper()
	a, b := strictest(got.Config.Constraints), strictest(want.Config.Constraints)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s: constraints differ:\n%v\n%v", want.Config.Name, a, b)
	}
	x, y := *got, *want
	x.Config.Constraints, y.Config.Constraints, x.Config.Name, y.Config.Name = nil, nil, "", ""
	if !reflect.DeepEqual(x, y) {
		t.Errorf("%s: got %+v\nwant %+v", want.Config.Name, x, y)
	}
}

// hostile sends everything to one bank group, in a few rows.
type hostile struct {
	*pattern
	group uint64 // address of the next bank group
}

func (h hostile) Next() (addr uint64, write, ok bool, err error) {
	addr, write, ok, err = h.pattern.Next()
	return addr &^ (7 * h.group), write, ok, err
}

// writeOnly turns every request into a write.
type writeOnly struct{ *pattern }

func (w writeOnly) Next() (addr uint64, write, ok bool, err error) {
	addr, _, ok, err = w.pattern.Next()
	return addr, true, ok, err
}

// TestNoViolations runs every device on every pattern under the checker: bank-group
// hostile, write-only, several channels, tiny windows, with and without refresh.
func TestNoViolations(t *testing.T) {
	type target struct {
		name, file string
		rules      []checker.Rule // nil: those of the configuration
	}
	var list []target
	var devices map[string]json.RawMessage
	if err := json.Unmarshal(read(t, "devices.json"), &devices); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ddr4_3200aa", "hbm_v1tab"} {
		rules, err := checker.ParseRules(devices[name])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, target{name, "devices.json", rules})
	}
	for _, name := range presetNames(t) {
		list = append(list, target{name, "presets_ck_ns.json", nil})
	}
	for _, x := range list {
		t.Run(x.name, func(t *testing.T) {
			for _, c := range []struct {
				pattern, mapper  string
				window, channels int
				refresh, ranks   bool
			}{
				{"a", "RoBaRaCoCh", 0, 1, true, false},
				{"b", "RoBaRaCoCh", 0, 1, true, false},
				{"c", "MOP4CLXOR", 0, 2, true, true},
				{"d", "RoBaRaCoCh", 0, 1, true, true},
				{"d", "ChRaBaRoCo", 1, 1, false, false},
				{"d", "RoBaRaCoCh", 7, 4, true, false},
				{"h", "RoBaRaCoCh", 0, 1, true, false},
				{"w", "RoBaRaCoCh", 0, 1, true, true},
			} {
				d, err := LoadDevice("../testdata/"+x.file, x.name)
				if err != nil {
					t.Fatal(err)
				}
				d.Channels = c.channels
				if c.ranks {
					d.Config.Ranks *= 2
				}
				if !c.refresh {
					d.Config.Refi = 0
				}
				m, err := NewMapper(c.mapper, &d.Config, d.Channels)
				if err != nil {
					t.Fatal(err)
				}
				checked(t, d, m, c.pattern, c.window, x.rules)
			}
		})
	}
}

// checked runs 1500 requests under the checker.
func checked(t *testing.T, d *Device, m *Mapper, kind string, window int, rules []checker.Rule) {
	var src Source
	switch kind {
	case "h":
		p := newPattern("d", 1500, 3, d)
		src = hostile{p, p.tx * uint64(d.Channels*d.Config.Columns*d.Config.Ranks)}
	case "w":
		src = writeOnly{newPattern("c", 1500, 4, d)}
	default:
		src = newPattern(kind, 1500, 5, d)
	}
	dev := checker.Of(&d.Config)
	if rules != nil {
		dev.Rules = rules
	}
	checks := make([]*checker.Checker, d.Channels)
	for i := range checks {
		checks[i] = checker.New(dev)
	}
	r, err := Run(d, m, src, Options{Inject: 2, Window: window, Trace: func(ch int, now uint64, cmd dram.Cmd,
		at dram.Loc,
	) {
		checks[ch].Command(now, cmd, at)
	}})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for ch, k := range checks {
		k.Finish(r.Cycles, 2)
		if v := k.Violations(); len(v) > 0 {
			t.Errorf("pattern %s, %s, channel %d: %d violations, first: %s", kind, m.Name, ch, len(v), v[0])
		}
		seen += k.Commands()
	}
	if total := r.ACT + r.PREpb + r.PREab + r.RD + r.WR + r.REFab; uint64(seen) != total {
		t.Errorf("pattern %s: %d commands seen, %d counted", kind, seen, total)
	}
	if got := r.RD + r.WR + r.Forwarded + r.Coalesced; got != 1500 {
		t.Errorf("pattern %s: %d bursts, forwards and merges for 1500 requests", kind, got)
	}
}

// TestEveryClock: visiting every clock gives the results of skipping, on half-clock
// devices as well.
func TestEveryClock(t *testing.T) {
	for _, name := range presetNames(t) {
		d, err := LoadDevice("../testdata/presets_ck_ns.json", name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := NewMapper("RoBaRaCoCh", &d.Config, 1)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Run(d, m, newPattern("d", 3000, 9, d), Options{Inject: 1, Window: 40})
		if err != nil {
			t.Fatal(err)
		}
		b, err := Run(d, m, newPattern("d", 3000, 9, d), Options{Inject: 1, Window: 40, everyClock: true})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: skipping %+v\nevery clock %+v", name, a, b)
		}
	}
}

func TestDeviceErrors(t *testing.T) {
	for _, c := range []struct{ text, name, want string }{
		{"", "", "empty device file"},
		{"{", "", "dev.json:1: "},
		{"{\"a\":{\"constraints\":[]},\"b\":{\"constraints\":[]}}", "", "pick one with --name: a, b"},
		{"{\"a\":{\"constraints\":[]},\"b\":{\"constraints\":[]}}", "c", `no device "c"; it has a, b`},
		{"[{\"timing\":\"x\",\"std\":\"SDR\",\"ck\":{}}]", "x", `unknown standard "SDR"`},
		{"[{\"timing\":\"x\",\"std\":\"DDR4\",\"ck\":{\"nCL\":3}}]", "x", "org_vals lacks"},
		{"[{\"timing\":\"x\"},{\"timing\":\"y\"}]", "z", `no preset "z"; it has x, y`},
		{"{\"constraints\":[], \"prefetch\":4}", "", "channel_width_bits 0"},
		{"{\"constraints\":[{\"level\":\"Rank\",\"prev\":[\"FOO\"],\"next\":[\"RD\"]}]," +
			"\"prefetch\":4,\"channel_width_bits\":64}", "", "unknown command in FOO"},
		{"{\"constraints\":[{\"level\":\"Die\"}],\"prefetch\":4,\"channel_width_bits\":64}", "", `unknown level "Die"`},
	} {
		_, err := ParseDevice("dev.json", []byte(c.text), c.name)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
}
