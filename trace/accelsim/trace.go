package accelsim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/isa"
)

const (
	beginBlock = "#BEGIN_TB"
	endBlock   = "#END_TB"
)

// maxLocal is the local memory CUDA gives a thread at most, in bytes.
const maxLocal = 512 << 10

// block is where the store holds a thread block's table: for each warp the offset
// and the length of its records, 8 bytes each.
type block struct {
	cta   int
	table int64
}

// entry is the size of a warp's entry in the table of its block, in bytes.
const entry = 16

// Count is how many warp instructions have an opcode.
type Count struct {
	Op string `json:"opcode"`
	N  uint64 `json:"warp_instructions"`
}

// Trace is one kernel, read and checked.
type Trace struct {
	Header
	File                   string
	WarpInsts, ThreadInsts uint64
	Unknown                []Count // opcodes taken as "other", by name
	Empty                  int     // warps without records: they exit at once
	Code                   *isa.Code
	Static                 int   // distinct instructions executed
	LocalBytes             int   // of local memory a thread touches
	Bytes                  int64 // of the decompressed text
	Records                int64 // bytes of the records

	place  []int32 // PC by instruction number
	what   []uint8 // flags by instruction number
	exit   int32
	local  uint64 // lowest local offset
	blocks []block
	store  *store
	mapper *mapper
}

const ( // what
	hasAddresses = 1 << iota
	isArrive
)

// Read reads a kernel. Errors are *Error where the trace is to blame.
func Read(file string, opt Options) (*Trace, error) {
	return readMapped(file, opt, &mapper{})
}

// readMapped reads a kernel of an application whose addresses go through m.
func readMapped(file string, opt Options, m *mapper) (*Trace, error) {
	s, err := openStream(file)
	if err != nil {
		return nil, err
	}
	t, err := read(s, opt, m)
	if e := s.Close(); err == nil && e != nil {
		err = errors.Join(e, t.Close())
	}
	return t, err
}

// loader is the reading of one kernel.
type loader struct {
	t       *Trace
	s       *stream
	b       builder
	in      inst
	enc     encoder
	at      at
	seen    []bool    // warps of the block that had their turn
	table   []byte    // of the block
	unknown []uint64  // executions by instruction number, of those the table lacks
	local   [2]uint64 // lowest local offset, end of the highest
}

func read(s *stream, opt Options, m *mapper) (*Trace, error) {
	h, begun, err := readHeader(s)
	if err != nil {
		return nil, err
	}
	t := &Trace{Header: h, File: s.file, store: &store{opt: opt.withDefaults()}, mapper: m}
	l := &loader{
		t: t, s: s, b: builder{first: map[uint64]int32{}, other: opt.Other, left: math.MaxUint8},
		local: [2]uint64{^uint64(0), 0},
	}
	l.seen, l.table = make([]bool, h.Warps()), make([]byte, entry*h.Warps())
	if err = l.body(begun); err == nil {
		err = l.finish()
	}
	if err != nil {
		return nil, errors.Join(err, t.store.Close())
	}
	return t, nil
}

// body reads the thread blocks.
func (l *loader) body(begun bool) error {
	for {
		if !begun {
			b, err := l.s.next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if string(b) != beginBlock {
				if b[0] == '#' { // a comment
					continue
				}
				return l.s.bad("%s between thread blocks: want %s%s", quote(b), beginBlock, ungrouped(b))
			}
		}
		begun = false
		if err := l.block(); err != nil {
			return err
		}
	}
}

// ungrouped hints at a file that was not post-processed.
func ungrouped(b []byte) string {
	if b[0] >= '0' && b[0] <= '9' {
		return " (a .trace file: group it by thread blocks with post-traces-processing first)"
	}
	return ""
}

// block reads one thread block, up to its #END_TB.
func (l *loader) block() error {
	t := l.t
	if len(t.blocks) >= t.CTAs() {
		return l.s.bad("a thread block more than the %d of the grid", t.CTAs())
	}
	clear(l.seen)
	clear(l.table)
	key, value, err := l.field()
	if err != nil {
		return err
	}
	if key != "thread block" {
		return l.s.bad("want \"thread block = x,y,z\" after %s", beginBlock)
	}
	if err := l.blockIndex(value); err != nil {
		return err
	}
	for {
		key, value, err = l.field()
		switch {
		case err != nil:
			return err
		case key == endBlock:
			return l.keep()
		case strings.HasPrefix(key, "cluster "): // where the block is in its cluster; clusters are not modelled
			continue
		case key != "warp":
			return l.s.bad("want \"warp = n\" or %s", endBlock)
		}
		if err := l.oneWarp(value); err != nil {
			return err
		}
	}
}

// field reads a line "key = value", or one that begins with # as a key.
func (l *loader) field() (key, value string, err error) {
	b, err := l.s.next()
	if errors.Is(err, io.EOF) {
		return "", "", l.s.bad("the file ends within thread block %d,%d,%d: it is cut off", l.at.block[0],
			l.at.block[1], l.at.block[2])
	}
	if err != nil {
		return "", "", err
	}
	if b[0] == '#' {
		return string(b), "", nil
	}
	k, v, ok := bytes.Cut(b, []byte("="))
	if !ok {
		return "", "", l.s.bad("%s: want \"thread block =\", \"warp =\", \"insts =\" or %s; the count of "+
			"instructions before may be wrong", quote(b), endBlock)
	}
	return string(trim(k)), string(trim(v)), nil
}

