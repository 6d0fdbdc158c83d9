package runfile

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

var update = flag.Bool("update", false, "rewrite runfile.schema.json")

func TestSchemaIsUpToDate(t *testing.T) {
	got, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("runfile.schema.json", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("runfile.schema.json")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("runfile.schema.json is stale (%v): go test ./sim/runfile -update", err)
	}
}

const two = `machine: ugpu
set:
  dram.queue: 32
apps:
- {name: x, path: a, args: {n: 16, fast: true, lo: 1e-3}}
- {path: b, arrive: 100, repeat: true, qos: 1.5}
`

func parse(t *testing.T, text string, o Overrides) (*File, error) {
	t.Helper()
	return Parse("testdata/run.yaml", []byte(text), o)
}

func TestEverythingResolves(t *testing.T) {
	f, err := parse(t, two+`sharing:
- bp
- {mode: mps, sms: [50, 30]}
- {mode: slices, name: lean, sms: [60, 20], groups: [2, 6]}
- bp-bs
length: {cycles: 2e6, until: cycles}
epoch: 5000
seed: 7
watchdog: 9
outputs: {dir: out, profile: false}
`, Overrides{Set: map[string]string{"machine.dram.return": "100"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Specs) != 4 || f.Out != filepath.Join("testdata", "out") {
		t.Fatalf("%d specs, out %q", len(f.Specs), f.Out)
	}
	want := sim.Spec{
		Machine: "ugpu", Set: map[string]string{"dram.queue": "32", "dram.return": "100"},
		Sharing: sim.Sharing{Mode: "slices", Name: "lean", SMs: []int{60, 20}, Groups: []int{2, 6}},
		Apps: []sim.App{
			{Name: "x", Path: filepath.Join("testdata", "a"), Args: map[string]string{
				"n": "16", "fast": "true",
				"lo": "1e-3",
			}},
			{Name: "b", Path: filepath.Join("testdata", "b"), Arrive: 100, Repeat: true, QoS: 1.5},
		},
		Length: sim.Length{MaxCycles: 2000000, Budget: true}, Epoch: 5000, Seed: 7, Watchdog: 9, Timeline: true,
	}
	if !reflect.DeepEqual(f.Specs[2], want) {
		t.Errorf("got  %+v\nwant %+v", f.Specs[2], want)
	}
	if f.Machine.DRAM.Queue != 32 || f.Machine.DRAM.Return != 100 {
		t.Errorf("overrides did not reach the machine: %+v", f.Machine.DRAM)
	}
}

func TestMistakesPointAtTheirLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"machne: qv100\n", "testdata/run.yaml:1:1: unknown key \"machne\" in a run file; did you mean machine?\n   " +
			"1 | machne: qv100\n     | ^"},
		{"machine: qv10\napps: [{path: a}]\n", `run.yaml:1:10: no machine sheet named "qv10"; did you mean qv100?`},
		{
			"set: {dram.chanels: 4}\napps: [{path: a}]\n",
			`run.yaml:1:7: no number "dram.chanels" in a machine; did you mean dram.channels?`,
		},
		{"set: {sm.schedulers: 3}\napps: [{path: a}]\n", "do not divide over sm.schedulers = 3"},
		{"machine: qv100\n", "no applications: list at least one under apps"},
		{"apps: []\n", "no applications"},
		{"apps:\n- {nam: x}\n", `run.yaml:2:4: unknown key "nam" in an entry of apps; did you mean name?`},
		{"apps:\n- {name: x}\n", "run.yaml:2:4: an application needs path"},
		{"apps:\n- {path: a}\n- {path: c}\n", "run.yaml:3:10: c is not an application: there is no such folder"},
		{"apps:\n- {path: a}\n- {path: a}\nsharing: bp\n", "two applications are called a"},
		{"apps:\n- {path: a}\n- {path: b}\n", "2 applications need a sharing mode"},
		{"apps: [{path: a, args: {n: {x: 1}}}]\n", "a plain value is expected"},
		{"apps: [{path: a, arrive: -1}]\n", "arrive cannot be negative"},
		{"apps: [{path: a, arrive: 1.5}]\n", "arrive must be a whole number, not 1.5"},
		{"apps: [{path: a, repeat: often}]\n", "repeat must be true or false"},
		{"apps: {path: a}\n", "apps must be a list"},
		{two + "sharing:\n- bp\n- {mode: mp}\n", `run.yaml:9:10: no sharing mode "mp"; did you mean`},
		{
			two + "sharing: {mode: smk, quantum: 5}\n",
			"run.yaml:7:17: quantum has no meaning with mode smk, only with timeslice",
		},
		{two + "sharing: {mode: timeslice, epoch: 5}\n", "run.yaml:7:17: sharing mode timeslice is static"},
		{
			two + "sharing: {mode: bp, sms: [1, 2]}\n",
			"run.yaml:7:17: sms has no meaning with mode bp, only with mps and slices",
		},
		{two + "sharing: {mode: mps, sms: [60, 40]}\n", "hands out 100 SMs"},
		{two + "sharing: {mode: mps, sms: [0, 40]}\n", "0 in [0 40]"},
		{two + "sharing: {mode: slices, sms: [60, 20], groups: [4]}\n", "one number per application"},
		{two + "sharing: {mode: slices, sms: [60, 20], groups: [4, 5]}\n", "9 channel groups"},
		{two + "sharing: {mode: mig, profiles: [3g.20gb, 3g.20gb]}\n", "ugpu has no MIG profiles"},
		{two + "sharing: alone\n", "one application"},
		{two + "sharing: [bp, bp]\n", "two sharing modes are called bp"},
		{two + "sharing: []\n", "empty list"},
		{
			"machine: a100\napps: [{path: a}, {path: b}]\nsharing: {mode: mig, profiles: [3g.20gb, 4g.2gb]}\n",
			`"4g.2gb"`,
		},
		{
			"machine: a100\napps: [{path: a}, {path: b}]\nsharing: {mode: mig, profiles: [4g.20gb, 4g.20gb]}\n",
			"4g.20gb is used 2 times; a100 allows 1",
		},
		{"apps: [{path: a}]\nlength: {budget: true}\n", "run.yaml:2:10: a budget needs cycles"},
		{"apps: [{path: a}]\nlength: {until: noon}\n", "until is end or cycles"},
		{
			"apps: [{path: a}]\nlength: {cycles: 500, warmup: 500}\n",
			"run.yaml:2:31: a warm-up of 500 cycles leaves nothing of the 500",
		},
		{
			"apps: [{path: a}]\nlength: {instructions: 500, warmup_instructions: 500}\n",
			"run.yaml:2:50: a warm-up of 500 instructions leaves nothing of the 500",
		},
		{
			"apps: [{path: a}]\nlength: {warmup: 500, warmup_instructions: 500}\n",
			"warmup and warmup_instructions exclude each other",
		},
		{"apps: [{path: a}]\nlength: {warm: 5}\n", `unknown key "warm"`},
		{"apps: [{path: a}]\nepoch:\n", "epoch has no value"},
		{"apps: [{path: a}\n", "not valid YAML"},
	} {
		_, err := parse(t, c.text, Overrides{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestOverridesOfTheCommandLine(t *testing.T) {
	seed, most, watchdog := uint64(3), uint64(50), uint64(70)
	f, err := parse(t, two+"sharing: bp\n", Overrides{
		Machine: "qv100", Sharing: []string{"mps", "bp-sb"}, Seed: &seed,
		MaxCycles: &most, Watchdog: &watchdog, Out: "elsewhere", Functional: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := f.Specs[1]
	if len(f.Specs) != 2 || s.Sharing.Mode != "bp-sb" || s.Seed != 3 || s.Length.MaxCycles != 50 || s.Watchdog != 70 ||
		f.Machine.Name != "qv100" || f.Out != "elsewhere" || !s.Functional || s.Epoch != DefaultEpoch {
		t.Errorf("got %+v, out %s", s, f.Out)
	}
	for _, c := range []struct {
		o    Overrides
		want string
	}{
		{Overrides{Set: map[string]string{"dram.chanels": "1"}}, "--set dram.chanels=1: no number"},
		{Overrides{Sharing: []string{"mig"}}, "--sharing mig: machine ugpu has no MIG profiles"},
		{Overrides{Args: map[string]string{"n": "1"}}, "--arg belongs to an application folder"},
		{Overrides{Machine: "nope"}, "no machine sheet named"},
	} {
		if _, err := parse(t, two+"sharing: bp\n", c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %s", c.o, err, c.want)
		}
	}
}

// --sharing takes the file's own entries, by name before mode.
func TestChosenSharing(t *testing.T) {
	const modes = "sharing:\n- {name: bp, mode: ugpu, epoch: 100}\n- {name: late, mode: ugpu, epoch: 900}\n- bp-sb\n"
	for _, c := range []struct {
		words []string
		want  []sim.Sharing
	}{
		{[]string{"late"}, []sim.Sharing{{Name: "late", Mode: "ugpu", Epoch: 900}}},
		{[]string{"ugpu"}, []sim.Sharing{
			{Name: "bp", Mode: "ugpu", Epoch: 100},
			{Name: "late", Mode: "ugpu", Epoch: 900},
		}},
		{[]string{"bp", "bp-sb"}, []sim.Sharing{
			{Name: "bp", Mode: "ugpu", Epoch: 100},
			{Name: "bp-sb", Mode: "bp-sb"},
		}},
		{[]string{"mps"}, []sim.Sharing{{Name: "mps", Mode: "mps"}}},
	} {
		f, err := parse(t, two+modes, Overrides{Sharing: c.words})
		if err != nil {
			t.Fatal(err)
		}
		var got []sim.Sharing
		for _, s := range f.Specs {
			got = append(got, s.Sharing)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v: got %+v, want %+v", c.words, got, c.want)
		}
	}
}

func TestForApp(t *testing.T) {
	f, err := ForApp("testdata/a", Overrides{Args: map[string]string{"n": "5"}})
	if err != nil {
		t.Fatal(err)
	}
	s := f.Specs[0]
	if s.Machine != "qv100" || s.Sharing.Mode != "alone" || s.Apps[0].Name != "a" || s.Apps[0].Path != "testdata/a" ||
		s.Apps[0].Args["n"] != "5" || s.Epoch != 0 {
		t.Errorf("got %+v", s)
	}
	if ok, err := IsApp("testdata/a"); !ok || err != nil {
		t.Errorf("IsApp: %v, %v", ok, err)
	}
	if _, err := IsApp("testdata"); err == nil {
		t.Error("a folder without app.star passes as something")
	}
}

func TestHashDependsOnContentsNotOnPlace(t *testing.T) {
	hash := func(dir string, change func(*sim.Spec)) string {
		f, err := ForApp(filepath.Join(dir, "a"), Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(&f.Specs[0])
		}
		h, err := Hash(&f.Specs[0], f.Machine)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	other := t.TempDir()
	if err := os.CopyFS(other, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	h := hash("testdata", nil)
	if hash(other, nil) != h {
		t.Error("the same application elsewhere has another hash")
	}
	if hash("testdata", func(s *sim.Spec) { s.Seed = 2 }) == h {
		t.Error("the seed does not change the hash")
	}
	if err := os.WriteFile(filepath.Join(other, "a", "kernel.ptx"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if hash(other, nil) == h {
		t.Error("another kernel does not change the hash")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(two + "sharing: bp\nlength: {cycles: 5}\n")
	f.Add("# one\n" + two + "sharing: bp # two\n")
	f.Add("apps: [{path: a}]\noutputs: {dir: x}\nset: {sm.units: [1, 1, 1, 1, 1, 1]}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "machine") && strings.ContainsAny(text, "/\\") {
			t.Skip() // do not read sheets all over the disk
		}
		file, err := Parse("testdata/run.yaml", []byte(text), Overrides{})
		if (file == nil) == (err == nil) {
			t.Fatalf("%v, %v", file, err)
		}
	})
}

// Every sharing mode resolves on some machine, and says of itself what it is.
func TestModes(t *testing.T) {
	for _, m := range sim.Modes() {
		machine, more := "ugpu", ""
		switch m.Name {
		case "mig":
			machine, more = "a100", ", profiles: [3g.20gb, 2g.10gb]"
		case "alone":
			continue // of one application
		}
		f, err := parse(t, "machine: "+machine+"\napps: [{path: a}, {path: b}]\nsharing: {mode: "+m.Name+more+"}\n",
			Overrides{})
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		if got := f.Specs[0].Sharing.Governed(); (len(got) == 1) != (m.Policy != "") {
			t.Errorf("%s is governed by %v, the table says %q", m.Name, got, m.Policy)
		}
		if m.What == "" || (m.Policy != "") != (m.Long() != "") {
			t.Errorf("%+v lacks a sentence, or what it is short for", m)
		}
	}
}

// What is wrong with a policy is said where it is listed, or its parameter, and with a number of the machine that the
// file sets, there.
func TestPolicyAndSetLines(t *testing.T) {
	const begin = "machine: hydrogen\napps: [{path: a}]\nsharing: alone\n"
	for _, c := range []struct{ text, want string }{
		{"policies:\n- policy: hydrogen\n  params:\n    cap: 1\n    ways: 8\n", "8:11: policy hydrogen: ways = 8, and"},
		{"policies:\n- policy: hydrogen\n  params: {cap: 77}\n", "6:17: policy hydrogen: the start cap = 77"},
		{"policies:\n- policy: hydrogen\n  params: {caps: 7}\n", `6:18: policy hydrogen has no parameter "caps"`},
		{"policies:\n- policy: hydrogen\n  period: 77\n", "5:11: policy hydrogen: period 77"},
		{"set:\n  cpu.cores: 8\n  memory.hybrid.block: 96\n", "6:3: hydrogen.yaml: memory.hybrid.block is 96"},
		{"set:\n  machine.memory.hybrid.ways: 0\n", "5:3: hydrogen.yaml: memory.hybrid.ways is 0"},
	} {
		_, err := parse(t, begin+c.text, Overrides{})
		if err == nil || !strings.Contains(err.Error(), "run.yaml:"+c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

// A choice of a policy is given by name or number; what is neither is refused where it stands.
func TestChoices(t *testing.T) {
	const begin = "machine: fermi\napps: [{path: a, qos: 80%}, {path: b}]\nsharing: {mode: smqos, params: {swap_out: "
	for text, want := range map[string]float64{"printed": 0, "symmetric": 1, "0": 0} {
		r, err := parse(t, begin+text+"}}\n", Overrides{})
		if err != nil || r.Specs[0].Sharing.Params["swap_out"] != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"mirrored": `3:43: swap_out: give printed (0) or symmetric (1), not "mirrored"`,
		"2":        "3:17: policy smqos: swap_out = 2 is out of range: give printed (0) or symmetric (1)",
	} {
		_, err := parse(t, begin+text+"}}\n", Overrides{})
		if err == nil || !strings.Contains(err.Error(), "run.yaml:"+want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// What is wrong with memory is said at the line of the key it is about.
func TestMemoryLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"sharing:\n  mode: bp\n  memory:\n    placement: least\n    pages: swap\n", "11:12: memory.pages is page"},
		{"sharing:\n- mode: bp\n  memory:\n    pages: migrate\n", "10:12: memory.pages: migrate"},
		{
			"sharing: [{mode: bp, name: x}, {mode: bp}]\nmemory:\n  pages: replicate\n",
			"9:10: memory.pages: replicate",
		},
		{"sharing: bp\nmemory: {pages: rewrite,\n  replication: full}\n", "9:16: replication: machine"},
		{"sharing: bp\nmemory:\n  placement: nowhere\n", "9:14: "},
		{"sharing: {mode: ugpu-soft,\n  memory: {pages: page-move}}\n", "8:19: sharing mode ugpu-soft moves"},
	} {
		_, err := parse(t, two+c.text, Overrides{})
		if err == nil || !strings.Contains(err.Error(), "run.yaml:"+c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
	text := "machine: nuba\napps: [{path: a}]\nsharing:\n  mode: alone\n  memory: {pages: migrate}\n" +
		"set: {vm.home_interval: 0, vm.home_pages: 0, vm.home_moves: 0}\n"
	_, err := parse(t, text, Overrides{})
	if err == nil || !strings.Contains(err.Error(), "run.yaml:5:19: memory.pages: migrate: machine nuba counts no") {
		t.Error(err)
	}
}

// Policies of a run file without sharing, one or a list, are complained of where they stand.
func TestPoliciesWithoutSharing(t *testing.T) {
	for policies, want := range map[string]string{
		"{policy: hydrogen, params: {capp: 3}}":  `3:45: policy hydrogen has no parameter "capp"`,
		"[{policy: hydrogen, params: {cap: 9}}]": "3:45: policy hydrogen: the start cap = 9",
		"smqos":                                  "3:11: policy smqos sets sms",
	} {
		_, err := parse(t, "machine: hydrogen\napps: [{path: a}]\npolicies: "+policies+"\n", Overrides{})
		if err == nil || !strings.Contains(err.Error(), "run.yaml:"+want) {
			t.Errorf("%s: %v, want %s", policies, err, want)
		}
	}
}

// A mode written out is the mode: who has what, which policy, how pages move.
func TestAxes(t *testing.T) {
	f, err := parse(t, two+`sharing:
- {mode: slices, name: long, policies: [{policy: ugpu, period: 7000, params: {flip: 1}}], memory: {pages: read-write}}
- {mode: ugpu-soft, epoch: 7000, params: {flip: 1}, policies: []}
- {mode: slices, name: top, memory: {placement: least}}
policies: [observe]
`, Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	long, short, top := f.Specs[0].Sharing, f.Specs[1].Sharing, f.Specs[2].Sharing
	if !reflect.DeepEqual(long.Governed(), short.Governed()) {
		t.Errorf("%+v and %+v", long.Governed(), short.Governed())
	}
	if g := top.Governed(); len(g) != 1 || g[0].Policy != "observe" || top.Memory.Placement != "least" {
		t.Errorf("%+v", top)
	}
	for text, want := range map[string]string{
		"sharing: {mode: bp, policies: [ugpo]}\n":                     `run.yaml:7:32: no policy "ugpo"`,
		"sharing: {mode: bp, policies: [{period: 5}]}\n":              "needs policy, its name",
		"sharing: {mode: bp, policies: [{policy: ugpu, perod: 5}]}\n": "did you mean period?",
		"sharing: {mode: bp, policies: [ugpu, cd-search]}\n":          "both set sms",
		"sharing: {mode: mps, policies: [hydrogen]}\n": "machine ugpu has none: use machine " +
			"hydrogen",
		"sharing: {mode: bp, policies: [{policy: ugpu, params: {flap: 1}}]}\n": "did you mean flip?",
		"sharing: {mode: bp, memory: {pages: swap}}\n": "memory.pages is page-move, " +
			"read-write, rewrite",
	} {
		if _, err := parse(t, two+text, Overrides{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	_, err = parse(t, "apps: [{path: a}, {path: b}]\nsharing: ugpu-ori\n", Overrides{})
	if err == nil || !strings.Contains(err.Error(), "does not translate addresses (vm.enabled)") ||
		!strings.Contains(err.Error(), "(sheet qv100, line ") {
		t.Error(err)
	}
	_, err = parse(t, "apps: [{path: a}]\noutputs: {touches: true}\n", Overrides{})
	if err == nil || !strings.Contains(err.Error(), "run.yaml:2:20: outputs.touches counts the SMs that touch a page, "+
		"but machine qv100 does") ||
		!strings.Contains(err.Error(), "(sheet qv100, line ") {
		t.Error(err)
	}
	const unified = "apps: [{path: a}]\nmemory: {unified: {all: true}}\n"
	f, err = parse(t, unified, Overrides{})
	if err != nil || !f.Machine.VM.Enabled || f.Specs[0].Set["vm.page"] != "4096" || len(f.Notes) != 1 ||
		!strings.Contains(f.Notes[0], "sets vm.enabled=true and vm.page=4096 on machine qv100") {
		t.Errorf("%v; want a machine that has unified memory, and a note", err)
	}
	_, err = parse(t, unified+"set: {vm.page: 2097152}\n", Overrides{})
	if err == nil || !strings.Contains(err.Error(), "has pages of 2097152 bytes (vm.page), but managed memory moves") {
		t.Errorf("pages of 2 MB: %v", err)
	}
	_, err = parse(t, "apps: [{path: a}, {path: b}]\nsharing: {mode: mps, policies: [mdr]}\n", Overrides{})
	if err == nil || !strings.Contains(err.Error(), "replication: machine qv100 has noc.topology memory-side") ||
		!strings.Contains(err.Error(), "use machine nuba") || !strings.Contains(err.Error(), "(sheet qv100, line ") {
		t.Error(err)
	}
	_, err = parse(t, "apps: [{path: a}]\nmemory: {replication: full}\n", Overrides{})
	if err == nil || !strings.Contains(err.Error(), "has noc.topology memory-side") {
		t.Error(err)
	}
	both := "machine: nuba\napps: [{path: a}]\nsharing: {mode: alone, policies: [mdr], memory: {replication: none}}\n"
	_, err = parse(t, both, Overrides{})
	if err == nil || !strings.Contains(err.Error(), "memory.replication is none, but a policy sets replication") {
		t.Error(err)
	}
}

// A threshold that is named is 1 or more, in the file and on the command line; one that is left out is the default.
func TestThresholdsOfUnifiedMemory(t *testing.T) {
	const file = "machine: uvm\napps: [{path: a}]\nmemory:\n  unified:\n    all: true\n    %s\n"
	for line, want := range map[string]string{
		"ts: 0": "6:5: memory.unified: ts is 0: use 1 to 134217727", "p: -1": "6:5: memory.unified: p is -1: use 1 to",
		"ts: 8": "",
	} {
		_, err := parse(t, strings.ReplaceAll(file, "%s", line), Overrides{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	zero := Overrides{Set: map[string]string{"memory.unified.p": "0"}}
	_, err := parse(t, strings.ReplaceAll(file, "%s", "ts: 8"), zero)
	if err == nil || !strings.Contains(err.Error(), "--set memory.unified.p=0: p is 0: use 1 to 134217727") {
		t.Errorf("%v", err)
	}
}
