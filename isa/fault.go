package isa

import "fmt"

// Fault is an error of the simulated program: a bad access, a trap, a
// misaligned address. It names everything a user needs to find the cause.
type Fault struct {
	Kernel string
	File   string
	Line   int
	Block  [3]uint32
	Thread [3]uint32
	Msg    string // what happened, the address and the nearest allocation included
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s:%d: kernel %s, block (%d,%d,%d), thread (%d,%d,%d): %s", f.File, f.Line, f.Kernel,
		f.Block[0], f.Block[1], f.Block[2], f.Thread[0], f.Thread[1], f.Thread[2], f.Msg)
}
