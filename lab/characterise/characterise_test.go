package characterise

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sheets"
)

const apps = "../../apps"

func run(t *testing.T, o Options, names ...string) []Profile {
	t.Helper()
	var paths []string
	for _, n := range names {
		paths = append(paths, filepath.Join(apps, n))
	}
	out, err := Run(context.Background(), paths, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range out {
		if p.Err != "" {
			t.Fatalf("%s: %s", p.App, p.Err)
		}
	}
	return out
}

func seeds(t *testing.T) *Seeds {
	t.Helper()
	s, err := LoadSeeds()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTwoApplications(t *testing.T) {
	list := run(t, Options{Size: "tiny", Jobs: 2}, "micro/triad", "rodinia-like/hotspot")
	triad := list[0]
	if m := triad.Memory; m.Shapes[Unit] != 1 || m.Pattern() != Streaming || m.Launches != 1 || m.ReadOnlyShared != 0 {
		t.Errorf("triad: %+v: want unit strides only, one launch, nothing shared", m)
	}
	// Each element costs two loads and a store of 4 B and one multiply-add: LLC accesses
	// are footprint / 128, all missing.
	x := triad.Traffic
	lines := float64(triad.Memory.Bytes) / lineBytes
	if math.Abs(x.MPKI*float64(x.ThreadInsts)/1000-lines) > 1e-6*lines || x.MPKI != x.APKI {
		t.Errorf("triad: MPKI %g, APKI %g over %d instructions; its footprint is %g lines, each missed once", x.MPKI,
			x.APKI, x.ThreadInsts, lines)
	}
	if elements := float64(triad.Memory.Bytes) / 12; float64(x.Flops) < elements || float64(x.Flops) > 2.1*elements {
		t.Errorf("triad: %d flops for some %g elements", x.Flops, elements)
	}
	if math.Abs(x.WriteShare-1.0/3) > 0.01 || x.Bound() != MemoryBound {
		t.Errorf("triad: write share %g, bound %s; want a third, memory", x.WriteShare, x.Bound())
	}
	if hot := list[1]; hot.Traffic.Bound() != ComputeBound || hot.Memory.Pattern() != Regular ||
		hot.Memory.Shapes[Block] < 0.5 {
		t.Errorf("hotspot: %+v %+v: want compute-bound and regular, in blocks", hot.Traffic, hot.Memory)
	}

	var doc, text bytes.Buffer
	if err := Markdown(&doc, [][]Profile{list}, seeds(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Preset `tiny`, machine `ugpu`", "| micro/triad |", "| rodinia-like/hotspot |",
		"| compute | compute | compute |", "| streaming | streaming |", "claims hold",
	} {
		if !strings.Contains(doc.String(), want) {
			t.Errorf("the document has no %q:\n%s", want, doc.String())
		}
	}
	if err := Text(&text, list, seeds(t)); err != nil || !strings.Contains(text.String(), "rodinia-like/hotspot") {
		t.Errorf("text: %v\n%s", err, text.String())
	}
	file := filepath.Join(t.TempDir(), "p.json")
	if text, err := json.Marshal(list); err != nil || os.WriteFile(file, text, 0o644) != nil {
		t.Fatal(err)
	}
	if back, err := Read([]string{file}); err != nil || !reflect.DeepEqual(back, [][]Profile{list}) {
		t.Errorf("read back: %v, %+v", err, back)
	}
	newer := filepath.Join(t.TempDir(), "newer.json")
	anew := triad
	anew.Err = "anew"
	if text, err := json.Marshal([]Profile{anew}); err != nil || os.WriteFile(newer, text, 0o644) != nil {
		t.Fatal(err)
	}
	if back, err := Read([]string{file, newer}); err != nil || !reflect.DeepEqual(back, [][]Profile{{anew, list[1]}}) {
		t.Errorf("a newer profile of %s: %v, %+v", triad.App, err, back)
	}
	if again := run(t, Options{Size: "tiny", Jobs: 1}, "micro/triad", "rodinia-like/hotspot"); !reflect.DeepEqual(again,
		list) {
		t.Error("the number of jobs changes the profiles")
	}
}

func TestSweep(t *testing.T) {
	p := run(t, Options{Size: "tiny", Jobs: 2, Sweep: true}, "parboil-like/cp")[0]
	if len(p.SMs) != 5 || len(p.Channel) != 5 || p.SMs[2].N != 40 || p.Channel[0].N != 4 || p.Channel[2].N != 16 {
		t.Fatalf("sweep over %+v and %+v", p.SMs, p.Channel)
	}
	if p.SMs[2].IPC != p.Channel[2].IPC {
		t.Errorf("half of the machine gives %g and %g", p.SMs[2].IPC, p.Channel[2].IPC)
	}
	for _, x := range append(p.SMs, p.Channel...) {
		if x.IPC <= 0 {
			t.Errorf("%+v", x)
		}
	}
}

func TestLimitAndFailure(t *testing.T) {
	out, err := Run(context.Background(), []string{
		filepath.Join(apps, "micro/triad"),
		filepath.Join(apps, "none/such"),
	}, Options{Size: "tiny", Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	if out[0].Skipped == "" || out[0].Traffic != nil || out[0].Memory == nil || out[0].Err != "" {
		t.Errorf("limited: %+v", out[0])
	}
	if out[1].Err == "" {
		t.Error("a folder that is not there has no error")
	}
	if out, err = Run(context.Background(), []string{filepath.Join(apps, "micro/triad")},
		Options{Size: "huge"}); err != nil || !strings.Contains(out[0].Err, "huge") {
		t.Errorf("unknown preset: %+v, %v", out, err)
	}
	if _, err = Run(context.Background(), nil, Options{}); err == nil {
		t.Error("no preset is no error")
	}
}

// UGPU's Table 2 falls into its two classes by this rule: 1.09 (SRAD) is memory-bound
// and 0.08 (HOTSPOT) compute-bound, when every access misses.
func TestBandwidthsSplitTable2(t *testing.T) {
	m, _, err := sheets.Resolve("ugpu", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, s := Bandwidths(m, 1, 0)
	if math.Abs(d-917.504) > 1e-6 || math.Abs(s-901.12) > 1e-6 {
		t.Errorf("demand %g, supply %g; want 80 SMs x 64 x 128 B x 1.4 GHz / 1000 and 32 channels x 28.16 GB/s", d, s)
	}
	for _, c := range seeds(t).Claims {
		if c.MPKI == nil {
			continue
		}
		d, s := Bandwidths(m, *c.MPKI, 0)
		got := ComputeBound
		if d > s {
			got = MemoryBound
		}
		if got != c.Bound {
			t.Errorf("%s: MPKI %g is %s by the rule, %s in the file", c.Name, *c.MPKI, got, c.Bound)
		}
	}
}

func TestSeeds(t *testing.T) {
	s := seeds(t)
	n := map[string]int{}
	for _, c := range s.Claims {
		n[c.Seed]++
	}
	for seed, want := range map[string]int{"ugpu": 15, "nuba": 29, "smqos": 12, "uvm": 12} {
		if n[seed] != want {
			t.Errorf("%d claims of %s, want %d", n[seed], seed, want)
		}
	}
	for text, want := range map[string]string{
		"sources: []\nclaims:\n  - {app: a, seed: x}\n":                                              "s.yaml:3",
		"sources:\n  - {seed: x, text: y}\nclaims:\n  - {app: a, seed: x, bound: both}\n":            "both",
		"sources:\n  - {seed: x, text: y}\nclaims:\n  - {app: a, seed: x, colour: red}\n":            "colour",
		"sources:\n  - {seed: x, text: y}\nclaims:\n  - {app: a, seed: x, pattern: regularly}\n":     "s.yaml:4",
		"sources:\n  - {seed: x, text: y}\nclaims:\n  - {app: a, seed: x, sharing: [low, medium]}\n": "sharing",
	} {
		if _, err := ParseSeeds("s.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

// The committed document is what the generator makes of the committed profiles, which
// are of every application at every preset; each claim that does not hold is explained.
func TestDocumentIsGenerated(t *testing.T) {
	var files []string
	for _, g := range []string{"tiny", "standard", "paper", "slices", "fermi"} {
		files = append(files, filepath.Join(apps, "profiles", g+".json"))
	}
	groups, err := Read(files)
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob(filepath.Join(apps, "*", "*", "app.star"))
	if err != nil || len(scripts) == 0 {
		t.Fatal(err, "no applications")
	}
	for _, s := range scripts {
		sizes := map[string]bool{}
		for _, g := range groups[:3] {
			for _, p := range g {
				if p.App == Name(filepath.Dir(s)) && p.Memory != nil && p.Err == "" {
					sizes[p.Size] = true
				}
			}
		}
		for _, size := range presets() {
			if !sizes[size] {
				t.Errorf("%s is not measured at %s: run apps/characterise.sh", Name(filepath.Dir(s)), size)
			}
		}
	}
	for _, v := range Judge(groups, seeds(t)) {
		if !v.Measured() || !v.OK() && v.Claim.Why == "" {
			t.Errorf("%s: %s is %q at %s, %s says %s: give a reason in seeds.yaml", v.Claim.App, v.What, v.Got[v.At],
				v.At, v.Claim.Seed, v.Want)
		}
	}
	var b bytes.Buffer
	if err := Markdown(&b, groups, seeds(t)); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(apps, "CHARACTERISATION.md")); err != nil ||
		!bytes.Equal(text, b.Bytes()) {
		t.Errorf("apps/CHARACTERISATION.md is not what heddle characterise --markdown makes of apps/profiles: run "+
			"apps/characterise.sh (%v)", err)
	}
}

// A claim is judged at its source's preset only; a reason is in place exactly where it
// does not hold there.
func TestJudge(t *testing.T) {
	parse := func(why string) *Seeds {
		s, err := ParseSeeds("s.yaml",
			[]byte("sources:\n  - {seed: x, text: y, preset: standard}\nclaims:\n  - {app: a/b, seed: x, name: B, "+
				"sharing: low"+why+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	at := func(size string, alone float64) []Profile {
		return []Profile{{App: "a/b", Size: size, Machine: "ugpu", Memory: &Memory{SharedBy: [4]float64{alone}}}}
	}
	low, high := [][]Profile{at("tiny", 0.1), at("standard", 0.9)}, [][]Profile{at("tiny", 0.9), at("standard", 0.1)}
	begun := [][]Profile{at("standard", 0.9)}
	begun[0][0].Skipped = "limit"
	for _, c := range []struct {
		groups [][]Profile
		why    string
		want   string
		err    string
	}{
		{low, "", "| high | **low** | - | yes |", ""},
		{low, ", why: because", "", "a/b is low at standard as x says, yet has a reason"},
		{begun, ", why: because", "| yes *, but: because |", ""},
		{high, ", why: because", "| low | **high** | - | no: because |", ""},
		{high, "", "| no: not explained |", ""},
		{low[:1], ", why: because", "| high | **-** | - | not measured |", ""},
	} {
		var b bytes.Buffer
		err := Markdown(&b, c.groups, parse(c.why))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
			continue
		}
		if err != nil || !strings.Contains(b.String(), c.want) {
			t.Errorf("%v: want %q in\n%s", err, c.want, b.String())
		}
	}
}

// A run that is stopped says so and keeps what it counted.
func TestStopped(t *testing.T) {
	p := run(t, Options{Size: "tiny", Limit: 3, Cycles: 400}, "micro/triad")[0]
	if x := p.Traffic; p.Skipped == "" || x == nil || !x.Stopped || x.Cycles != 400 || x.ThreadInsts == 0 {
		t.Errorf("%+v, %+v: want traffic of the first 400 cycles", p, p.Traffic)
	}
}
