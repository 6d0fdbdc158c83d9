// Package isa holds the one record every source of work emits: PTX executed at
// issue, recorded traces and statistical models all look the same to the machine.
//
// A reader must know three types. Instr is the static part of a warp
// instruction, decoded once per kernel. Step is the dynamic part, produced each
// time a warp executes one instruction. Grid is one kernel launch: it starts
// CTAs, and a CTA executes its warps one instruction at a time when the machine
// says so (function-driven timing).
package isa

import (
	"math/bits"
	"slices"

	"github.com/heddle-sim/heddle/mem/storebuffer"
)

// Lanes is the number of threads in a warp.
const Lanes = 32

// Unit is the execution unit class an instruction occupies.
type Unit uint8

const (
	INT    Unit = iota // integer ALU; also moves, logic, compares, branches and barriers, as in GPGPU-Sim's ALU_OP
	SP                 // single-precision floating point
	DP                 // double-precision floating point
	SFU                // special functions and every division
	TENSOR             // matrix multiply-accumulate
	LDST               // loads, stores, atomics, fences
	NumUnits
)

// Timing names a row of the machine sheet's latency and initiation-interval
// tables; the categories are those of GPGPU-Sim's -ptx_opcode_latency_* options.
type Timing uint8

const (
	TimeOther Timing = iota // every opcode without a row of its own: mov, logic, shift, setp, selp, cvt, bra
	IntAdd
	IntMax
	IntMul
	IntMad
	IntDiv
	Shuffle
	FpAdd
	FpMax
	FpMul
	FpMad
	FpDiv
	DpAdd
	DpMax
	DpMul
	DpMad
	DpDiv
	Special // ex2, lg2, sin, cos, rsqrt, rcp, sqrt, tanh
	Matrix  // mma
	Coarse  // the number of timings above, by which instructions are counted

	// Finer timings, for machines that distinguish them (Timing.Coarse).
	Logic       Timing = Coarse + iota - 20 // and, or, xor, shifts, permutations, comparisons, selections
	BitCount                                // popc, clz, bfind
	BitReverse                              // brev
	Convert                                 // between types, to or from floats or narrower ones
	ConvertWide                             // the same with a type of 64 bits
	HalfAdd                                 // add and sub of f16 and f16x2
	HalfMul                                 // mul of f16 and f16x2
	HalfMad                                 // fma of f16 and f16x2
	WideAdd                                 // add and sub of 64-bit integers
	WideMul                                 // mul of the same
	WideMad                                 // mad of the same
	WideDiv                                 // div and rem of the same
	RootExact                               // sqrt.rn.f32
	RcpExact                                // rcp.rn.f32
	DivFast                                 // div.approx.f32 and div.full.f32
	DpRoot                                  // sqrt and rcp of doubles
	// Matrix instructions by type and multiplications, of the whole warp.
	Half1K // f16, bf16: m16n8k8
	Half2K // m16n8k16
	Half4K // m16n16k16 and its like
	Tf512  // tf32: m16n8k4
	Tf1K   // m16n8k8
	Tf2K   // m16n16k8
	Byte2K // 8-bit integers: m16n8k16
	Byte4K // m16n8k32, m16n16k16 and its like
	NumTimings
)

// coarse is what each finer timing is counted as, and takes where a machine does not tell.
var coarse = [NumTimings]Timing{
	Logic: TimeOther, BitCount: TimeOther, BitReverse: TimeOther, Convert: TimeOther, ConvertWide: TimeOther,
	HalfAdd: FpAdd, HalfMul: FpMul, HalfMad: FpMad, WideAdd: IntAdd, WideMul: IntMul, WideMad: IntMad, WideDiv: IntDiv,
	RootExact: Special, RcpExact: Special, DivFast: FpDiv,
	DpRoot: Special, Half1K: Matrix, Half2K: Matrix, Half4K: Matrix, Tf512: Matrix, Tf1K: Matrix, Tf2K: Matrix,
	Byte2K: Matrix, Byte4K: Matrix,
}

// Coarse is the coarser class of a finer timing. Instructions are counted by it, and timed by it on a machine that
// does not distinguish the finer ones.
func (t Timing) Coarse() Timing {
	if t < Coarse {
		return t
	}
	return coarse[t]
}

// Sequence says that the machine executes the instruction as several, which a sheet times together.
func (t Timing) Sequence() bool {
	switch t {
	case IntDiv, FpDiv, DpDiv, WideAdd, WideMul, WideMad, WideDiv, RootExact, RcpExact, DivFast, DpRoot:
		return true
	}
	return false
}

// Kind tells the SM what an instruction needs beyond a slot in its unit.
type Kind uint8

