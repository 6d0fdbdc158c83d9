package emulate

import (
	"math"
	"unsafe"

	"github.com/heddle-sim/heddle/isa"
)

// atomOp is a read-modify-write operation.
type atomOp uint8

const (
	atAdd atomOp = iota
	atMin
	atMax
	atAnd
	atOr
	atXor
	atExch
	atCas
	atInc
	atDec
)

// atomType is the type an atomic works on.
type atomType uint8

const (
	atU32 atomType = iota
	atS32
	atF32
	atU64
	atS64
	atF64
	atB16
	atF16
	atF16x2
	atBF16
	atBF16x2
)

// atomic executes atom and red. Lanes act one after another in lane order; o.b and
// o.c are the operands, o.d the result.
func (c *cta) atomic(wp *warp, m *memop, o *op, mask uint32, s *isa.Step) error {
	c.addresses(wp, m, s)
	space := m.space
	if space == isa.Generic {
		space, mask = c.resolve(wp, mask, s)
	}
	s.Space = space
	for mask != 0 {
		base, rest, err := c.locate(wp, m, space, mask, s, true)
		if err != nil {
			return err
		}
		switch {
		case m.n > 1:
			atomicVector(c, wp, m, base, mask&^rest)
		case m.wide:
			c.atomic64(wp, m, o, base, mask&^rest)
		default:
			c.atomic32(wp, m, o, base, mask&^rest)
		}
		mask = rest
	}
	return nil
}

func (c *cta) atomic32(wp *warp, m *memop, o *op, base unsafe.Pointer, mask uint32) {
	b, k := c.row32(wp, o.b), c.row32(wp, o.c)
	for l := mask; l != 0; l &= l - 1 {
		i := lowest(l)
		p := unsafe.Add(base, c.off[i])
		var old uint32
		if m.elem == 2 {
			old = uint32(*(*uint16)(p))
			*(*uint16)(p) = uint16(rmw32(m.atom, m.typ, old, b[i], k[i]))
		} else {
			old = *(*uint32)(p)
			*(*uint32)(p) = rmw32(m.atom, m.typ, old, b[i], k[i])
		}
		if m.result {
			wp.r32[o.d][i] = old
		}
	}
}

// atomicVector works on the elements of a lane's vector one after the other: the ISA makes
// each of them atomic, not all together.
func atomicVector(c *cta, wp *warp, m *memop, base unsafe.Pointer, mask uint32) {
	for l := mask; l != 0; l &= l - 1 {
		i := lowest(l)
		for e := range int(m.n) {
			p := unsafe.Add(base, c.off[i]+uint64(e)*uint64(m.elem))
			old := uint32(read(p, m.elem, false))
			write(p, m.elem, uint64(rmw32(m.atom, m.typ, old, c.row32(wp, m.rows[e])[i], 0)))
			if m.out != nil && m.out[e] >= 0 {
				wp.r32[m.out[e]][i] = old
			}
		}
	}
}

// halves applies f to the halves of a packed pair, or to a half alone.
func halves(t atomType, a, b uint32, f func(h halfOp, x, y uint64) uint64) uint32 {
	h := halfOp{f: &fmt16}
	if t == atBF16 || t == atBF16x2 {
		h.f = &fmtB
	}
	lo := f(h, uint64(a&0xffff), uint64(b&0xffff))
	if t == atF16 || t == atBF16 {
		return uint32(lo)
	}
	return uint32(lo | f(h, uint64(a>>16), uint64(b>>16))<<16)
}

func (c *cta) atomic64(wp *warp, m *memop, o *op, base unsafe.Pointer, mask uint32) {
	b, k := c.row64(wp, o.b), c.row64(wp, o.c)
	for l := mask; l != 0; l &= l - 1 {
		i := lowest(l)
		p := (*uint64)(unsafe.Add(base, c.off[i]))
		old := *p
		*p = rmw64(m.atom, m.typ, old, b[i], k[i])
		if m.result {
			wp.r64[o.d][i] = old
		}
	}
}

// rmw32 is the new value of a location.
//
//heddle:table
func rmw32(op atomOp, t atomType, old, b, k uint32) uint32 {
	switch op {
	case atAdd:
		switch t {
		case atF32:
			return math.Float32bits(c32(math.Float32frombits(old) + math.Float32frombits(b)))
		case atF16:
			return uint32(fmt16.add(uint64(old), uint64(b), rn))
		case atBF16:
			return uint32(fmtB.add(uint64(old), uint64(b), rn))
		case atF16x2, atBF16x2:
			f := &fmt16
			if t == atBF16x2 {
				f = &fmtB
			}
			lo := f.add(uint64(old&0xffff), uint64(b&0xffff), rn)
			return uint32(lo | f.add(uint64(old>>16), uint64(b>>16), rn)<<16)
		}
		return old + b
	case atMin:
		if t == atS32 {
			return uint32(min(int32(old), int32(b)))
		} else if t >= atF16 {
			return halves(t, old, b, func(h halfOp, x, y uint64) uint64 { return h.extreme(x, y, min32) })
		}
		return min(old, b)
	case atMax:
		if t >= atF16 {
			return halves(t, old, b, func(h halfOp, x, y uint64) uint64 { return h.extreme(x, y, max32) })
		}
		if t == atS32 {
			return uint32(max(int32(old), int32(b)))
		}
		return max(old, b)
	case atAnd:
		return old & b
	case atOr:
		return old | b
	case atXor:
		return old ^ b
	case atExch:
		return b
	case atCas:
		if old == b {
			return k
		}
		return old
	case atInc:
		if old >= b {
			return 0
		}
		return old + 1
	case atDec:
		if old == 0 || old > b {
			return b
		}
		return old - 1
	}
	return old
}

func rmw64(op atomOp, t atomType, old, b, k uint64) uint64 {
	switch op {
	case atAdd:
		if t == atF64 {
			return math.Float64bits(c64(math.Float64frombits(old) + math.Float64frombits(b)))
		}
		return old + b
	case atMin:
		if t == atS64 {
			return uint64(min(int64(old), int64(b)))
		}
		return min(old, b)
	case atMax:
		if t == atS64 {
			return uint64(max(int64(old), int64(b)))
		}
		return max(old, b)
	case atAnd:
		return old & b
	case atOr:
		return old | b
	case atXor:
		return old ^ b
	case atExch:
		return b
	case atCas:
		if old == b {
			return k
		}
	}
	return old
}
