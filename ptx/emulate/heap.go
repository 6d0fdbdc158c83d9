package emulate

import (
	"encoding/binary"
	"fmt"

	"github.com/heddle-sim/heddle/mem"
)

// The heap of malloc and free in kernels: one region of device memory, cut into blocks that
// follow each other. A block begins with a head of 16 bytes, its length with it and a mark
// that says whether it is free; the heads lie in the region itself, so that allocating costs
// the simulator no memory. A search begins where the last one ended (next fit) and joins the
// free blocks it passes.

// Heap is the heap of an application.
type Heap struct {
	region *mem.Region
	rover  uint64 // offset of the block where the next search begins
}

const (
	heapHead  = 16 // also the alignment of what malloc returns
	freeBlock = uint64(0x48656170) << 32
	usedBlock = uint64(0x68454150) << 32
)

// NewHeap makes a heap of n bytes in sp.
func NewHeap(sp *mem.Space, n int64) (*Heap, error) {
	n = roundUpTo(n, heapHead)
	r, err := sp.Alloc(n, mem.Device, "heap of kernels")
	if err != nil {
		return nil, fmt.Errorf("the heap of malloc in kernels: %w", err)
	}
	h := &Heap{region: r}
	h.set(0, uint64(n), freeBlock)
	return h, nil
}

// Region is the memory of the heap.
func (h *Heap) Region() *mem.Region { return h.region }

func (h *Heap) set(at, size, mark uint64) {
	binary.LittleEndian.PutUint64(h.region.Data[at:], size)
	binary.LittleEndian.PutUint64(h.region.Data[at+8:], mark|size>>4&0xffffffff)
}

// block reads a head; ok is false where a kernel has written over it.
func (h *Heap) block(at uint64) (size uint64, free, ok bool) {
	if at%heapHead != 0 || at+heapHead > uint64(len(h.region.Data)) {
		return 0, false, false
	}
	size = binary.LittleEndian.Uint64(h.region.Data[at:])
	mark := binary.LittleEndian.Uint64(h.region.Data[at+8:])
	low := size >> 4 & 0xffffffff
	ok = size >= heapHead && size%heapHead == 0 && size <= uint64(len(h.region.Data))-at
	return size, mark == freeBlock|low, ok && (mark == freeBlock|low || mark == usedBlock|low)
}

// malloc returns the address of n bytes, 0 when there is no room; ok is false when the heads
// have been written over.
func (h *Heap) malloc(n uint64) (addr uint64, ok bool) {
	end := uint64(len(h.region.Data))
	if n == 0 || n > end {
		return 0, true
	}
	need := (n+heapHead-1)&^(heapHead-1) + heapHead
	for at, seen := h.rover, uint64(0); seen <= end; {
		size, free, ok := h.block(at)
		if !ok {
			return 0, false
		}
		for free && at+size < end { // join it with those behind it
			more, next, ok := h.block(at + size)
			if !ok {
				return 0, false
			}
			if !next {
				break
			}
			if size += more; h.rover > at && h.rover < at+size {
				h.rover = at
			}
			h.set(at, size, freeBlock)
		}
		if free && size >= need {
			if rest := size - need; rest >= 2*heapHead {
				h.set(at+need, rest, freeBlock)
				size = need
			}
			h.set(at, size, usedBlock)
			if h.rover = at + size; h.rover == end {
				h.rover = 0
			}
			return h.region.Base + at + heapHead, true
		}
		seen += size
		if at += size; at == end {
			at = 0
		}
	}
	return 0, true
}

// free returns what malloc gave; false for any other address.
func (h *Heap) free(addr uint64) bool {
	at := addr - h.region.Base - heapHead
	if addr < h.region.Base+heapHead || at >= uint64(len(h.region.Data)) {
		return false
	}
	size, free, ok := h.block(at)
	if !ok || free {
		return false
	}
	h.set(at, size, freeBlock)
	return true
}

// deviceMalloc executes a call of malloc.
func deviceMalloc(c *cta, wp *warp, o *op, mask uint32) error {
	for m := mask; m != 0; m &= m - 1 {
		lane := lowest(m)
		addr, ok := c.g.heap.malloc(argument(c, wp, o.call.params[0], lane))
		if !ok {
			return c.fault(wp, lane, "malloc: the heap is damaged: a kernel has written beyond an allocation")
		}
		result(c, wp, o.call, lane, addr)
	}
	return nil
}

// deviceFree executes a call of free.
func deviceFree(c *cta, wp *warp, o *op, mask uint32) error {
	for m := mask; m != 0; m &= m - 1 {
		lane := lowest(m)
		addr := argument(c, wp, o.call.params[0], lane)
		if addr != 0 && !c.g.heap.free(addr) {
			return c.fault(wp, lane, "free: 0x%x is not the start of an allocation, or has been freed before", addr)
		}
	}
	return nil
}
