// Package ptxas estimates the code that NVIDIA's assembler makes from PTX, for timing alone: which instructions
// vanish, which become sequences, which become one, and which loads go first. Results are those of the PTX, which is
// executed, unchanged but for unrolled loops (Unroll).
//
// A reader must know two types. Routine is the machine code of a function; Op is one of its instructions, with the
// registers that its operands come from in the end. Assemble makes them; it knows a function alone, and nothing of
// the launch. Unroll comes before it.
//
// The rules were read from what ptxas of CUDA 13 makes of this project's PTX for sm_90. In the order of the files:
//
//   - values: results that no instruction uses are not computed. Of a 64-bit value the low half alone is, where
//     nothing more is asked for, as of addresses of shared memory.
//   - cost: division, roots, reciprocals, exponentials, logarithms, 64-bit integers and so on are sequences.
//   - fold: moves, conversions of addresses and signs are part of what uses them; so are a product that is added, a
//     shift that is added, a sum of three, logic of three, a constant that is added to an address.
//   - flow: a branch that only skips another one is that other one, negated; lanes that part are brought together.
//   - vector: loads of neighbouring words of shared memory are one.
//   - uniform: an integer added to one address of all lanes is one request of the warp.
//   - schedule: in a run of instructions into which nothing jumps, loads go first as far as they can.
//   - loops, unroll: four turns of a short loop that counts by a constant are one.
//
// Not known are: the predication of what the compiler has left as branches, registers (occupancy follows the PTX's),
// the uniform datapath's latencies, dual issue, and the order of anything but loads.
package ptxas

import (
	"github.com/heddle-sim/heddle/ptx/analyze"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// Op is a machine instruction.
type Op struct {
	Of   int // the function's instruction that it implements, alone or as a part
	Upto int // the last instruction of the function that a warp has executed when it issues
	// Made says what it is, if it is not the instruction itself.
	Made  Made
	Times int   // number of machine instructions in a sequence
	Marks uint8 // marks as in isa.Instr
	// Width and Back belong to an op that combines several loads: bytes of a lane, and how far they begin before the
	// address of the instruction.
	Width, Back   int
	Writes, Reads []*parse.Var
}

// Made says what kind of machine instruction an op is.
type Made uint8

const (
	Itself  Made = iota
	Sum          // an integer addition
	Product      // an integer multiplication and addition
	Bits         // logic, moves, predicates
)

// Routine is the assembler's code of a function.
type Routine struct {
	Ops []Op
	// Enter is, by instruction, the op that begins a run there; -1 if none does.
	Enter []int
	// Late are the stores that loads overtake, by instruction.
	Late []bool
	// Spans are, by register, the instructions over which its value is waited for: whole runs.
	Spans []analyze.Span
}

// Input is a function and the facts known about it.
type Input struct {
	Graph *analyze.Graph
	Spans []analyze.Span // of its registers
	// Together says that an instruction waits for other lanes of the warp: a path may end before it.
	Together func(i int) bool
	// Shared is where a variable lies in shared memory.
	Shared func(v *parse.Var) int64
}

// pass is the work on a function.
type pass struct {
	Input
	f      *parse.Func
	uses   [][]int32 // by register: the instructions that read it
	def    []int32   // by register: the one instruction that writes it; none, or several
	low    []bool    // by register: the low 32 bits are all that is asked for
	need   []int     // by instruction: machine instructions
	made   []Made
	reads  [][]*parse.Var // by instruction: what it waits for
	write  [][]*parse.Var
	summed []bool // by instruction: it adds a shifted value
	fold   []bool // by instruction: what uses its result waits for its operands instead
	extra  []int  // by instruction: machine instructions before it that stand for no instruction of the PTX
	marks  []uint8
	span   []int // by the first of such loads: its bytes,
	back   []int // and how far before it they begin
}

const (
	none    = -1
	several = -2
)

// Assemble makes the machine code of a function.
func Assemble(in Input) *Routine {
	f := in.Graph.Func
	n := len(f.Instrs)
	p := &pass{
		Input: in, f: f, uses: make([][]int32, len(f.Regs)), def: make([]int32, len(f.Regs)),
		low: make([]bool, len(f.Regs)), need: make([]int, n), made: make([]Made, n), reads: make([][]*parse.Var, n),
		write: make([][]*parse.Var, n), fold: make([]bool, n), summed: make([]bool, n), extra: make([]int, n),
		marks: make([]uint8, n), span: make([]int, n), back: make([]int, n),
	}
	p.values()
	for i := range f.Instrs {
		p.need[i] = p.cost(i)
	}
	p.unused()
	p.folds()
	p.flow()
	p.uniform()
	p.vectors()
	return p.schedule()
}

// one is the instruction that alone writes a register, whatever a guard says; below zero if there is none.
func (p *pass) one(v *parse.Var) int {
	if v == nil {
		return none
	}
	return int(p.def[v.ID])
}

// producer is the instruction that alone writes an operand's register.
func (p *pass) producer(o *parse.Operand) int {
	if o.Kind != parse.KReg {
		return none
	}
	return p.one(o.Var)
}

// typ is the n-th type in an instruction's name.
func typ(in *parse.Instr, n int) parse.Type {
	for _, m := range in.Mods {
		if t, ok := parse.TypeOf(m); ok {
			if n == 0 {
				return t
			}
			n--
		}
	}
	return parse.NoType
}

// memory says that an instruction accesses memory, and which operand is its address.
func memory(in *parse.Instr) (address *parse.Operand, ok bool) {
	switch in.Op {
	case "ld", "ldu", "atom":
		return &in.Args[1], len(in.Args) > 1
	case "st", "red":
		return &in.Args[0], true
	}
	return nil, false
}

// small says that an instruction's addresses are of 32 bits: those of shared, local and constant memory.
func small(in *parse.Instr) bool {
	for _, m := range in.Mods {
		if m == "shared" || m == "local" || m == "const" || m == "shared::cta" {
			return true
		}
	}
	return false
}
