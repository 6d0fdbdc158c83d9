package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
)

// conflictMemo remembers the bank conflicts of warp accesses to shared memory: in a loop the same instruction comes
// back with the same pattern at another place. This rotates the banks and leaves the conflicts as they are.
type conflictMemo struct {
	banks int
	slot  [64]pattern // by the PC that follows the access: an unrolled loop has many
}

// pattern is an access by all lanes.
type pattern struct {
	width, align uint8 // bytes per lane, 0: none yet; the first address within its word
	serial       bool
	cycles       int32
	rel          [isa.Lanes]uint32 // addresses from the first
}

// cycles is conflictCycles, remembered.
func (c *conflictMemo) cycles(pc int32, mask uint32, addr *[isa.Lanes]uint64, width uint8, serial bool) int {
	if mask != ^uint32(0) {
		return conflictCycles(mask, addr, width, c.banks, serial)
	}
	p := &c.slot[pc&63]
	base := uint32(addr[0])
	var diff uint32
	for i := range p.rel {
		diff |= uint32(addr[i]) - base ^ p.rel[i]
	}
	if diff != 0 || p.width != width || p.align != uint8(base&3) || p.serial != serial {
		p.width, p.align, p.serial = width, uint8(base&3), serial
		p.cycles = int32(conflictCycles(mask, addr, width, c.banks, serial))
		for i := range p.rel {
			p.rel[i] = uint32(addr[i]) - base
		}
	}
	return int(p.cycles)
}

// conflictCycles is the number of cycles shared memory needs for a warp access:
// in each, a bank delivers one word, to every lane that reads it (broadcast). With
// serial set (atomics) to one lane, because same-word operations are performed one
// by one.
func conflictCycles(mask uint32, addr *[isa.Lanes]uint64, width uint8, banks int, serial bool) int {
	words := max(1, int(width)/4)
	if stride, ok := affine(mask, addr); ok && !serial {
		if words == 1 && stride&3 == 0 {
			return strided(int(stride>>2), banks)
		}
		if stride == uint64(width) && words > 1 {
			return (isa.Lanes*words + banks - 1) / banks
		}
	}
	var left [8]uint32 // by word of the access: lanes not yet served
	for k := range words {
		left[k&7] = mask
	}
	var word [64]uint32 // by bank: what it delivers
	pow2 := banks&(banks-1) == 0
	for cycles := 1; ; cycles++ {
		var busy uint64
		var more uint32
		for k := range words {
			rest := left[k&7]
			for m := rest; m != 0; m &= m - 1 {
				lane := bits.TrailingZeros32(m)
				w := uint32(addr[lane&31]>>2) + uint32(k)
				b := w & uint32(banks-1)
				if !pow2 {
					b = w % uint32(banks)
				}
				if busy>>(b&63)&1 == 0 {
					busy |= 1 << (b & 63)
					word[b&63] = w
				} else if serial || word[b&63] != w {
					continue
				}
				rest &^= 1 << lane
			}
			left[k&7] = rest
			more |= rest
		}
		if more == 0 {
			return cycles
		}
	}
}

// strided is the conflict of 32 lanes k words apart: they fall on banks/gcd(k,
// banks) banks.
func strided(k, banks int) int {
	if k == 0 {
		return 1
	}
	a, b := k%banks, banks
	if a < 0 {
		a += banks
	}
	for a != 0 {
		a, b = b%a, a
	}
	return (isa.Lanes*b + banks - 1) / banks
}