func (l *loader) blockIndex(value string) error {
	parts := strings.Split(value, ",")
	if len(parts) != 3 {
		return l.s.bad("thread block = %s: want x,y,z", value)
	}
	for i, p := range parts {
		n, err := number(strings.TrimSpace(p), int(l.t.Grid[i])-1)
		if err != nil {
			return l.s.bad("thread block = %s: %c: %v; the grid has %d", value, 'x'+i, err, l.t.Grid[i])
		}
		l.at.block[i] = uint32(n)
	}
	return nil
}

// oneWarp reads the instructions of a warp.
func (l *loader) oneWarp(value string) error {
	w, err := number(value, len(l.seen)-1)
	if err != nil {
		return l.s.bad("warp = %s: %v; a block of %d threads has %d warps", value, err, l.t.Threads(), len(l.seen))
	}
	if l.seen[w] {
		return l.s.bad("warp %d comes twice in thread block %d,%d,%d", w, l.at.block[0], l.at.block[1], l.at.block[2])
	}
	l.seen[w], l.at.warp = true, w
	key, value, err := l.field()
	if err != nil {
		return err
	}
	n, err := number(value, 1<<40)
	if key != "insts" || err != nil {
		return l.s.bad("want \"insts = n\" after the warp's number")
	}
	l.enc.reset()
	start := l.t.store.size
	l.b.left = min(l.b.left, bound(n))
	for i := range n {
		if err := l.instruction(n - i); err != nil {
			return err
		}
		if len(l.enc.buf) >= spill {
			if err := l.put(l.enc.buf); err != nil {
				return err
			}
			l.enc.buf = l.enc.buf[:0]
		}
	}
	if err := l.put(l.enc.buf); err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(l.table[entry*w:], uint64(start))
	binary.LittleEndian.PutUint64(l.table[entry*w+8:], uint64(l.t.store.size-start))
	return nil
}

func (l *loader) put(b []byte) error {
	if err := l.t.store.write(b); err != nil {
		return l.s.bad("%v", err)
	}
	return nil
}

// bound is a number of instructions as static.left has it; a warp without any executes
// an EXIT.
func bound(n int) uint8 { return uint8(min(max(n, 1), math.MaxUint8)) }

// instruction reads an instruction of a warp that has left ones to come, this one included.
func (l *loader) instruction(left int) error {
	b, err := l.s.next()
	if errors.Is(err, io.EOF) {
		return l.s.bad("the file ends within warp %d of thread block %d,%d,%d: it is cut off", l.at.warp, l.at.block[0],
			l.at.block[1], l.at.block[2])
	}
	if err != nil {
		return err
	}
	if b[0] == '#' || b[0] == 'w' || b[0] == 't' {
		return l.s.bad("%s where an instruction should be: \"insts\" of warp %d promises more than there are", quote(b),
			l.at.warp)
	}
	in, t := &l.in, l.t
	id := int32(-1)
	var bad string
	msg := in.parse(b, &t.Header, l.at, func([]byte) bool {
		if id, bad = l.b.find(in, l.s.line); bad != "" {
			return true
		}
		return l.lacks(id)
	})
	if msg == "" {
		msg = bad
	}
	if msg != "" {
		return l.s.bad("%s", msg)
	}
	d := &l.b.static[id]
	d.left = min(d.left, bound(left))
	space := d.in.Space
	if d.touches && in.mask != 0 {
		if !in.addrs {
			return l.s.bad("%s has no addresses (memory width 0): the tracer did not record them", d.op)
		}
		if space, msg = l.resolve(d); msg != "" {
			return l.s.bad("%s", msg)
		}
	}
	t.WarpInsts++
	t.ThreadInsts += uint64(in.n)
	l.enc.add(id, in.mask, d.touches, space, in.addr[:in.n])
	return nil
}

// lacks counts an execution of an opcode that is not in the table.
func (l *loader) lacks(id int32) bool {
	for len(l.unknown) < len(l.b.static) {
		l.unknown = append(l.unknown, 0)
	}
	if Known(l.b.static[id].op) {
		return false
	}
	l.unknown[id]++
	return true
}

