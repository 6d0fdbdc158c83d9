package emulate

import "github.com/heddle-sim/heddle/isa"

// shape says how an op finds its operands and what Step does with it.
type shape uint8

const (
	shNop    shape = iota
	shA32          // f32 on 32-bit rows
	shA32m         // the same with .ftz, .sat or 16-bit adaptation around it
	shA64          // f64 on 64-bit rows
	shWide         // fw: 32-bit sources, 64-bit result
	shNarrow       // fn: 64-bit sources, 32-bit result
	shShift        // fs: 64-bit value, 32-bit amounts
	shCmp32        // cmp32 to predicates
	shCmp32m       // with .ftz or 16-bit adaptation
	shCmp64        // cmp64 to predicates
	shSet          // comparison to a 32-bit register (set)
	shSel32        // d = c ? a : b
	shSel64
	shPred    // logic on predicates
	shLdParam // kernel parameter, same value for all lanes
	shLoad    // memory
	shStore   //
	shAtom    //
	shBra     // branch to target
	shBrx     // branch through a table
	shCall    //
	shRet     //
	shExit    //
	shTrap    //
	shBar     // CTA barrier
	shClock32 // %clock and its kin
	shClock64 //
	shSleep   // nanosleep
	shMatrix  // ldmatrix
	shAsync   // cp.async
	shX       // fx: everything else
)

// Flags of an op.
const (
	fNotGuard = 1 << iota // the guard is negated
	fSync                 // waits for other lanes of the warp (shfl.sync, bar ...)
	fSpin                 // backward branch of a loop that may wait for another thread
	fFtzIn                // flush subnormal f32 sources
	fFtzOut               // flush subnormal f32 results
	fSat                  // clamp f32 results to [0, 1]
	fSext16               // sign-extend 16-bit sources
	fTrunc16              // zero-extend a 16-bit result
	fNotC                 // operand c (a predicate) is negated
)

// Predicate rows below zero are constants.
const (
	noPred    = -1 // no predicate; as a source it is false
	truePred  = -2
	falsePred = noPred
)

// op is a decoded instruction. Rows are relative to the current frame; negative
// rows ^i are row i of the constants.
type op struct {
	shape  shape
	n      uint8 // sub-operation, see the users of each shape
	flags  uint16
	guard  int32 // predicate row, or noPred
	d, a   int32
	b, c   int32
	e      int32 // fourth source or second destination
	target int32 // branch target
	reconv int32 // where lanes that diverge here meet; -1: at the end of the function
	run    uint8 // operations on registers alone from here on, see Step
	f32    fn32
	f64    fn64
	fw     fnWide
	fn     fnNarrow
	fs     fnShift
	cmp32  fnCmp32
	cmp64  fnCmp64
	fx     fnX
	mem    *memop
	other  *memop // the shared side of cp.async
	call   *callop
	table  []int32 // shBrx
}

// fnX executes an op that fits no other shape.
type fnX func(c *cta, wp *warp, o *op, mask uint32) error

// memop describes the access of a load, store or atomic.
type memop struct {
	space  isa.Space // isa.Generic is resolved per access
	frame  bool      // the address is an offset into the current frame of local or argument memory
	args   bool      // accesses argument memory: .param variables of functions and call sites
	base   int32     // row of the address; unused when baseIn is 0
	baseIn baseKind
	off    uint64
	elem   uint8 // bytes of one element
	n      uint8 // elements
	signed bool  // sign-extend when loading
	wide   bool  // the registers are 64-bit rows
	narrow bool  // the registers are 16 bits wide
	width  uint8 // bytes of the access, elem*n
	slot   int32 // entry in the CTA's region cache
	skip   uint8 // bit i: element i goes to _

	atom   atomOp
	typ    atomType
	result bool

	rows [8]int32

	// Fields that few accesses have.
	index int32 // baseIndexed: the row that counts elements of scale bytes, 64-bit if long
	scale int32
	long  bool
	out   []int32     // atomics on vectors: where the old values go; nil for red
	tile  *wmmaAccess // wmma.load and wmma.store
	tex   *texop      // textures and surfaces
}

// baseKind is the kind of an address's base: the width of a register, or another form.
type baseKind uint8

const (
	baseNone    baseKind = 0
	baseIndexed baseKind = 1 // an element of an array: its address (base, if below zero), and an index
	base32      baseKind = 32
	baseShort   baseKind = 33 // a generic address of a 32-bit module
	base64      baseKind = 64
)

// callop is a call site.
type callop struct {
	callee  int32 // function index, or -1: through a register
	caller  int32
	short   bool // through a 32-bit register
	params  []passed
	results []passed
}

// passed is an argument or a result at a call site: a variable in the caller's argument
// memory, or a row of its registers or of constants.
type passed struct {
	in   rowKind
	at   int32 // offset or row
	size int32 // bytes
}

// rowKind is the file a row belongs to.
type rowKind uint8

const (
	inMemory rowKind = iota // no row: argument memory
	inRow32
	inRow64
	inPred
)

// regSlot is a parameter or result in a register: the callee's row and the place in its
// argument memory that it travels through.
type regSlot struct {
	in        rowKind
	row       int32
	off, size int32
}

// function is the decoded form of a kernel or device function inside a kernel's code.
type function struct {
	name, file   string
	index        int32
	start, end   int32 // PCs
	n32, n64, np int32 // rows
	zero32       []int32
	zero64       []int32 // rows read before they are written: cleared on entry
	special      []specialRow
	local        int32 // bytes of .local variables, a multiple of 16
	args         int32 // bytes of .param variables (not those of an entry), a multiple of 16
	params       []slotOf
	results      []slotOf
	inRegs       []regSlot // parameters in registers
	outRegs      []regSlot // results in registers
	common       []regSlot // registers of the module, by where the thread keeps them in argument memory
	stackRow     int32     // with alloca: the row that keeps where the stack was, plus one
	depends      []int32   // functions it may call
	regs         int       // by liveness, callees included
	stack        int       // bytes of .local, callees included
	recursive    bool
	deciders     []decider
	places       []int32 // by operation: itself, or where the outermost loop around it begins
}

type slotOf struct{ off, size int32 }

// specialRow is a row that holds a special register.
type specialRow struct {
	row  int32
	what special
}

// special is a special register whose value is fixed for the life of a warp.
type special uint8

const (
	spNone special = iota
	spTidX
	spTidY
	spTidZ
	spNtidX
	spNtidY
	spNtidZ
	spCtaidX
	spCtaidY
	spCtaidZ
	spNctaidX
	spNctaidY
	spNctaidZ
	spLane
	spWarp
	spNwarp
	spSM
	spNSM
	spGrid
	spLaneEq
	spLaneLt
	spLaneLe
	spLaneGt
	spLaneGe
	spDynShared
	spTotalShared
	spZero
	spWorkHigh // %envreg1 and %envreg2: where cooperative groups find their workspace
	spWorkLow
)
