package sheets

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func imported(t *testing.T, file string) *Imported {
	t.Helper()
	im, err := ImportGPGPUSim(file)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// diff lists the paths whose values differ.
func diff(a, b *Machine) map[string][2]string {
	out := map[string][2]string{}
	for _, f := range schema() {
		if x, y := text(f.value(a)), text(f.value(b)); f.path != profilesPath && x != y {
			out[f.path] = [2]string{x, y}
		}
	}
	return out
}

func TestImportOfTheReferenceConfigs(t *testing.T) {
	qv100, _, err := Load("qv100")
	if err != nil {
		t.Fatal(err)
	}
	for variant, want := range map[string]map[string][2]string{
		"cold": {},
		"base": {"llc.prefill_copies": {"false", "true"}},
		"nol1": {"llc.prefill_copies": {"false", "true"}, "l1d.skip_global": {"false", "true"}},
		"sm20": {
			"llc.prefill_copies": {"false", "true"}, "sm.count": {"80", "20"}, "dram.channels": {"32", "8"},
			"dram.capacity": {"8589934592", "2147483648"},
		},
	} {
		im := imported(t, "testdata/gpgpusim."+variant+".config")
		if got := diff(qv100, im.Machine); !reflect.DeepEqual(got, want) {
			t.Errorf("%s differs from qv100 in %v, want %v", variant, got, want)
		}
		if len(im.Warnings) != 0 {
			t.Errorf("%s: warnings %v", variant, im.Warnings)
		}
	}
}

func TestImportListsEveryOptionOnce(t *testing.T) {
	file := "testdata/gpgpusim.cold.config"
	im := imported(t, file)
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := scanOptions(file, string(src))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for _, o := range append(append([]Option(nil), im.Ignored...), im.Unmodelled...) {
		listed[o.Name]++
		if o.Why == "" || strings.Contains(o.Why, "not an option") {
			t.Errorf("%s has no reason: %q", o.Name, o.Why)
		}
	}
	set := 0
	for _, e := range im.Provenance.List(im.Machine) {
		if e.Source == "config" {
			set++
		}
	}
	if set < 60 {
		t.Errorf("only %d numbers come from the file", set)
	}
	for _, o := range list {
		if listed[o.Name] > 1 {
			t.Errorf("%s is listed %d times", o.Name, listed[o.Name])
		}
	}
	if listed["-gpgpu_cache:il1"] != 1 || listed["-gpgpu_n_mem"] != 0 {
		t.Errorf("il1 listed %d times, n_mem %d times", listed["-gpgpu_cache:il1"], listed["-gpgpu_n_mem"])
	}
}

func TestWrittenSheetReadsBack(t *testing.T) {
	for _, name := range Names() {
		m, prov, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := Parse(name+".yaml", Write(m, prov))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := diff(m, back); len(d) != 0 || len(back.MIG.Profiles) != len(m.MIG.Profiles) {
			t.Errorf("%s changed on the way: %v", name, d)
		}
	}
	im := imported(t, "testdata/gpgpusim.sm20.config")
	back, _, err := Parse("x.yaml", Write(im.Machine, im.Provenance))
	if err != nil {
		t.Fatal(err)
	}
	if d := diff(im.Machine, back); len(d) != 0 {
		t.Errorf("import changed on the way: %v", d)
	}
}

// pascal is a GPGPU-Sim 3.x configuration with UVMSmart's options, in the old
// spellings: no cache type, no SHFL, no integer units, positional timing.
const pascal = `
-gpgpu_n_clusters 28   # a comment
-gpgpu_n_cores_per_cluster 1
-gpgpu_n_mem 11
-gpgpu_n_sub_partition_per_mchannel 2
-gpgpu_clock_domains 1481.0:2962.0:1481.0:2750.0
-gpgpu_shader_core_pipeline 2048:32
-gpgpu_shader_cta 32
-gpgpu_shader_registers 65536
-gpgpu_num_sp_units 4
-gpgpu_num_sfu_units 1
-ptx_opcode_latency_int 4,13,4,5,145
-gpgpu_cache:dl1  64:128:6,L:L:m:N:H,A:128:8,8
-gpgpu_cache:dl2 64:128:16,L:B:m:W:L,A:1024:1024,4:0,32
-gpgpu_shmem_size 98304
-gmem_skip_L1D 1
-rop_latency 120
-gpgpu_num_sched_per_core 2
-gpgpu_scheduler two_level_active:6:0:1
-gpgpu_n_mem_per_ctrlr 1
-gpgpu_dram_buswidth 4
-gpgpu_dram_burst_length 8
-dram_data_command_freq_ratio 4
-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS
-gpgpu_dram_timing_opt "16:2:6:12:28:12:40:
                        12:4:5:12:1:0:0"
-page_size 4KB
-tlb_size 4096
-page_fault_latency 66645
-pcie_bandwidth 16.0GB/s
-eviction_policy 0
-hardware_prefetch 1
-nonsense 3
`

func TestImportOldSpellings(t *testing.T) {
	im, err := importGPGPUSim("pascal.config", pascal)
	if err != nil {
		t.Fatal(err)
	}
	m := im.Machine
	for what, ok := range map[string]bool{
		"28 SMs, 11 channels": m.SM.Count == 28 && m.DRAM.Channels == 11 && m.DRAM.Stacks == 1,
		"not sectored":        m.L1D.Sector == 128 && m.LLC.Sector == 128,
		"L1 policies": m.L1D.WriteAlloc == "none" && m.L1D.Write == "through" && m.L1D.Index == "xor" &&
			m.L1D.SkipGlobal,
		"L2": m.LLC.Ways == 16 && m.LLC.Latency == 120 && m.LLC.Merge == 1024 &&
			m.LLC.WriteAlloc == "fetch",
		"no adaptive split":     m.L1D.Unified == 0 && len(m.L1D.Carveouts) == 0,
		"integer units":         m.SM.Units[0] == 4 && m.SM.Units[3] == 1,
		"collectors apart":      !m.SM.CollectorsShared,
		"atomics stop a warp":   m.SM.AtomicWait,
		"not the local network": m.NoC.Kind == "crossbar",
		"SHFL kept":             m.SM.IntLatency == [6]int{4, 13, 4, 5, 145, 21},
		"positional timing": m.DRAM.T.CL == 12 && m.DRAM.T.CCDL == 2 && m.DRAM.T.RCDWR == 7 &&
			m.DRAM.BankGroups == 1 && m.DRAM.Banks == 16,
		"burst":                m.DRAM.Access == 32 && m.DRAM.T.BL == 2,
		"managed memory":       m.VM.Enabled && m.VM.Page == 4096 && m.VM.L1Entries == 4096 && m.Host.Bandwidth == 16,
		"fault of 45 us":       m.VM.FaultUs > 44.99 && m.VM.FaultUs < 45.01,
		"11 x 256 MiB":         m.DRAM.Capacity == 11*(1<<28),
		"clock domains":        m.Clock.NoC == 2962,
		"unknown option named": len(im.Ignored) == 1 && im.Ignored[0].Name == "-nonsense" && im.Ignored[0].Line > 0,
		"policies are keys":    len(im.Unmodelled) == 0 && len(im.Apart) == 1 && len(im.Apart[0].Options) == 2,
	} {
		if !ok {
			t.Errorf("%s: got %+v\nignored %v\nunmodelled %v", what, m, im.Ignored, im.Unmodelled)
		}
	}
	all := ""
	for _, w := range im.Warnings {
		all += w.String() + "\n"
	}
	for _, want := range []string{
		"two_level_active", "no integer units", "Fermi's set hash", "no value for SHFL",
		"-ptx_opcode_latency_fp: not in the file",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning about %q in\n%s", want, all)
		}
	}
}

