package sheets

import (
	"fmt"
	"strconv"
	"strings"
)

// Which option of gpgpusim.config sets which number. The facts (defaults,
// letters of the cache strings, derived timings) are GPGPU-Sim 4.2.0's.

// direct lists the options that are one number under another name.
type direct struct {
	path     string
	needed   bool // its absence is worth a warning
	spelling []string
}

func (im *importer) direct(list []direct) {
	for _, d := range list {
		if im.take(d.spelling...) {
			im.put(d.path, "config", im.cur.Value)
		} else if d.needed && im.err == nil {
			im.absent(d.spelling[0], d.path)
		}
	}
}

// number is the value of the current option as a whole number.
func (im *importer) number() int {
	n, err := strconv.Atoi(im.cur.Value)
	if err != nil || n < 0 || n > 1<<30 {
		im.fail("a whole number is expected")
		return 0
	}
	return n
}

func (im *importer) structure() {
	clusters, cores, have := im.m.SM.Count, 1, false
	if im.take("-gpgpu_n_cores_per_cluster") {
		cores = im.number()
	}
	if im.take("-gpgpu_n_clusters") {
		clusters, have = im.number(), true
	}
	if have && im.err == nil {
		if cores > 1<<12 || clusters > 1<<12 {
			im.fail("more than 4096 SMs or clusters")
		}
		im.put("sm.count", "config", clusters*cores)
	} else {
		im.absent("-gpgpu_n_clusters", "sm.count")
	}
	im.direct([]direct{
		{"dram.channels", true, []string{"-gpgpu_n_mem"}},
		{"llc.slices_per_channel", true, []string{"-gpgpu_n_sub_partition_per_mchannel"}},
		{"sm.ctas", true, []string{"-gpgpu_shader_cta"}},
		{"sm.registers", true, []string{"-gpgpu_shader_registers"}},
		{"sm.schedulers", true, []string{"-gpgpu_num_sched_per_core"}},
		{"sm.shared", true, []string{"-gpgpu_shmem_size"}},
		{"sm.shared_latency", false, []string{"-gpgpu_smem_latency", "-smem_latency"}},
		{"sm.shared_banks", false, []string{"-gpgpu_shmem_num_banks"}},
		{"sm.issue_width", false, []string{"-gpgpu_max_insn_issue_per_warp"}},
		{"sm.launch_delay", false, []string{"-gpgpu_kernel_launch_latency"}},
		{"sm.fetch_rate", false, []string{"-gpgpu_inst_fetch_throughput"}},
		{"sm.reg_banks", false, []string{"-gpgpu_num_reg_banks"}},
		{"sm.reg_ports", false, []string{"-gpgpu_reg_file_port_throughput"}},
		{"sm.collectors", false, []string{
			"-gpgpu_operand_collector_num_units_gen",
			"-gpgpu_operand_collector_num_units_sp",
		}},
	})
	if im.take("-gpgpu_enable_specialized_operand_collector") {
		generic := im.number() == 0
		im.put("sm.collectors_shared", "config", generic)
		im.put("sm.collect_all", "derived", generic)
	} else {
		im.put("sm.collectors_shared", "derived", false) // GPGPU-Sim's default
		im.put("sm.collect_all", "derived", false)
	}
	im.registerBanks()
	im.shape()
}

// registerBanks takes the power of two that is nearest to a scheduler's banks, which the sheet needs where collectors
// are shared.
func (im *importer) registerBanks() {
	s := &im.m.SM
	if !s.CollectAll || s.Schedulers == 0 || s.RegBanks%s.Schedulers != 0 || !im.take("-gpgpu_num_reg_banks") {
		return
	}
	each := s.RegBanks / s.Schedulers
	near := 1
	for 2*near*near <= each*each { // nearest as a ratio
		near *= 2
	}
	if each > 0 && near != each {
		im.warn("the banks of each of %d schedulers are a power of two: %d are taken", s.Schedulers, near*s.Schedulers)
		im.put("sm.reg_banks", "derived", near*s.Schedulers)
	}
}

