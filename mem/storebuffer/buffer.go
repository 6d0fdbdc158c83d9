// Package storebuffer keeps the stores of an SM to global memory apart from memory for some cycles, in which other
// SMs run at the same time on the cores of the computer. The SM's own loads see them (store-to-load forwarding), other
// SMs do not before they are published. So what a load brings does not depend on which SM the computer ran first.
//
// Real stores take some hundred cycles to the L2, where other SMs see them; those of a program without data races are
// not read by another SM before that.
package storebuffer

import (
	"math/bits"
	"unsafe"
)

// Buffer holds the stores of an SM. The zero value is an empty one; a nil one is never written and holds nothing.
type Buffer struct {
	blocks []block
	slots  []int32 // hash table of blocks: their index and 1; 0: a free slot
	shift  uint    // of the hash
	bases  uint64  // a bit by hash of each region that is stored to
}

// blockBytes is the size of a block.
const blockBytes = 32

// block is some bytes of a region, from a multiple of blockBytes on.
type block struct {
	at   unsafe.Pointer // where they lie in memory
	mask uint32         // those stored to, bit i for byte i
	data [blockBytes]byte
}

// smallest is the size of a new hash table, a power of two.
const smallest = 256

// Holds says whether the buffer may have stores to the region whose bytes begin at base. Most loads are to regions
// without.
func (b *Buffer) Holds(base unsafe.Pointer) bool { return b != nil && b.bases&regionBit(base) != 0 }

func regionBit(base unsafe.Pointer) uint64 {
	return 1 << (uint64(uintptr(base)) * 0x9E3779B97F4A7C15 >> 58)
}

// Store keeps an element of 1, 2, 4 or 8 bytes at an offset from the start of a region's bytes, a multiple of its size.
func (b *Buffer) Store(base unsafe.Pointer, off uint64, bytes uint8, v uint64) {
	k := b.put(base, off)
	at := off % blockBytes
	p := unsafe.Pointer(&k.data[at])
	switch bytes {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		*(*uint32)(p) = uint32(v)
	default:
		*(*uint64)(p) = v
	}
	k.mask |= (1<<bytes - 1) << at
}

// Words keeps a word of each lane of mask, from the lowest on: words[i] at off[i], a multiple of 4, and first.
func (b *Buffer) Words(base unsafe.Pointer, off *[32]uint64, first uint64, words *[32]uint32, mask uint32) {
	var k *block
	from := uint64(1) // of k: no block begins there
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m) & 31
		o := off[i] + first
		if at := o &^ (blockBytes - 1); at != from {
			k, from = b.put(base, o), at
		}
		o &= blockBytes - 4
		*(*uint32)(unsafe.Pointer(&k.data[o])) = words[i]
		k.mask |= 15 << o
	}
}

// Write keeps some bytes at an offset.
func (b *Buffer) Write(base unsafe.Pointer, off uint64, src []byte) {
	for len(src) > 0 {
		k, at := b.put(base, off), off%blockBytes
		n := copy(k.data[at:], src)
		k.mask |= (1<<n - 1) << at
		src, off = src[n:], off+uint64(n)
	}
}

// Forward replaces bytes that were read from memory at an offset where the buffer has newer ones.
func (b *Buffer) Forward(base unsafe.Pointer, off uint64, dst []byte) {
	for len(dst) > 0 {
		at := off % blockBytes
		n := min(len(dst), int(blockBytes-at))
		if k := b.find(unsafe.Add(base, off-at)); k != nil {
			for m := k.mask >> at & (1<<n - 1); m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m)
				dst[i] = k.data[at+uint64(i)]
			}
		}
		dst, off = dst[n:], off+uint64(n)
	}
}

// find is the block at an address in memory; nil if there is none.
func (b *Buffer) find(at unsafe.Pointer) *block {
	for s := b.hash(at); b.slots[s] != 0; s = (s + 1) & (len(b.slots) - 1) {
		if k := &b.blocks[b.slots[s]-1]; k.at == at {
			return k
		}
	}
	return nil
}

func (b *Buffer) hash(at unsafe.Pointer) int {
	return int(uint64(uintptr(at)) / blockBytes * 0x9E3779B97F4A7C15 >> b.shift)
}

// put is the block of an offset in a region, a new one if there is none. The last one is looked at first, because
// neighbouring lanes store to neighbouring bytes.
func (b *Buffer) put(base unsafe.Pointer, off uint64) *block {
	at := unsafe.Add(base, off&^(blockBytes-1))
	n := len(b.blocks)
	if n > 0 && b.blocks[n-1].at == at {
		return &b.blocks[n-1]
	}
	if 2*n >= len(b.slots) {
		b.grow()
	}
	s := b.hash(at)
	for ; b.slots[s] != 0; s = (s + 1) & (len(b.slots) - 1) {
		if k := &b.blocks[b.slots[s]-1]; k.at == at {
			return k
		}
	}
	b.bases |= regionBit(base)
	b.blocks = append(b.blocks, block{at: at})
	b.slots[s] = int32(n + 1)
	return &b.blocks[n]
}

// grow doubles the hash table.
func (b *Buffer) grow() {
	b.slots = make([]int32, max(smallest, 2*len(b.slots)))
	b.shift = uint(65 - bits.Len(uint(len(b.slots))))
	for i := range b.blocks {
		s := b.hash(b.blocks[i].at)
		for b.slots[s] != 0 {
			s = (s + 1) & (len(b.slots) - 1)
		}
		b.slots[s] = int32(i + 1)
	}
}

// Publish writes the stores to memory, and empties the buffer.
func (b *Buffer) Publish() {
	for i := range b.blocks {
		k := &b.blocks[i]
		if k.mask == ^uint32(0) {
			*(*[blockBytes]byte)(k.at) = k.data
			continue
		}
		for m := k.mask; m != 0; m &= m - 1 {
			j := bits.TrailingZeros32(m)
			*(*byte)(unsafe.Add(k.at, j)) = k.data[j]
		}
	}
	b.forget()
}

// forget empties the buffer. A few blocks are taken out of the hash table one by one.
func (b *Buffer) forget() {
	b.bases = 0
	if 4*len(b.blocks) > len(b.slots) {
		clear(b.slots)
	} else {
		for i := range b.blocks {
			s := b.hash(b.blocks[i].at)
			for b.slots[s] != 0 {
				b.slots[s] = 0
				s = (s + 1) & (len(b.slots) - 1)
			}
		}
	}
	clear(b.blocks)
	b.blocks = b.blocks[:0]
}
