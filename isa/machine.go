package isa

// Source ties the code of a machine (Code.Machine) to the code it was made from. A warp executes the latter, in its
// order; the machine's instructions are timed, in their order. Instructions form runs that no branch enters: within a
// run a load may issue before earlier instructions that it does not depend on.
type Source struct {
	// Upto is, by PC of the machine's code, the last source instruction that the warp has executed when the machine's
	// instruction issues.
	Upto []int32
	// Enter is, by PC of the source, the machine's instruction at which a warp that arrives there goes on; -1 inside
	// a run, where no branch leads.
	Enter []int32
	// Issues is, by PC of the source, the number of machine instructions for it: 0 if it vanishes, several if it is a
	// sequence.
	Issues []uint16
	// Late is, by PC of the source, the stores to shared memory that a load overtakes: they are executed first and
	// issue after it. nil: there are none.
	Late []bool
}

// MostLate is how many late stores may wait in a warp at once.
const MostLate = 8

// Marks of instructions of a machine's code.
const (
	// Ends marks the last instruction of a run.
	Ends uint8 = 1 << iota
	// Vanishes marks the last instruction of a run whose end becomes no machine instruction: it takes no time for a
	// warp that arrives from an instruction other than a barrier.
	Vanishes
	// Elected marks an atomic of all lanes on one address, which one lane performs for the warp.
	Elected
)