// shape reads what needs more than a copy: clocks, warps, and models Heddle lacks.
func (im *importer) shape() {
	if im.m.DRAM.Channels%max(im.m.DRAM.Stacks, 1) != 0 {
		im.put("dram.stacks", "derived", 1)
	}
	if im.take("-gpgpu_clock_domains") {
		p := im.list(":", 4, 16)
		for i, path := range []string{"clock.core", "clock.noc", "clock.llc", "clock.dram"} {
			im.put(path, "config", p[i])
		}
		if p[4] != "" {
			im.warn("only the first four clocks are taken: core, network, last-level cache, DRAM")
		}
	} else {
		im.absent("-gpgpu_clock_domains", "clock.core")
	}
	if im.take("-gpgpu_shader_core_pipeline") {
		p := im.list(":", 2, 3)
		if p[1] != "32" && im.err == nil {
			im.fail("warps of %s threads are not modelled: PTX and the traces have warps of 32; give %s:32 for a "+
				"machine with as many threads in warps of 32", p[1], p[0])
		}
		im.put("sm.threads", "config", p[0])
	} else {
		im.absent("-gpgpu_shader_core_pipeline", "sm.threads")
	}
	if im.take("-gpgpu_TB_launch_latency") && im.cur.Value != "0" {
		im.warn("a launch latency per thread block is not modelled")
	}
	if im.take("-gpgpu_sub_core_model") && im.cur.Value == "0" && im.m.SM.Schedulers > 1 {
		im.warn("schedulers always own a share of the warps; a pool common to all schedulers is not modelled")
	}
	if im.take("-gpgpu_simd_model") && im.cur.Value != "1" {
		im.warn("divergence is always handled with immediate post-dominators (1)")
	}
}

// list splits the current value and checks the number of parts; it always
// returns at least most parts so that callers may index.
func (im *importer) list(sep string, least, most int) []string {
	p := strings.Split(strings.ReplaceAll(im.cur.Value, " ", ""), sep)
	if len(p) < least || len(p) > most {
		im.fail("%d to %d values separated by %q are expected", least, most, sep)
	}
	for len(p) < most {
		p = append(p, "")
	}
	return p
}

func (im *importer) pipelines() {
	if im.take("-gpgpu_scheduler") {
		switch v := im.cur.Value; v {
		case "gto", "lrr":
			im.put("sm.policy", "config", v)
		default:
			im.put("sm.policy", "derived", "gto")
			im.warn("this warp scheduler is not modelled; gto is used")
		}
	} else {
		im.absent("-gpgpu_scheduler", "sm.policy")
	}
	units := im.m.SM.Units
	read := func(dst *int, names ...string) {
		if im.take(names...) {
			*dst = im.number()
		}
	}
	intGiven := im.take("-gpgpu_num_int_units")
	read(&units[1], "-gpgpu_num_sp_units")
	read(&units[0], "-gpgpu_num_int_units")
	read(&units[2], "-gpgpu_num_dp_units")
	read(&units[3], "-gpgpu_num_sfu_units")
	read(&units[4], "-gpgpu_num_tensor_core_units", "-gpgpu_num_tensor_units")
	if im.take("-gpgpu_num_sp_units") && (!intGiven || units[0] == 0) {
		units[0] = units[1]
		im.warn("no integer units: GPGPU-Sim runs integer instructions on the SP units; as many INT units are " +
			"modelled beside them")
	}
	if im.take("-gpgpu_num_dp_units") && units[2] == 0 {
		units[2] = max(units[3], 1)
		im.warn("no DP units: GPGPU-Sim runs double precision on the SFU; as many DP units are modelled beside it")
	}
	if im.take("-gpgpu_tensor_core_avail") && im.cur.Value == "0" {
		units[4] = 0
	}
	im.cur = Option{Name: "-gpgpu_num_*_units"}
	im.put("sm.units", "config", strings.Trim(strings.ReplaceAll(fmt.Sprint(units), " ", ","), "[]"))
	im.opcode("int", "sm.int", 6, 5)
	im.opcode("fp", "sm.fp", 5, 5)
	im.opcode("dp", "sm.dp", 5, 5)
	im.direct([]direct{
		{"sm.sfu_latency", false, []string{"-ptx_opcode_latency_sfu"}},
		{"sm.sfu_interval", false, []string{"-ptx_opcode_initiation_sfu"}},
		// GPGPU-Sim's own spelling of the first one is "tesnor".
		{"sm.tensor_latency", false, []string{"-ptx_opcode_latency_tesnor", "-ptx_opcode_latency_tensor"}},
		{"sm.tensor_interval", false, []string{"-ptx_opcode_initiation_tensor", "-ptx_opcode_initiation_tesnor"}},
	})
}

