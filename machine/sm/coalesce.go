package sm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
)

// access is the part of a warp's memory instruction that falls into one line.
type access struct {
	line    uint64 // virtual before translation, physical after
	at      uint64 // cycle at which its next stage may take it
	op      int32  // index into operations.list
	sectors uint8
	full    uint8 // of a store: sectors it writes completely
	bytes   uint8 // of a store or atomic: bytes it writes; 0: of whole sectors
	state   uint8
}

// The bits of an access's state.
const (
	translated = 1 << iota // line is physical
	reported               // the watcher knows of it
)

// coalescer merges the addresses of a warp into line accesses.
type coalescer struct {
	lineShift, sectorShift uint
	sectors                uint
	apart                  bool // an atomic's sectors are transactions of their own (l1Config.apart)
	n                      int
	seen                   uint64 // a bit per hash of the lines found: most new lines need no search
	acc                    [isa.TextureRows * isa.Lanes]access
	bytes                  [isa.TextureRows * isa.Lanes][2]uint64 // bytes written within a line of at most 128
}

// alone is the only access of an instruction that touches no line.
func (c *coalescer) alone(op int32) []access {
	c.acc[0] = access{op: op}
	return c.acc[:1]
}

// merge adds to acc the lines the lanes of mask touch, in order of first touch (compute capability 7.x: whole warp at
// once, 32-byte sectors). With bytes set, full has the sectors that are written completely. An access that straddles
// two lines (possible only for vectors wider than the alignment rules of PTX allow) would be a fault earlier.
func (c *coalescer) merge(mask uint32, addr *[isa.Lanes]uint64, width uint8, bytes bool) {
	lineMask := uint64(1)<<c.lineShift - 1
	if stride, ok := affine(mask, addr); ok && stride == uint64(width) {
		c.range32(addr[0], uint64(width)*isa.Lanes)
		return
	} else if ok && c.n == 0 && stride > lineMask && -stride > lineMask && c.within(addr[0]|stride, width) {
		c.scatter(addr, width)
		return
	}
	last := -1
	for ; mask != 0; mask &= mask - 1 {
		a := addr[bits.TrailingZeros32(mask)]
		line := a &^ lineMask
		if last < 0 || c.acc[last].line != line {
			last = c.find(line)
		}
		first := (a & lineMask) >> c.sectorShift
		end := ((a&lineMask)+uint64(width)-1)>>c.sectorShift + 1
		c.acc[last].sectors |= uint8(1<<end - 1<<first)
		if bytes {
			c.mark(last, uint(a&lineMask), uint(width))
		}
	}
	if bytes {
		for i := range c.n {
			c.acc[i].full, c.acc[i].bytes = c.fullSectors(i), c.written(i)
		}
	}
}

// affine says whether all 32 lanes are active and their addresses equally spaced. This is by far the most common
// access, and needs no work per lane.
func affine(mask uint32, addr *[isa.Lanes]uint64) (stride uint64, ok bool) {
	if mask != ^uint32(0) {
		return 0, false
	}
	stride = addr[1] - addr[0]
	var diff uint64
	for i := 1; i < isa.Lanes; i++ {
		diff |= (addr[i] - addr[i-1]) ^ stride
	}
	return stride, diff == 0
}

// range32 adds the lines of n consecutive bytes.
func (c *coalescer) range32(from, n uint64) {
	size := uint64(1) << c.lineShift
	end := from + n
	for line := from &^ (size - 1); line < end; line += size {
		lo, hi := max(line, from)-line, min(line+size, end)-line
		first, last := lo>>c.sectorShift, (hi-1)>>c.sectorShift
		a := &c.acc[c.find(line)] // an earlier word of a local access may have found it
		a.sectors |= uint8(2<<last - 1<<first)
		a.bytes += uint8(hi - lo) // neighbouring lanes write no byte twice
		if fullFrom, fullTo := (lo+1<<c.sectorShift-1)>>c.sectorShift, hi>>c.sectorShift; fullTo > fullFrom {
			a.full |= uint8(1<<fullTo - 1<<fullFrom)
		}
	}
}

