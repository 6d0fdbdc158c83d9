package record

import (
	"errors"
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
)

// index is what a recording holds besides the pages: everything that is needed to
// issue the program again, and where the streams are.
type index struct {
	app      string
	pages    []page
	codes    []*isa.Code
	launches []launch
	regions  []region
	ops      []op
}

// page is a compressed piece of the file.
type page struct {
	at         int64 // offset in the file
	size, full int   // bytes compressed and not
	sum        uint32
}

// span is a stretch of a decompressed page.
type span struct{ page, at, size int32 }

// piece is a part of a warp's stream written before its CTA ended.
type piece struct {
	cta, warp int32
	span
}

type launch struct {
	name   string
	code   int32
	geo    isa.Geometry
	ctas   []span
	pieces []piece // by CTA and warp, in order of execution
}

type region struct {
	name                 string
	kind                 mem.Kind
	base                 uint64
	bytes                int64
	registered, readOnly bool
	given                bool // not allocated by the program: the host's own staging buffer
}

// opKind is a call of the host program.
type opKind uint8

const (
	opAlloc    opKind = iota // region a
	opFree                   // region a
	opLaunch                 // launch a
	opCopy                   // n bytes from region b at x to region a at y
	opEvent                  //
	opWaitFor                // the stream waits for enqueued operation a; -1: one that was long done
	opPrefetch               // n bytes of region a at y
	opSync                   // the program waits for enqueued operation a
	opTouch                  // n bytes of region a at y
	opAdvise                 // region a, advice n
	opQoS                    // kernel name, target n (float64 bits)
	opWaited                 // the program has waited for all that it asked for (cudaDeviceSynchronize)
	numOps
)

// op is a call of the host program; which fields mean something depends on the kind.
type op struct {
	kind    opKind
	flag    bool // opPrefetch: to the device; opTouch: a write; opCopy: initial
	stream  int32
	a, b    int32
	x, y, n int64
	name    string
}

// enqueues says that the call puts an operation into a stream; these are numbered.
func (k opKind) enqueues() bool { return k >= opLaunch && k <= opPrefetch }

func (x *index) encode() []byte {
	f := &fields{}
	f.str(x.app)
	f.u(uint64(len(x.pages)))
	for _, p := range x.pages {
		f.u(uint64(p.size))
		f.u(uint64(p.full))
		f.u(uint64(p.sum))
	}
	f.u(uint64(len(x.codes)))
	for _, c := range x.codes {
		encodeCodes(f, c)
	}
	f.u(uint64(len(x.launches)))
	for i := range x.launches {
		encodeLaunch(f, &x.launches[i])
	}
	f.u(uint64(len(x.regions)))
	for _, r := range x.regions {
		f.str(r.name)
		f.u(uint64(r.kind))
		f.u(r.base)
		f.i(r.bytes)
		f.flag(r.registered)
		f.flag(r.readOnly)
		f.flag(r.given)
	}
	f.u(uint64(len(x.ops)))
	for i := range x.ops {
		o := &x.ops[i]
		f.u(uint64(o.kind))
		f.flag(o.flag)
		for _, v := range []int64{int64(o.stream), int64(o.a), int64(o.b), o.x, o.y, o.n} {
			f.i(v)
		}
		f.str(o.name)
	}
	return f.b
}

// encodeCodes writes a kernel's code, and what a GPU's assembler makes of it.
func encodeCodes(f *fields, c *isa.Code) {
	encodeCode(f, c)
	f.flag(c.Machine != nil)
	if c.Machine == nil {
		return
	}
	encodeCode(f, c.Machine)
	src := c.Machine.Source
	for _, n := range src.Upto {
		f.i(int64(n))
	}
	for pc := range src.Enter {
		f.i(int64(src.Enter[pc]))
		f.flag(src.Late != nil && src.Late[pc])
		f.u(uint64(src.Issues[pc]))
	}
}

func encodeCode(f *fields, c *isa.Code) {
	f.str(c.Kernel)
	f.str(c.File)
	f.u(uint64(c.NumRegs))
	f.u(uint64(len(c.Regs)))
	for _, r := range c.Regs {
		f.u(uint64(r))
	}
	f.u(uint64(len(c.Instr)))
	for i := range c.Instr {
		in := &c.Instr[i]
		f.b = append(f.b, byte(in.Kind), byte(in.Unit), byte(in.Timing), byte(in.Space), byte(in.Cache), in.Width,
			in.NDst, in.NReg, byte(in.Scope), byte(in.Change), in.Groups.Spare)
		f.u(uint64(in.Reg))
		f.i(int64(in.Line))
		f.u(uint64(in.Reads))
		f.flag(in.Groups.Open)
		if c.Source != nil {
			f.b = append(f.b, in.Times, in.Marks, in.Back)
		}
	}
	f.u(uint64(c.Loops))
	f.str(string(c.Left))
	f.u(uint64(len(c.Text)))
	for _, s := range c.Text {
		f.str(s)
	}
}

