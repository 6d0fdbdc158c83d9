package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// probe runs `heddle probe ARGS` and returns what it prints.
func probe(stdin string, args ...string) (string, error) {
	c := probeCmd()
	var out bytes.Buffer
	c.SetArgs(args)
	c.SetIn(strings.NewReader(stdin))
	c.SetOut(&out)
	c.SetErr(&out)
	c.SilenceUsage, c.SilenceErrors = true, true
	err := c.Execute()
	return out.String(), err
}

const ddr4Device = "../../machine/dram/testdata/devices.json"

func TestProbeDRAM(t *testing.T) {
	dir := t.TempDir()
	csv := filepath.Join(dir, "commands.csv")
	out, err := probe("# two rows of a bank\nR 0x0\nR 0x40\n\nW 0x20000\n", "dram", "--device", ddr4Device, "--name",
		"ddr4_3200aa",
		"--trace", "-", "--refresh=false", "--commands", csv)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	for k, want := range map[string]any{
		"requests": 3.0, "reads": 2.0, "writes": 1.0, "dev": "ddr4_3200aa", "refresh": "noref", "mapper": "RoBaRaCoCh",
		"lat_min": 1.0 + 22 + 22 + 4, "cmd_ACT": 2.0, "cmd_PREpb": 1.0, "cmd_RD": 2.0, "cmd_WR": 1.0,
		"geom": "64,1,4,4,128,65536,1", "window": 1e9,
	} {
		if got[k] != want {
			t.Errorf("%s is %v, want %v", k, got[k], want)
		}
	}
	text, err := os.ReadFile(csv)
	if err != nil {
		t.Fatal(err)
	}
	want := "clk,channel,command,rank,bankgroup,bank,row,column\n" +
		"1,0,ACT,0,0,0,0,\n23,0,RD,0,0,0,0,0\n31,0,RD,0,0,0,0,1\n53,0,PREpb,0,0,0,0,\n" +
		"75,0,ACT,0,0,0,1,\n97,0,WR,0,0,0,1,0\n"
	if string(text) != want {
		t.Errorf("commands:\n%s\nwant:\n%s", text, want)
	}
}

// TestProbeDRAMBeyond: an address beyond the device is the one as far from its begin, or an error;
// LD and ST are R and W.
func TestProbeDRAMBeyond(t *testing.T) {
	run := func(trace string, more ...string) (string, error) {
		return probe(trace, append([]string{
			"dram", "--device", ddr4Device, "--name", "ddr4_3200aa", "--trace", "-",
			"--sched", "frfcfs-rowhit",
		}, more...)...)
	}
	const size = "0x200000000" // 4 groups of 4 banks of 65536 rows of 8 KB
	in, err := run("R 0x40\nW 0x80\n")
	if err != nil || !strings.Contains(in, `"sched": "FRFCFSRowHit"`) {
		t.Fatalf("%v, %s", err, in)
	}
	if out, err := run("LD 0x200000040\nST 0x80\n"); err != nil || out != in {
		t.Errorf("%v, %s, want %s", err, out, in)
	}
	if _, err := run("R 0x1ffffffc0\n", "--beyond", "refuse"); err != nil {
		t.Error(err)
	}
	for _, c := range [][]string{
		{"standard input:2: address " + size + " is beyond the device, which ends at " + size, "refuse"},
		{`--beyond is "what", want wrap or refuse`, "what"},
	} {
		if _, err := run("R 0x40\nR "+size+"\n", "--beyond", c[1]); err == nil || !strings.Contains(err.Error(), c[0]) {
			t.Errorf("%v, want %s", err, c[0])
		}
	}
}