func TestImportOfMixedSectors(t *testing.T) {
	mixed := strings.Replace(pascal, "dl2 64:128:16", "dl2 S:64:128:16", 1)
	im, err := importGPGPUSim("c", mixed)
	if err != nil {
		t.Fatal(err)
	}
	if im.Machine.L1D.Sector != 32 || im.Machine.LLC.Sector != 32 {
		t.Errorf("sectors %d and %d", im.Machine.L1D.Sector, im.Machine.LLC.Sector)
	}
	if !slices.ContainsFunc(im.Warnings, func(o Option) bool { return strings.Contains(o.Why, "both caches get 32") }) {
		t.Errorf("no warning about sectors: %v", im.Warnings)
	}
}

func TestImportErrorsNameTheLine(t *testing.T) {
	for src, want := range map[string]string{
		"-gpgpu_n_mem many\n":                       "c:1: -gpgpu_n_mem many: dram.channels",
		"\n-gpgpu_clock_domains 1:2\n":              "c:2: -gpgpu_clock_domains 1:2: 4 to 16 values",
		"-gpgpu_cache:dl1 S:4:128\n":                "c:1: -gpgpu_cache:dl1 S:4:128: a cache is",
		"-gpgpu_dram_timing_opt \"nbk=16:CCD=1\n":   "c:1: the quote is not closed",
		"-gpgpu_dram_timing_opt \"nbk=16:CCD=1\"\n": "RRD is missing",
		"hello\n":                               "c:1: \"hello\" stands before any -option",
		"":                                      "no -option in the file",
		"-gpgpu_mem_addr_mapping 0x12\n":        "only maps of the form",
		"-gpgpu_shader_core_pipeline 2048:64\n": "warps of 64 threads",
		"-gpgpu_adaptive_cache_config 1\n-gpgpu_shmem_option 0,164\n-gpgpu_unified_l1d_size 160\n": "c:2: the " +
			"options do not make a machine: l1d.carveouts: 167936 bytes of shared memory are to be a part of " +
			"l1d.unified = 163840: give less, or a larger " +
			"l1d.unified; these numbers are from line 2, -gpgpu_shmem_option 0,164 and line 3, ",
		"-gpgpu_n_clusters 4000000 -gpgpu_n_cores_per_cluster 1":  "more than 4096",
		"-gpgpu_num_sched_per_core 3\n":                           "do not divide over sm.schedulers = 3",
		"-gpgpu_cache:dl2 S:32:128:24,Q:B:m:L:P,A:192:4,32:0,32 ": "replacement \"Q\"",
	} {
		_, err := importGPGPUSim("c", src)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", src, err, want)
		}
	}
}

