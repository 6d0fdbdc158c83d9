package sheets

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestEverySheetLoadsWithUnitAndSource(t *testing.T) {
	names := Names()
	if len(names) < 1 {
		t.Fatal("no sheets")
	}
	for _, name := range names {
		m, prov, err := Load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.Name != name {
			t.Errorf("%s calls itself %q", name, m.Name)
		}
		for _, e := range prov.List(m) {
			if e.Unit == "" || e.Doc == "" || e.Source == "" || e.Reference == "" {
				t.Errorf("%s: %s = %s lacks a unit, a meaning or a source: %+v", name, e.Path, e.Value, e)
			}
		}
	}
}

func TestQV100(t *testing.T) {
	m, prov, err := Load("qv100")
	if err != nil {
		t.Fatal(err)
	}
	if m.SM.Count != 80 || m.SM.Units != [6]int{4, 4, 4, 4, 4, 1} || m.DRAM.T.RCDWR != 9 || m.LLC.Index != "ipoly" {
		t.Errorf("got %+v", m)
	}
	e, ok := prov.Lookup("sm.overhead")
	if !ok || e.Source != "measured" || !strings.Contains(e.Reference, "key latencies") {
		t.Errorf("sm.overhead: %+v", e)
	}
}

// small is a sheet that changes one number of qv100.
func small(body string) string {
	return "name: mine\ndescription: x\nbase: qv100\nsources:\n  me: \"a book\"\n" + body
}

func TestSheetErrors(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"sm:\n  cont: [4, SMs, me]\n", `m.yaml:7:3: unknown key "cont" in section sm; did you mean count?`},
		{"smm:\n  count: [4, SMs, me]\n", `m.yaml:6:1: unknown key "smm" in a machine sheet; did you mean sm?`},
		{"sm:\n  count: [4, cores, me]\n", `m.yaml:7:14: sm.count is given in "cores", but its unit is "SMs"`},
		{"sm:\n  count: [4, SMs, you]\n", `m.yaml:7:19: source "you" of sm.count is not among the sheet's sources`},
		{"sm:\n  count: 4\n", `m.yaml:7:10: sm.count must be [value, unit, source], as in [..., SMs, a-source]`},
		{"sm:\n  count: [many, SMs, me]\n", `m.yaml:7:11: sm.count must be a whole number, not text`},
		{"sm:\n  units: [[1, 2], units, me]\n", `m.yaml:7:11: sm.units needs 6 values, not 2`},
		{"sm: 4\n", "m.yaml:6:5: sm is a section"},
		{
			"sm:\n  schedulers: [3, schedulers, me]\n",
			"m.yaml: sm.threads/32 = 64 warps do not divide over sm.schedulers = 3",
		},
		{"dram:\n  channels: [30, channels, me]\n", "dram.channels = 30 do not divide over dram.stacks = 4"},
		{"dram:\n  rows: [4096, rows, me]\n", "map.string has 13 row bits, but dram.rows is 4096"},
		{"clock:\n  core: [.nan, MHz, me]\n", "m.yaml:7:10: nan is not used"},
		{"vm:\n  levels: [3, levels, me]\n", "vm.levels is 3; it must be 4 or 5"},
		{
			"vm:\n  placement: [lab, name, me]\n  lab_threshold: [0, fraction, me]\n",
			"vm.placement lab needs vm.lab_threshold",
		},
		{"vm:\n  lab_threshold: [1.1, fraction, me]\n", "vm.lab_threshold is 1.1; it must be between 0 and 1"},
		{"noc:\n  kind: [local, name, me]\n  vcs: [2, channels, me]\n", "noc.vcs is 2; a local crossbar has one"},
		{"sm:\n  wake_delay: [-1, cycles, me]\n", "sm.wake_delay is -1; it cannot be negative"},
		{"sm:\n  wake_delay: [0, cycles, me]\n", "sm.wake_delay is 0; it must be at least 1"},
		{"power:\n  gated_sm: [0.3, W, me]\n", "power.gated_sm, idle_sm and active_sm are 0.3, 0.28 and 0.45 W"},
		{"dram:\n  migration_crossbar: [true, flag, me]\n", "dram.migration_crossbar with dram.migration none"},
		{"map:\n  group_above_page: [true, flag, me]\n", "map.group_above_page needs map.kind bits, not gpgpusim"},
		{"map:\n  hash: [pae, name, me]\n", "map.hash pae needs map.kind bits, page or group, not gpgpusim"},
		{"map:\n  bank_hash: [xor, name, me]\n", "map.bank_hash xor needs map.kind bits, page or group, not gpgpusim"},
		{"map:\n  bank_hash: [crc, name, me]\n", "map.bank_hash is \"crc\""},
		{"sm:\n  dispatch: [random, name, me]\n", "sm.dispatch is \"random\"; it must be one of breadth, distributed"},
		{"sm:\n  reg_ports: [33, operands/cycle, me]\n", "sm.reg_ports is 33; at most 32 are modelled"},
		{"sm:\n  collectors: [65, units, me]\n", "sm.collectors is 65; with sm.collectors_shared at most 64"},
		{"sm:\n  dispatch_parts: [4, partitions, me]\n", "sm.dispatch_parts is 4; without sm.dispatch distributed"},
		{
			"sm:\n  dispatch: [distributed, name, me]\n  dispatch_parts: [7, partitions, me]\n",
			"sm.count = 80 do not divide into sm.dispatch_parts = 7",
		},
		{"vm:\n  first_touch: [true, flag, me]\n", "vm.first_touch needs vm.enabled"},
		{"vm:\n  placement: [module, name, me]\n", "vm.placement module needs noc.modules"},
		{"vm:\n  l2_banks: [3, banks, me]\n", "vm.l2_banks is 3; it must be a power of two"},
		{
			"vm:\n  l2_banks: [64, banks, me]\n",
			"vm.l2_banks = 64 do not divide the 32 sets of vm.l2_entries = 512 and vm.l2_ways = 16; take fewer banks",
		},
		{"vm:\n  placement: [random, name, me]\n", "vm.placement is \"random\"; it must be one of round-robin, "},
		{"vm:\n  fault_slots: [-1, faults, me]\n", "vm.fault_slots is -1"},
		{"map_conventional:\n  channel: [[7, 8], bit, me]\n", "address bit 0 is in no field of map_conventional"},
		{"l1d:\n  write: [back, name, me]\n", `m.yaml: l1d.write is "back"; the L1 writes through: give through (sheet mine, line 7)`},
		{"l1d:\n  write_alloc: [fetch, name, me]\n", "m.yaml: l1d.write_alloc is fetch; a store does not fetch"},
		{"l1d:\n  write_alloc: [all, name, me]\n", `l1d.write_alloc is "all"; it must be one of none, lazy`},
		{"base_source: nowhere\n", `base_source "nowhere" is not among`},
	} {
		_, _, err := Parse("m.yaml", []byte(small(c.body)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant %s", c.body, err, c.want)
		}
	}
}

