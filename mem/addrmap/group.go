package addrmap

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/sheets"
)

// round is a number of channels that neighbouring lines are dealt to in turn. It need not be a power of two.
type round struct {
	n, magic uint64 // channels, ceil(2^64/n)
	at       uint   // log2 of the bytes that stay together
}

func newRound(n int, at uint) round {
	if n < 2 {
		return round{}
	}
	return round{uint64(n), ^uint64(0)/uint64(n) + 1, at}
}

// split divides an address into the channel and the address in it.
func (r *round) split(addr uint64) (c, y uint64) {
	at := r.at & 63
	line := addr >> at
	q, _ := bits.Mul64(line, r.magic)
	return line - q*r.n, q<<at | addr&(1<<at-1)
}

// join undoes split.
func (r *round) join(c, y uint64) uint64 {
	return (y>>r.at*r.n+c)<<r.at | y&(1<<r.at-1)
}

// groupLayout is a hypothetical map for machines whose channels do not divide by powers of two: the frame of a page
// chooses the channel group, as in UGPU's Figure 8, and the lines of the page go round the channels of the group. From
// the least significant bit a group sees line offset, bank, rank, column, row, as in kind page. The lowest bank bits
// pick the LLC slice.
//
// No GPU is known to have it. As the channels of a group are no power of two, in which stack a line lies depends on the
// frame, so pages cannot move inside the stacks.
func groupLayout(s *sheets.Machine) (*layout, error) {
	if s.Map.Groups < 2 || s.DRAM.Channels%s.Map.Groups != 0 {
		return nil, fmt.Errorf("kind group needs groups, two or more that divide dram.channels (%d), not %d",
			s.DRAM.Channels, s.Map.Groups)
	}
	l, err := pageLayout(s)
	if err != nil {
		return nil, err
	}
	l.lines, l.perGroup = newRound(s.DRAM.Channels/s.Map.Groups, l.offset), 1
	if l.lines.n == 0 { // the frame says the only channel of the group: there is nothing to hash
		l.hashKind = "none"
	}
	return l, nil
}
