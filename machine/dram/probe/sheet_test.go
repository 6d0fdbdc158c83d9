package probe

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/sheets"
)

const hbmSheet = `
clock: {dram: [500, MHz, test]}
dram:
  channels: [1, channels, test]
  bank_groups: 4
  banks: 4
  rows: 16384
  row_bytes: 2048
  access: 64
  dual_bus: true
  timing: {bl: 2, cl: [7, tCK, test], cwl: 4, rcdrd: 7, rcdwr: 6, rp: 7, ras: 17, rc: 24, wr: 8, rtp: 7, ccds: 2,
    ccdl: 3, rrds: 4, rrdl: 5, wtrs: 2, wtrl: 4, faw: 20, rfc: 130, refi: 1950}
`

// TestSheetIsDevice: the sheet form of the reference HBM device is the same device.
func TestSheetIsDevice(t *testing.T) {
	want, err := LoadDevice("../testdata/devices.json", "hbm_v1tab")
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseDevice("hbm.yaml", []byte(hbmSheet), "")
	if err != nil {
		t.Fatal(err)
	}
	if got.TCK != want.TCK || got.Channels != want.Channels {
		t.Errorf("clock %g ns and %d channels, want %g and %d", got.TCK, got.Channels, want.TCK, want.Channels)
	}
	a, b := strictest(got.Config.Constraints), strictest(want.Config.Constraints)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("constraints differ:\n%v\n%v", a, b)
	}
	got.Config.Constraints, want.Config.Constraints = nil, nil
	want.Config.Name, want.Config.WriteLatency = "hbm", got.Config.WriteLatency // device files do not say it
	if !reflect.DeepEqual(got.Config, want.Config) {
		t.Errorf("got %+v\nwant %+v", got.Config, want.Config)
	}
}

// strictest keeps the largest distance of every pair, sorted.
func strictest(list []dram.Constraint) []dram.Constraint {
	best := map[dram.Constraint]int{}
	for _, k := range list {
		key := k
		key.Min = 0
		best[key] = max(best[key], k.Min)
	}
	var out []dram.Constraint
	for k, m := range best {
		k.Min = m
		out = append(out, k)
	}
	sort.Slice(out, func(i, j int) bool { return fmt.Sprint(out[i]) < fmt.Sprint(out[j]) })
	return out
}

func TestSheetErrors(t *testing.T) {
	for _, c := range []struct{ edit, with, want string }{
		{"  banks: 4\n", "  banks: four\n", "hbm.yaml:6:10: banks must be a whole number"},
		{"  banks: 4\n", "  banked: 4\n", "hbm.yaml:6:3: "},
		{"[7, tCK, test]", "[7, ns, test]", "hbm.yaml:11:27: cl is in tCK, not ns"},
		{"[7, tCK, test]", "[7, tCK]", "hbm.yaml:11:23: cl is [value, unit, source], not 2 items"},
		{"row_bytes: 2048", "row_bytes: 2000", "row_bytes 2000 is not a multiple of access 64"},
		{"cl: [7, tCK, test]", "cl: 0", "timing.cl must be at least 1"},
		{"{dram: [500, MHz, test]}", "{dram: [500, GHz, test]}", "hbm.yaml:2:21: dram is in MHz, not GHz"},
	} {
		text := strings.Replace(hbmSheet, c.edit, c.with, 1)
		_, err := ParseDevice("hbm.yaml", []byte(text), "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.with, err, c.want)
		}
	}
}

// TestShippedSheets: every shipped machine's memory can be probed.
func TestShippedSheets(t *testing.T) {
	for _, name := range sheets.Names() {
		d, err := LoadDevice(name, "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, err := NewMapper("RoBaRaCoCh", &d.Config, d.Channels)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, err := Run(d, m, newPattern("d", 2000, 1, d), Options{Inject: 8})
		if err != nil || r.Requests != 2000 || r.GBps <= 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