// within says that accesses of a width at multiples of step stay within a sector and do
// not fill it.
func (c *coalescer) within(step uint64, width uint8) bool {
	w := uint64(width)
	return w&(w-1) == 0 && step&(w-1) == 0 && w < 1<<c.sectorShift
}

// scatter adds a line for every lane: addresses a line or more apart.
func (c *coalescer) scatter(addr *[isa.Lanes]uint64, width uint8) {
	lineMask := uint64(1)<<c.lineShift - 1
	for i, a := range addr {
		c.acc[i] = access{line: a &^ lineMask, sectors: 1 << ((a & lineMask) >> c.sectorShift), bytes: width}
		c.bytes[i] = [2]uint64{}
		c.mark(i, uint(a&lineMask), uint(width))
	}
	c.n, c.seen = isa.Lanes, ^uint64(0)
}

// at is the index of the line among those found, or -1.
func (c *coalescer) at(line uint64) int {
	for i := range c.n {
		if c.acc[i].line == line {
			return i
		}
	}
	return -1
}

func (c *coalescer) find(line uint64) int {
	if c.n == 0 {
		c.seen = 0
	}
	bit := uint64(1) << (line >> c.lineShift * 0x9E3779B97F4A7C15 >> 58)
	if c.seen&bit != 0 {
		if i := c.at(line); i >= 0 {
			return i
		}
	}
	c.seen |= bit
	i := c.n
	c.n++
	c.acc[i] = access{line: line}
	c.bytes[i] = [2]uint64{}
	return i
}

func (c *coalescer) mark(i int, off, width uint) {
	m := uint64(1)<<width - 1
	c.bytes[i][off>>6&1] |= m << (off & 63)
}

// written is the number of bytes that line i found is written.
func (c *coalescer) written(i int) uint8 {
	return uint8(bits.OnesCount64(c.bytes[i][0]) + bits.OnesCount64(c.bytes[i][1]))
}

func (c *coalescer) fullSectors(i int) uint8 {
	var full uint8
	size := uint(1) << c.sectorShift
	if uint(bits.OnesCount64(c.bytes[i][0])+bits.OnesCount64(c.bytes[i][1])) < size {
		return 0
	}
	for s := range c.sectors {
		all := true
		for b := s * size; b < (s+1)*size; b += 32 {
			all = all && uint32(c.bytes[i][b>>6&1]>>(b&63)) == 1<<32-1
		}
		if all {
			full |= 1 << s
		}
	}
	return full
}

// mergeAtomic forms the transactions of an atomic: lanes that hit the same bytes go into separate
// ones, one after the other, as the L2 performs one operation per word and transaction. Each of the
// separate ones has one sector, and those of the highest addresses go first.
func (c *coalescer) mergeAtomic(mask uint32, addr *[isa.Lanes]uint64, width uint8) {
	c.n = 0
	lineMask := uint64(1)<<c.lineShift - 1
	m := uint64(1)<<width - 1
	for ; mask != 0; mask &= mask - 1 {
		a := addr[bits.TrailingZeros32(mask)]
		line, off := a&^lineMask, uint(a&lineMask)
		sector := uint8(1) << (off >> c.sectorShift)
		i := 0
		for i < c.n && (c.acc[i].line != line || c.apart && c.acc[i].sectors != sector ||
			c.bytes[i][off>>6&1]>>(off&63)&m != 0) {
			i++
		}
		if i == c.n {
			c.acc[i] = access{line: line}
			c.bytes[i] = [2]uint64{}
			c.n++
		}
		c.bytes[i][off>>6&1] |= m << (off & 63)
		c.acc[i].sectors |= sector
		c.acc[i].bytes += width
	}
	if c.apart {
		c.descend()
	}
}

// descend sorts the transactions found by address, the highest first.
func (c *coalescer) descend() {
	for i := 1; i < c.n; i++ {
		a := c.acc[i]
		j := i
		for ; j > 0 && (c.acc[j-1].line < a.line || c.acc[j-1].line == a.line && c.acc[j-1].sectors < a.sectors); j-- {
			c.acc[j] = c.acc[j-1]
		}
		c.acc[j] = a
	}
}