func FuzzImport(f *testing.F) {
	f.Add(pascal)
	src, err := os.ReadFile("testdata/gpgpusim.cold.config")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(src))
	f.Fuzz(func(t *testing.T, src string) {
		im, err := importGPGPUSim("c", src)
		if (im == nil) == (err == nil) {
			t.Fatalf("%v, %v", im, err)
		}
		if im == nil {
			return
		}
		if _, _, err := Parse("x.yaml", Write(im.Machine, im.Provenance)); err != nil {
			t.Fatalf("the written sheet does not read back: %v", err)
		}
	})
}

// TestImportSaysWhatItDoesNotTake: an option that is mistyped gets a suggestion, one that is about statistics
// is no limit of CUDA, and the older spelling of an option is known. Channels without timing make a machine.
func TestImportSaysWhatItDoesNotTake(t *testing.T) {
	im, err := importGPGPUSim("x.config", "-gpgpu_n_mem 6\n-gpgpu_n_memm 4\n-gpgpu_runtime_stat 500\n"+
		"-gpgpu_runtime_sync_depth 2\n-smem_latency 29\n-unheard_of 1\n")
	if err != nil {
		t.Fatal(err)
	}
	if im.Machine.SM.SharedLatency != 29 || im.Machine.DRAM.Channels != 6 {
		t.Errorf("%+v", im.Machine)
	}
	said := ""
	for _, o := range im.Ignored {
		said += o.String() + "\n"
	}
	for _, want := range []string{
		"-gpgpu_n_memm 4: not an option Heddle knows; did you mean -gpgpu_n_mem?",
		"-gpgpu_runtime_stat 500: statistics", "-gpgpu_runtime_sync_depth 2: a limit of the CUDA runtime",
		"-unheard_of 1: not an option Heddle knows\n",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
}

// changed is the cold configuration with options added; later ones win.
func changed(t *testing.T, more string) (*Imported, error) {
	t.Helper()
	src, err := os.ReadFile("testdata/gpgpusim.cold.config")
	if err != nil {
		t.Fatal(err)
	}
	return importGPGPUSim("x.config", string(src)+"\n"+more+"\n")
}

// TestImportOfOddConfigs reads what other configurations than the reference's have.
func TestImportOfOddConfigs(t *testing.T) {
	for more, want := range map[string]struct {
		warning string
		holds   func(m *Machine) bool
	}{
		"-gpgpu_clock_domains 1:2:3:4:5": {
			"first four clocks", func(m *Machine) bool { return m.Clock == Clock{1, 2, 3, 4} },
		},
		"-gpgpu_mem_addr_mapping dramid@8;00000000.00RRRRRR.RRRRRRRR.RRRRRRRR.RRRRRRRR.RRRRBBBB.CCCCCCCC.SSSSSSSS": {
			"row bits", func(m *Machine) bool { return m.DRAM.Rows == 1<<15 && m.DRAM.RowBytes == 1<<16 },
		},
		"-gpgpu_cache:dl2 16:256:8,L:B:m:W:L,A:16:4,4": {
			"both get 128", func(m *Machine) bool { return m.LLC.Line == 128 && m.LLC.Sets == 32 && m.L1D.Line == 128 },
		},
		"-gpgpu_adaptive_cache_config 0 -gpgpu_cache:dl1 128:128:4:L": {
			"32 miss registers",
			func(m *Machine) bool { return m.L1D.Sets == 128 && m.L1D.Ways == 4 && m.L1D.MSHRs == 32 },
		},
		"-gpgpu_num_reg_banks 24 -gpgpu_num_sched_per_core 4": {
			"4 schedulers are a power of two: 32", func(m *Machine) bool { return m.SM.RegBanks == 32 },
		},
		"-gpgpu_num_reg_banks 20 -gpgpu_num_sched_per_core 4": {
			"4 schedulers are a power of two: 16", func(m *Machine) bool { return m.SM.RegBanks == 16 },
		},
		"-gpgpu_cache:dl1 S:4:128:64,L:B:m:L:L,A:512:8,16:0,32": {
			"the L1 writes through (l1d.write: through), not back (B)",
			func(m *Machine) bool { return m.L1D.Write == "through" },
		},
		"-gpgpu_cache:dl1 S:4:128:64,L:T:m:W:L,A:512:8,16:0,32": {
			"does not fetch the rest of it (W)", func(m *Machine) bool { return m.L1D.WriteAlloc == "lazy" },
		},
		"-gpgpu_cache:dl1 S:4:128:64,L:T:m:F:L,A:512:8,16:0,32": {
			"does not fetch the rest of it (F)", func(m *Machine) bool { return m.L1D.WriteAlloc == "lazy" },
		},
		"-gpgpu_cache:dl1 none": {
			"without an L1 for data", func(m *Machine) bool { return m.L1D.SkipGlobal },
		},
	} {
		im, err := changed(t, more)
		if err != nil {
			t.Errorf("%s: %v", more, err)
			continue
		}
		if !want.holds(im.Machine) || !slices.ContainsFunc(im.Warnings, func(o Option) bool {
			return strings.Contains(o.Why, want.warning)
		}) {
			t.Errorf("%s: warnings %v, clocks %v, DRAM of %d rows, L1 %+v, LLC %+v", more, im.Warnings,
				im.Machine.Clock,
				im.Machine.DRAM.Rows, im.Machine.L1D, im.Machine.LLC)
		}
	}
}

// TestImportOfManagedMemory: UVMSmart's policies are named as a run file has them; chiplets and TLBs stand apart.
func TestImportOfManagedMemory(t *testing.T) {
	im, err := changed(t, "-gddr_size 1GB\n-eviction_policy 1\n-hardware_prefetch 2\n-hwprefetch_oversub "+
		"0\n-enable_dma 3\n"+
		"-migrate_threshold 16\n-eviction_policy 9\n-gpgpu_n_chiplets 4\n-gpgpu_l2_tlb_ways 8\n"+
		"-pw_cache_latency 85\n-page_size_list 2097152:4096")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, g := range im.Apart {
		for _, o := range g.Options {
			got[o.Name] = o.Why
		}
	}
	want := map[string]string{
		"-gddr_size": "capacity: 1073741824", "-eviction_policy": "evict: its value must be 0 to 5",
		"-hardware_prefetch": "prefetch: sl", "-hwprefetch_oversub": "prefetch_over: none",
		"-enable_dma":        "migrate: oversub",
		"-migrate_threshold": "ts: 16", "-gpgpu_n_chiplets": "not read", "-gpgpu_l2_tlb_ways": "not read",
		"-pw_cache_latency": "not read", "-page_size_list": "not read",
	}
	if !reflect.DeepEqual(got, want) || len(im.Apart) != 3 {
		t.Errorf("apart: %v, want %v", got, want)
	}
}
