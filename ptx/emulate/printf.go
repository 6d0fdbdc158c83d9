package emulate

import (
	"encoding/binary"
	"unsafe"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// Device printf. A call of vprintf(format, arguments) leaves a record in a buffer of fixed
// size, in the order in which threads call; the host formats the records when it
// synchronises. A buffer that is full loses its oldest records, as CUDA's does.

// Output is the printf buffer of an application.
type Output struct {
	ring       []byte
	head, used int    // of the records kept
	lost       uint64 // records
}

// NewOutput makes a buffer of n bytes.
func NewOutput(n int) *Output { return &Output{ring: make([]byte, max(n, 64))} }

// Lost is the number of records that later ones have overwritten.
func (o *Output) Lost() uint64 { return o.lost }

// recordHead is the length of a record and of its format in bytes.
const recordHead = 8

// begin makes room for a record of n bytes behind its head.
func (o *Output) begin(n, format int) (at int, ok bool) {
	if n += recordHead; n > len(o.ring) {
		o.lost++
		return 0, false
	}
	for len(o.ring)-o.used < n {
		first := o.word(o.head)
		o.head = (o.head + first) % len(o.ring)
		o.used -= first
		o.lost++
	}
	at = (o.head + o.used) % len(o.ring)
	o.used += n
	at = o.put(at, uint64(n), 4)
	return o.put(at, uint64(format), 4), true
}

func (o *Output) word(at int) int {
	v := 0
	for i := range 4 {
		v |= int(o.ring[(at+i)%len(o.ring)]) << (8 * i)
	}
	return v
}

// put appends n bytes of v.
func (o *Output) put(at int, v uint64, n int) int {
	for range n {
		o.ring[at] = byte(v)
		v >>= 8
		if at++; at == len(o.ring) {
			at = 0
		}
	}
	return at
}

func (o *Output) bytes(at int, b []byte) int {
	for _, c := range b {
		at = o.put(at, uint64(c), 1)
	}
	return at
}

// Flush formats the records and empties the buffer.
func (o *Output) Flush(print func(text string)) {
	for o.used > 0 {
		n, format := o.word(o.head), o.word((o.head+4)%len(o.ring))
		b := make([]byte, n)
		for i := range b {
			b[i] = o.ring[(o.head+i)%len(o.ring)]
		}
		o.head = (o.head + n) % len(o.ring)
		o.used -= n
		b = b[recordHead:]
		print(formatC(string(b[:format]), b[format:]))
	}
}

// maxText bounds a format or a string argument in bytes.
const maxText = 64 << 10

// vprintf executes a call: o.call holds the two arguments and the result.
func vprintf(c *cta, wp *warp, o *op, mask uint32) error {
	for m := mask; m != 0; m &= m - 1 {
		lane := lowest(m)
		format, args := argument(c, wp, o.call.params[0], lane), argument(c, wp, o.call.params[1], lane)
		n, err := printLane(c, wp, lane, format, args)
		if err != nil {
			return err
		}
		result(c, wp, o.call, lane, uint64(uint32(int32(n))))
	}
	return nil
}

// argument is what a lane gives at a call site.
func argument(c *cta, wp *warp, p passed, lane int) uint64 {
	switch {
	case p.in == inRow64:
		return c.row64(wp, p.at)[lane]
	case p.in == inRow32:
		return uint64(c.row32(wp, p.at)[lane])
	}
	var b [8]byte
	at := (int(wp.index)*isa.Lanes+lane)*c.args.stride + int(wp.frame.args+p.at)
	copy(b[:min(p.size, 8)], c.args.data[at:])
	return binary.LittleEndian.Uint64(b[:])
}

// result gives a lane the result of a call, if it wants one.
func result(c *cta, wp *warp, call *callop, lane int, v uint64) {
	if len(call.results) == 0 {
		return
	}
	switch p := call.results[0]; p.in {
	case inRow64:
		wp.r64[p.at][lane] = v
	case inRow32:
		wp.r32[p.at][lane] = uint32(v)
	default:
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], v)
		at := (int(wp.index)*isa.Lanes+lane)*c.args.stride + int(wp.frame.args+p.at)
		copy(c.args.data[at:], b[:min(p.size, 8)])
	}
}