func TestProbeNoC(t *testing.T) {
	out, err := probe("", "noc", "--ports", "8", "--vcs", "4", "--load", "0.05")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		PktLat float64 `json:"pkt_lat"`
		Acc    float64 `json:"acc_flit"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.PktLat < 6.0224 || got.PktLat > 6.0226 || got.Acc < 0.0495 || got.Acc > 0.0496 {
		t.Errorf("latency %g, accepted %g; the reference has 6.02251 and 0.049575", got.PktLat, got.Acc)
	}
}

func TestProbeRemap(t *testing.T) {
	out, err := probe("", "remap", "--sets", "3", "--ways", "2", "--channels", "4", "--cap", "1", "--bw", "0", "--to",
		"cap=1,bw=2")
	if err != nil {
		t.Fatal(err)
	}
	type way struct {
		Way     int
		Owner   string
		Channel int
	}
	var got struct {
		Sets []struct {
			Set  int
			Ways []way
		}
		Moved *int
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	// Channels 0 and 1 are the CPU's: of each set the way in the other half is the GPU's.
	for i, want := range [][]way{
		{{0, "cpu", 0}, {1, "gpu", 2}}, {{0, "cpu", 1}, {1, "gpu", 3}}, {{0, "gpu", 2}, {1, "cpu", 0}},
	} {
		if len(got.Sets) != 3 || got.Sets[i].Set != i || !reflect.DeepEqual(got.Sets[i].Ways, want) {
			t.Fatalf("set %d is not %v in %s", i, want, out)
		}
	}
	if got.Moved == nil || *got.Moved%2 != 0 {
		t.Errorf("moved: %v in %s", got.Moved, out)
	}
}

func TestProbeTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "misses")
	if err := os.WriteFile(file, []byte("0 miss\n9 miss-dirty\n10 miss\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string]string{
		"cache": `{"accesses":[{"cycle":0,"migrate":true,"tokens":1},{"cycle":9,"migrate":true,"tokens":0},` +
			`{"cycle":10,"migrate":true,"tokens":1}]}`,
		"flat": `{"accesses":[{"cycle":0,"migrate":true,"tokens":0},{"cycle":9,"migrate":false,"tokens":0},` +
			`{"cycle":10,"migrate":true,"tokens":0}]}`,
	} {
		out, err := probe("", "tokens", "--tok", "2", "--period", "10", "--mode", mode, "--trace", file)
		var text bytes.Buffer
		if err != nil || json.Compact(&text, []byte(out)) != nil || text.String() != want {
			t.Errorf("%s: %v, %s, want %s", mode, err, text.String(), want)
		}
	}
}

// TestProbePlace: Figure 6 (d) of NUBA under LAB, as the command line gives it.
func TestProbePlace(t *testing.T) {
	out, err := probe("1 0x0\n0 0x1\n1 0x2\n0 0x0 # placed\n1 0x3\n", "place", "--policy", "lab", "--channels", "2",
		"--trace", "-")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	page := func(name string, channel float64) any { return map[string]any{"page": name, "channel": channel} }
	want := map[string]any{
		"pages": []any{page("0x0", 1), page("0x1", 0), page("0x2", 1), page("0x3", 0)},
		"npb":   []any{0.5, 1.0, 0.75, 1.0},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	out, err = probe("", "place", "--policy", "lab", "--channels", "2", "--threshold", "0.95", "--trace", "-")
	if err != nil || strings.Join(strings.Fields(out), "") != `{"pages":[],"npb":[]}` {
		t.Errorf("%s, %v", out, err)
	}
}

// TestProbeUVM: a fault that brings its 64 KB, one that has to evict them, and a clean chunk, as
// the command line gives them.
func TestProbeUVM(t *testing.T) {
	args := []string{
		"uvm", "--capacity", "65536", "--prefetch", "sl", "--evict", "sl", "--write-back", "dirty", "--trace", "-",
	}
	out, err := probe("alloc a 0x200000 131072\nkernel k\nR 0x200000\nW 0x200004\nR 0x210000\nR 0x200000\n", args...)
	want := `{"events":[` +
		`{"access":0,"kind":"fault","page":"0x200000","migrate":[{"page":"0x200000","bytes":4096},` +
		`{"page":"0x201000","bytes":61440}],"evict":[]},` +
		`{"access":2,"kind":"fault","page":"0x210000","migrate":[{"page":"0x210000","bytes":4096},` +
		`{"page":"0x211000","bytes":61440}],"evict":[{"page":"0x200000","bytes":65536,"write_back":true}]},` +
		`{"access":3,"kind":"fault","page":"0x200000","migrate":[{"page":"0x200000","bytes":4096},` +
		`{"page":"0x201000","bytes":61440}],"evict":[{"page":"0x210000","bytes":65536,"write_back":false}]}],` +
		`"totals":{"faults":3,"migrated":196608,"evicted":131072,"written_back":65536,"remote":0,"dma_h2d":6,` +
		`"dma_d2h":1,"fallbacks":0,"thrashed":65536}}`
	var text bytes.Buffer
	if err != nil || json.Compact(&text, []byte(out)) != nil || text.String() != want {
		t.Errorf("%v\n%s, want\n%s", err, text.String(), want)
	}
}

func TestProbeErrors(t *testing.T) {
	remap := func(ways, bw, to string) []string {
		return []string{"remap", "--sets", "9", "--ways", ways, "--channels", "4", "--cap", "3", "--bw", bw, "--to", to}
	}
	tokens := []string{"tokens", "--trace", "-", "--period", "10", "--tok"}
	dev := []string{"dram", "--device", ddr4Device, "--trace", "-"}
	unified := []string{"uvm", "--trace", "-", "--prefetch", "tbn", "--evict", "tbn", "--capacity"}
	place := []string{"place", "--channels", "2", "--trace", "-"}
	for _, c := range []struct {
		stdin, want string
		args        []string
	}{
		{"R 0x0\nR zero\n", "standard input:2: want `R 0xADDR`", append(dev, "--name", "ddr4_3200aa")},
		{"", "pick one with --name", dev},
		{"", "unknown mapper", append(dev, "--name", "ddr4_3200aa", "--mapper", "X")},
		{"", "--sched is", append(dev, "--name", "ddr4_3200aa", "--sched", "random")},
		{"", "--page is", append(dev, "--name", "ddr4_3200aa", "--page", "random")},
		{"", "must be positive", append(dev, "--name", "ddr4_3200aa", "--inject", "0")},
		{"", `required flag(s) "device"`, []string{"dram", "--trace", "-"}},
		{"", "no such file", []string{"dram", "--device", "nowhere.json", "--trace", "-"}},
		{"0 0x1\n0 page\n", "standard input:2: want `PARTITION 0xPAGE`", append(place, "--policy", "lab")},
		{"2 0x1\n", "standard input:1: partition 2 of 2", append(place, "--policy", "first-touch")},
		{"", `placement policy "least"`, append(place, "--policy", "least")},
		{"", "is not between 0 and 1", append(place, "--policy", "lab", "--threshold", "2")},
		{"", `required flag(s) "policy"`, place},
		{"alloc a 0x200000 1 ro\nW 0x200000", "standard input:2: 0x200000 is written", append(unified, "4096")},
		{"", "capacity 5000", append(unified, "5000")},
		{"", `--write-back "never"`, append(unified, "4096", "--write-back", "never")},
		{"", `required flag(s) "evict", "prefetch"`, []string{"uvm", "--trace", "-", "--capacity", "4096"}},
		{"", `"--evict" flag: it has been given already, as "tbn"`, append(unified, "4096", "--evict", "lfu")},
		{"", `"--prefetch" flag: it has been given already`, append(unified, "4096", "--prefetch=tbn")},
		{"", `flag: it has been given already`, append(unified, "4096", "--migrate", "always", "--migrate", "adaptive")},
		{"", `"--policy" flag: it has been given already`, append(place, "--policy", "lab", "--policy", "first-touch")},
		{"", "--load is", []string{"noc", "--load", "3"}},
		{"", "nothing to measure", []string{"noc", "--load", "0.1", "--cycles", "100"}},
		{"", "6 ways and 4 channels do not divide", remap("6", "1", "cap=3,bw=1")},
		{"", "bw is 4", remap("4", "4", "cap=3,bw=1")},
		{"", "the new mapping: cap is 4", remap("4", "1", "cap=4,bw=1")},
		{"", "cap=X,bw=Y is expected", remap("4", "1", "tok=4")},
		{"", "cap=X,bw=Y is expected", remap("4", "1", "")},
		{"", `required flag(s) "bw", "cap"`, []string{"remap"}},
		{"1 miss\n2 mis\n", "standard input:2: want `CYCLE miss`", append(tokens, "1")},
		{"2 miss\n1 miss\n", "standard input:2: cycle 1 comes after", append(tokens, "1")},
		{"", "invalid argument", append(tokens, "-1")},
		{"", `not "both"`, append(tokens, "1", "--mode", "both")},
		{"", "at least one cycle", []string{"tokens", "--trace", "-", "--period", "0", "--tok", "1"}},
		{"", "no such file", []string{"tokens", "--trace", "nowhere", "--period", "10", "--tok", "1"}},
		{"", `pattern "tornado"`, []string{"noc", "--load", "0.1", "--pattern", "tornado"}},
	} {
		if _, err := probe(c.stdin, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.args, err, c.want)
		}
	}
}
