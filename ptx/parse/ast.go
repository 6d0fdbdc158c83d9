// Package parse reads PTX text into a syntax tree. It knows the grammar (modules,
// functions, variables, scopes, operands) but not what an opcode means; the
// decoder in ptx/emulate does.
//
// A reader must know three types. Module is a file: its variables and functions.
// Func is one .entry or .func with its variables, instructions and resolved
// labels. Instr is one instruction: opcode, modifiers, operands, line and text.
package parse

import "fmt"

// Error is a problem in a PTX file. Msg says what is wrong and what to do.
type Error struct {
	File string
	Line int // 1-based
	Msg  string
	// Feature names what the file uses and this front end does not support yet; empty where
	// the file itself is wrong.
	Feature string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// Type is a fundamental PTX type.
type Type uint8

// The fundamental types. B types carry no interpretation.
const (
	NoType Type = iota
	B8
	B16
	B32
	B64
	B128
	U8
	U16
	U32
	U64
	S8
	S16
	S32
	S64
	F16
	F16x2
	BF16
	BF16x2
	TF32
	F32x2
	F32
	F64
	Pred
	U16x2
	S16x2
	TexRef // opaque: a handle of 8 bytes
	SamplerRef
	SurfRef
)

var typeNames = [...]string{
	"", "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64",
	"f16", "f16x2", "bf16", "bf16x2", "tf32", "f32x2", "f32", "f64", "pred", "u16x2", "s16x2", "texref", "samplerref",
	"surfref",
}

var typeBytes = [...]int{0, 1, 2, 4, 8, 16, 1, 2, 4, 8, 1, 2, 4, 8, 2, 4, 2, 4, 4, 8, 4, 8, 0, 4, 4, 8, 8, 8}

func (t Type) String() string { return typeNames[t] }

// Bytes is the size of a value; 0 for predicates and NoType.
func (t Type) Bytes() int { return typeBytes[t] }

// Bits is Bytes in bits.
func (t Type) Bits() int { return typeBytes[t] * 8 }

// Signed reports a signed integer type.
func (t Type) Signed() bool { return t >= S8 && t <= S64 }

// Float reports a floating-point type.
func (t Type) Float() bool { return t >= F16 && t <= F64 }

// TypeOf looks a type name up ("u32"); ok is false for anything else.
func TypeOf(name string) (t Type, ok bool) {
	for i, n := range typeNames {
		if i > 0 && n == name {
			return Type(i), true
		}
	}
	return NoType, false
}

// Space is the state space of a variable.
type Space uint8

// The state spaces a variable can live in.
const (
	Reg Space = iota
	Global
	Const
	Shared
	Local
	Param
)

func (s Space) String() string {
	return [...]string{".reg", ".global", ".const", ".shared", ".local", ".param"}[s]
}

// Var is a declared variable: a register, a parameter or memory.
type Var struct {
	Name   string
	Space  Space
	Type   Type
	Align  int   // bytes; at least the natural alignment of Type
	Vec    int   // elements of .v2, .v4 and .v8; 1 for others
	Dims   []int // array extents; nil for a scalar; an unsized array has first extent 0
	Size   int   // bytes, vectors and arrays included; 0 for an unsized array
	Init   []Init
	Extern bool
	Linkage
	Line  int
	ID    int     // registers: index in Func.Regs; others: order of declaration
	Owner *Func   // nil at module level
	State []Field // of a .texref or .samplerref: what its initialiser says
	Elems []*Var  // a vector of registers: its elements; such a Var has no ID
}

// Linkage says which other modules see a name.
type Linkage struct {
	Visible bool // .visible, .weak, .common or .extern: other modules do
	Weak    bool // .weak or .common: another definition may replace it
}

// Field is a property of a texture or sampler: {filter_mode = linear}.
type Field struct{ Name, Value string }

// Stride is the distance in bytes of the elements v[0] and v[1] of an array.
func (v *Var) Stride() int {
	n := v.Type.Bytes() * v.Vec
	for _, d := range v.Dims[min(1, len(v.Dims)):] {
		n *= d
	}
	return n
}

// Init is one scalar of an initialiser, placed Offset bytes into the variable.
type Init struct {
	Offset int
	Bits   uint64 // the value when Sym is empty, else the addend
	Sym    string // variable or function whose address is stored
	Gen    bool   // generic(Sym)
	Mask   uint64 // nonzero: store only these bits of the address, shifted down
	Line   int
}

// Module is a parsed file.
type Module struct {
	File        string
	Version     string
	Target      string
	AddressSize int // bits
	Vars        []*Var
	Funcs       []*Func
	// Defines gives the definition of a variable that another linked module declares or defines
	// weakly.
	Defines map[*Var]*Var
	vars    map[string]*Var
	funcs   map[string]*Func
}

// Var finds a module-level variable.
func (m *Module) Var(name string) *Var { return m.vars[name] }

// Func finds a function or kernel; a definition wins over a declaration.
func (m *Module) Func(name string) *Func { return m.funcs[name] }

// Func is a kernel or a device function.
type Func struct {
	Name   string
	Called string // Name as the C++ source has it, in messages and results (package kernelname)
	Entry  bool
	Extern bool // declared, no body
	Linkage
	File    string
	Line    int
	Params  []*Var
	Results []*Var
	MaxNTid [3]int // .maxntid; zero where absent
	ReqNTid [3]int // .reqntid
	MaxRegs int    // .maxnreg
	MinCTAs int    // .minnctapersm
	Regs    []*Var // every register, Var.ID is the index
	Vars    []*Var // .shared .local .global .const .param variables declared inside
	Common  []CommonReg
	Instrs  []*Instr
	// Protos holds the .callprototype declarations by label, Targets the
	// .branchtargets and .calltargets lists.
	Protos  map[string]*Func
	Targets map[string][]Operand
	// NoUnroll has the instructions before which .pragma "nounroll" stands: their loops must not be unrolled.
	NoUnroll map[int]bool
}

// CommonReg is a register declared at module level, of which each thread has one for all functions, and the register
// that represents it in a function.
type CommonReg struct{ Module, Own *Var }

// Kind says what an operand is.
type Kind uint8

// The operand kinds.
const (
	KReg     Kind = iota // Var
	KSpecial             // special register, Name without the %
	KInt                 // Bits
	KFloat               // Bits of the literal, Wide when it is a double
	KSym                 // Var of memory (address), plus Off
	KFunc                // function name
	KLabel               // instruction index in Label; or a name for prototypes and target lists
	KAddr                // [base+Off]: base in List[0], absent for an absolute address; or base[r+n], see Index
	KVec                 // {a, b, ...} in List
	KList                // (a, b, ...) in List
	KPair                // p|q in List
	KNone                // _
)

// Operand is an operand of an instruction.
type Operand struct {
	Kind  Kind
	Neg   bool // !p, or -r
	Wide  bool // KFloat: a 0d or decimal literal
	Var   *Var
	Name  string
	Bits  uint64
	Off   int64
	Label int
	Sel   string // KReg: the selector of a video instruction, b0 of %r1.b0
	Index *Var   // KAddr, KSym: an integer register that counts elements of Var's array, in addition to Off
	List  []Operand
}

// Instr is one instruction.
type Instr struct {
	Line  int
	At    int    // offset of the opcode in the file, in bytes
	Src   SrcLoc // from the last .loc
	Text  string // as written, white space squeezed
	Pred  *Var   // guard, or nil
	Neg   bool   // @!p
	Op    string
	Mods  []string
	Args  []Operand
	Also  []*Var // registers that a call reads and writes beside its operands, see Func.Common
	scope *scope
}

// SrcLoc is a position in the high-level source.
type SrcLoc struct {
	File int // index of the .file directive
	Line int
}

// Has reports whether the opcode carries modifier m.
func (in *Instr) Has(m string) bool {
	for _, x := range in.Mods {
		if x == m {
			return true
		}
	}
	return false
}

type scope struct {
	parent *scope
	vars   map[string]*Var
	labels map[string]int
}
