package isa

import "math/bits"

// Seen tells a program that works from one that merely waits: it remembers the lines and the states (CTA.State) that
// warps of a program have been in. A program does something useful when it does what it has not done before. A
// program that waits repeats itself after some time, however many instructions its loops have and however many warps
// run in loops of their own.
//
// Each state is one bit of a table, and few states share a bit. When a quarter of the bits is used, the table is
// cleared: no program that waits has this number of states.
type Seen struct {
	states []uint64
	used   int
	lines  [codeBits / 64]uint64
}

// State is how far a warp has come.
type State struct {
	// Common is a number for the values that decide when the warp's loops end and that its loops carry from one
	// iteration to the next. Own covers them, the values loaded, the time where a loop asks for it, and what
	// distinguishes the CTA and the warp from others of the grid. A warp that comes back to an earlier own number
	// has made no progress since (Seen).
	Own, Common uint64
	// Loaded has a number for each value that decides when a loop ends, and that the loop loads. Each is by itself: a
	// loop that polls a hundred places has a hundred such values, and not one for each order of them.
	Loaded []uint64
	// Place is the next instruction of a warp outside of loops, and of one in a loop the first of the outermost one.
	Place int32
}

// Set is the state of a warp that loads nothing that decides when its loops end.
func (s *State) Set(own, common uint64, place int32) {
	s.Own, s.Common, s.Loaded, s.Place = own, common, s.Loaded[:0], place
}

// History is what a program has done, counted for each of its warps (Own) and for all of them together (Common). Warps
// that wait at the same place have done the same, so Common shows after far fewer looks than Own that no warp does
// anything new. But if warps do the same work one after the other, only Own shows that they do.
type History struct{ Own, Common Seen }

// News says whether an action of a warp is new: for the warp, or for all warps of its program.
type News struct {
	Own    bool // the warp that does it has not done it before
	Common bool // no warp has
}

// Add notes the state of a warp of a kernel, and its next instruction.
func (h *History) Add(s *State, kernel uint64, pc int32) (n News) {
	n.Own = h.Own.State(Mix(s.Own, kernel))
	n.Own = h.Own.Line(pc) || n.Own
	n.Common = h.Common.State(Mix(s.Common, kernel))
	for _, x := range s.Loaded {
		n.Common = h.Common.State(Mix(x, kernel)) || n.Common
	}
	n.Common = h.Common.Line(s.Place) || n.Common
	return n
}

// stateBits is the number of states told apart, codeBits that of groups of instructions, which kernels share. A look
// now and then seldom finds a warp at one line of a fast loop, but soon finds it at one of a few lines.
const (
	stateBits = 1 << 22
	codeBits  = 1 << 12
	group     = 8
)

// Line says whether a warp has reached an instruction, or its neighbours, for the first time since the last new
// state.
func (s *Seen) Line(pc int32) bool {
	pc = pc / group & (codeBits - 1)
	bit := uint64(1) << (pc & 63)
	if s.lines[pc>>6]&bit != 0 {
		return false
	}
	s.lines[pc>>6] |= bit
	return true
}

// State says whether x is new. A warp that does something new may pass lines that are known.
func (s *Seen) State(x uint64) bool {
	if s.states == nil {
		s.states = make([]uint64, stateBits/64)
	}
	x = Mix(x, 0)
	word, bit := &s.states[x>>6%(stateBits/64)], uint64(1)<<(x&63)
	if *word&bit != 0 {
		return false
	}
	if s.used++; s.used > stateBits/4 {
		clear(s.states)
		s.used = 1
	}
	*word |= bit
	s.Begin()
	return true
}

// Begin forgets the lines: something useful was done.
func (s *Seen) Begin() { clear(s.lines[:]) }

// Mix adds a number to a state.
func Mix(state, x uint64) uint64 {
	hi, lo := bits.Mul64(state^x^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return hi ^ lo ^ bits.RotateLeft64(x, 29)
}
