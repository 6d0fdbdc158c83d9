package record

import (
	"encoding/binary"
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
)

// The stream of a warp is a sequence of items. A byte with the top bit set stands
// for 1 to 128 plain steps: Next is PC+1, the active lanes are those of the step
// before and all of them execute, no address is needed. Any other step is a tag
// and the fields its bits announce, in the order of the bits:
//
//	tagJump    zigzag varint: Next - (PC+1)
//	tagActive  4 bytes: Active, where it changed
//	mask       0: Mask is Active; 1: Mask is 0; 2: 4 bytes
//	payload    0: none; else one of the pay* constants
//
// Addresses are relative to the last one of the same state space in this warp.
const (
	runBit    = 0x80
	maxRun    = 0x80
	tagJump   = 1 << 0
	tagActive = 1 << 1
	maskAt    = 2 // two bits
	payAt     = 4 // three bits
)

const (
	maskActive = iota
	maskZero
	maskOther
)

const (
	payNone    = iota
	payAffine  // info, zigzag base, zigzag stride: lane i has base + i*stride
	payLanes   // info, zigzag lowest address, an offset per lane of Mask
	payBarrier // bar | arrive<<4, uvarint expect
	paySpace   // the space, where it is not what the instruction says
	paySleep   // 0, uvarint nanoseconds
)

// info of an access: space in bits 0-2, log2 of the bytes per offset in bits 3-4, the shift that
// restores offsets in bits 5-7.
const (
	sizeAt  = 3
	shiftAt = 5
)

// maxEvent bounds the bytes of one step and the run before it.
const maxEvent = 1 + 5 + 4 + 4 + 1 + 10 + 8*isa.Lanes + 1

// addressed says whether accesses to the space have an address for each lane.
func addressed(s isa.Space) bool { return s == isa.Global || s == isa.Shared || s == isa.Local }

// plainSpace is Step.Space of an instruction that needs no further description.
func plainSpace(in *isa.Instr) isa.Space {
	if in.Space == isa.Const || in.Space == isa.Param {
		return in.Space
	}
	return isa.NoSpace
}

// stream encodes the steps of one warp.
type stream struct {
	buf    []byte
	start  int32 // PC at which the warp began
	pc     int32
	run    int // plain steps not yet written
	active uint32
	base   [4]uint64 // last address, by space
}

func (e *stream) begin(pc int32) {
	*e = stream{buf: e.buf[:0], start: pc, pc: pc}
}

// step appends one step; code is the kernel's.
func (e *stream) step(code []isa.Instr, s *isa.Step) {
	in := &code[e.pc]
	pay := byte(payNone)
	switch {
	case in.Kind == isa.Barrier && (s.Bar != 0 || s.Expect != 0 || s.Arrive):
		pay = payBarrier
	case in.Kind == isa.Sleep && s.Mask != 0:
		pay = paySleep
	case s.Mask != 0 && addressed(s.Space):
		pay = payAffine // or payLanes
	case s.Space != plainSpace(in):
		pay = paySpace
	}
	next := e.pc + 1
	e.pc = s.Next
	if pay == payNone && s.Next == next && s.Active == e.active && s.Mask == s.Active {
		e.run++
		return
	}
	e.flush()
	tag := pay << payAt
	at := len(e.buf)
	e.buf = append(e.buf, 0)
	if s.Next != next {
		tag |= tagJump
		e.buf = binary.AppendVarint(e.buf, int64(s.Next)-int64(next))
	}
	if s.Active != e.active {
		tag |= tagActive
		e.active = s.Active
		e.buf = binary.LittleEndian.AppendUint32(e.buf, s.Active)
	}
	switch s.Mask {
	case s.Active:
	case 0:
		tag |= maskZero << maskAt
	default:
		tag |= maskOther << maskAt
		e.buf = binary.LittleEndian.AppendUint32(e.buf, s.Mask)
	}
	switch pay {
	case payBarrier:
		b := s.Bar & 15
		if s.Arrive {
			b |= 1 << 4
		}
		e.buf = binary.AppendUvarint(append(e.buf, b), uint64(uint32(s.Expect)))
	case paySleep:
		e.buf = binary.AppendUvarint(append(e.buf, 0), uint64(s.Nanos))
	case paySpace:
		e.buf = append(e.buf, byte(s.Space))
	case payAffine:
		if !e.affine(s) {
			tag ^= (payAffine ^ payLanes) << payAt
			e.lanes(s)
		}
	}
	e.buf[at] = tag
}

// flush writes the plain steps that were only counted so far.
func (e *stream) flush() {
	for e.run > 0 {
		n := min(e.run, maxRun)
		e.buf = append(e.buf, runBit|byte(n-1))
		e.run -= n
	}
}

// affine appends the addresses if they are equally spaced over the lanes.
func (e *stream) affine(s *isa.Step) bool {
	first := bits.TrailingZeros32(s.Mask)
	rest := s.Mask & (s.Mask - 1)
	var stride uint64
	if rest != 0 {
		second := bits.TrailingZeros32(rest)
		d := int64(s.Addr[second] - s.Addr[first])
		if d%int64(second-first) != 0 {
			return false
		}
		stride = uint64(d / int64(second-first))
	}
	base := s.Addr[first] - stride*uint64(first)
	for m := rest; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if s.Addr[i] != base+stride*uint64(i) {
			return false
		}
	}
	e.buf = append(e.buf, byte(s.Space))
	e.relative(s.Space, base)
	e.buf = binary.AppendVarint(e.buf, int64(stride))
	return true
}

func (e *stream) relative(space isa.Space, addr uint64) {
	e.buf = binary.AppendVarint(e.buf, int64(addr-e.base[space&3]))
	e.base[space&3] = addr
}

// lanes appends the lowest address and every lane's distance from it, in as few
// bytes as the largest one needs.
func (e *stream) lanes(s *isa.Step) {
	low := ^uint64(0)
	for m := s.Mask; m != 0; m &= m - 1 {
		low = min(low, s.Addr[bits.TrailingZeros32(m)])
	}
	var all uint64
	for m := s.Mask; m != 0; m &= m - 1 {
		all |= s.Addr[bits.TrailingZeros32(m)] - low
	}
	shift := min(bits.TrailingZeros64(all), 7)
	size := 0
	for size < 3 && all>>shift>>(8<<size) != 0 {
		size++
	}
	e.buf = append(e.buf, byte(s.Space)|byte(size<<sizeAt)|byte(shift<<shiftAt))
	e.relative(s.Space, low)
	var b [8]byte
	for m := s.Mask; m != 0; m &= m - 1 {
		binary.LittleEndian.PutUint64(b[:], (s.Addr[bits.TrailingZeros32(m)]-low)>>shift)
		e.buf = append(e.buf, b[:1<<size]...)
	}
}
