// Package sheets holds machine sheets: every hardware number with its unit and
// its source. Machine is the typed form the simulator reads; the YAML files
// beside it carry each number as a [value, unit, source] triple, so a unit that
// does not match the field's is an error and `heddle inspect machine` can say
// where every number comes from.
package sheets

// Machine is a complete machine. The unit tag is the only unit the sheet may use
// for the field; the doc tag is shown by `heddle inspect machine`.
type Machine struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`

	Clock Clock `yaml:"clock"`
	SM    SM    `yaml:"sm"`
	L1D   L1D   `yaml:"l1d"`
	NoC   NoC   `yaml:"noc"`
	L3    L3    `yaml:"l3" optional:"no L3"`
	LLC   LLC   `yaml:"llc"`
	DRAM  DRAM  `yaml:"dram"`
	Map   Map   `yaml:"map"`
	// Conventional is the map of the same memory without PageMove's customised one.
	Conventional BitMap `yaml:"map_conventional"`

	// Memory is a second, fast tier; most machines have none.
	Memory Memory `yaml:"memory" optional:"one tier"`

	VM    VM    `yaml:"vm"`
	CPU   CPU   `yaml:"cpu"`
	Host  Link  `yaml:"host"`
	UVM   UVM   `yaml:"uvm"`
	MIG   MIG   `yaml:"mig"`
	Power Power `yaml:"power"`
}

// Clock domains. All ratios between them are kept exact.
type Clock struct {
	Core float64 `yaml:"core" unit:"MHz" doc:"SM clock"`
	NoC  float64 `yaml:"noc" unit:"MHz" doc:"interconnect clock"`
	LLC  float64 `yaml:"llc" unit:"MHz" doc:"last-level cache clock"`
	DRAM float64 `yaml:"dram" unit:"MHz" doc:"DRAM command clock"`
}

// SM is one streaming multiprocessor.
type SM struct {
	Count         int    `yaml:"count" unit:"SMs" doc:"streaming multiprocessors"`
	Capability    int    `yaml:"capability" unit:"tenths" doc:"compute capability that compiled programs see, 80 for 8.0; the newest of their PTX that it allows is used" opt:"70"`
	Threads       int    `yaml:"threads" unit:"threads" doc:"resident threads per SM"`
	CTAs          int    `yaml:"ctas" unit:"CTAs" doc:"resident CTAs per SM"`
	Registers     int    `yaml:"registers" unit:"registers" doc:"32-bit registers per SM"`
	RegisterUnit  int    `yaml:"register_unit" unit:"registers" doc:"allocation granularity of registers per warp"`
	Shared        int    `yaml:"shared" unit:"bytes" doc:"shared memory per SM"`
	SharedBanks   int    `yaml:"shared_banks" unit:"banks" doc:"shared-memory banks, 4 bytes wide"`
	SharedLatency int    `yaml:"shared_latency" unit:"cycles" doc:"shared-memory pipeline latency"`
	Schedulers    int    `yaml:"schedulers" unit:"schedulers" doc:"warp schedulers per SM; warp w belongs to scheduler w mod schedulers"`
	Policy        string `yaml:"policy" unit:"name" doc:"warp scheduling policy: gto or lrr"`
	IssueWidth    int    `yaml:"issue_width" unit:"instructions/cycle" doc:"instructions a scheduler may issue per cycle"`
	// Units is the number of execution units per SM: INT, SP, DP, SFU, TENSOR, LDST.
	Units [6]int `yaml:"units" unit:"units" doc:"INT, SP, DP, SFU, TENSOR, LDST units per SM"`
	// Latency and Interval are indexed by isa.Timing through these short tables.
	IntLatency     [6]int `yaml:"int_latency" unit:"cycles" doc:"ADD, MAX, MUL, MAD, DIV, SHFL"`
	IntInterval    [6]int `yaml:"int_interval" unit:"cycles" doc:"initiation intervals of ADD, MAX, MUL, MAD, DIV, SHFL"`
	FpLatency      [5]int `yaml:"fp_latency" unit:"cycles" doc:"ADD, MAX, MUL, MAD, DIV"`
	FpInterval     [5]int `yaml:"fp_interval" unit:"cycles" doc:"initiation intervals of ADD, MAX, MUL, MAD, DIV"`
	DpLatency      [5]int `yaml:"dp_latency" unit:"cycles" doc:"ADD, MAX, MUL, MAD, DIV"`
	DpInterval     [5]int `yaml:"dp_interval" unit:"cycles" doc:"initiation intervals of ADD, MAX, MUL, MAD, DIV"`
	SfuLatency     int    `yaml:"sfu_latency" unit:"cycles" doc:"special functions"`
	SfuInterval    int    `yaml:"sfu_interval" unit:"cycles" doc:"initiation interval of special functions"`
	TensorLatency  int    `yaml:"tensor_latency" unit:"cycles" doc:"matrix instructions"`
	TensorInterval int    `yaml:"tensor_interval" unit:"cycles" doc:"initiation interval of matrix instructions"`
	// TensorRate gives the interval of each shape; TensorLatency is then the additional latency of a result.
	TensorRate [3]int `yaml:"tensor_rate" unit:"FMA/cycle" doc:"multiplications of an SM's matrix units with f16 and bf16, tf32, 8-bit integers; 0: tensor_interval whatever the shape" opt:"0 0 0"`
	// Latency and initiation interval of each of the following.
	Logic          [2]int `yaml:"logic" unit:"cycles" doc:"logic, shifts, permutations, comparisons, selections: latency and initiation interval" opt:"other"`
	BitCount       [2]int `yaml:"bit_count" unit:"cycles" doc:"popc, clz, bfind" opt:"other"`
	BitReverse     [2]int `yaml:"bit_reverse" unit:"cycles" doc:"brev" opt:"other"`
	Convert        [2]int `yaml:"convert" unit:"cycles" doc:"conversions from and to floats of up to 32 bits" opt:"other"`
	ConvertWide    [2]int `yaml:"convert_wide" unit:"cycles" doc:"conversions from and to floats of 64 bits, and between floats and 64-bit integers" opt:"other"`
	HalfAdd        [2]int `yaml:"half_add" unit:"cycles" doc:"add and sub of one or two halves" opt:"fp's"`
	HalfMul        [2]int `yaml:"half_mul" unit:"cycles" doc:"mul of one or two halves" opt:"fp's"`
	HalfMad        [2]int `yaml:"half_mad" unit:"cycles" doc:"fma of one or two halves" opt:"fp's"`
	WideAdd        [2]int `yaml:"wide_add" unit:"cycles" doc:"add and sub of 64-bit integers" opt:"int's"`
	WideMul        [2]int `yaml:"wide_mul" unit:"cycles" doc:"mul of 64-bit integers" opt:"int's"`
	WideMad        [2]int `yaml:"wide_mad" unit:"cycles" doc:"mad of 64-bit integers" opt:"int's"`
	WideDiv        [2]int `yaml:"wide_div" unit:"cycles" doc:"div and rem of 64-bit integers" opt:"int's"`
	RootExact      [2]int `yaml:"root_exact" unit:"cycles" doc:"sqrt.rn.f32" opt:"sfu's"`
	RcpExact       [2]int `yaml:"rcp_exact" unit:"cycles" doc:"rcp.rn.f32" opt:"sfu's"`
	DivFast        [2]int `yaml:"div_fast" unit:"cycles" doc:"div.approx.f32 and div.full.f32" opt:"fp's"`
	DpRoot         [2]int `yaml:"dp_root" unit:"cycles" doc:"sqrt and rcp of doubles" opt:"sfu's"`
	BarrierLatency int    `yaml:"barrier_latency" unit:"cycles" doc:"from the registration of the last warp at a barrier until warps may go on" opt:"1"`
	BarrierWarp    int    `yaml:"barrier_warp" unit:"cycles" doc:"cycles in which a barrier registers one arriving warp" opt:"0"`
	AtomicSector   int    `yaml:"atomic_sector" unit:"cycles" doc:"cycles of the load/store unit for each sector of an atomic on global memory, and as many again for each line" opt:"0: one cycle a line"`
	AtomicSingle   int    `yaml:"atomic_single" unit:"cycles" doc:"cycles of the load/store unit for a reduction of one sector, which returns no value; an atomic on one sector takes at least twice as many" opt:"0: as atomic_sector says"`
	// Fence is the cycles that a fence takes whose scope is the GPU, and one whose scope is the system.
	Fence [2]int `yaml:"fence" unit:"cycles" doc:"from the issue of a fence of GPU scope, and of system scope, until the warp goes on, if its stores need no longer; one of CTA scope then costs its slot alone" opt:"0 0: until its stores are performed, whatever the scope"`
	// Dispatch of CTAs.
	CTARate       float64 `yaml:"cta_rate" unit:"CTAs/cycle" doc:"CTAs that the machine hands out, to all SMs together; 0: one to each SM" opt:"0"`
	CTASetup      int     `yaml:"cta_setup" unit:"cycles" doc:"from being handed out until the first warp of a CTA issues, beyond a fetch" opt:"0"`
	CTAWarp       float64 `yaml:"cta_warp" unit:"cycles" doc:"cycles that an SM needs for each warp of a CTA before it takes the next CTA" opt:"0"`
	OtherLatency  int     `yaml:"other_latency" unit:"cycles" doc:"every opcode without a row of its own"`
	OtherInterval int     `yaml:"other_interval" unit:"cycles" doc:"initiation interval of every opcode without a row of its own"`
	// Overhead is issue-to-execute plus write-back: the wait of a dependent instruction beyond the unit's latency.
	Overhead         int     `yaml:"overhead" unit:"cycles" doc:"pipeline stages around a unit: operand collection and write-back"`
	SfuOverhead      int     `yaml:"sfu_overhead" unit:"cycles" doc:"pipeline stages around the SFU"`
	Collectors       int     `yaml:"collectors" unit:"units" doc:"operand collector units per SM"`
	CollectorsShared bool    `yaml:"collectors_shared" unit:"flag" doc:"memory instructions that wait for the load/store unit hold collectors that arithmetic needs"`
	TextureRate      int     `yaml:"texture_rate" unit:"texels/cycle" doc:"filtered texels that the SM's texture units deliver per cycle; filtering in 3D takes two turns" opt:"0: no texture units, a fetch is a load for each row of texels"`
	TextureLatency   int     `yaml:"texture_latency" unit:"cycles" doc:"filter pipeline: time of a fetch beyond a load and beyond the cycles in which its texels are filtered" opt:"0"`
	TextureQueue     int     `yaml:"texture_queue" unit:"fetches" doc:"fetches of whole warps that wait for the texture units before the load/store unit stops at the next one" opt:"0"`
	CollectAll       bool    `yaml:"collect_all" unit:"flag" doc:"arithmetic, too, waits in shared collectors: for operands of one register bank, and for units that are busy" opt:"false"`
	AtomicWait       bool    `yaml:"atomic_wait" unit:"flag" doc:"a warp issues nothing until its atomic or reduction is performed (GPGPU-Sim)"`
	EarlyExit        bool    `yaml:"early_exit" unit:"flag" doc:"a warp that has exited gives up its place before its stores are acknowledged; the kernel ends after them (otherwise as GPGPU-Sim: a warp keeps its place)" opt:"false"`
	AtomicBroadcast  bool    `yaml:"atomic_broadcast" unit:"flag" doc:"lanes whose atomics change the same word of shared memory need no bank cycles of their own (GPGPU-Sim)" opt:"false"`
	ZeroFirst        bool    `yaml:"zero_first" unit:"flag" doc:"schedulers that share units choose first in turn; in cycle 0 scheduler 0 is first, otherwise scheduler 1" opt:"false"`
	RegBanks         int     `yaml:"reg_banks" unit:"banks" doc:"register-file banks per SM; with collect_all each scheduler has a part of them, and overhead holds reads without a conflict"`
	RegPorts         int     `yaml:"reg_ports" unit:"operands/cycle" doc:"operands the register file delivers to the collectors per cycle and port (GPGPU-Sim -gpgpu_reg_file_port_throughput)"`
	FetchWidth       int     `yaml:"fetch_width" unit:"instructions" doc:"instructions a fetch brings to a warp's buffer"`
	FetchLatency     int     `yaml:"fetch_latency" unit:"cycles" doc:"cycles from an empty instruction buffer to an issuable instruction"`
	FetchRate        int     `yaml:"fetch_rate" unit:"fetches/cycle" doc:"warps whose instruction buffers an SM refills per cycle"`
	LateRedirect     bool    `yaml:"late_redirect" unit:"flag" doc:"the front end fetches the instructions after a taken branch until the scheduler looks at the warp again (GPGPU-Sim)"`
	Dispatch         string  `yaml:"dispatch" unit:"name" doc:"order of CTAs: breadth (each next one to the next SM with room) or distributed (contiguous chunks of the grid)" opt:"breadth"`
	DispatchParts    int     `yaml:"dispatch_parts" unit:"partitions" doc:"number of partitions of the SMs, each of which gets a contiguous chunk of the grid (dispatch distributed)" opt:"0: one per SM, or per partition of noc.topology nuba"`
	ReadOnlyLoads    bool    `yaml:"read_only_loads" unit:"flag" doc:"kernels are compiled as for NUBA: loads of data that a kernel does not write are marked (ld.global.nc)" opt:"false"`
	Ptxas            bool    `yaml:"ptxas" unit:"flag" doc:"kernels are timed and counted as the instructions that NVIDIA's assembler makes of their PTX (package ptx/ptxas); their results stay the same" opt:"false"`
	LaunchDelay      int     `yaml:"launch_delay" unit:"cycles" doc:"kernel launch latency on the device"`
	CtxBytesWarp     int     `yaml:"ctx_bytes_warp" unit:"bytes" doc:"context of a warp beyond its registers: SIMT stack, barriers, PC"`
	CtxShare         float64 `yaml:"ctx_share" unit:"fraction" doc:"part of a CTA's context that is moved when the CTA leaves its SM or comes back; less than 1 if only live registers are moved, or to see what moving costs" opt:"1"`
	WakeDelay        int     `yaml:"wake_delay" unit:"cycles" doc:"waking a power-gated SM: from the request until it can take a CTA; it draws idle power (at least 1)"`
}

// L1D is the first-level data cache of each SM.
type L1D struct {
	Sets          int    `yaml:"sets" unit:"sets" doc:"sets (any number); 0: as many as its part of l1d.unified has with l1d.ways"`
	Ways          int    `yaml:"ways" unit:"ways" doc:"associativity"`
	Line          int    `yaml:"line" unit:"bytes" doc:"line size"`
	Sector        int    `yaml:"sector" unit:"bytes" doc:"sector size; equal to the line when not sectored"`
	Latency       int    `yaml:"latency" unit:"cycles" doc:"hit latency of the pipeline"`
	Banks         int    `yaml:"banks" unit:"banks" doc:"banks, one sector each per cycle"`
	Tags          int    `yaml:"tags" unit:"lines/cycle" doc:"lines of an instruction that are looked up in a cycle; its words take as many cycles as the banks of shared memory need for them; 0: banks deliver sectors, of several instructions at once" opt:"0"`
	MSHRs         int    `yaml:"mshrs" unit:"entries" doc:"outstanding sectors; a line takes one entry for each of its sectors"`
	Merge         int    `yaml:"merge" unit:"requests" doc:"requests merged in one MSHR entry"`
	MissQueue     int    `yaml:"miss_queue" unit:"requests" doc:"requests waiting for the interconnect"`
	Write         string `yaml:"write" unit:"name" doc:"through: stores are sent to the LLC at once; no other one is modelled"`
	WriteAlloc    string `yaml:"write_alloc" unit:"name" doc:"none or lazy (allocate, fetch on read)"`
	Repl          string `yaml:"repl" unit:"name" doc:"replacement: lru or fifo"`
	Index         string `yaml:"index" unit:"name" doc:"set index: linear, xor or ipoly"`
	Unified       int    `yaml:"unified" unit:"bytes" doc:"unified L1 + shared capacity when the split adapts; 0: fixed split" opt:"0"`
	Reserved      int    `yaml:"reserved" unit:"bytes" doc:"of the unified capacity that are neither cache nor shared memory" opt:"0"`
	Carveouts     []int  `yaml:"carveouts" unit:"bytes" doc:"shared-memory sizes the adaptive split may choose" opt:"none"`
	ReturnLatency int    `yaml:"return_latency" unit:"cycles" doc:"time of an answer in the SM's queue of answers, before the port that writes registers" opt:"0"`
	WritePort     bool   `yaml:"write_port" unit:"flag" doc:"arrived sectors reach waiting loads one per cycle (GPGPU-Sim); else a whole fill at once"`
	SkipGlobal    bool   `yaml:"skip_global" unit:"flag" doc:"global loads bypass the L1"`
	FlushEach     bool   `yaml:"flush_each" unit:"flag" doc:"invalidate the L1 between kernels"`
}

// NoC is the interconnect between SMs and LLC slices.
type NoC struct {
	Kind       string `yaml:"kind" unit:"name" doc:"crossbar (iSLIP); local: GPGPU-Sim's built-in one, in which every sector is a packet and an input may send several in a cycle; or stages: two of switches"`
	FlitBytes  int    `yaml:"flit" unit:"bytes" doc:"link width per cycle"`
	AnswerFlit int    `yaml:"answer_flit" unit:"bytes" doc:"link width per cycle of the way from slices to SMs (kinds crossbar and local)" opt:"0: as flit"`
	HeaderReq  int    `yaml:"header" unit:"bytes" doc:"header of every packet"`
	InQueue    int    `yaml:"in_queue" unit:"flits" doc:"input queue per port and VC"`
	OutQueue   int    `yaml:"out_queue" unit:"packets" doc:"ejection queue per port"`
	WholeLines bool   `yaml:"whole_lines" unit:"flag" doc:"sectors of a line that are requested, answered or written together are one packet; otherwise each sector is a packet with its own header (GPGPU-Sim; kinds crossbar and local)" opt:"false"`
	VCs        int    `yaml:"vcs" unit:"channels" doc:"virtual channels per input"`
	Iterations int    `yaml:"iterations" unit:"iterations" doc:"iSLIP iterations"`
	Latency    int    `yaml:"latency" unit:"cycles" doc:"pipeline cycles of one traversal; of kind stages: of each of the two"`
	Radix      int    `yaml:"radix" unit:"ports" doc:"kind stages: outer ports of a switch, which has a link to each switch of the other stage" opt:"0"`
	WriteSize  int    `yaml:"write_size" unit:"bytes" doc:"kind stages: a write request in all; 0: header and the bytes written" opt:"0"`
	// Topology says which SMs are near which slices.
	Topology   string  `yaml:"topology" unit:"name" doc:"memory-side: SMs reach all slices; sm-side: those of their half of the GPU, which may hold any line; nuba: partitions of SMs, slices and channels, with a network between slices" opt:"memory-side"`
	Partitions int     `yaml:"partitions" unit:"partitions" doc:"parts the SMs, slices and channels are divided into: nuba's partitions, the two halves of sm-side" opt:"0: one"`
	LinkFlit   int     `yaml:"link_flit" unit:"bytes" doc:"width of a point-to-point link, per direction: between an SM and a slice of its partition (nuba), or between partner slices of the two halves (sm-side)" opt:"0: no links"`
	LinkDelay  int     `yaml:"link_latency" unit:"cycles" doc:"from the last flit on a link to its end" opt:"0"`
	Modules    int     `yaml:"modules" unit:"modules" doc:"chips of a package, each with its own stages, SMs, slices and channels, joined by a ring" opt:"0: one"`
	RingGB     float64 `yaml:"ring" unit:"GB/s" doc:"link between two neighbours on the ring of modules, both directions together" opt:"0: none"`
	RingDelay  int     `yaml:"ring_latency" unit:"cycles" doc:"latency of a link of the ring" opt:"0"`
	RingQueue  int     `yaml:"ring_queue" unit:"packets" doc:"packets of each class that can wait at a link of the ring" opt:"0"`
	LinkQueue  int     `yaml:"link_queue" unit:"packets" doc:"packets on a link and in the latch at its end" opt:"0"`
}

// LLC is the last-level cache: one or more slices per channel.
type LLC struct {
	SlicesPerChannel int     `yaml:"slices_per_channel" unit:"slices" doc:"slices (sub-partitions) per memory channel"`
	Sets             int     `yaml:"sets" unit:"sets" doc:"sets per slice (any number, 48 included)"`
	Ways             int     `yaml:"ways" unit:"ways" doc:"associativity"`
	Line             int     `yaml:"line" unit:"bytes" doc:"line size"`
	Sector           int     `yaml:"sector" unit:"bytes" doc:"sector size; equal to the line when not sectored"`
	Latency          int     `yaml:"latency" unit:"cycles" doc:"fixed pipeline latency before the tags (ROP latency)"`
	CrossLatency     int     `yaml:"cross_latency" unit:"cycles" doc:"the same for a request that comes over the network between slices" opt:"0: as latency"`
	HitLatency       int     `yaml:"hit_latency" unit:"cycles" doc:"tag and data access after that"`
	MissLatency      int     `yaml:"miss_latency" unit:"cycles" doc:"time of a miss in the miss queue, before the memory controller may take it" opt:"0"`
	FillLatency      int     `yaml:"fill_latency" unit:"cycles" doc:"from a fill of the tags to the answers that waited for it" opt:"0"`
	PortBytes        int     `yaml:"port" unit:"bytes" doc:"data-array bytes per cycle"`
	WritePort        int     `yaml:"write_port" unit:"bytes" doc:"written bytes per cycle of the data array" opt:"0: as port"`
	MSHRs            int     `yaml:"mshrs" unit:"entries" doc:"outstanding sectors per slice; a line takes one entry for each of its sectors"`
	Merge            int     `yaml:"merge" unit:"requests" doc:"requests merged in one MSHR entry"`
	InQueue          int     `yaml:"in_queue" unit:"requests" doc:"queue from the interconnect"`
	MissQueue        int     `yaml:"miss_queue" unit:"requests" doc:"queue to DRAM"`
	ToDRAM           int     `yaml:"to_dram" unit:"requests" doc:"queue between the miss queue and the memory controller"`
	FromDRAM         int     `yaml:"from_dram" unit:"requests" doc:"queue of DRAM replies waiting to fill the slice"`
	OutQueue         int     `yaml:"out_queue" unit:"requests" doc:"queue of replies waiting for the interconnect"`
	Repl             string  `yaml:"repl" unit:"name" doc:"replacement: lru or fifo"`
	Index            string  `yaml:"index" unit:"name" doc:"set index: linear, xor or ipoly"`
	WriteAlloc       string  `yaml:"write_alloc" unit:"name" doc:"fetch or lazy (allocate, fetch on read)"`
	Fill             string  `yaml:"fill" unit:"name" doc:"if slices get requests of other partitions: home (every miss fills the slice of the line) or local (only misses of its own partition do)" opt:"home"`
	FlushEach        bool    `yaml:"flush_each" unit:"flag" doc:"write the LLC back and invalidate it between kernels, as a machine that replicates does" opt:"false"`
	Flush            string  `yaml:"flush" unit:"name" doc:"what a machine that replicates flushes between kernels: whole (all lines; NUBA, section 5.3) or copies (only those of other partitions' lines, all that coherence needs)" opt:"whole"`
	AtomicCycles     float64 `yaml:"atomic_cycles" unit:"cycles" doc:"cycles of a slice for an atomic request, if its words do not need more" opt:"0: as a read"`
	AtomicWords      float64 `yaml:"atomic_words" unit:"words/cycle" doc:"words of four bytes that a slice changes per cycle; 0: all of a request" opt:"0"`
	AtomicSlices     int     `yaml:"atomic_slices" unit:"slices" doc:"slices that change words in one unit, which does one request after the other" opt:"0: each has its own"`
	// AtomicSame is the least number of cycles for an atomic on the word that its unit changed last.
	AtomicSame    [2]float64 `yaml:"atomic_same" unit:"cycles" doc:"cycles of that unit for an atomic on the word that it has changed last, integers and floats" opt:"0 0: atomic_cycles"`
	PrefillCopies bool       `yaml:"prefill_copies" unit:"flag" doc:"host-to-device copies fill the LLC (GPGPU-Sim -gpgpu_perf_sim_memcpy)"`
}

// DRAM is one memory device: all channels alike.
type DRAM struct {
	Channels      int     `yaml:"channels" unit:"channels" doc:"independent channels"`
	Stacks        int     `yaml:"stacks" unit:"stacks" doc:"HBM stacks the channels are spread over"`
	Ranks         int     `yaml:"ranks" unit:"ranks" doc:"ranks or pseudo-channels per channel"`
	BankGroups    int     `yaml:"bank_groups" unit:"groups" doc:"bank groups per rank"`
	Banks         int     `yaml:"banks" unit:"banks" doc:"banks per bank group"`
	Rows          int     `yaml:"rows" unit:"rows" doc:"rows per bank"`
	RowBytes      int     `yaml:"row_bytes" unit:"bytes" doc:"bytes of one row of one bank"`
	Access        int     `yaml:"access" unit:"bytes" doc:"bytes of one column access (burst)"`
	Capacity      int64   `yaml:"capacity" unit:"bytes" doc:"total capacity"`
	Queue         int     `yaml:"queue" unit:"requests" doc:"scheduler window (reads)"`
	WriteQueue    int     `yaml:"write_queue" unit:"requests" doc:"write queue; 0: shared with reads" opt:"0"`
	HighWater     float64 `yaml:"high_water" unit:"fraction" doc:"write queue level that starts write mode" opt:"0"`
	LowWater      float64 `yaml:"low_water" unit:"fraction" doc:"write queue level that ends write mode" opt:"0"`
	Return        int     `yaml:"return" unit:"requests" doc:"return queue"`
	ReturnLatency int     `yaml:"return_latency" unit:"tCK" doc:"time of read data in the return queue" opt:"0"`
	ReturnNs      float64 `yaml:"return_ns" unit:"ns" doc:"the same, which no clock changes, beside return_latency" opt:"0"`
	Extra         int     `yaml:"extra_latency" unit:"cycles" doc:"fixed delay in core cycles between LLC and the scheduler"`
	ExtraNs       float64 `yaml:"extra_ns" unit:"ns" doc:"time between LLC and the scheduler that does not follow the core clock, beside extra_latency" opt:"0"`
	DualBus       bool    `yaml:"dual_bus" unit:"flag" doc:"separate row and column command buses (HBM)"`
	SharedBus     bool    `yaml:"shared_bus" unit:"flag" doc:"ranks share the data bus of their channel: with dual_bus they are levels of a stack then, and pseudo-channels otherwise; without, they always do" opt:"false"`
	Refresh       bool    `yaml:"refresh" unit:"flag" doc:"all-bank refresh every refi"`
	Sched         string  `yaml:"sched" unit:"name" doc:"frfcfs, frfcfs-rowhit, frfcfs-priorhit or fcfs"`
	Page          string  `yaml:"page" unit:"name" doc:"row policy: open or closed"`
	// MIGRATION copies a line between banks of two channels of a stack (UGPU, section 4.3).
	Migration         string `yaml:"migration" unit:"name" doc:"MIGRATION commands: none; data, each holds its paths while its line passes at the rate of the data bus; or literal, each holds them for migration_cycles" opt:"none"`
	MigrationCycles   int    `yaml:"migration_cycles" unit:"cycles" doc:"core cycles of each MIGRATION command with migration: literal" opt:"0"`
	MigrationCrossbar bool   `yaml:"migration_crossbar" unit:"flag" doc:"bank groups reach the TSVs of any channel of their stack, so that MIGRATIONs of a page go on in parallel" opt:"false"`
	T                 Timing `yaml:"timing"`
}

// Timing is the DRAM timing table in command-clock cycles.
type Timing struct {
	BL    int `yaml:"bl" unit:"tCK" doc:"data-bus cycles of a burst"`
	CL    int `yaml:"cl" unit:"tCK" doc:"read latency"`
	CWL   int `yaml:"cwl" unit:"tCK" doc:"write latency"`
	RCDRD int `yaml:"rcdrd" unit:"tCK" doc:"ACT to RD"`
	RCDWR int `yaml:"rcdwr" unit:"tCK" doc:"ACT to WR"`
	RP    int `yaml:"rp" unit:"tCK" doc:"PRE to ACT"`
	RAS   int `yaml:"ras" unit:"tCK" doc:"ACT to PRE"`
	RC    int `yaml:"rc" unit:"tCK" doc:"ACT to ACT, same bank"`
	WR    int `yaml:"wr" unit:"tCK" doc:"write recovery"`
	RTP   int `yaml:"rtp" unit:"tCK" doc:"RD to PRE"`
	CCDS  int `yaml:"ccds" unit:"tCK" doc:"column to column, other bank group"`
	CCDL  int `yaml:"ccdl" unit:"tCK" doc:"column to column, same bank group"`
	RRDS  int `yaml:"rrds" unit:"tCK" doc:"ACT to ACT, other bank group"`
	RRDL  int `yaml:"rrdl" unit:"tCK" doc:"ACT to ACT, same bank group"`
	WTRS  int `yaml:"wtrs" unit:"tCK" doc:"write data to RD, other bank group"`
	WTRL  int `yaml:"wtrl" unit:"tCK" doc:"write data to RD, same bank group"`
	RTW   int `yaml:"rtw" unit:"tCK" doc:"RD to WR; 0: CL+BL+2-CWL" opt:"0"`
	FAW   int `yaml:"faw" unit:"tCK" doc:"window of four ACTs" opt:"0: no window"`
	CS    int `yaml:"cs" unit:"tCK" doc:"rank-to-rank switch of the data bus" opt:"0"`
	RFC   int `yaml:"rfc" unit:"tCK" doc:"refresh cycle, all banks" opt:"0"`
	REFI  int `yaml:"refi" unit:"tCK" doc:"refresh interval" opt:"0"`
}

// Map is the physical address map as data: which address bits make the channel,
// bank group, bank, column and row. Bits are listed from least to most significant.
type Map struct {
	Kind      string `yaml:"kind" unit:"name" doc:"gpgpusim (dramid@ string), bits (lists below), linear, page (line, bank, column up to the page's end, channel, row), or group (page: its frame chooses the channel group, whose channels its lines go round)"`
	String    string `yaml:"string" unit:"text" doc:"GPGPU-Sim -gpgpu_mem_addr_mapping string" opt:"none"`
	Hash      string `yaml:"hash" unit:"name" doc:"channel hash: none, ipoly, xor or pae (kinds bits, page and group)"`
	BankHash  string `yaml:"bank_hash" unit:"name" doc:"bank hash of kinds bits, page and group: none, xor (row bits folded in), ipoly, or pae (random half of them)" opt:"none"`
	GroupBits string `yaml:"group_bits" unit:"name" doc:"which bank bits name the bank group, kind gpgpusim: low or high" opt:"low"`
	Offset    []int  `yaml:"offset" unit:"bit" doc:"block offset bits" opt:"none"`
	Channel   []int  `yaml:"channel" unit:"bit" doc:"channel bits" opt:"none"`
	Stack     []int  `yaml:"stack" unit:"bit" doc:"stack bits (channel number = stack * channels per stack + channel)" opt:"none"`
	Rank      []int  `yaml:"rank" unit:"bit" doc:"rank bits" opt:"none"`
	BankGroup []int  `yaml:"bank_group" unit:"bit" doc:"bank-group bits" opt:"none"`
	Bank      []int  `yaml:"bank" unit:"bit" doc:"bank bits" opt:"none"`
	Column    []int  `yaml:"column" unit:"bit" doc:"column bits" opt:"none"`
	Row       []int  `yaml:"row" unit:"bit" doc:"row bits" opt:"none"`
	Slice     []int  `yaml:"slice" unit:"bit" doc:"bits that pick the LLC slice within its channel" opt:"none"`
	// Groups is the number of channel groups an isolated slice may own: 0 means one per channel.
	Groups int `yaml:"groups" unit:"groups" doc:"channel groups an application can own" opt:"0"`
	// GroupAbovePage is for maps made for small pages: with larger ones a page would span all groups.
	GroupAbovePage bool `yaml:"group_above_page" unit:"flag" doc:"channel bits move up to just above the page offset when the page reaches above them, the bits between move down (kind bits)" opt:"false"`
}

// BitMap is a second map of the same memory, as bit lists. Empty: the sheet has none.
type BitMap struct {
	Offset    []int `yaml:"offset" unit:"bit" doc:"block offset bits" opt:"none"`
	Channel   []int `yaml:"channel" unit:"bit" doc:"channel bits" opt:"none"`
	Stack     []int `yaml:"stack" unit:"bit" doc:"stack bits" opt:"none"`
	Rank      []int `yaml:"rank" unit:"bit" doc:"rank bits" opt:"none"`
	BankGroup []int `yaml:"bank_group" unit:"bit" doc:"bank-group bits" opt:"none"`
	Bank      []int `yaml:"bank" unit:"bit" doc:"bank bits" opt:"none"`
	Column    []int `yaml:"column" unit:"bit" doc:"column bits" opt:"none"`
	Row       []int `yaml:"row" unit:"bit" doc:"row bits" opt:"none"`
	Slice     []int `yaml:"slice" unit:"bit" doc:"bits that pick the LLC slice within its channel" opt:"none"`
}

// Given says that the sheet has the map.
func (b *BitMap) Given() bool { return len(b.Channel)+len(b.Stack)+len(b.Row) > 0 }

// Map is the bit lists as a map of kind bits without hashes.
func (b *BitMap) Map(groups int) Map {
	return Map{
		Kind: "bits", Hash: "none", Groups: groups, Offset: b.Offset, Channel: b.Channel, Stack: b.Stack, Rank: b.Rank,
		BankGroup: b.BankGroup, Bank: b.Bank, Column: b.Column, Row: b.Row, Slice: b.Slice,
	}
}

// VM is address translation. Without it physical addresses are virtual ones.
type VM struct {
	Enabled       bool    `yaml:"enabled" unit:"flag" doc:"translate at all"`
	Page          int     `yaml:"page" unit:"bytes" doc:"page size: 4096 or 2097152"`
	L1Entries     int     `yaml:"l1_entries" unit:"entries" doc:"L1 TLB entries per SM"`
	L1Ways        int     `yaml:"l1_ways" unit:"ways" doc:"0: fully associative"`
	L1Latency     int     `yaml:"l1_latency" unit:"cycles" doc:"L1 TLB hit; 0: looked up while the L1 is" opt:"0"`
	L1Ports       int     `yaml:"l1_ports" unit:"accesses" doc:"accesses of an SM that miss in its TLB in a cycle" opt:"0: any number"`
	L1Misses      int     `yaml:"l1_misses" unit:"entries" doc:"outstanding L1 TLB misses"`
	L2Entries     int     `yaml:"l2_entries" unit:"entries" doc:"shared L2 TLB entries"`
	L2Ways        int     `yaml:"l2_ways" unit:"ways" doc:"associativity"`
	L2Latency     int     `yaml:"l2_latency" unit:"cycles" doc:"L2 TLB lookup"`
	L2Ports       int     `yaml:"l2_ports" unit:"ports" doc:"lookups per cycle, of each bank"`
	L2Banks       int     `yaml:"l2_banks" unit:"banks" doc:"banks of the L2 TLB, by the low bits of the page number" opt:"1"`
	Walkers       int     `yaml:"walkers" unit:"walkers" doc:"concurrent page walks"`
	Levels        int     `yaml:"levels" unit:"levels" doc:"levels of the page table"`
	WalkCycles    int     `yaml:"walk_cycles" unit:"cycles" doc:"core cycles of a page walk, which then reads nothing; 0: it reads the page table, level by level" opt:"0"`
	WalkCache     int     `yaml:"walk_cache" unit:"entries" doc:"page-walk cache entries; 0: none" opt:"0"`
	FaultUs       float64 `yaml:"fault" unit:"us" doc:"handling of a page that is not on the device"`
	FaultSlots    int     `yaml:"fault_slots" unit:"faults" doc:"faults handled at once" opt:"0: one per walker"`
	FirstTouch    bool    `yaml:"first_touch" unit:"flag" doc:"device memory, too, gets its frames when an SM touches it first, by a fault; copies and fills of the host are no touches" opt:"false"`
	Placement     string  `yaml:"placement" unit:"name" doc:"which of its channel groups an application's new page goes to: a page placement of heddle inspect policies"`
	PlacementSeed int     `yaml:"placement_seed" unit:"number" doc:"seed of the choices of least-random" opt:"0"`
	LABThreshold  float64 `yaml:"lab_threshold" unit:"fraction" doc:"page balance above which lab places by first touch, else by least (NUBA, section 4)" opt:"0"`
	// Movement of pages whose channels change while an application runs.
	DriverCycles int  `yaml:"driver_cycles" unit:"cycles" doc:"core cycles the driver needs for a page that must move" opt:"0"`
	DriverTurns  bool `yaml:"driver_turns" unit:"flag" doc:"driver and copy engine serve the applications in turn; otherwise pages in order of arrival" opt:"false"`
	// GainShare spreads the pages that move into gained channels evenly over the address space.
	GainShare  bool `yaml:"gain_share" unit:"flag" doc:"only a share of the pages that are touched outside gained channels moves: every n-th, by the gained share of channels; otherwise every page moves until the gained channels have their share" opt:"false"`
	CopyLines  int  `yaml:"copy_lines" unit:"lines" doc:"lines of pages on their way through the copy engine at once, where the memory does not copy them itself" opt:"256"`
	SweepPages int  `yaml:"sweep_pages" unit:"pages" doc:"pages that the driver moves at once in the background; 0: none" opt:"0"`
	// Pages whose homes follow the accesses to them (memory.pages: migrate and replicate).
	HomeInterval int `yaml:"home_interval" unit:"cycles" doc:"core cycles in which the accesses of each partition to each page are counted; 0: they are not counted" opt:"0"`
	HomePages    int `yaml:"home_pages" unit:"pages" doc:"pages that the driver takes from an interval, and handles or moves at once" opt:"0"`
	HomeMoves    int `yaml:"home_moves" unit:"pages" doc:"pages that the copy engine of a partition brings there at once" opt:"0"`
}

// Link is the host interface.
type Link struct {
	Bandwidth float64 `yaml:"bandwidth" unit:"GB/s" doc:"peak of each direction"`
	Latency   float64 `yaml:"latency" unit:"us" doc:"latency of one transfer"`
	Engines   int     `yaml:"engines" unit:"engines" doc:"copy engines"`
	// The bandwidth of a transfer by its size, 2/pi * curve_peak * atan(curve_rate * KB), in unified memory.
	CurvePeak float64 `yaml:"curve_peak" unit:"GiB/s" doc:"bandwidth that large transfers of unified memory approach; 0: bandwidth whatever the size" opt:"0"`
	CurveRate float64 `yaml:"curve_rate" unit:"1/KiB" doc:"how fast this bandwidth is approached with the size of a transfer" opt:"0"`
	// Device memory that the runtime library of kernels takes.
	Printf int `yaml:"printf" unit:"bytes" doc:"buffer for the output of kernels until the host synchronises; 0: CUDA's 1 MiB" opt:"0"`
	Heap   int `yaml:"heap" unit:"bytes" doc:"heap that malloc in kernels allocates from; 0: CUDA's 8 MiB" opt:"0"`
}

// UVM is the hardware and driver of unified memory that moves pages on demand.
type UVM struct {
	Buffer  int     `yaml:"buffer" unit:"entries" doc:"faults that wait for the driver; 0: the machine has no unified memory on demand" opt:"0"`
	Batch   int     `yaml:"batch" unit:"faults" doc:"faults the driver takes at once at most" opt:"0"`
	Quantum float64 `yaml:"quantum" unit:"us" doc:"time between two interrupts that tell the driver of faults" opt:"0"`
	FaultUs float64 `yaml:"fault" unit:"us" doc:"time in which the driver handles a batch of faults; it handles one batch after the other" opt:"0"`
	DMAUs   float64 `yaml:"dma" unit:"us" doc:"additional time of the driver for each transfer of a batch" opt:"0"`
	Remote  int     `yaml:"remote" unit:"cycles" doc:"latency of an access to a page that stays on the host" opt:"0"`

	LinkPeriod    int     `yaml:"link_period" unit:"cycles" doc:"core cycles between two measurements that decide which application goes first on the link (arbiter adaptive)" opt:"0"`
	LinkSimilar   float64 `yaml:"link_similar" unit:"ratio" doc:"arbiter adaptive: ratio up to which the demands of two applications are similar" opt:"0"`
	LinkDeviation float64 `yaml:"link_deviation" unit:"ratio" doc:"arbiter adaptive: ratio by which an application's share of serviced transfers may be below that of the application that goes first" opt:"0"`
	LinkQueue     int     `yaml:"link_queue" unit:"transfers" doc:"arbiter adaptive: with this many pending transfers the application that goes first does not wait for others to catch up" opt:"0"`
}

// MIG lists the slices a user can ask for by name.
type MIG struct {
	SMs      int       `yaml:"sms" unit:"SMs" doc:"SMs usable under MIG" opt:"0: no MIG"`
	Slices   int       `yaml:"slices" unit:"slices" doc:"memory slices into which the channels are divided" opt:"0: no MIG"`
	Profiles []Profile `yaml:"profiles"`
}

// Profile is one MIG profile.
type Profile struct {
	Name   string `yaml:"name"`
	SMs    int    `yaml:"sms" unit:"SMs" doc:"SMs"`
	Slices int    `yaml:"slices" unit:"slices" doc:"memory slices"`
	Most   int    `yaml:"most" unit:"instances" doc:"instances at once"`
	Source string `yaml:"source"`
}

// Power holds the inputs of the energy model beyond event counts.
type Power struct {
	Chip     float64 `yaml:"chip" unit:"W" doc:"constant chip power"`
	ActiveSM float64 `yaml:"active_sm" unit:"W" doc:"static power of a powered SM that runs"`
	IdleSM   float64 `yaml:"idle_sm" unit:"W" doc:"static power of a powered idle SM"`
	GatedSM  float64 `yaml:"gated_sm" unit:"W" doc:"residual power of a power-gated SM: leakage"`
	// The memory's energy; all zero: HBM2's constants of package energy.
	Activate   float64 `yaml:"dram_activate" unit:"pJ" doc:"opening and closing a row" opt:"0: HBM2"`
	ReadBit    float64 `yaml:"dram_read" unit:"pJ/bit" doc:"reading a bit, from the row to the GPU" opt:"0: HBM2"`
	WriteBit   float64 `yaml:"dram_write" unit:"pJ/bit" doc:"writing a bit, from the GPU to the row" opt:"0: HBM2"`
	Background float64 `yaml:"dram_background" unit:"mW" doc:"background power of a channel" opt:"0: HBM2"`
}
