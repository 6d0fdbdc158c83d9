package emulate

import "bytes"

// ones are the weights of ops each of which is an instruction.
func ones(n int) []uint8 { return bytes.Repeat([]byte{1}, n) }

// left is, for each op, a lower bound of the ops a warp executes from there until it
// ends (isa.Code.Left), where each op is as many as its weight: the shortest way through the
// control flow, at most 255. Of a
// function that is called nothing is assumed but that it has an instruction.
func left(ops []op, weight []uint8) []uint8 {
	n := make([]uint8, len(ops))
	for i := range n {
		n[i] = ^uint8(0)
	}
	for changed := true; changed; {
		changed = false
		for i := len(ops) - 1; i >= 0; i-- {
			if l := shortest(ops, n, i, weight[i]); l < n[i] {
				n[i], changed = l, true
			}
		}
	}
	return n
}

// shortest is the shortest way from op i on, which has a weight, as far as n knows.
func shortest(ops []op, n []uint8, i int, weight uint8) uint8 {
	o := &ops[i]
	rest := ^uint8(0)
	falls := o.guard != noPred
	switch o.shape {
	case shRet, shExit, shTrap:
		rest = 0
	case shBra:
		rest = n[o.target]
	case shBrx:
		for _, t := range o.table {
			rest = min(rest, n[t])
		}
	case shCall: // it may end the warp
		rest, falls = 1, true
	default:
		falls = true
	}
	if falls && i+1 < len(ops) {
		rest = min(rest, n[i+1])
	}
	return rest + min(weight, ^rest)
}
