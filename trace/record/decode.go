package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
)

// What an address must stay below. Global: allocators start low, and the machine
// puts its own windows above. Local: what a thread can have at most. Shared: more
// than any CTA has.
const (
	globalLimit = 1 << 39
	localLimit  = 512 << 10
	sharedLimit = 1 << 20
)

// longestSleep is the ns that a warp sleeps at most: a millisecond, by the ISA.
const longestSleep = 1_000_000

func limitOf(s isa.Space) uint64 {
	switch s {
	case isa.Global:
		return globalLimit
	case isa.Local:
		return localLimit
	}
	return sharedLimit
}

var errEarly = errors.New("the stream ends before the warp does")

// cursor is the replay of one warp.
type cursor struct {
	run    int32 // plain steps left
	pc     int32
	active uint32
	at     int32 // next byte of buf
	buf    []byte
	base   [4]uint64
	piece  int32  // next piece to load
	last   int32  // number of pieces; the tail follows them
	spill  []byte // holds a loaded piece
	tail   []byte
}

// static is what decoding needs of a kernel's code.
type static struct {
	code  []isa.Instr
	plain []isa.Space // by PC: Space of a plain step
	low   []uint64    // by PC: bits that no address of an access may have
}

func newStatic(code *isa.Code) *static {
	t := &static{code: code.Instr, plain: make([]isa.Space, len(code.Instr)), low: make([]uint64, len(code.Instr))}
	for i := range code.Instr {
		in := &code.Instr[i]
		t.plain[i] = plainSpace(in)
		t.low[i] = max(1, uint64(in.Width)) - 1
	}
	return t
}

// plainStep takes a step out of a run.
func (c *cursor) plainStep(t *static, s *isa.Step) {
	c.run--
	s.Active, s.Mask = c.active, c.active
	s.Space, s.Bar, s.Expect, s.Arrive = t.plain[c.pc], 0, 0, false
	s.Nanos = 0
	c.pc++
	s.Next = c.pc
}

// event reads the next item; false without an error says that the piece is at its
// end.
func (c *cursor) event(t *static, s *isa.Step) (bool, error) {
	if int(c.at) >= len(c.buf) {
		return false, nil
	}
	tag := c.buf[c.at]
	c.at++
	if tag&runBit != 0 {
		n := int32(tag&^runBit) + 1
		if int(c.pc)+int(n) >= len(t.code) {
			return false, fmt.Errorf("a run of %d instructions from PC %d leaves the code", n, c.pc)
		}
		c.run = n
		c.plainStep(t, s)
		return true, nil
	}
	next := c.pc + 1
	if tag&tagJump != 0 {
		d, err := c.varint()
		if err != nil {
			return false, err
		}
		to := int64(next) + d
		if to < -1 || to >= int64(len(t.code)) {
			return false, fmt.Errorf("a jump from PC %d to %d leaves the code", c.pc, to)
		}
		next = int32(to)
	} else if int(next) >= len(t.code) {
		return false, fmt.Errorf("the code ends after PC %d, the warp goes on", c.pc)
	}
	if tag&tagActive != 0 {
		if !c.has(4) {
			return false, errEarly
		}
		c.active = c.word()
	}
	s.Active, s.Mask, s.Next = c.active, c.active, next
	switch tag >> maskAt & 3 {
	case maskActive:
	case maskZero:
		s.Mask = 0
	case maskOther:
		if !c.has(4) {
			return false, errEarly
		}
		s.Mask = c.word()
	default:
		return false, errors.New("an unknown kind of mask")
	}
	s.Space, s.Bar, s.Expect, s.Arrive = t.plain[c.pc], 0, 0, false
	s.Nanos = 0
	if pay := tag >> payAt; pay != payNone {
		if err := c.payload(t, pay, s); err != nil {
			return false, err
		}
	}
	c.pc = next
	return true, nil
}

func (c *cursor) has(n int) bool { return len(c.buf)-int(c.at) >= n }

func (c *cursor) word() uint32 {
	v := binary.LittleEndian.Uint32(c.buf[c.at:])
	c.at += 4
	return v
}

func (c *cursor) varint() (int64, error) {
	if int(c.at) < len(c.buf) {
		if b := c.buf[c.at]; b < 0x80 { // by far the most common
			c.at++
			return int64(b>>1) ^ -int64(b&1), nil
		}
	}
	v, n := binary.Varint(c.buf[c.at:])
	if n <= 0 {
		return 0, errEarly
	}
	c.at += int32(n)
	return v, nil
}

