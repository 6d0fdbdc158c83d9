package energy

// Energy per event. Where a value comes from a measurement it says so; "rounded"
// values are those of AccelWattch's Volta model (GPGPU-Sim commit 667834cf,
// SM7_QV100/accelwattch_sass_sim.xml: base coefficient times scaling factor) with
// artefacts of its fit smoothed out and scaled to a 22 nm-like GPUWattch model.
const (
	// Per warp instruction, pJ, rounded (AccelWattch: 150, 5.9, 17.3).
	fetchPJ    = 100.0 // fetch and instruction-cache hit
	decodePJ   = 6.0   // decode and instruction buffer
	schedulePJ = 17.0  // warp scheduler

	// Per 32-bit operand and lane, pJ (AccelWattch: the same).
	regReadPJ  = 2.5
	regWritePJ = 2.1
	// Operands are not counted; two reads and one write per thread instruction stand
	// for them (estimate).
	regReads  = 2.0
	regWrites = 1.0

	// Per lane and operation, pJ, rounded (AccelWattch: 6.9, 10.0, 14.7, 4.9 to 14, 31.5).
	intPJ    = 5.0
	fpPJ     = 8.0
	dpPJ     = 15.0
	sfuPJ    = 8.0
	tensorPJ = 30.0

	sharedPJ   = 110.0 // per warp access to shared memory and per extra cycle of a bank conflict (AccelWattch: 113)
	pipelinePJ = 125.0 // per SM-cycle with work: clock and pipeline (AccelWattch: the same)

	// Caches, pJ, rounded (AccelWattch: L1 507 read hit, 339 read miss; L2 69 to 270).
	l1LinePJ   = 400.0 // data and tags of 128 bytes
	l1TagPJ    = 100.0 // tags only, a miss
	llcLinePJ  = 250.0 // data of 128 bytes
	llcTagPJ   = 5.0
	lineForPJ  = 128.0 // bytes the four numbers above are for
	picojoule  = 1e-12
	milliwatt  = 1e-3
	microwatt  = 1e-6
	bitsPer    = 8.0
	megahertz  = 1e6
	dsentClock = 1.4e9 // Hz the fit below was made at
)

// Crossbar with P ports and W-bit links, fitted to DSENT (gem5 ext/dsent,
// Bulk22LVT, 1.4 GHz, 2 virtual channels of 4 buffers; error below 10 %).
const (
	nocBufferPJ  = 0.0121 // x W per flit
	nocXbarPJ    = 6.7e-4 // x P x W per flit
	nocXbar0PJ   = 7e-4   // x W per flit
	nocAllocMW   = 2.8e-3 // x P^2.7 at one flit per port and cycle
	nocAllocExp  = 2.7
	nocWirePJ    = 0.0236  // x W x mm per flit
	nocWireMM    = 2.0     // mm of wire beyond the crossbar itself (estimate)
	nocAreaMM2   = 1.24e-8 // x (P x W)^2
	nocLeakBufMW = 0.0163  // x P x W
	nocLeakX2MW  = 4.83e-4 // x P^2 x W
	nocLeakX1MW  = 7.3e-4  // x P x W
	nocLeakAlMW  = 1.54e-3 // x P^3
	// A link from point to point: wires alone (DSENT, the same run: 3.02 pJ per mm and 128-bit flit).
	nocLeakWireUW = 0.24 // x W x mm
	nocLinkMM     = 1.5  // mm between an SM and a slice of its partition (estimate: they are neighbours)
	nocRingPJBit  = 0.54 // a link between modules of a package (Arunkumar et al., MCM-GPU, ISCA 2017; as recalled)
	nocRingBits   = 256  // what its counters call a flit (noc.Ring)
	nocHalvesMM   = 10   // mm between slices of the two halves of an SM-side LLC (estimate: half of the die)
)

// HBM2. Activation and background from DRAMsim3's currents (HBM2_8Gb_x128.ini);
// data movement 1.51 before and 1.17 behind the global sense amplifiers plus 0.80
// of I/O (O'Connor et al., Fine-Grained DRAM, MICRO 2017); a write costs the
// difference of DRAMsim3's column energies (2.09 - 1.57 pJ/bit) more.
const (
	hbmActivatePJ   = 828.0
	hbmReadPJBit    = 1.51 + 1.17 + 0.80
	hbmWritePJBit   = hbmReadPJBit + 2.09 - 1.57
	hbmBackgroundMW = 66.0 // per 128-bit channel with open rows
	// A line that PageMove's MIGRATION copies within a stack is read from one row and
	// written to another and crosses TSVs, but no I/O: DRAMsim3's column energies
	// (1.57 + 2.09) and the rest for TSVs and crossbar (estimate).
	hbmMigratePJBit = 4.0
)
