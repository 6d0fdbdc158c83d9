// Package scalar is the record every source of work for CPU cores emits: traces and
// statistical models look the same to a core.
//
// A reader must know two types: Inst, an instruction that matters for timing with the plain
// ones before it, and Source, a program as such instructions in program order.
package scalar

// Kind tells a core what an instruction needs.
type Kind uint8

const (
	Plain  Kind = iota // registers only: executes in one cycle
	Load               // memory to registers
	Store              // registers to memory
	Branch             // may change where the program goes on; registers only
)

// Registers is the number of register names. Those from Temporary on belong to the source, which uses them between
// the operations of one instruction.
const (
	Registers = 264
	Temporary = 256
)

// The most registers an operation reads and writes.
const (
	Operands = 4
	Results  = 2
)

// Inst is an operation of a program with the plain instructions before it, which wait for nothing and for which
// nothing waits. An instruction that accesses memory in several places becomes several operations; all but the last
// set More.
type Inst struct {
	Addr   uint64 // of a load or store: the first byte, a virtual address
	Site   uint64 // place of the instruction in the program; 0 if unknown
	Before uint32 // plain instructions before it
	Kind   Kind
	More   bool // the next operation belongs to the same instruction
	Taken  bool // of a branch: it was taken
	// Conditional branches must be predicted; the direction of others is known.
	Conditional bool
	// Src are the registers it reads, Dst those it writes; 0 ends each list.
	Src [Operands]uint16
	Dst [Results]uint16
}

// Source is a program: its operations in program order.
type Source interface {
	// Read fills some of the buffer and returns how many operations that are. At the end of the
	// program it returns io.EOF and nothing. It must not keep the buffer, nor allocate
	// in the steady state. Errors name file and offset.
	Read(buf []Inst) (int, error)
	// Rewind makes Read begin at the program's start again.
	Rewind() error
}

// Bounded is a Source all of whose addresses lie below a number of bytes: its memory is in one
// piece.
type Bounded interface {
	Source
	Bytes() uint64
}