const (
	ALU       Kind = iota // registers only
	Branch                // may change the PC of some lanes; registers only
	Load                  // memory to registers
	Store                 // registers to memory
	Atomic                // read-modify-write returning the old value
	Reduce                // read-modify-write without a result
	Barrier               // CTA-wide barrier: the warp waits until all expected warps arrived
	Fence                 // membar / fence: waits for the warp's outstanding stores
	Exit                  // ends the active lanes
	Clock                 // reads a clock: registers only, but must execute at its issue cycle
	AsyncCopy             // cp.async: global to shared without a register
	Sleep                 // nanosleep: the warp issues nothing for some time
	Commit                // cp.async.commit_group: what the warp has copied since the last one is a group
	Await                 // cp.async.wait_group, wait_all: waits for groups of copies
	NumKinds
)

// Scope is the set of threads for which a fence orders the accesses of a thread.
type Scope uint8

const (
	CTAScope    Scope = iota // the threads of its CTA
	GPUScope                 // those of its GPU, and of its cluster
	SystemScope              // those of other GPUs and the host, too
	NumScopes
)

// Groups is what an Await waits for.
type Groups struct {
	Open  bool  // the copies of no group yet, too (cp.async.wait_all)
	Spare uint8 // the youngest groups that it does not wait for
}

// Change is how an atomic changes a word, as far as it takes time of its own.
type Change uint8

const (
	Whole   Change = iota // integers: arithmetic, logic, exchange
	Float                 // the sum of floats
	Compare               // compare and swap, which sends two operands
	NumChanges
)

// Space is a PTX state space.
type Space uint8

const (
	NoSpace Space = iota
	Global
	Shared
	Local
	Const
	Param
	Generic // resolved at run time; Step.Space never holds it
)

// Cache is the cache operator of a load or store.
type Cache uint8

const (
	CacheAll       Cache = iota // .ca: all levels (the default)
	CacheGlobal                 // .cg: L2 only
	CacheStream                 // .cs, .lu: likely used once
	CacheVolatile               // .cv, .volatile, .relaxed/.acquire: L2, always fetched
	CacheReadOnly               // .nc and ld.global.ro
	CacheTexture                // tex and tld4: read-only, through the texture unit
	CacheSurface                // suld and sust: through the texture unit
	CacheSurfaceL2              // .cg and .cv of suld: the same, L2 only
	NumCaches
)

// Textured says that the access goes through the texture unit.
func (c Cache) Textured() bool { return c >= CacheTexture }

// Instr is a decoded warp instruction. PCs are indices into Code.Instr.
type Instr struct {
	Kind   Kind
	Unit   Unit
	Timing Timing
	Space  Space // as written; NoSpace where no memory is touched
	Cache  Cache
	Width  uint8  // bytes each lane moves, the whole vector included
	NDst   uint8  // Code.Regs[Reg:Reg+NDst] are written ...
	NReg   uint8  // ... and Code.Regs[Reg+NDst:Reg+NReg] are read
	Reg    uint32 // first entry in Code.Regs
	Line   int32  // line of the PTX file, 1-based; 0 where there is none
	Reads  Reads
	Scope  Scope  // of a fence
	Change Change // of an atomic
	Groups Groups // of an Await
	// Fields of the code of a machine (Code.Machine):
	Times uint8 // number of machine instructions in the sequence; 0 and 1: the instruction is one
	Marks uint8 // Ends, Vanishes, Elected
	Back  uint8 // if it replaces several accesses: bytes from the first to the last, whose addresses Step has
}

// Reads is how many registers an instruction reads from one bank of a register file, the largest over banks, for
// every count of banks that is a power of two: register n lies in bank n modulo that count, nibble k holds it for 2^k
// banks. A register counts once.
type Reads uint32

// ReadsOf computes Reads from the numbers of the registers that an instruction reads, and sorts them.
func ReadsOf(regs []int) Reads {
	slices.Sort(regs)
	regs = slices.Compact(regs)
	var out Reads
	for k := range 8 {
		most := 0
		for i, r := range regs {
			same := 1
			for _, s := range regs[:i] {
				if (s^r)&(1<<k-1) == 0 {
					same++
				}
			}
			most = max(most, same)
		}
		out |= Reads(min(most, 15)) << (4 * k)
	}
	return out
}

// Most is the reads from one of 1<<k banks.
func (r Reads) Most(k uint) uint { return uint(r>>(4*k&31)) & 15 }

// Loops says how the loops of a kernel are of which NVIDIA's assembler makes several turns one.
type Loops uint8

const (
	LoopsNone     Loops = iota // it has none
	LoopsKept                  // they are as PTX has them
	LoopsUnrolled              // they are as the assembler makes them
)

