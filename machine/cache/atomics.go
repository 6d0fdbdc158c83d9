package cache

import (
	"math"
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/sheets"
)

// atomicCosts are what atomics take, in 1/256 cycles.
type atomicCosts struct {
	each   uint64    // that a request needs at least; 0: requests need what a read does
	same   [2]uint64 // the same on the word of the request before: integers, floats
	byte   uint64    // that it needs for each byte
	sector uint64    // bytes of one
}

func deriveAtomics(l *sheets.LLC) atomicCosts {
	c := atomicCosts{sector: uint64(l.Sector), each: uint64(math.Round(256 * l.AtomicCycles))}
	for i, n := range l.AtomicSame {
		c.same[i] = max(c.each, uint64(math.Round(256*n)))
	}
	if l.AtomicWords > 0 {
		c.byte = uint64(math.Round(64 / l.AtomicWords))
	}
	return c
}

// word is the most bytes of a request that changes one word.
const word = 8

// changer changes words for one slice or for several neighbours.
type changer struct {
	done    uint64 // when it has done all requests so far, in 1/256 cycles
	line    uint64 // of the last one,
	sectors uint8  // and its sectors
}

// perform is the cycle from which on the changer is free again after a request.
func (c *changer) perform(cost *atomicCosts, r *mem.Req, now uint64) uint64 {
	bytes := uint64(r.Bytes)
	if bytes == 0 { // whole sectors
		bytes = uint64(bits.OnesCount8(r.Sectors)) * cost.sector
	}
	least := cost.each
	if bytes <= word && r.Line == c.line && r.Sectors == c.sectors {
		least = cost.same[0]
		if r.Change == isa.Float {
			least = cost.same[1]
		}
	}
	if r.Change == isa.Compare {
		bytes *= 2
	}
	c.line, c.sectors = r.Line, r.Sectors
	c.done = max(c.done, now<<8) + max(least, bytes*cost.byte)
	return c.done >> 8
}

// ShareAtomics makes the slice change words in the unit of another slice.
func (s *Slice) ShareAtomics(with *Slice) { s.changer = with.changer }