// payload reads what a step has beyond PC and masks.
func (c *cursor) payload(t *static, pay byte, s *isa.Step) error {
	if !c.has(1) {
		return errEarly
	}
	info := c.buf[c.at]
	c.at++
	switch pay {
	case payAffine, payLanes:
		s.Space = isa.Space(info & 7)
		if t.code[c.pc].Unit != isa.LDST || s.Mask == 0 || !addressed(s.Space) {
			return fmt.Errorf("addresses in space %d at PC %d, which takes none", s.Space, c.pc)
		}
		if pay == payAffine {
			return c.affine(t.low[c.pc], s)
		}
		return c.lanes(t.low[c.pc], info, s)
	case payBarrier:
		v, n := binary.Uvarint(c.buf[c.at:])
		if n <= 0 || info > 31 || v > 1<<16 {
			return errors.New("an impossible barrier")
		}
		c.at += int32(n)
		s.Bar, s.Arrive, s.Expect = info&15, info>>4 != 0, int32(v)
		return nil
	case paySleep:
		v, n := binary.Uvarint(c.buf[c.at:])
		if n <= 0 || info != 0 || v > longestSleep || t.code[c.pc].Kind != isa.Sleep {
			return fmt.Errorf("an impossible sleep at PC %d", c.pc)
		}
		c.at += int32(n)
		s.Nanos = uint32(v)
		return nil
	case paySpace:
		if isa.Space(info) >= isa.Generic || s.Mask != 0 && addressed(isa.Space(info)) {
			return fmt.Errorf("an access to space %d without addresses", info)
		}
		s.Space = isa.Space(info)
		return nil
	}
	return fmt.Errorf("an unknown payload %d", pay)
}

func (c *cursor) relative(space isa.Space) (uint64, error) {
	d, err := c.varint()
	c.base[space&3] += uint64(d)
	return c.base[space&3], err
}

// affine fills in all lanes: those outside Mask have no meaning and do no harm.
func (c *cursor) affine(low uint64, s *isa.Step) error {
	base, err := c.relative(s.Space)
	if err != nil {
		return err
	}
	d, err := c.varint()
	if err != nil {
		return err
	}
	if d > globalLimit || d < -globalLimit {
		return fmt.Errorf("addresses %d bytes apart", d)
	}
	stride := uint64(d)
	first, last := bits.TrailingZeros32(s.Mask), 31-bits.LeadingZeros32(s.Mask)
	a, b := base+stride*uint64(first), base+stride*uint64(last)
	if limit := limitOf(s.Space); a >= limit || b >= limit || (base|stride)&low != 0 && !aligned(s, base, stride, low) {
		return badAddress(a, b, low)
	}
	p := &s.Addr
	for i := 0; i < isa.Lanes; i += 4 {
		p[i], p[i+1], p[i+2], p[i+3] = base, base+stride, base+2*stride, base+3*stride
		base += 4 * stride
	}
	return nil
}

// aligned looks at each lane: accesses of lanes further apart can be aligned where
// the distance of neighbours is not.
func aligned(s *isa.Step, base, stride, low uint64) bool {
	for m := s.Mask; m != 0; m &= m - 1 {
		if (base+stride*uint64(bits.TrailingZeros32(m)))&low != 0 {
			return s.Space == isa.Shared // shared memory has banks, not lines
		}
	}
	return true
}

func badAddress(a, b, low uint64) error {
	return fmt.Errorf("addresses 0x%x to 0x%x in accesses of %d bytes: outside every allocation or misaligned", a, b,
		low+1)
}

func (c *cursor) lanes(low uint64, info byte, s *isa.Step) error {
	base, err := c.relative(s.Space)
	if err != nil {
		return err
	}
	size, shift := 1<<(info>>sizeAt&3), uint(info>>shiftAt)
	n := bits.OnesCount32(s.Mask) * size
	if !c.has(n) {
		return errEarly
	}
	b := c.buf[c.at : int(c.at)+n]
	c.at += int32(n)
	var all uint64 // OR of the addresses; the limits are powers of two
	switch size {
	case 1:
		for m := s.Mask; m != 0 && len(b) >= 1; m, b = m&(m-1), b[1:] {
			a := base + uint64(b[0])<<shift
			all |= a
			s.Addr[bits.TrailingZeros32(m)&31] = a
		}
	case 2:
		for m := s.Mask; m != 0 && len(b) >= 2; m, b = m&(m-1), b[2:] {
			a := base + uint64(binary.LittleEndian.Uint16(b))<<shift
			all |= a
			s.Addr[bits.TrailingZeros32(m)&31] = a
		}
	case 4:
		for m := s.Mask; m != 0 && len(b) >= 4; m, b = m&(m-1), b[4:] {
			a := base + uint64(binary.LittleEndian.Uint32(b))<<shift
			all |= a
			s.Addr[bits.TrailingZeros32(m)&31] = a
		}
	default:
		for m := s.Mask; m != 0 && len(b) >= 8; m, b = m&(m-1), b[8:] {
			a := base + binary.LittleEndian.Uint64(b)<<shift
			all |= a
			s.Addr[bits.TrailingZeros32(m)&31] = a
		}
	}
	if all >= limitOf(s.Space) || s.Space != isa.Shared && all&low != 0 {
		return badAddress(base, all, low)
	}
	return nil
}