func encodeLaunch(f *fields, l *launch) {
	f.str(l.name)
	f.u(uint64(l.code))
	g := &l.geo
	for i := range 3 {
		f.u(uint64(g.GridDim[i]))
		f.u(uint64(g.BlockDim[i]))
	}
	for _, v := range []int{g.CTAs, g.Threads, g.Warps, g.Regs, g.SharedBytes, g.LocalBytes} {
		f.u(uint64(v))
	}
	f.u(uint64(len(l.ctas)))
	for _, s := range l.ctas {
		encodeSpan(f, s)
	}
	f.u(uint64(len(l.pieces)))
	for _, p := range l.pieces {
		f.u(uint64(p.cta))
		f.u(uint64(p.warp))
		encodeSpan(f, p.span)
	}
}

func encodeSpan(f *fields, s span) {
	f.u(uint64(s.page))
	f.u(uint64(s.at))
	f.u(uint64(s.size))
}

// decodeIndex reads an index; first is the offset of the first page.
func decodeIndex(b []byte, first int64) (*index, error) {
	v := &values{b: b}
	x := &index{app: v.str(), pages: make([]page, v.count())}
	at := first
	for i := range x.pages {
		p := page{at: at, size: v.n(maxPage), full: v.n(maxPage), sum: uint32(v.u(math.MaxUint32))}
		x.pages[i] = p
		at += int64(p.size)
	}
	for range v.count() {
		c, err := decodeCodes(v)
		if err != nil {
			return nil, err
		}
		x.codes = append(x.codes, c)
	}
	for range v.count() {
		if err := x.decodeLaunch(v); err != nil {
			return nil, fmt.Errorf("launch %d: %w", len(x.launches), err)
		}
	}
	for range v.count() {
		r := region{
			name: v.str(), kind: mem.Kind(v.u(uint64(mem.Symbol))), base: v.u(globalLimit), bytes: v.i(),
			registered: v.flag(), readOnly: v.flag(), given: v.flag(),
		}
		if v.err == nil && (r.bytes < 0 || r.bytes == 0 && !r.given || r.bytes > globalLimit) {
			return nil, fmt.Errorf("an allocation of %d bytes", r.bytes)
		}
		x.regions = append(x.regions, r)
	}
	enqueued := 0
	for range v.count() {
		o, err := x.decodeOp(v, enqueued)
		if err != nil {
			return nil, fmt.Errorf("host operation %d: %w", len(x.ops), err)
		}
		if o.kind.enqueues() {
			enqueued++
		}
		x.ops = append(x.ops, o)
	}
	if v.err == nil && len(v.b) > 0 {
		return nil, fmt.Errorf("%d bytes too many in the index", len(v.b))
	}
	return x, v.err
}

func decodeCodes(v *values) (*isa.Code, error) {
	c, err := decodeCode(v, nil)
	if err != nil || !v.flag() {
		return c, errors.Join(err, v.err)
	}
	src := &isa.Source{}
	if c.Machine, err = decodeCode(v, src); err != nil {
		return nil, err
	}
	src.Upto = make([]int32, len(c.Machine.Instr))
	for i := range src.Upto {
		src.Upto[i] = int32(v.i())
	}
	src.Enter, src.Issues = make([]int32, len(c.Instr)), make([]uint16, len(c.Instr))
	for pc := range src.Enter {
		src.Enter[pc] = int32(v.i())
		if v.flag() {
			if src.Late == nil {
				src.Late = make([]bool, len(c.Instr))
			}
			src.Late[pc] = true
		}
		src.Issues[pc] = uint16(v.u(math.MaxUint16))
	}
	if v.err != nil {
		return nil, v.err
	}
	return c, checkSource(c)
}

// decodeCode reads a kernel's code; src: it is what an assembler made, tied to where it came from.
func decodeCode(v *values, src *isa.Source) (*isa.Code, error) {
	c := &isa.Code{Kernel: v.str(), File: v.str(), NumRegs: v.n(1 << 16), Regs: make([]uint16, v.count())}
	for i := range c.Regs {
		c.Regs[i] = uint16(v.u(math.MaxUint16))
	}
	c.Instr = make([]isa.Instr, v.count())
	for i := range c.Instr {
		if len(v.b) < 11 {
			return nil, errIndex
		}
		b := v.b
		v.b = b[11:]
		c.Instr[i] = isa.Instr{
			Kind: isa.Kind(b[0]), Unit: isa.Unit(b[1]), Timing: isa.Timing(b[2]), Space: isa.Space(b[3]),
			Cache: isa.Cache(b[4]),
			Width: b[5], NDst: b[6], NReg: b[7], Reg: uint32(v.u(math.MaxUint32)), Line: int32(v.i()),
			Reads: isa.Reads(v.u(math.MaxUint32)),
			Scope: isa.Scope(b[8]), Change: isa.Change(b[9]), Groups: isa.Groups{Spare: b[10], Open: v.flag()},
		}
		if src != nil && len(v.b) >= 3 {
			in := &c.Instr[i]
			in.Times, in.Marks, in.Back = v.b[0], v.b[1], v.b[2]
			v.b = v.b[3:]
		}
	}
	c.Source = src
	c.Loops = isa.Loops(v.n(int(isa.LoopsUnrolled)))
	if s := v.str(); s != "" {
		c.Left = []uint8(s)
	}
	if n := v.count(); n > 0 {
		c.Text = make([]string, n)
	}
	for i := range c.Text {
		c.Text[i] = v.str()
	}
	if v.err != nil {
		return nil, v.err
	}
	return c, checkCode(c)
}

