package emulate

import (
	"math"
	"unsafe"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// wmma: tiles of a warp as fragments whose layout the ISA leaves to the machine. Here it is
// that of mma.sync with as many of its tiles side by side as the shape needs: lane l is
// thread t = l%4 of group g = l/4, and a register of n elements holds
//
//	A  row g + 8*block, columns n*t ... n*t+n-1 + 4n*block
//	B  rows n*t ... n*t+n-1 + 4n*block, column g + 8*block
//	C  rows g + 8*block, columns 2t and 2t+1 + 8*block (one element per register, f16 two)
//
// The f16 fragments of A and B have eight registers in every shape; where a tile has fewer
// elements they are there twice or four times.

// wmmaTile is one matrix of a shape.
type wmmaTile struct {
	rows, cols int
	part       byte // 'a', 'b', 'c' or 'd'
	typ        parse.Type
	regs       int // of the fragment
	unique     int // registers before they repeat
	perReg     int // elements of a register
	byCol      bool
}

// wmmaShape is m, n and k.
type wmmaShape struct{ m, n, k int }

var wmmaShapes = map[string]wmmaShape{
	"m16n16k16": {16, 16, 16}, "m8n32k16": {8, 32, 16}, "m32n8k16": {32, 8, 16}, "m16n16k8": {16, 16, 8},
}

// tile is the matrix of a part with elements of type t; ok is false for types the part or the
// shape does not have.
func (s wmmaShape) tile(part byte, t parse.Type) (w wmmaTile, ok bool) {
	w = wmmaTile{part: part, typ: t, perReg: 4 / t.Bytes()}
	switch part {
	case 'a':
		w.rows, w.cols = s.m, s.k
	case 'b':
		w.rows, w.cols = s.k, s.n
	default:
		w.rows, w.cols = s.m, s.n
		w.regs = w.rows * w.cols / isa.Lanes / w.perReg
		w.unique = w.regs
		return w, t == parse.F32 || (t == parse.F16 || t == parse.S32) && s.k == 16
	}
	w.unique = w.rows * w.cols / isa.Lanes / w.perReg
	if w.regs = w.unique; t == parse.F16 {
		w.regs = 8
	}
	switch t {
	case parse.F16, parse.BF16, parse.S8, parse.U8:
		return w, s.k == 16
	case parse.TF32:
		return w, s.k == 8
	}
	return w, false
}

// place is the row and column of element e of register r of lane l.
func (w *wmmaTile) place(l, r, e int) (row, col int) {
	g, t := l/4, l%4
	r %= w.unique
	n := w.perReg
	switch w.part {
	case 'a':
		blocks := w.cols / (4 * n) // of columns
		if w.rows == 8 {
			return g, n*t + e + 4*n*r
		}
		return g + 8*(r%2) + 16*(r/(2*blocks)), n*t + e + 4*n*(r/2%blocks)
	case 'b':
		blocks := w.rows / (4 * n)
		return n*t + e + 4*n*(r%blocks), g + 8*(r/blocks)
	}
	i := r*n + e // C: pairs of neighbours
	if w.rows == 8 {
		return g, 2*t + i%2 + 8*(i/2)
	}
	if w.cols == 8 {
		return g + 8*(i/2), 2*t + i%2
	}
	return g + 8*(i/2%2), 2*t + i%2 + 8*(i/4)
}

// stretch is the elements that lie side by side in memory.
func (w *wmmaTile) stretch() int {
	if w.byCol {
		return w.rows
	}
	return w.cols
}

// wmmaAccess is a decoded wmma.load or wmma.store. It moves chunk bytes per lane, in steps of
// at most 16.
type wmmaAccess struct {
	wmmaTile
	frag   []int32
	stride int32 // row of the distance between stretches in elements, unless they are dense
	dense  bool
	store  bool
	chunk  int
}

// maxTile is the size of the largest tile in bytes.
const maxTile = 1024

// fragments decodes wmma.
type fragments struct{ accesses }

func (d fragments) wmma() {
	if !d.take("sync") || !d.take("aligned") {
		d.unsupported("")
	}
	part := d.oneOf("load", "store", "mma")
	s, ok := wmmaShapes[d.oneOf("m16n16k16", "m8n32k16", "m32n8k16", "m16n16k8")]
	if !ok {
		d.unsupported("this shape")
	}
	d.o.flags |= fSync
	d.o.e = d.constant32(^uint32(0))
	switch part {
	case "load":
		d.wmmaMove(s, d.oneOf("a", "b", "c"), false)
	case "store":
		d.wmmaMove(s, d.oneOf("d"), true)
	case "mma":
		d.wmmaMultiply(s)
	default:
		d.unsupported("")
	}
}

// wmmaMove decodes wmma.load.PART.sync.aligned.LAYOUT.SHAPE{.space}.TYPE r, [p]{, stride} and
// wmma.store.d with the first two operands the other way round.
func (d fragments) wmmaMove(s wmmaShape, part string, store bool) {
	d.count(2, 3)
	t := d.oneType()
	if part == "" {
		d.unsupported("")
	}
	tile, ok := s.tile(part[0], t)
	layout := d.oneOf("row", "col")
	if !ok || layout == "" {
		d.unsupported("type ." + t.String() + " in this shape")
	}
	tile.byCol = layout == "col"
	w := &wmmaAccess{wmmaTile: tile, dense: len(d.in.Args) == 2, store: store}
	reg, addr := 0, 1
	if store {
		reg, addr = 1, 0
	}
	w.frag = d.fragment(reg, tile)
	if !w.dense {
		w.stride = d.src32(d.arg(2), parse.U32)
	}
	w.chunk = tile.rows * tile.cols * t.Bytes() / isa.Lanes
	m := &memop{n: 1, elem: uint8(min(w.chunk, 16)), width: uint8(min(w.chunk, 16)), tile: w}
	if m.space = d.space(); m.space != isa.Global && m.space != isa.Shared && m.space != isa.Generic {
		d.unsupported("")
	}
	d.location(d.arg(addr), m)
	d.o.shape, d.o.mem = shMatrix, m
	d.ins.Kind, d.ins.Unit, d.ins.Timing = isa.Load, isa.LDST, isa.TimeOther
	if store {
		d.ins.Kind = isa.Store
	}
	d.ins.Space, d.ins.Width = m.space, m.width
}

// fragment decodes the registers of a tile. Those of f32 may be .f32, the others have 32 bits
// of any type.
func (d fragments) fragment(arg int, w wmmaTile) []int32 {
	o := d.arg(arg)
	list := []parse.Operand{*o}
	if o.Kind == parse.KVec {
		list = o.List
	}
	if len(list) != w.regs {
		d.fail("operand %d has %d registers, the fragment of this tile has %d", arg+1, len(list), w.regs)
	}
	var rows []int32
	for i := range list {
		if list[i].Kind != parse.KReg {
			d.fail("operand %d does not consist of registers", arg+1)
		}
		d.size(list[i].Var, 4)
		rows = append(rows, d.rows[list[i].Var.ID])
	}
	return rows
}

// wmmaMultiply decodes wmma.mma.sync.aligned.ALAYOUT.BLAYOUT.SHAPE.TYPES{.satfinite} d, a, b, c.
// f16 names the types of D and C, the others those of D, A, B and C. The layouts are those the
// fragments were loaded with: they have no meaning here, for a fragment has one layout only.
func (d fragments) wmmaMultiply(s wmmaShape) {
	d.count(4, 4)
	for range 2 {
		if d.oneOf("row", "col") == "" {
			d.unsupported("")
		}
	}
	x := &wmmaop{sat: d.take("satfinite"), k: s.k}
	d.take("rn") // of tf32 and f64 forms
	ta, tb, td, tc := parse.F16, parse.F16, parse.NoType, parse.NoType
	switch len(d.typ) {
	case 2:
		td, tc = d.typ[0], d.typ[1]
	case 4:
		td, ta, tb, tc = d.typ[0], d.typ[1], d.typ[2], d.typ[3]
	default:
		d.unsupported("")
	}
	byt := ta == parse.S8 || ta == parse.U8
	half := len(d.typ) == 2
	switch {
	case byt != (td == parse.S32), byt != (tc == parse.S32), byt != (tb == parse.S8 || tb == parse.U8),
		!byt && ta != tb, !half && td != tc, !half && ta == parse.F16:
		d.unsupported("these types")
	}
	tiles := []*wmmaTile{&x.d, &x.a, &x.b, &x.c}
	rows := []*[]int32{&x.rd, &x.ra, &x.rb, &x.rc}
	for i, t := range []parse.Type{td, ta, tb, tc} {
		var ok bool
		if *tiles[i], ok = s.tile("dabc"[i], t); !ok {
			d.unsupported("these types in this shape")
		}
		*rows[i] = d.fragment(i, *tiles[i])
	}
	d.o.shape = shX
	d.ins.Unit, d.ins.Timing = isa.TENSOR, matrixTiming(ta, x.d.rows*x.d.cols*x.k)
	d.o.fx = func(c *cta, wp *warp, _ *op, mask uint32) error { return x.run(c, wp, mask) }
}

// wmmaop is a decoded wmma.mma.
type wmmaop struct {
	a, b, c, d     wmmaTile
	ra, rb, rc, rd []int32
	k              int
	sat            bool
}

// run multiplies as mma does: products are exact in f64 and summed there in order of k, with
// one rounding to the type of D at the end.
func (x *wmmaop) run(c *cta, wp *warp, mask uint32) error {
	if mask != ^uint32(0) {
		return c.fault(wp, lowest(mask), "wmma needs all 32 lanes of the warp, lanes 0x%08x execute it", mask)
	}
	var a, b [32 * 16]float64 // a by rows, b by columns
	var sum [16 * 16]float64
	x.a.numbers(wp, x.ra, func(row, col int, v float64) { a[row*x.k+col] = v })
	x.b.numbers(wp, x.rb, func(row, col int, v float64) { b[col*x.k+row] = v })
	n := x.d.cols
	x.c.numbers(wp, x.rc, func(row, col int, v float64) { sum[row*n+col] = v })
	for row := range x.d.rows {
		for col := range n {
			s := sum[row*n+col]
			for k, v := range a[row*x.k : (row+1)*x.k] {
				s += v * b[col*x.k+k]
			}
			sum[row*n+col] = s
		}
	}
	for r, at := range x.rd {
		for l := range isa.Lanes {
			v := uint32(0)
			for e := range x.d.perReg {
				row, col := x.d.place(l, r, e)
				v |= x.bits(sum[row*n+col]) << (16 * e)
			}
			wp.r32[at][l] = v
		}
	}
	return nil
}

// numbers visits the elements of a fragment.
func (w *wmmaTile) numbers(wp *warp, rows []int32, visit func(row, col int, v float64)) {
	for r, at := range rows[:w.unique] {
		for l, v := range wp.r32[at] {
			for e := range w.perReg {
				row, col := w.place(l, r, e)
				visit(row, col, element(v, e, w.typ))
			}
		}
	}
}

// bits is an element of D.
func (x *wmmaop) bits(v float64) uint32 {
	switch x.d.typ {
	case parse.S32: // exact: |v| < 2^53
		if x.sat {
			v = min(max(v, math.MinInt32), math.MaxInt32)
		}
		return uint32(int64(v))
	case parse.F16:
		h := uint32(convertFloat(&fmt64, &fmt16, math.Float64bits(v), rn))
		if x.sat && h&0x7fff == 0x7c00 {
			h--
		}
		return h
	}
	f := math.Float32bits(c32(float32(v)))
	if x.sat && f&0x7fffffff == 0x7f800000 {
		f--
	}
	return f
}

// wmmaStep executes a load or store: one step for each 16 bytes that a lane moves. It reports
// whether another follows.
func wmmaStep(c *cta, wp *warp, m *memop, mask uint32, s *isa.Step) (more bool, err error) {
	w := m.tile
	if mask != ^uint32(0) {
		return false, c.fault(wp, lowest(mask), "wmma needs all 32 lanes of the warp, lanes 0x%08x execute it", mask)
	}
	first := int(wp.step) * 16
	if w.store {
		w.gather(wp, &c.tile)
	}
	if s.Space, err = w.chunks(c, wp, m, s, first); err != nil {
		return false, err
	}
	for rest := mask; rest != 0; {
		base, next, err := c.locate(wp, m, s.Space, rest, s, w.store)
		if err != nil {
			return false, err
		}
		for l := rest &^ next; l != 0; l &= l - 1 {
			i := lowest(l)
			memory := unsafe.Slice((*byte)(unsafe.Add(base, c.off[i])), int(m.width))
			part := c.tile[i*w.chunk+first:][:m.width]
			switch {
			case !w.store:
				copy(part, memory)
				if s.Space == isa.Global && s.Stores.Holds(base) {
					s.Stores.Forward(base, c.off[i], part)
				}
			case s.Space == isa.Global && s.Stores != nil:
				s.Stores.Write(base, c.off[i], part)
			default:
				copy(memory, part)
			}
		}
		rest = next
	}
	if first+16 < w.chunk {
		wp.step++
		return true, nil
	}
	wp.step = 0
	if !w.store {
		w.scatter(wp, &c.tile)
	}
	return false, nil
}

// chunks computes where each lane's bytes from first on lie: the tile is cut into 32 equal
// pieces in order of its stretches.
func (w *wmmaAccess) chunks(c *cta, wp *warp, m *memop, s *isa.Step, first int) (isa.Space, error) {
	c.addresses(wp, m, s)
	bytes := w.typ.Bytes()
	line := w.stretch() * bytes
	distance := uint64(line)
	base := s.Addr[0]
	for l := range isa.Lanes {
		if s.Addr[l] != base || !w.dense && c.row32(wp, w.stride)[l] != c.row32(wp, w.stride)[0] {
			return 0, c.fault(wp, l, "wmma: the lanes give different addresses or strides")
		}
	}
	if !w.dense {
		distance = uint64(c.row32(wp, w.stride)[0]) * uint64(bytes)
	}
	for l := range isa.Lanes {
		at := l*w.chunk + first
		s.Addr[l] = base + uint64(at/line)*distance + uint64(at%line)
	}
	space := m.space
	if space == isa.Generic {
		space, _ = c.resolve(wp, ^uint32(0), s)
		if wp.left != 0 || space != isa.Global && space != isa.Shared {
			wp.left = 0
			return 0, c.fault(wp, 0, "wmma reads and writes global and shared memory only")
		}
	}
	return space, nil
}

// at is the offset of an element in the tile's bytes.
func (w *wmmaTile) at(row, col int) int {
	if w.byCol {
		row, col = col, row
	}
	return (row*w.stretch() + col) * w.typ.Bytes()
}

// scatter takes the tile's bytes into the fragment.
func (w *wmmaAccess) scatter(wp *warp, tile *[maxTile]byte) {
	bits := 32 / w.perReg
	for r, reg := range w.frag {
		for l := range isa.Lanes {
			v := uint32(0)
			for e := range w.perReg {
				x := read(unsafe.Pointer(&tile[w.at(w.place(l, r, e))]), uint8(bits/8), false)
				v |= uint32(x) << (bits * e)
			}
			wp.r32[reg][l] = v
		}
	}
}

// gather makes the tile's bytes of the fragment.
func (w *wmmaAccess) gather(wp *warp, tile *[maxTile]byte) {
	bits := 32 / w.perReg
	for r, reg := range w.frag {
		for l, v := range wp.r32[reg] {
			for e := range w.perReg {
				write(unsafe.Pointer(&tile[w.at(w.place(l, r, e))]), uint8(bits/8), uint64(v>>(bits*e)))
			}
		}
	}
}
