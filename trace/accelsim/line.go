package accelsim

import (
	"fmt"
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
)

const (
	maxRegs    = 8       // destinations, and sources, of one instruction (the tracer records 1 and 5)
	noReg      = 0xffff  // RZ and URZ: always zero, no instruction waits for them
	uniform    = 256     // UR0 among the register names
	windowSize = 1 << 24 // bytes of the generic windows of shared and local memory
	maxAddr    = 1 << 49 // virtual addresses of a GPU
)

// inst is one instruction line.
type inst struct {
	source int // source line (LineInfo)
	pc     uint64
	mask   uint32
	ndst   int
	nsrc   int
	reg    [2 * maxRegs]uint16 // destinations, then sources
	op     []byte              // a part of the line
	addrs  bool                // the line has addresses
	n      int                 // lanes in mask
	addr   [isa.Lanes]uint64   // of the active lanes, lowest first
}

// scanner takes a line apart; after the first problem it only answers zeros.
type scanner struct {
	b   []byte
	msg string
}

func (s *scanner) fail(format string, args ...any) {
	if s.msg == "" {
		s.msg = fmt.Sprintf(format, args...)
	}
}

func (s *scanner) more() bool {
	for len(s.b) > 0 && blank(s.b[0]) {
		s.b = s.b[1:]
	}
	return len(s.b) > 0
}

// word is the next word; what names it in the message when there is none.
func (s *scanner) word(what string) []byte {
	if !s.more() {
		s.fail("the line ends before %s", what)
		return nil
	}
	i := 0
	for i < len(s.b) && !blank(s.b[i]) {
		i++
	}
	w := s.b[:i]
	s.b = s.b[i:]
	return w
}

func (s *scanner) hex(what string) uint64 {
	w := s.word(what)
	d := w
	if len(d) > 2 && d[0] == '0' && d[1]|0x20 == 'x' {
		d = d[2:]
	}
	var v uint64
	for _, c := range d {
		n := c - '0'
		if n > 9 {
			n = (c | 0x20) - 'a' // the letters, in either case
			if n > 5 {
				d = nil
				break
			}
			n += 10
		}
		if v>>60 != 0 {
			d = nil
			break
		}
		v = v<<4 | uint64(n)
	}
	if len(d) == 0 {
		s.fail("%s is %q: want a hexadecimal number of at most 64 bits", what, w)
		return 0
	}
	return v
}

func (s *scanner) dec(what string) int64 {
	w := s.word(what)
	d, neg := w, false
	if len(d) > 1 && d[0] == '-' {
		d, neg = d[1:], true
	}
	var v int64
	for _, c := range d {
		if c < '0' || c > '9' || v > (1<<63-1-9)/10 {
			s.fail("%s is %q: want a decimal number", what, w)
			return 0
		}
		v = v*10 + int64(c-'0')
	}
	if neg {
		return -v
	}
	return v
}

func (s *scanner) count(what string, most int64) int {
	n := s.dec(what)
	if n < 0 || n > most {
		s.fail("%s is %d: want 0 to %d", what, n, most)
		return 0
	}
	return int(n)
}

// register reads R0 to R254 and UR0 to UR62; R255 and UR63 are zero.
func (s *scanner) register(what string) uint16 {
	w := s.word(what)
	d, base, zero := w, uint16(0), uint16(255)
	if len(d) > 0 && d[0] == 'U' {
		d, base, zero = d[1:], uniform, 63
	}
	n, ok := uint16(0), len(d) > 1 && d[0] == 'R' && len(d) <= 4
	if ok {
		for _, c := range d[1:] {
			ok = ok && c >= '0' && c <= '9'
			n = n*10 + uint16(c-'0')
		}
	}
	switch {
	case !ok || n > zero:
		if s.msg == "" {
			s.fail("%s is %q: want a register, R0 to R255", what, w)
		}
		return noReg
	case n == zero:
		return noReg
	}
	return base + n
}

// at is the block and warp a line belongs to.
type at struct {
	block [3]uint32
	warp  int
}

// parse reads an instruction line; msg says what is wrong with it. skip says, once the opcode is known, whether the
// fields after the sources are left unread.
func (i *inst) parse(b []byte, h *Header, where at, skip func(op []byte) bool) (msg string) {
	s := scanner{b: b}
	if h.Version < 3 {
		x, y, z := s.dec("the block's x"), s.dec("the block's y"), s.dec("the block's z")
		w := s.dec("the warp")
		if want := where.block; s.msg == "" && (x != int64(want[0]) || y != int64(want[1]) || z != int64(want[2]) ||
			w != int64(where.warp)) {
			s.fail("the line belongs to block %d,%d,%d warp %d, among lines of block %d,%d,%d "+
				"warp %d", x, y, z, w, want[0],
				want[1], want[2], where.warp)
		}
	}
	i.source = 0
	if h.LineInfo {
		i.source = s.count("the source line", 1<<31-1)
	}
	i.pc = s.hex("the PC")
	mask := s.hex("the mask")
	if mask>>32 != 0 {
		s.fail("the mask is %x: want 32 bits", mask)
	}
	i.mask = uint32(mask)
	i.n = bits.OnesCount32(i.mask)
	i.ndst = s.count("the number of destinations", maxRegs)
	for k := range i.ndst {
		i.reg[k] = s.register("a destination")
	}
	i.op = s.word("the opcode")
	i.nsrc = s.count("the number of sources", maxRegs)
	for k := range i.nsrc {
		i.reg[i.ndst+k] = s.register("a source")
	}
	i.addrs = false
	if s.msg != "" || skip(i.op) {
		return s.msg
	}
	if width := s.count("the memory width", 1<<10); width > 0 && s.msg == "" {
		i.addresses(&s)
	}
	if s.more() { // an immediate; its value is of no interest
		s.immediate()
	}
	if s.msg == "" && s.more() {
		s.fail("%s follows the end of the instruction", quote(s.b))
	}
	return s.msg
}

// immediate reads a number of any sign and base.
func (s *scanner) immediate() {
	w := s.word("the immediate")
	for k, c := range w {
		digit := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' || c|0x20 == 'x' || c == '-' && k == 0
		if !digit {
			s.fail("%q follows the addresses: want one immediate number at most", w)
			return
		}
	}
}

// addresses reads the mode and the addresses of the active lanes.
func (i *inst) addresses(s *scanner) {
	i.addrs = true
	switch mode := s.dec("the address mode"); {
	case s.msg != "":
	case mode == 0:
		for k := range i.n {
			i.addr[k] = s.hex("an address")
		}
	case mode == 1:
		base, stride := s.hex("the base address"), s.dec("the stride")
		for k := range i.n {
			i.addr[k] = base + uint64(stride)*uint64(k)
		}
		if m := i.mask; m != 0 && s.msg == "" {
			if m >>= bits.TrailingZeros32(m); m&(m+1) != 0 {
				s.fail("address mode 1 (base and stride) with the mask %08x, whose lanes are not contiguous", i.mask)
			}
		}
	case mode == 2:
		a := s.hex("the base address")
		for k := range i.n {
			if k > 0 {
				a += uint64(s.dec("an address difference"))
			}
			i.addr[k] = a
		}
	default:
		s.fail("address mode %d: want 0 (list), 1 (base and stride) or 2 (base and differences)", mode)
	}
}