func TestMissingNumberNamesItsPath(t *testing.T) {
	src, err := shipped.ReadFile("qv100.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cut := strings.Replace(string(src), "  threads:        [2048, threads, config]\n", "", 1)
	_, _, err = Parse("q.yaml", []byte(cut))
	if err == nil || !strings.Contains(err.Error(),
		"no value for sm.threads (resident threads per SM); add `threads: [value, threads, source]` under sm") {
		t.Errorf("got %v", err)
	}
}

func TestBaseInheritsAndSaysSo(t *testing.T) {
	m, prov, err := Parse("m.yaml", []byte(small("sm:\n  count: [16, SMs, me]\n")))
	if err != nil {
		t.Fatal(err)
	}
	if m.SM.Count != 16 || m.SM.Threads != 2048 {
		t.Errorf("count %d threads %d", m.SM.Count, m.SM.Threads)
	}
	if e, _ := prov.Lookup("sm.count"); e.Sheet != "mine" || e.Reference != "a book" {
		t.Errorf("sm.count: %+v", e)
	}
	if e, _ := prov.Lookup("sm.threads"); e.Sheet != "qv100" || e.Source != "config" {
		t.Errorf("sm.threads: %+v", e)
	}
	_, prov, err = Load("ugpu")
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := prov.Lookup("sm.int_latency"); e.Source != "silent" ||
		!strings.Contains(e.Reference, "[config of qv100:") {
		t.Errorf("inherited number hides that it is an assumption: %+v", e)
	}
}

func TestCircleOfBases(t *testing.T) {
	dir := t.TempDir()
	file := dir + "/a.yaml"
	if err := os.WriteFile(file, []byte("name: a\ndescription: b\nbase: ./a.yaml\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err := Load(file)
	if err == nil || !strings.Contains(err.Error(), "based on itself") {
		t.Errorf("got %v", err)
	}
}

func TestApply(t *testing.T) {
	m, _, err := Load("qv100")
	if err != nil {
		t.Fatal(err)
	}
	for path, value := range map[string]string{
		"machine.sm.count": "40", "clock.core": "1000.5", "sm.policy": "gto", "l1d.skip_global": "true",
		"sm.units": "1,2,3,4,5,6", "l1d.carveouts": "0, 8192", "dram.timing.cl": "13", "dram.capacity": "4294967296",
	} {
		if err := Apply(m, path, value); err != nil {
			t.Errorf("%s=%s: %v", path, value, err)
		}
	}
	if m.SM.Count != 40 || m.Clock.Core != 1000.5 || m.SM.Policy != "gto" || !m.L1D.SkipGlobal || m.SM.Units[5] != 6 ||
		len(m.L1D.Carveouts) != 2 || m.DRAM.T.CL != 13 || m.DRAM.Capacity != 1<<32 {
		t.Errorf("got %+v", m)
	}
	for _, c := range []struct{ path, value, want string }{
		{"dram.chanels", "4", `no number "dram.chanels" in a machine; did you mean dram.channels?`},
		{"dram", "4", `no number "dram" in a machine`},
		{"sm.count", "4.5", `sm.count (SMs: streaming multiprocessors): "4.5" is not a whole number`},
		{"sm.units", "1,2", "6 values separated by commas are needed, not 2"},
		{"clock.core", "NaN", `"NaN" is not a number`},
		{"clock.core", "1e999", `"1e999" is not a number`},
		{"l1d.skip_global", "yes", `"yes" is neither true nor false`},
		{"mig.profiles", "x", "no number"},
	} {
		if err := Apply(m, c.path, c.value); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: got %v, want %s", c.path, c.value, err, c.want)
		}
	}
}

func TestAbsurdSizesAreRefused(t *testing.T) {
	for path, value := range map[string]string{
		"sm.count": "100000", "llc.sets": "1073741824", "l1d.ways": "1048576", "dram.rows": "1073741824",
		"vm.l2_entries": "99999999",
		"dram.queue":    "999999999999", "l1d.unified": "4398046511104", "llc.slices_per_channel": "65536",
		"noc.in_queue": "9999999999",
	} {
		if _, _, err := Resolve("qv100", map[string]string{path: value}); err == nil {
			t.Errorf("%s=%s is accepted", path, value)
		}
	}
}

func TestResolveValidatesOverrides(t *testing.T) {
	_, _, err := Resolve("qv100", map[string]string{"sm.schedulers": "3"})
	if err == nil || !strings.Contains(err.Error(), "do not divide over sm.schedulers") {
		t.Errorf("got %v", err)
	}
	_, _, err = Load("qv10")
	if err == nil || !strings.Contains(err.Error(), "did you mean qv100?") {
		t.Errorf("got %v", err)
	}
}

func FuzzApply(f *testing.F) {
	f.Add("dram.channels", "16")
	f.Add("sm.units", "1,2,3")
	f.Fuzz(func(t *testing.T, path, value string) {
		m, _, err := Load("qv100")
		if err != nil {
			t.Fatal(err)
		}
		if Apply(m, path, value) == nil {
			_ = Validate(m) // may fail, must not panic
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(small("sm:\n  count: [4, SMs, me]\n"))
	f.Add(small("# one\nsm: # two\n  count: [4, SMs, me] # three\n"))
	f.Add(small("mig:\n  profiles:\n  - {name: a, sms: [1, SMs, me], slices: [1, slices, me], most: [1, instances, " +
		"me]}\n"))
	f.Fuzz(func(t *testing.T, src string) {
		m, _, err := Parse("f.yaml", []byte(src))
		if (m == nil) == (err == nil) {
			t.Fatalf("machine %v, error %v", m, err)
		}
	})
}

// What does not fit together in a topology is refused with the place of the number and what
// would do.
func TestTopologyErrors(t *testing.T) {
	for _, c := range []struct {
		machine string
		set     map[string]string
		want    string
	}{
		{"nuba", map[string]string{"noc.flit": "0"}, "noc.flit is 0; a network that carries no byte in a cycle has no"},
		{"nuba", map[string]string{"noc.partitions": "20"}, "sm.count 60 or 80 would do (set over sheet nuba, line "},
		{"nuba", map[string]string{"noc.partitions": "64"}, "a partition without a channel"},
		{"nuba", map[string]string{"sm.count": "60"}, "noc.partitions is 32 and sm.count 60"},
		{"nuba", map[string]string{"noc.link_flit": "0"}, "noc.link_flit is 0; it must be at least 1 (set over"},
		{"nuba", map[string]string{"llc.ways": "1"}, "llc.ways is 1; slices that hold copies"},
		{"nuba", map[string]string{"noc.radix": "0"}, "noc.radix is 0; a switch"},
		{"nuba", map[string]string{"noc.radix": "1"}, "at most 64 are modelled"},
		{"nuba-smside", map[string]string{"noc.partitions": "4"}, "noc.topology sm-side has two halves: set it to 2"},
		{"nuba-mem", map[string]string{"noc.partitions": "4"}, "noc.topology memory-side has none"},
		{"nuba-mem", map[string]string{"llc.fill": "local"}, "llc.fill local has no meaning with noc.topology"},
		{"nuba-mem", map[string]string{"noc.topology": "ring"}, `noc.topology is "ring"; it must be one of memory-side`},
		{"nuba-mcm", map[string]string{"noc.ring": "0"}, "noc.ring is 0 GB/s"},
		{"nuba-mcm", map[string]string{"noc.modules": "5"}, "noc.modules is 5 and sm.count 128"},
		{"nuba-smside", map[string]string{"noc.modules": "2"}, "coherent halves of several modules are not modelled"},
		{"qv100", map[string]string{"noc.topology": "nuba"}, "noc.kind is local; noc.radix, noc.write_size and"},
		{"qv100", map[string]string{"llc.flush_each": "true"}, "llc.flush_each needs noc.kind stages"},
		{"nuba", map[string]string{"llc.flush": "half"}, "llc.flush is \"half\"; it must be one of whole, "},
		{"nuba-mem", map[string]string{"llc.flush": "copies"}, "llc.flush copies needs noc.topology nuba"},
		{"nuba", map[string]string{"llc.flush": "copies", "llc.flush_each": "true"}, "leave one of them out"},
	} {
		_, _, err := Resolve(c.machine, c.set)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %v:\n got %v\nwant %s", c.machine, c.set, err, c.want)
		}
	}
	for _, set := range []map[string]string{
		{"noc.flit": "8"},
		{"noc.flit": "64"},
		{"llc.slices_per_channel": "1"},
		{"llc.slices_per_channel": "4"},
		{"dram.channels": "16", "sm.count": "32", "noc.partitions": "16"},
		{"dram.channels": "64", "sm.count": "128", "noc.partitions": "64"},
		{"dram.channels": "24", "dram.stacks": "3", "sm.count": "72", "noc.partitions": "12"},
	} {
		if _, _, err := Resolve("nuba", set); err != nil {
			t.Errorf("nuba with %v: %v", set, err)
		}
	}
}

// TestShelf: machines of a shelf are those that Resolve gives, whatever was resolved and changed before.
func TestShelf(t *testing.T) {
	var shelf Shelf
	for range 2 {
		for _, name := range append(Names(), "nobody") {
			for _, set := range []map[string]string{
				nil,
				{"sm.count": "8"},
				{"l1d.carveouts": "0, 4096"},
				{"dram.rows": "8192"},
				{"sm.count": "-1"},
			} {
				m, prov, err := Resolve(name, set)
				m2, prov2, err2 := shelf.Resolve(name, set)
				if fmt.Sprint(err) != fmt.Sprint(err2) || !reflect.DeepEqual(m, m2) || !reflect.DeepEqual(prov, prov2) {
					t.Errorf("%s %v: %v, %v, %+v, want %+v", name, set, err, err2, m2, m)
				}
				if m2 != nil { // whoever has it may write it
					for i := range m2.L1D.Carveouts {
						m2.L1D.Carveouts[i] = -1
					}
					for i := range m2.MIG.Profiles {
						m2.MIG.Profiles[i].Name = "changed"
					}
					prov2.drop("")
				}
			}
		}
	}
}
