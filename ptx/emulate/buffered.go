package emulate

import (
	"math/bits"
	"unsafe"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem/storebuffer"
)

// Accesses to global memory of an SM whose stores stay in a buffer.

// Concurrent implements isa.Concurrent.
func (g *grid) Concurrent() bool { return !g.kernel.module.prints && !g.kernel.module.heap }

// fetchForwarded is fetch where the buffer may have newer bytes than memory.
func (c *cta) fetchForwarded(wp *warp, m *memop, b *storebuffer.Buffer, base unsafe.Pointer, mask uint32) {
	for e := range int(m.n) {
		if m.skip>>e&1 != 0 {
			continue
		}
		for l := mask; l != 0; l &= l - 1 {
			i := lowest(l)
			v := readForwarded(b, base, c.off[i]+uint64(e)*uint64(m.elem), m.elem, m.signed)
			switch {
			case m.wide:
				wp.r64[m.rows[e]][i] = v
			case m.narrow:
				wp.r32[m.rows[e]][i] = uint32(v) & 0xffff
			default:
				wp.r32[m.rows[e]][i] = uint32(v)
			}
		}
	}
}

// readForwarded is read at an offset from a region's first byte.
func readForwarded(b *storebuffer.Buffer, base unsafe.Pointer, off uint64, size uint8, signed bool) uint64 {
	var bytes [8]byte
	copy(bytes[:size], unsafe.Slice((*byte)(unsafe.Add(base, off)), size))
	b.Forward(base, off, bytes[:size])
	return read(unsafe.Pointer(&bytes), size, signed)
}

// putBuffered is put into the buffer.
func (c *cta) putBuffered(wp *warp, m *memop, b *storebuffer.Buffer, base unsafe.Pointer, mask uint32) {
	for e := range int(m.n) {
		if m.skip>>e&1 != 0 {
			continue
		}
		first := uint64(e) * uint64(m.elem)
		if m.wide {
			a := c.row64(wp, m.rows[e])
			for l := mask; l != 0; l &= l - 1 {
				i := bits.TrailingZeros32(l) & (isa.Lanes - 1)
				b.Store(base, c.off[i]+first, m.elem, a[i])
			}
			continue
		}
		a := c.row32(wp, m.rows[e])
		if m.elem == 4 {
			b.Words(base, &c.off, first, a, mask)
			continue
		}
		for l := mask; l != 0; l &= l - 1 {
			i := bits.TrailingZeros32(l) & (isa.Lanes - 1)
			b.Store(base, c.off[i]+first, m.elem, uint64(a[i]))
		}
	}
}