// Code is the static side of a kernel.
type Code struct {
	Kernel string
	File   string   // PTX or trace file, for messages and profiles
	Instr  []Instr  // by PC
	Regs   []uint16 // scoreboard register names; predicates and data share one numbering
	// NumRegs bounds the register names in Regs (scoreboard rows per warp). PTX gives
	// every value a register, so this may be far above the registers a thread occupies.
	NumRegs int
	// Left is, by PC, a lower bound of the instructions that a warp executes from there until it ends, that one
	// included; nil if unknown. The value of PC 0 also holds for warps that have not begun.
	Left []uint8
	// Text is the source text of each instruction by PC, for reports; may be nil.
	Text  []string
	Loops Loops
	// Machine is the code that a GPU's assembler makes of this one, as far as it matters for time (package
	// ptx/ptxas); nil if unknown. Its registers have names of their own.
	Machine *Code
	// Source ties the code of a machine to the code it was made from; nil in all other code.
	Source *Source
}

// AtLeast is a number of instructions that a warp at pc certainly executes before it ends.
func (c *Code) AtLeast(pc int32) int {
	if c.Left == nil {
		return 1
	}
	return int(c.Left[pc])
}

// TextureRows is the most rows of texels that a texture fetch reads: a 3D one that filters. Each
// is a Step, all but the last of which stay at the instruction (Next).
const TextureRows = 4

// Step is what one warp did in one instruction. The machine owns and reuses it.
type Step struct {
	Active uint32 // lanes on the current path
	Mask   uint32 // lanes that executed: Active and the guard predicate
	Next   int32  // PC of the warp's next instruction; -1 when all its lanes have exited
	Space  Space  // state space of a memory access, generic resolved
	Bar    uint8  // barrier number (Kind Barrier)
	// Expect is the number of threads the barrier waits for; 0 means all of the CTA.
	Expect int32
	Nanos  uint32 // how long the warp sleeps, in ns (Kind Sleep); other kinds leave it as it is
	Arrive bool   // bar.arrive: the warp counts as arrived but does not wait (Kind Barrier)
	// Batch belongs to the caller, which takes several instructions at once. Ahead is how many instructions from Next
	// on have been executed, too, by the lanes of Mask: register instructions only, one after the other. The caller
	// counts and times them, and steps the warp again behind them.
	Batch bool
	Ahead uint8
	// Stores belongs to the caller. If it is not nil, stores to global memory stay in it, and loads look into it.
	Stores *storebuffer.Buffer
	// Addr is the byte address of each lane in Mask: a virtual address for Global, an
	// offset into the CTA's window for Shared, into the thread's for Local.
	Addr [Lanes]uint64
}

// Geometry is the shape of a launch and what each CTA occupies.
type Geometry struct {
	GridDim, BlockDim [3]uint32
	CTAs              int // in the grid
	Threads           int // per CTA
	Warps             int // per CTA
	Regs              int // 32-bit registers per thread (liveness)
	SharedBytes       int // per CTA, static and dynamic
	LocalBytes        int // per thread
}

// Place is where a CTA runs; it feeds %smid, %warpid and %globaltimer.
type Place struct {
	SM       int
	WarpSlot int    // first hardware warp slot
	KHz      uint64 // core clock; 0: the now of CTA.Step counts as nanoseconds
}

// Nanos is the time at which core cycle now begins.
func (p Place) Nanos(now uint64) uint64 {
	if p.KHz == 0 {
		return now
	}
	hi, lo := bits.Mul64(now, 1_000_000)
	ns, _ := bits.Div64(hi, lo, p.KHz)
	return ns
}

// Grid is one kernel launch.
type Grid interface {
	Code() *Code
	Geometry() Geometry
	// Start makes CTA number cta resident; cta counts x fastest.
	Start(cta int, at Place) CTA
}

// Independent is a Grid whose CTAs do not interact: each does the same whenever the others execute, and they may
// execute at the same time. Recordings, traces and models are independent; PTX shares the memory of its application.
type Independent interface{ Independent() }

// Concurrent is a Grid whose CTAs may execute at the same time if their stores stay in buffers (Step.Stores), though
// they share the memory of their application.
type Concurrent interface {
	// Concurrent says whether this launch is one. It is not if a kernel shares more than memory: printed output, a
	// heap.
	Concurrent() bool
}

// CTA executes the warps of one resident thread block.
type CTA interface {
	// PC is the next instruction of warp w to be executed, -1 when it has exited.
	PC(w int) int32
	// Step executes the next instruction of warp w at core cycle now and describes
	// it in s. A barrier is executed when the warp arrives; the machine does not
	// step the warp again until the barrier is complete. An error is a *Fault.
	Step(w int, now uint64, s *Step) error
	// State says how far warp w has come.
	State(w int, s *State)
	// Release hands the functional state back for reuse by a later CTA.
	Release()
}
