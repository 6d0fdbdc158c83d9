package accelsim

import (
	"encoding/binary"
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
)

// A record is one warp instruction:
//
//	uvarint   number of the instruction << 2 | how the mask is given
//	4 bytes   the mask, where it is given
//	1 byte    space | stride<<2, of instructions with addresses and a mask
//	varint    first address - first address of the warp's previous such record
//	varint    the stride; or, without one, the differences of the further addresses
//
// The instruction number is that of builder; Trace.place turns it into a PC.
const (
	maskFull  = 0 // all 32 lanes
	maskSame  = 1 // that of the warp's previous record
	maskGiven = 2

	spaceBits = 3
	strided   = 4

	maxRecord = 5 + 4 + 1 + 32*binary.MaxVarintLen64
)

// encoder makes the records of one warp.
type encoder struct {
	buf  []byte
	mask uint32
	base uint64
}

func (e *encoder) reset() { *e = encoder{buf: e.buf[:0], mask: ^uint32(0)} }

// add appends a record; the addresses are those of the active lanes.
func (e *encoder) add(id int32, mask uint32, touches bool, space isa.Space, addr []uint64) {
	how := uint64(maskGiven)
	switch mask {
	case ^uint32(0):
		how = maskFull
	case e.mask:
		how = maskSame
	}
	e.buf = binary.AppendUvarint(e.buf, uint64(id)<<2|how)
	if how == maskGiven {
		e.buf = binary.LittleEndian.AppendUint32(e.buf, mask)
	}
	e.mask = mask
	if !touches || mask == 0 {
		return
	}
	stride, even := uint64(0), true
	for k := 1; k < len(addr); k++ {
		d := addr[k] - addr[k-1]
		if k == 1 {
			stride = d
		}
		even = even && d == stride
	}
	flags := byte(space)
	if even {
		flags |= strided
	}
	e.buf = append(e.buf, flags)
	e.buf = binary.AppendVarint(e.buf, int64(addr[0]-e.base))
	e.base = addr[0]
	if even {
		e.buf = binary.AppendVarint(e.buf, int64(stride))
		return
	}
	for k := 1; k < len(addr); k++ {
		e.buf = binary.AppendVarint(e.buf, int64(addr[k]-addr[k-1]))
	}
}

// window is how many bytes of records a resident warp holds when they are on disk.
const window = 4 << 10

// reader is a warp's place in its records.
type reader struct {
	off, end int64  // what has not been read into b
	b        []byte // read ahead
	own      []byte // the memory b lies in when the records are on disk
	mask     uint32
	base     uint64
}

// fill makes sure that b holds a whole record, if there is one more.
func (r *reader) fill(s *store) error {
	if len(r.b) >= maxRecord || r.off == r.end {
		return nil
	}
	if s.f == nil { // all of it at once: it is there anyway
		b, err := s.read(r.off-int64(len(r.b)), int(r.end-r.off)+len(r.b), nil)
		r.b, r.off = b, r.end
		return err
	}
	if r.own == nil {
		r.own = make([]byte, window)
	}
	n := copy(r.own, r.b)
	b, err := s.read(r.off, int(min(window-int64(n), r.end-r.off)), r.own[n:])
	r.off += int64(len(b))
	r.b = r.own[:n+len(b)]
	return err
}

// head reads the number of the next record's instruction and how its mask is given.
func (r *reader) head() (id int32, how uint8) {
	v, n := binary.Uvarint(r.b)
	r.b = r.b[n:]
	return int32(v >> 2), uint8(v & 3)
}

// lanes reads the mask.
func (r *reader) lanes(how uint8) uint32 {
	switch how {
	case maskFull:
		r.mask = ^uint32(0)
	case maskGiven:
		r.mask = binary.LittleEndian.Uint32(r.b)
		r.b = r.b[4:]
	}
	return r.mask
}

// addresses reads the addresses of the lanes in mask, which is not empty, into dst.
func (r *reader) addresses(mask uint32, dst *[isa.Lanes]uint64) isa.Space {
	flags := r.b[0]
	r.b = r.b[1:]
	a := r.base + uint64(r.varint())
	r.base = a
	if flags&strided != 0 {
		stride := uint64(r.varint())
		for m := mask; m != 0; m &= m - 1 {
			dst[bits.TrailingZeros32(m)] = a
			a += stride
		}
		return isa.Space(flags & spaceBits)
	}
	dst[bits.TrailingZeros32(mask)] = a
	for m := mask & (mask - 1); m != 0; m &= m - 1 {
		a += uint64(r.varint())
		dst[bits.TrailingZeros32(m)] = a
	}
	return isa.Space(flags & spaceBits)
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	r.b = r.b[n:]
	return v
}
