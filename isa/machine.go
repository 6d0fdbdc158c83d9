package isa

// Source ties the code of a machine (Code.Machine) to the one it was made of. A warp executes the latter, in its order;
// the machine's instructions are timed, in theirs. Instructions follow each other in runs, into which nothing jumps: in
// one, a load may issue before what stands before it, as far as it is independent.
type Source struct {
	// Upto is, by PC of the machine's code, the last instruction of the source that the warp has executed when the
	// machine's instruction issues.
	Upto []int32
	// Enter is, by PC of the source, the machine's instruction with which a warp goes on that comes to it; -1 within a
	// run, where none comes by a branch.
	Enter []int32
	// Issues is, by PC of the source, the machine's instructions that it is: none where it vanishes, several where it
	// is a sequence.
	Issues []uint16
	// Late is, by PC of the source, the stores to shared memory that a load goes before: they are executed first and
	// issue behind it. nil: there are none.
	Late []bool
}

// MostLate is how many of them may wait in a warp at once.
const MostLate = 8

// Marks of an instruction of a machine's code.
const (
	// Ends marks the last one of a run.
	Ends uint8 = 1 << iota
	// Vanishes marks the last one of a run whose end is none of the machine's instructions: it takes no time where a
	// warp comes to it from an instruction other than a barrier.
	Vanishes
	// Elected marks an atomic on one address of all lanes, which one of them performs for the warp.
	Elected
)
