package sheets

import "strings"

// whyNot says why an option of gpgpusim.config sets nothing, and whether it names
// something Heddle does not model (as opposed to something without a meaning here).
func whyNot(name string) (why string, unmodelled bool) {
	longest := 0
	for _, e := range withoutMeaning() {
		for _, p := range e.prefixes {
			if strings.HasPrefix(name, p) && len(p) > longest {
				why, unmodelled, longest = e.why, e.unmodelled, len(p)
			}
		}
	}
	return why, unmodelled
}

type reason struct {
	why        string
	unmodelled bool
	prefixes   []string
}

// withoutMeaning is searched whole; the longest matching prefix counts.
//
//heddle:table
func withoutMeaning() []reason {
	return []reason{
		{
			"the front end reads PTX directly and classifies instructions itself", false,
			[]string{
				"-gpgpu_ptx_", "-gpgpu_experimental", "-save_embedded_ptx", "-enable_ptx_file_line_stats",
				"-gpgpu_compute_capability",
			},
		},
		{
			"a limit of the CUDA runtime, not of the machine", false,
			[]string{
				"-gpgpu_stack_size_limit", "-gpgpu_heap_size_limit", "-gpgpu_runtime_",
				"-gpgpu_max_concurrent_kernel", "-gpgpu_registers_per_block", "-gpgpu_shmem_per_block",
				"-gpgpu_shmem_sizeDefault", "-gpgpu_occupancy_sm_number",
			},
		},
		{
			"statistics and tracing are asked for on Heddle's command line", false,
			[]string{
				"-gpgpu_memlatency_stat", "-gpgpu_runtime_stat", "-visualizer", "-trace_", "-sim_prof",
				"-gpgpu_cflog", "-liveness_message", "-gpgpu_deadlock_detect",
			},
		},
		{
			"energy is computed from counters with Heddle's own constants", false,
			[]string{
				"-power_", "-gpuwattch", "-accelwattch", "-gpgpu_clock_gated_lanes", "-gpgpu_clock_gated_reg_file",
				"-steady_", "-aggregate_power", "-hw_perf", "-dvfs_",
			},
		},
		{
			"instruction, constant and texture caches always hit", true,
			[]string{"-gpgpu_cache:il1", "-gpgpu_tex_cache", "-gpgpu_const_cache", "-gpgpu_cache:dl2_texture_only"},
		},
		{"instruction and constant caches are always perfect", false, []string{"-gpgpu_perfect_inst_const_cache"}},
		{
			"pipeline registers are sized to the units, one issue slot per scheduler", true,
			[]string{"-gpgpu_pipeline_widths", "-gpgpu_dual_issue", "-gpgpu_operand_collector"},
		},
		{
			"coalescing is per 32-byte sector of a 128-byte line, conflicts per bank and word", false,
			[]string{"-gpgpu_coalesce_arch", "-gpgpu_shmem_limited_broadcast", "-gpgpu_shmem_warp_parts"},
		},
		{
			"only the ratio of dirty lines before write-back depends on it; the L1 writes through", false,
			[]string{"-gpgpu_l1_cache_write_ratio"},
		},
		{
			"replies enter the SM as fast as the crossbar delivers them", true,
			[]string{"-gpgpu_n_cluster_ejection_buffer_size"},
		},
		{"the network is a crossbar described by this sheet", true, []string{"-inter_config_file", "-icnt_"}},
		{
			"pages leave when there is no room, never before", true,
			[]string{"-percentage_of_free_page_buffer"},
		},
		{
			"page walks read the page table through the memory system, at the latency that takes", false,
			[]string{"-page_table_walk_latency"},
		},
		{"given by -pcie_bandwidth", false, []string{"-num_of_lanes", "-pcie_transfer_rate"}},
		{"fault handling is always simulated", false, []string{"-enable_accurate_simulation"}},
		{"specialised units are not modelled", true, []string{"-specialized_unit"}},
		{"trace opcodes have a table of their own", false, []string{"-trace"}},
	}
}