// resolve finds the space of an access and turns its addresses into what Step says:
// simulated virtual addresses, offsets into the CTA's or the thread's window.
func (l *loader) resolve(d *static) (isa.Space, string) {
	in, h := &l.in, &l.t.Header
	addr := in.addr[:in.n]
	space := d.in.Space
	if space == isa.Generic {
		space = isa.Global
		switch a := addr[0]; {
		case h.SharedBase != 0 && a-h.SharedBase < windowSize, d.async && a < windowSize:
			space = isa.Shared
		case h.LocalBase != 0 && a-h.LocalBase < windowSize:
			space = isa.Local
		}
	}
	if d.matrix > 0 { // lanes beyond the rows the matrices have give no address of their own
		for k := 8 * d.matrix; k < len(addr); k++ {
			addr[k] = addr[k-8*d.matrix]
		}
	}
	width := uint64(d.in.Width)
	for k, a := range addr {
		if a%width != 0 {
			return space, fmt.Sprintf("%s of %d bytes at address 0x%x, which is not aligned: the address is damaged, "+
				"or the opcode's width is not known", d.op, width, a)
		}
		switch space {
		case isa.Shared:
			a, ok := offset(a, h.SharedBase)
			if !ok {
				return space, fmt.Sprintf("%s at 0x%x, outside the shared window of 16 MiB at 0x%x", d.op, addr[k],
					h.SharedBase)
			}
			addr[k] = a
		case isa.Local:
			a, ok := offset(a, h.LocalBase)
			if !ok {
				return space, fmt.Sprintf("%s at 0x%x, outside the local window of 16 MiB at 0x%x", d.op, addr[k],
					h.LocalBase)
			}
			addr[k] = a
			l.local[0], l.local[1] = min(l.local[0], a), max(l.local[1], a+width)
			if l.local[1]-l.local[0] > maxLocal {
				return space, fmt.Sprintf("%s at 0x%x: the kernel's local accesses span more than the %d bytes a "+
					"thread can have", d.op, a, maxLocal)
			}
		default:
			if a >= maxAddr {
				return space, fmt.Sprintf("%s at 0x%x: a GPU address has 49 bits", d.op, a)
			}
			v, ok := l.t.mapper.move(a)
			if !ok {
				return space, tooWide(a)
			}
			l.t.mapper.touch(v, width)
			addr[k] = v
		}
	}
	return space, ""
}

// offset is an address within a window, given as an offset or as a generic address.
func offset(a, base uint64) (uint64, bool) {
	if a < windowSize {
		return a, true
	}
	return a - base, base != 0 && a-base < windowSize
}

// keep writes the table of a block.
func (l *loader) keep() error {
	t := l.t
	g := t.Grid
	x, y, z := int(l.at.block[0]), int(l.at.block[1]), int(l.at.block[2])
	t.blocks = append(t.blocks, block{cta: x + int(g[0])*(y+int(g[1])*z), table: t.store.size})
	for w := range l.seen {
		if binary.LittleEndian.Uint64(l.table[entry*w+8:]) == 0 {
			t.Empty++
			l.b.left = 1
		}
	}
	return l.put(l.table)
}

// finish checks that the grid is complete and lays the code out.
func (l *loader) finish() error {
	t := l.t
	t.Bytes = l.s.bytes
	slices.SortStableFunc(t.blocks, func(a, b block) int { return a.cta - b.cta })
	g := t.Grid
	index := func(cta int) string {
		x, y := int(g[0]), int(g[1])
		return fmt.Sprintf("%d,%d,%d", cta%x, cta/x%y, cta/x/y)
	}
	for i, b := range t.blocks {
		if i > 0 && b.cta == t.blocks[i-1].cta {
			return &Error{File: t.File, Msg: fmt.Sprintf("thread block %s comes twice", index(b.cta))}
		}
	}
	if len(t.blocks) != t.CTAs() {
		missing := len(t.blocks)
		for i, b := range t.blocks {
			if b.cta != i {
				missing = i
				break
			}
		}
		return &Error{
			File: t.File, Line: l.s.line,
			Msg: fmt.Sprintf("the file holds %d of the %d thread blocks of its grid, %s is the first that is "+
				"missing: it is cut off, or only a part was traced", len(t.blocks), t.CTAs(), index(missing)),
		}
	}
	if err := t.store.seal(); err != nil {
		return &Error{File: t.File, Msg: err.Error()}
	}
	t.Records = t.store.size
	if l.local[0] < l.local[1] {
		t.local = l.local[0] &^ 15
		t.LocalBytes = int(l.local[1]-t.local+3) &^ 3
	}
	t.Code, t.place, t.exit = l.b.code(&t.Header, t.File)
	t.Static = len(l.b.static)
	t.what = make([]uint8, t.Static)
	for i := range l.b.static {
		if d := &l.b.static[i]; d.touches {
			t.what[i] |= hasAddresses
		} else if d.arrive {
			t.what[i] |= isArrive
		}
	}
	t.Unknown = l.counts()
	return nil
}

// counts sums the executions of unknown opcodes by name.
func (l *loader) counts() (out []Count) {
	for id, n := range l.unknown {
		if n == 0 {
			continue
		}
		op := l.b.static[id].op
		k, ok := slices.BinarySearchFunc(out, op, func(c Count, s string) int { return strings.Compare(c.Op, s) })
		if !ok {
			out = slices.Insert(out, k, Count{Op: op})
		}
		out[k].N += n
	}
	return out
}

// Footprint is the number of bytes of global memory in the 4 KiB pages touched by
// this kernel and, in a Program, those before it.
func (t *Trace) Footprint() int64 { return t.mapper.footprint() }

// Close frees the records. CTAs of the trace must not run any longer.
func (t *Trace) Close() error { return t.store.Close() }