// opcode reads one latency and one initiation row.
func (im *importer) opcode(class, path string, most, least int) {
	for _, row := range []struct{ option, path string }{
		{"-ptx_opcode_latency_" + class, path + "_latency"}, {"-ptx_opcode_initiation_" + class, path + "_interval"},
	} {
		if !im.take(row.option) {
			im.absent(row.option, row.path)
			continue
		}
		p := im.list(",", least, most)
		if p[most-1] == "" { // GPGPU-Sim 3.x has no SHFL column
			f, _ := lookup(row.path)
			kept := strings.Split(text(f.value(im.m)), ",")
			p[most-1] = kept[most-1]
			im.warn("no value for SHFL; %s keeps %s", row.path, kept[most-1])
		}
		im.put(row.path, "config", strings.Join(p, ","))
	}
}

func (im *importer) interconnect() {
	im.direct([]direct{
		{"noc.flit", false, []string{"-icnt_flit_size"}},
		{"noc.in_queue", false, []string{"-icnt_in_buffer_limit"}},
		{"noc.out_queue", false, []string{"-icnt_out_buffer_limit"}},
	})
	switch given := im.take("-network_mode"); {
	case given && im.cur.Value == "2":
		im.put("noc.kind", "config", "local")
	case given:
		im.warn("a network described to BookSim is not read (-inter_config_file); a crossbar with %s's buffers "+
			"stands for it", importBase)
		fallthrough
	default: // BookSim is GPGPU-Sim's default, and all that versions before 4 have
		im.put("noc.kind", "derived", "crossbar")
	}
	if im.take("-icnt_subnets") && im.cur.Value != "2" {
		im.warn("requests and replies always travel on two networks (2)")
	}
	if im.take("-icnt_arbiter_algo") && im.cur.Value != "1" {
		im.warn("the crossbar always arbitrates by iSLIP (1)")
	}
}

// unifiedMemory reads UVMSmart's options as far as a machine has the numbers.
func (im *importer) unifiedMemory() {
	if im.take("-page_size") {
		switch strings.ToUpper(im.cur.Value) {
		case "4KB":
			im.put("vm.page", "config", 4096)
		case "2MB":
			im.put("vm.page", "config", 2<<20)
		default:
			im.fail("page sizes are 4KB and 2MB")
		}
		im.put("vm.enabled", "config", true)
	}
	if im.take("-tlb_size") {
		im.put("vm.l1_entries", "config", im.cur.Value)
		im.put("vm.l1_ways", "derived", 0)
	}
	if im.take("-page_fault_latency") {
		im.put("vm.fault", "config", float64(im.number())/im.m.Clock.Core)
	}
	if im.take("-pcie_bandwidth", "-pcie_bandwith") {
		v, ok := strings.CutSuffix(im.cur.Value, "GB/s")
		if !ok {
			im.fail("a bandwidth such as 16.0GB/s is expected")
		}
		im.put("host.bandwidth", "config", v)
	}
}
