package emulate

import (
	"unsafe"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// Generic addresses. Device memory has its own virtual addresses; shared, local
// and parameter memory appear in windows far above them, as cvta gives. Function
// addresses are numbers that are never memory.
const (
	functionBase = uint64(1) << 45
	localWindow  = uint64(1) << 46
	sharedWindow = uint64(1) << 47
	paramWindow  = uint64(3) << 46
	// argBase is where the parameters of functions begin in the parameter space;
	// those of the kernel lie below.
	argBase    = uint64(1) << 31
	windowSize = uint64(1) << 32
)

// Memory is little-endian, as are the hosts this runs on; accesses are checked
// against the region once per lane and then made through pointers.

// addresses computes the address of every lane into s.Addr: virtual for global and
// generic, an offset for shared and local.
func (c *cta) addresses(wp *warp, m *memop, s *isa.Step) {
	off := m.off
	if m.frame && m.args {
		off += argBase + uint64(wp.frame.args)
	} else if m.frame {
		off += uint64(wp.frame.local)
	}
	switch m.baseIn {
	case base64:
		a := c.row64(wp, m.base)
		offset64(&s.Addr, a, off)
	case base32:
		a := c.row32(wp, m.base)
		for i := range s.Addr {
			s.Addr[i] = uint64(a[i] + uint32(off))
		}
	case baseShort:
		a := c.row32(wp, m.base)
		for i := range s.Addr {
			s.Addr[i] = unfold(a[i] + uint32(off))
		}
	case baseIndexed:
		elements(c, wp, m, off, &s.Addr)
	default:
		for i := range s.Addr {
			s.Addr[i] = off
		}
	}
}

// elements computes the addresses of elements of an array.
func elements(c *cta, wp *warp, m *memop, off uint64, addr *[isa.Lanes]uint64) {
	if m.base < 0 {
		off += c.k64[^m.base][0]
	}
	for i := range addr {
		var n uint64
		if m.long {
			n = c.row64(wp, m.index)[i]
		} else {
			n = uint64(int64(int32(c.row32(wp, m.index)[i])))
		}
		addr[i] = off + n*uint64(m.scale)
	}
}

// window classifies a generic address.
func window(a uint64) isa.Space {
	if a < localWindow {
		return isa.Global
	}
	switch a >> 46 {
	case localWindow >> 46:
		return isa.Local
	case sharedWindow >> 46:
		return isa.Shared
	case paramWindow >> 46:
		return isa.Param
	}
	return isa.Global
}

// resolve turns generic addresses into one space. Lanes in other spaces stay in
// wp.left for the next step of the same instruction.
func (c *cta) resolve(wp *warp, mask uint32, s *isa.Step) (isa.Space, uint32) {
	if wp.left != 0 {
		mask, wp.left = wp.left, 0
	}
	space := window(s.Addr[lowest(mask)])
	same := uint32(0)
	for m := mask; m != 0; m &= m - 1 {
		i := lowest(m)
		if window(s.Addr[i]) == space {
			same |= 1 << i
			if space != isa.Global {
				s.Addr[i] &= 1<<46 - 1
			}
		}
	}
	wp.left = mask &^ same
	s.Mask = same
	return space, same
}

// locate finds the bytes an access of lanes mask touches: on success lane i's are at
// base + c.off[i]. Lanes are checked for bounds and alignment. For global memory
// only the lanes in the region of the lowest lane are located; the others are
// returned in rest.
func (c *cta) locate(wp *warp, m *memop, space isa.Space, mask uint32, s *isa.Step,
	write bool,
) (base unsafe.Pointer, rest uint32, err error) {
	w := uint64(m.width)
	var data []byte
	var start uint64
	switch space {
	case isa.Global, isa.Const:
		a := s.Addr[lowest(mask)]
		r := c.cache[m.slot]
		if r == nil || a-r.Base >= uint64(len(r.Data)) {
			if r, err = c.region(wp, m, lowest(mask), a, write); err != nil {
				return nil, 0, err
			}
			c.cache[m.slot] = r
		}
		data, start = r.Data, r.Base
	case isa.Shared:
		data = c.shared
	case isa.Param:
		if s.Addr[lowest(mask)] >= argBase {
			return c.locateThread(wp, m, &c.args, argBase, mask, s)
		}
		data = c.g.params
		if write {
			return nil, 0, c.fault(wp, lowest(mask), "write to kernel parameters, which are read-only")
		}
	case isa.Local:
		return locateLocal(c, wp, m, mask, s)
	}
	if uint64(len(data)) < w {
		return nil, 0, c.outside(wp, m, lowest(mask), s.Addr[lowest(mask)], write)
	}
	limit := uint64(len(data)) - w
	bad := uint64(0)
	if mask == ^uint32(0) {
		all, over := bounds64(&c.off, &s.Addr, start, limit)
		if bad = all & (w - 1); over {
			for i, o := range c.off {
				rest |= bit(o > limit) << i
			}
		}
	} else {
		for l := mask; l != 0; l &= l - 1 {
			i := lowest(l)
			o := s.Addr[i] - start
			c.off[i] = o
			bad |= o & (w - 1)
			if o > limit {
				rest |= 1 << i
			}
		}
	}
	if bad != 0 || rest != 0 {
		if err = c.checkLanes(wp, m, space, mask, rest, s, write); err != nil {
			return nil, 0, err
		}
	}
	return unsafe.Pointer(&data[0]), rest, nil
}

// region finds the region of a and checks that it may be accessed this way.
func (c *cta) region(wp *warp, m *memop, lane int, a uint64, write bool) (*mem.Region, error) {
	r := c.g.space.Find(a)
	if r == nil {
		return nil, c.outside(wp, m, lane, a, write)
	}
	if write && r.ReadOnly || r.Kind == mem.Host && !r.Registered {
		return nil, c.forbidden(wp, m, r, lane, a, write)
	}
	return r, nil
}

// checkLanes finds the lane that made locate suspicious: a misaligned one, or one
// outside its memory. Lanes in another global region are no error.
func (c *cta) checkLanes(wp *warp, m *memop, space isa.Space, mask, rest uint32, s *isa.Step, write bool) error {
	w := uint64(m.width)
	for l := mask; l != 0; l &= l - 1 {
		i := lowest(l)
		a := s.Addr[i]
		if a&(w-1) != 0 {
			return c.fault(wp, i, "misaligned %s of %d bytes at %s, which is no multiple of %d; %s", verb(write), w,
				where(space, a), w, c.around(space, a))
		}
		if rest>>i&1 != 0 {
			r := (*mem.Region)(nil)
			if space == isa.Global || space == isa.Const {
				r = c.g.space.Find(a)
			}
			if r == nil || a+w > r.End() {
				return c.outside(wp, m, i, a, write)
			}
		}
	}
	return nil
}

// locateThread locates lanes in memory of which every thread has its own.
func (c *cta) locateThread(wp *warp, m *memop, p *perThread, start uint64, mask uint32,
	s *isa.Step,
) (base unsafe.Pointer, rest uint32, err error) {
	w := uint64(m.width)
	first := uint64(wp.index) * isa.Lanes
	for l := mask; l != 0; l &= l - 1 {
		i := lowest(l)
		a := s.Addr[i] - start
		if a&(w-1) != 0 {
			return nil, 0, c.fault(wp, i, "misaligned access of %d bytes at local offset 0x%x, which is no "+
				"multiple of %d", w, a, w)
		}
		if a+w > uint64(p.stride) || a > uint64(p.stride) {
			return nil, 0, c.fault(wp, i,
				"access of %d bytes at local offset 0x%x, beyond the %d bytes of local memory", w, a, p.stride)
		}
		c.off[i] = (first+uint64(i))*uint64(p.stride) + a
	}
	return unsafe.Pointer(&p.data[0]), 0, nil
}

func verb(write bool) string {
	if write {
		return "write"
	}
	return "read"
}

func where(space isa.Space, a uint64) string {
	switch space {
	case isa.Shared:
		return "shared offset " + hex(a)
	case isa.Local:
		return "local offset " + hex(a)
	case isa.Param:
		return "parameter offset " + hex(a)
	}
	return hex(a)
}

func hex(a uint64) string {
	const digits = "0123456789abcdef"
	var b [18]byte
	i := len(b)
	for {
		i--
		b[i] = digits[a&15]
		if a >>= 4; a == 0 {
			return "0x" + string(b[i:])
		}
	}
}

func (c *cta) around(space isa.Space, a uint64) string {
	switch space {
	case isa.Shared:
		return "the block has " + itoa(len(c.shared)) + " bytes of shared memory"
	case isa.Param:
		return "the kernel has " + itoa(len(c.g.params)) + " bytes of parameters"
	}
	return c.g.space.Nearest(a)
}

func (c *cta) outside(wp *warp, m *memop, lane int, a uint64, write bool) error {
	space := m.space
	if space == isa.Generic {
		space = isa.Global
	}
	return c.fault(wp, lane, "%s of %d bytes at %s, which is not allocated: %s", verb(write), m.width, where(space, a),
		c.around(space, a))
}

func (c *cta) forbidden(wp *warp, m *memop, r *mem.Region, lane int, a uint64, write bool) error {
	if r.Kind == mem.Host && !r.Registered {
		return c.fault(wp, lane, "%s of %d bytes at 0x%x in host memory %s, which is not registered with the device",
			verb(write), m.width, a, r.Name)
	}
	return c.fault(wp, lane, "write of %d bytes at 0x%x in %s, which is read-only (.const)", m.width, a, r.Name)
}

// load executes a load.
func (c *cta) load(wp *warp, m *memop, mask uint32, s *isa.Step) error {
	c.addresses(wp, m, s)
	space := m.space
	if space == isa.Generic {
		space, mask = c.resolve(wp, mask, s)
	}
	if s.Space = space; m.args {
		s.Space = isa.NoSpace // registers in compiled code
	}
	for mask != 0 {
		base, rest, err := c.locate(wp, m, space, mask, s, false)
		if err != nil {
			return err
		}
		if space == isa.Global && s.Stores.Holds(base) {
			c.fetchForwarded(wp, m, s.Stores, base, mask&^rest)
		} else {
			c.fetch(wp, m, base, mask&^rest)
		}
		mask = rest
	}
	return nil
}

func (c *cta) store(wp *warp, m *memop, mask uint32, s *isa.Step) error {
	c.addresses(wp, m, s)
	space := m.space
	if space == isa.Generic {
		space, mask = c.resolve(wp, mask, s)
	}
	if s.Space = space; m.args {
		s.Space = isa.NoSpace
	}
	for mask != 0 {
		base, rest, err := c.locate(wp, m, space, mask, s, true)
		if err != nil {
			return err
		}
		if space == isa.Global && s.Stores != nil {
			c.putBuffered(wp, m, s.Stores, base, mask&^rest)
		} else {
			c.put(wp, m, base, mask&^rest)
		}
		mask = rest
	}
	return nil
}

// fetch reads the located lanes into the destination rows.
func (c *cta) fetch(wp *warp, m *memop, base unsafe.Pointer, mask uint32) {
	for e := range int(m.n) {
		if m.skip>>e&1 != 0 {
			continue
		}
		p := unsafe.Add(base, e*int(m.elem))
		switch {
		case m.wide:
			d := &wp.r64[m.rows[e]]
			switch {
			case m.elem == 8 && mask == ^uint32(0):
				for i := range d {
					d[i] = *(*uint64)(unsafe.Add(p, c.off[i]))
				}
			default:
				for l := mask; l != 0; l &= l - 1 {
					i := lowest(l)
					d[i] = read(unsafe.Add(p, c.off[i]), m.elem, m.signed)
				}
			}
		case m.elem == 4 && mask == ^uint32(0):
			d := &wp.r32[m.rows[e]]
			for i := range d {
				d[i] = *(*uint32)(unsafe.Add(p, c.off[i]))
			}
		default:
			d := &wp.r32[m.rows[e]]
			keep := ^uint32(0)
			if m.narrow {
				keep = 0xffff
			}
			for l := mask; l != 0; l &= l - 1 {
				i := lowest(l)
				d[i] = uint32(read(unsafe.Add(p, c.off[i]), m.elem, m.signed)) & keep
			}
		}
	}
}

// read loads one element, extended to 64 bits.
func read(p unsafe.Pointer, bytes uint8, signed bool) uint64 {
	switch bytes {
	case 1:
		if signed {
			return uint64(*(*int8)(p))
		}
		return uint64(*(*uint8)(p))
	case 2:
		if signed {
			return uint64(*(*int16)(p))
		}
		return uint64(*(*uint16)(p))
	case 4:
		if signed {
			return uint64(*(*int32)(p))
		}
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// put writes the source rows to the located lanes, lower lanes first: of lanes that
// write the same place the highest wins.
func (c *cta) put(wp *warp, m *memop, base unsafe.Pointer, mask uint32) {
	for e := range int(m.n) {
		if m.skip>>e&1 != 0 {
			continue
		}
		p := unsafe.Add(base, e*int(m.elem))
		if m.wide {
			a := c.row64(wp, m.rows[e])
			for l := mask; l != 0; l &= l - 1 {
				i := lowest(l)
				write(unsafe.Add(p, c.off[i]), m.elem, a[i])
			}
			continue
		}
		a := c.row32(wp, m.rows[e])
		if m.elem == 4 && mask == ^uint32(0) {
			for i := range a {
				*(*uint32)(unsafe.Add(p, c.off[i])) = a[i]
			}
			continue
		}
		for l := mask; l != 0; l &= l - 1 {
			i := lowest(l)
			write(unsafe.Add(p, c.off[i]), m.elem, uint64(a[i]))
		}
	}
}

func write(p unsafe.Pointer, bytes uint8, v uint64) {
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
}

// loadParam reads a kernel parameter at a fixed offset: all lanes get the same value.
// The decoder checked the bounds.
func (c *cta) loadParam(wp *warp, m *memop, mask uint32, s *isa.Step) {
	s.Space = isa.Param
	for i := range s.Addr {
		s.Addr[i] = m.off
	}
	for e := range int(m.n) {
		if m.skip>>e&1 != 0 {
			continue
		}
		v := read(unsafe.Pointer(&c.g.params[int(m.off)+e*int(m.elem)]), m.elem, m.signed)
		if m.wide {
			d := &wp.r64[m.rows[e]]
			for i := range d {
				if mask>>i&1 != 0 {
					d[i] = v
				}
			}
			continue
		}
		if m.narrow {
			v &= 0xffff
		}
		d := &wp.r32[m.rows[e]]
		if mask == wp.live {
			fill(d, uint32(v))
			continue
		}
		for i := range d {
			if mask>>i&1 != 0 {
				d[i] = uint32(v)
			}
		}
	}
}
