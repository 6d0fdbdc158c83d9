package cache

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
)

// atomics is the part of a slice that changes words, in 1/256 cycles.
type atomics struct {
	each   uint64 // that a request needs at least; 0: requests need what a read does
	byte   uint64 // that it needs for each byte
	sector uint64 // bytes of one
	done   uint64 // when it has done all requests so far
}

// perform is the cycle from which on the slice is free again after a request.
func (a *atomics) perform(r *mem.Req, now uint64) uint64 {
	bytes := uint64(r.Bytes)
	if bytes == 0 { // whole sectors
		bytes = uint64(bits.OnesCount8(r.Sectors)) * a.sector
	}
	a.done = max(a.done, now<<8) + max(a.each, bytes*a.byte)
	return a.done >> 8
}