// printLane records the call of one lane and returns the number of arguments.
func printLane(c *cta, wp *warp, lane int, format, args uint64) (n int, err error) {
	if format == 0 {
		return -1, nil
	}
	text, err := stringAt(c, wp, lane, format)
	if err != nil {
		return 0, err
	}
	// Twice over the arguments: first for their number and size, then to copy them.
	size := len(text)
	err = eachArgument(c, wp, lane, text, args, func(_ uint64, str []byte) {
		n, size = n+1, size+8+len(str)
	})
	if err != nil {
		return 0, err
	}
	out := c.g.output
	to, ok := out.begin(size, len(text))
	if !ok {
		return n, nil
	}
	to = out.bytes(to, text)
	return n, eachArgument(c, wp, lane, text, args, func(v uint64, str []byte) {
		to = out.bytes(out.put(to, v, 8), str)
	})
}

// eachArgument visits the arguments a format asks for: their bits, or the length and the
// bytes of a text.
func eachArgument(c *cta, wp *warp, lane int, text []byte, at uint64, visit func(v uint64, str []byte)) error {
	for s := (specs{text: text}); s.next(); {
		for range s.stars {
			v, err := word(c, wp, lane, at, 4)
			if err != nil {
				return err
			}
			visit(v, nil)
			at += 4
		}
		if s.verb == '%' {
			continue
		}
		at = s.align(at)
		v, err := word(c, wp, lane, at, s.width())
		var str []byte
		if err == nil && s.verb == 's' {
			if str = nullText; v != 0 {
				str, err = stringAt(c, wp, lane, v)
			}
			v = uint64(len(str))
		}
		if err != nil {
			return err
		}
		visit(v, str)
		at += s.width()
	}
	return nil
}

// word reads n bytes at a generic address.
func word(c *cta, wp *warp, lane int, at, n uint64) (uint64, error) {
	b, err := bytesAt(c, wp, lane, at, n)
	if err != nil {
		return 0, err
	}
	return read(unsafe.Pointer(&b[0]), uint8(n), false), nil
}

var nullText = []byte("(null)")

// stringAt is the text at a generic address, without the zero that ends it.
func stringAt(c *cta, wp *warp, lane int, at uint64) ([]byte, error) {
	b, err := bytesAt(c, wp, lane, at, 1)
	if err != nil {
		return nil, err
	}
	for i, ch := range b {
		if ch == 0 {
			return b[:i], nil
		}
		if i == maxText {
			break
		}
	}
	return nil, c.fault(wp, lane, "printf: the text at 0x%x does not end", at)
}

// bytesAt is the memory of a lane from a generic address on, which has n bytes at least.
func bytesAt(c *cta, wp *warp, lane int, at, n uint64) ([]byte, error) {
	thread := func(p *perThread, off uint64) []byte {
		t := p.data[(int(wp.index)*isa.Lanes+lane)*p.stride:]
		return t[min(off, uint64(p.stride)):p.stride]
	}
	var b []byte
	switch off := at & (1<<46 - 1); window(at) {
	case isa.Shared:
		b = c.shared[min(off, uint64(len(c.shared))):]
	case isa.Local:
		b = thread(&c.local, off)
	case isa.Param:
		b = thread(&c.args, off-argBase)
	default:
		if r := c.g.space.Find(at); r != nil && (r.Kind != mem.Host || r.Registered) {
			b = r.Data[at-r.Base:]
		}
	}
	if uint64(len(b)) < n {
		return nil, c.fault(wp, lane, "read of %d bytes at 0x%x, which is not allocated: %s", n, at,
			c.g.space.Nearest(at))
	}
	return b, nil
}