func (x *index) decodeLaunch(v *values) error {
	l := launch{name: v.str(), code: int32(v.n(len(x.codes) - 1))}
	g := &l.geo
	for i := range 3 {
		g.GridDim[i] = uint32(v.u(math.MaxUint32))
		g.BlockDim[i] = uint32(v.u(math.MaxUint32))
	}
	for _, p := range []*int{&g.CTAs, &g.Threads, &g.Warps, &g.Regs, &g.SharedBytes, &g.LocalBytes} {
		*p = v.n(math.MaxInt32)
	}
	if v.err != nil {
		return v.err
	}
	if len(x.codes) == 0 {
		return errIndex
	}
	if err := checkGeometry(g); err != nil {
		return err
	}
	l.ctas = make([]span, v.count())
	for i := range l.ctas {
		l.ctas[i] = x.decodeSpan(v)
	}
	if v.err == nil && len(l.ctas) != g.CTAs {
		return fmt.Errorf("%d of %d CTAs are in the file", len(l.ctas), g.CTAs)
	}
	l.pieces = make([]piece, v.count())
	for i := range l.pieces {
		p := piece{cta: int32(v.n(g.CTAs - 1)), warp: int32(v.n(g.Warps - 1)), span: x.decodeSpan(v)}
		if i > 0 && before(p, l.pieces[i-1]) {
			return fmt.Errorf("pieces out of order")
		}
		l.pieces[i] = p
	}
	x.launches = append(x.launches, l)
	return v.err
}

// before orders pieces; those of one warp keep the order of execution.
func before(a, b piece) bool { return a.cta < b.cta || a.cta == b.cta && a.warp < b.warp }

func (x *index) decodeSpan(v *values) span {
	p := v.n(len(x.pages) - 1)
	if len(x.pages) == 0 {
		v.fail()
		return span{}
	}
	at := v.n(x.pages[p].full)
	return span{int32(p), int32(at), int32(v.n(x.pages[p].full - at))}
}

func (x *index) decodeOp(v *values, enqueued int) (op, error) {
	o := op{kind: opKind(v.u(uint64(numOps) - 1)), flag: v.flag()}
	var n [6]int64
	for i := range n {
		n[i] = v.i()
	}
	o.x, o.y, o.n, o.name = n[3], n[4], n[5], v.str()
	if v.err != nil {
		return o, v.err
	}
	in := func(k int64, end int) bool { return k >= 0 && k < int64(end) }
	var ok bool
	switch o.kind {
	case opLaunch:
		ok = in(n[1], len(x.launches))
	case opWaitFor:
		ok = n[1] >= -1 && n[1] < int64(enqueued)
	case opSync:
		ok = in(n[1], enqueued)
	case opEvent, opQoS, opWaited:
		ok = true
	case opCopy:
		ok = in(n[2], len(x.regions)) && x.within(n[2], o.x, o.n) && in(n[1], len(x.regions)) &&
			x.within(n[1], o.y, o.n)
	case opPrefetch, opTouch:
		ok = in(n[1], len(x.regions)) && x.within(n[1], o.y, o.n)
	case opAdvise:
		ok = in(n[1], len(x.regions)) && in(o.n, int(host.AccessedByDevice)+1)
	default:
		ok = in(n[1], len(x.regions)) && !x.regions[n[1]].given
	}
	if !ok || !in(n[0], 1<<16) || n[1] > math.MaxInt32 || n[2] > math.MaxInt32 {
		return o, fmt.Errorf("kind %d does not take operands %v", o.kind, n)
	}
	o.stream, o.a, o.b = int32(n[0]), int32(n[1]), int32(n[2])
	return o, nil
}

// within says whether [off, off+n) lies in the region; the host's staging buffer
// has no bounds.
func (x *index) within(r, off, n int64) bool {
	g := &x.regions[r]
	return off >= 0 && n >= 0 && off <= globalLimit && n <= globalLimit && (g.given || off+n <= g.bytes)
}
