package emulate

import (
	"math"
	"unsafe"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// Warp-wide matrix operations: mma.sync, ldmatrix, and cp.async which feeds them.

// tile is an mma shape: D (16 x 8) = A (16 x k) * B (k x 8) + C. The lanes hold
// fragments; place tells where element i of a lane's fragment belongs.
type tile struct {
	k      int
	a, b   fragment
	elem   parse.Type // of A and B
	second parse.Type // of B when it differs in sign (integers)
	acc    parse.Type // of C and D
}

// fragment is the part of a matrix one lane holds: per register, perReg elements.
type fragment struct {
	regs, perReg int
	place        func(lane, i int) (row, col int)
}

// mmaTile looks a shape up. The layouts are those of the PTX ISA, section "Matrix
// Fragments for mma".
func mmaTile(shape string, t parse.Type) (tile, bool) {
	half := t == parse.F16 || t == parse.BF16
	byt := t == parse.S8 || t == parse.U8
	switch {
	case shape == "m16n8k8" && half:
		return packedTile(8, 2), true
	case shape == "m16n8k16" && half:
		return packedTile(16, 2), true
	case shape == "m16n8k16" && byt:
		return packedTile(16, 4), true
	case shape == "m16n8k32" && byt:
		return packedTile(32, 4), true
	case (shape == "m16n8k4" || shape == "m16n8k8") && t == parse.TF32:
		k := int(shape[len(shape)-1] - '0')
		return tile{
			k: k,
			a: fragment{k / 2, 1, func(l, i int) (int, int) { return l/4 + i%2*8, l%4 + i/2*4 }},
			b: fragment{k / 4, 1, func(l, i int) (int, int) { return l%4 + i*4, l / 4 }},
		}, true
	}
	return tile{}, false
}

// packedTile is the layout of shapes whose registers hold n elements: a register
// pair covers rows g and g+8, further pairs the next 4n columns.
func packedTile(k, n int) tile {
	return tile{
		k: k,
		a: fragment{2 * k / (4 * n), n, func(l, i int) (int, int) {
			return l/4 + i/n%2*8, l%4*n + i%n + i/(2*n)*4*n
		}},
		b: fragment{k / (4 * n), n, func(l, i int) (int, int) {
			return l%4*n + i%n + i/n*4*n, l / 4
		}},
	}
}

// accPlace is the layout of C and D.
func accPlace(l, i int) (row, col int) { return l/4 + i/2*8, l%4*2 + i%2 }

// mmaop is a decoded mma.
type mmaop struct {
	tile
	ra, rb, rc, rd [8]int32
	sat            bool
}

// matrices decodes instructions that multiply matrices, and that load them into registers.
type matrices struct{ accesses }

// mma decodes mma.sync.aligned.SHAPE.row.col{.satfinite}.D.A.B.C.
func (d matrices) mma() {
	d.count(4, 4)
	if !d.take("sync") || !d.take("aligned") || !d.take("row") || !d.take("col") || len(d.typ) != 4 {
		d.unsupported("")
	}
	sat := d.take("satfinite")
	shape := d.oneOf("m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32")
	td, ta, tb, tc := d.typ[0], d.typ[1], d.typ[2], d.typ[3]
	x, ok := mmaTile(shape, ta)
	integer := ta == parse.S8 || ta == parse.U8
	if !ok || td != tc || !integer && (ta != tb || sat) || integer && (td != parse.S32 || tb != parse.S8 &&
		tb != parse.U8) ||
		!integer && td != parse.F32 && (td != parse.F16 || ta != parse.F16) {
		d.unsupported("")
	}
	x.elem, x.second, x.acc = ta, tb, td
	n := 4
	if td == parse.F16 {
		n = 2
	}
	m := &mmaop{tile: x, sat: sat}
	m.rd = d.registers(0, n)
	m.ra, m.rb, m.rc = d.registers(1, x.a.regs), d.registers(2, x.b.regs), d.registers(3, n)
	d.o.shape = shX
	d.o.flags |= fSync
	d.o.e = d.constant32(^uint32(0))
	d.ins.Unit, d.ins.Timing = isa.TENSOR, matrixTiming(ta, 16*8*x.k)
	d.o.fx = func(c *cta, wp *warp, _ *op, mask uint32) error { return c.multiply(wp, m, mask) }
}

// registers decodes a vector of n 32-bit registers.
func (d matrices) registers(arg, n int) (rows [8]int32) {
	list := []parse.Operand{*d.arg(arg)}
	if list[0].Kind == parse.KVec {
		list = list[0].List
	}
	if len(list) != n {
		d.fail("operand %d is a vector of %d registers, this form takes %d", arg+1, len(list), n)
	}
	for i := range list {
		if list[i].Kind != parse.KReg {
			d.fail("operand %d does not consist of registers", arg+1)
		}
		d.size(list[i].Var, 4)
		rows[i] = d.rows[list[i].Var.ID]
	}
	return rows
}

// multiply executes mma. All lanes take part; products are exact in f64 and summed
// there in order of k, with one rounding to the accumulator's type at the end (the
// ISA asks for at least single precision and leaves order and rounding open).
func (c *cta) multiply(wp *warp, m *mmaop, mask uint32) error {
	if mask != wp.live || mask != ^uint32(0) {
		return c.fault(wp, lowest(mask), "mma needs all 32 lanes of the warp, lanes 0x%08x execute it", mask)
	}
	var a, b [16 * 32]float64 // a by rows, b by columns
	k := m.k
	for l := range isa.Lanes {
		for i := range m.a.regs * m.a.perReg {
			row, col := m.a.place(l, i)
			a[row*k+col] = element(wp.r32[m.ra[i/m.a.perReg]][l], i%m.a.perReg, m.elem)
		}
		for i := range m.b.regs * m.b.perReg {
			row, col := m.b.place(l, i)
			b[col*k+row] = element(wp.r32[m.rb[i/m.b.perReg]][l], i%m.b.perReg, m.second)
		}
	}
	var out [4]v32
	for l := range isa.Lanes {
		for i := range 4 {
			row, col := accPlace(l, i)
			sum := m.load(wp, l, i)
			for j := range k {
				sum += a[row*k+j] * b[col*k+j]
			}
			m.save(&out, l, i, sum)
		}
	}
	n := 4
	if m.acc == parse.F16 {
		n = 2
	}
	for i := range n {
		wp.r32[m.rd[i]] = out[i]
	}
	return nil
}

// element is element i of a fragment register as a number.
func element(v uint32, i int, t parse.Type) float64 {
	switch t {
	case parse.TF32:
		return float64(math.Float32frombits(v &^ (1<<13 - 1)))
	case parse.F32:
		return float64(math.Float32frombits(v))
	case parse.S32:
		return float64(int32(v))
	case parse.S8:
		return float64(int8(v >> (8 * i)))
	case parse.U8:
		return float64(uint8(v >> (8 * i)))
	}
	h := uint64(v>>(16*i)) & 0xffff
	return math.Float64frombits(convertFloat(formatOf(t), &fmt64, h, rn))
}

// load is element i of lane l's part of C.
func (m *mmaop) load(wp *warp, l, i int) float64 {
	switch m.acc {
	case parse.F32:
		return float64(math.Float32frombits(wp.r32[m.rc[i]][l]))
	case parse.S32:
		return float64(int32(wp.r32[m.rc[i]][l]))
	}
	return element(wp.r32[m.rc[i/2]][l], i%2, parse.F16)
}

func (m *mmaop) save(out *[4]v32, l, i int, v float64) {
	switch m.acc {
	case parse.F32:
		out[i][l] = math.Float32bits(c32(float32(v)))
	case parse.S32: // exact: |v| < 2^53
		if m.sat {
			v = min(max(v, math.MinInt32), math.MaxInt32)
		}
		out[i][l] = uint32(int64(v))
	default:
		out[i/2][l] |= uint32(convertFloat(&fmt64, &fmt16, math.Float64bits(v), rn)) << (16 * (i % 2))
	}
}

// ldmatrix decodes ldmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16: lanes 8i to 8i+7
// give the row addresses of matrix i.
func (d matrices) ldmatrix(t parse.Type) {
	d.count(2, 2)
	if !d.take("sync") || !d.take("aligned") || !d.take("m8n8") || t != parse.B16 || len(d.typ) != 1 {
		d.unsupported("")
	}
	m := &memop{n: 1, elem: 16, width: 16}
	m.space = d.space()
	count := map[string]int{"x1": 1, "x2": 2, "x4": 4}[d.oneOf("x1", "x2", "x4")]
	if count == 0 || m.space != isa.Shared && m.space != isa.Generic {
		d.unsupported("")
	}
	if d.take("trans") {
		m.signed = true // read by columns
	}
	d.location(d.arg(1), m)
	m.rows = d.registers(0, count)
	m.n = uint8(count)
	d.o.shape, d.o.mem = shMatrix, m
	d.o.flags |= fSync
	d.o.e = d.constant32(^uint32(0))
	d.ins.Kind, d.ins.Unit, d.ins.Space, d.ins.Width = isa.Load, isa.LDST, m.space, 16
}

// loadMatrix executes ldmatrix.
func (c *cta) loadMatrix(wp *warp, m *memop, mask uint32, s *isa.Step) error {
	if mask != ^uint32(0) {
		return c.fault(wp, lowest(mask), "ldmatrix needs all 32 lanes of the warp, lanes 0x%08x execute it", mask)
	}
	c.addresses(wp, m, s)
	for i := 8 * int(m.n); i < isa.Lanes; i++ {
		s.Addr[i] = s.Addr[i%(8*int(m.n))] // their own are not used
	}
	s.Space = m.space
	if m.space == isa.Generic {
		space, _ := c.resolve(wp, mask, s)
		if space != isa.Shared || wp.left != 0 {
			return c.fault(wp, 0, "ldmatrix reads shared memory only")
		}
		s.Space = space
	}
	base, _, err := c.locate(wp, m, isa.Shared, mask, s, false)
	if err != nil {
		return err
	}
	half := func(matrix, row, col int) uint32 {
		return uint32(*(*uint16)(unsafe.Add(base, c.off[8*matrix+row]+2*uint64(col))))
	}
	for i := range int(m.n) {
		d := &wp.r32[m.rows[i]]
		for l := range d {
			r, k := l/4, l%4*2
			if m.signed {
				d[l] = half(i, k, r) | half(i, k+1, r)<<16
			} else {
				d[l] = half(i, r, k) | half(i, r, k+1)<<16
			}
		}
	}
	return nil
}

// copies decodes asynchronous copies.
type copies struct{ accesses }

// async decodes cp.async. The bytes move when the instruction issues; the machine
// accounts for the time.
func (d copies) async() {
	if !d.take("async") {
		d.unsupported("")
	}
	d.ins.Unit = isa.LDST
	switch {
	case d.take("commit_group"):
		d.count(0, 0)
		d.ins.Kind, d.ins.Unit = isa.Commit, isa.INT
		return
	case d.take("wait_all"):
		d.count(0, 0)
		d.ins.Kind, d.ins.Unit, d.ins.Groups = isa.Await, isa.INT, isa.Groups{Open: true}
		return
	case d.take("wait_group"):
		d.count(1, 1)
		if d.arg(0).Kind != parse.KInt {
			d.fail("the number of groups is a literal")
		}
		d.ins.Kind, d.ins.Unit = isa.Await, isa.INT
		d.ins.Groups.Spare = uint8(min(d.arg(0).Bits, math.MaxUint8))
		return
	}
	d.policy(3)
	d.count(3, 4)
	level := d.oneOf("ca", "cg")
	d.take("shared::cta")
	if level == "" || !d.take("shared") && !d.in.Has("shared::cta") || !d.take("global") {
		d.unsupported("")
	}
	d.hints()
	size := d.arg(2)
	if size.Kind != parse.KInt || size.Bits != 4 && size.Bits != 8 && size.Bits != 16 || level == "cg" &&
		size.Bits != 16 {
		d.fail("the copy size is 4, 8 or 16 bytes (16 with .cg)")
	}
	to := &memop{space: isa.Shared, n: 1, width: uint8(size.Bits)}
	from := &memop{space: isa.Global, n: 1, width: uint8(size.Bits)}
	d.location(d.arg(0), to)
	d.location(d.arg(1), from)
	d.o.shape, d.o.mem, d.o.other = shAsync, from, to
	d.o.b = d.constant32(uint32(size.Bits))
	d.o.c = falsePred
	if len(d.in.Args) == 4 { // fewer bytes are read, or none where a predicate is true; the rest is zero
		d.asyncLess(d.arg(3), size.Bits)
	}
	d.ins.Kind, d.ins.Space, d.ins.Width = isa.AsyncCopy, isa.Global, uint8(size.Bits)
	d.ins.Cache = isa.CacheAll
	if level == "cg" {
		d.ins.Cache = isa.CacheGlobal
	}
}

// asyncLess decodes the operand by which cp.async reads fewer than n bytes: their number, or a predicate.
func (d copies) asyncLess(o *parse.Operand, n uint64) {
	if o.Kind == parse.KReg && o.Var.Type == parse.Pred {
		var neg bool
		if d.o.c, neg = d.predOf(o); neg {
			d.o.flags |= fNotC
		}
		return
	}
	if o.Kind == parse.KInt && o.Bits > n {
		d.fail("%d source bytes are more than the copy size, %d", o.Bits, n)
	}
	d.o.b = d.src32(o, parse.U32)
}

// asyncCopy executes cp.async lane by lane. Step describes the global side.
func (c *cta) asyncCopy(wp *warp, o *op, mask uint32, s *isa.Step) error {
	c.addresses(wp, o.other, s)
	to, _, err := c.locate(wp, o.other, isa.Shared, mask, s, true)
	if err != nil {
		return err
	}
	at := c.off
	c.addresses(wp, o.mem, s)
	s.Space = isa.Global
	n := c.row32(wp, o.b)
	reads := mask &^ combining(wp, o) // lanes that read nothing need no valid address
	for l := reads; l != 0; l &= l - 1 {
		if i := lowest(l); n[i] == 0 {
			reads &^= 1 << i
		}
	}
	if reads == 0 {
		s.Mask = 0
	}
	for l := mask &^ reads; reads != 0 && l != 0; l &= l - 1 {
		s.Addr[lowest(l)] = s.Addr[lowest(reads)] // they make no request
	}
	for rest := mask; rest != 0; {
		read := rest & reads
		var from unsafe.Pointer
		next := uint32(0)
		if read != 0 {
			if from, next, err = c.locate(wp, o.mem, isa.Global, read, s, false); err != nil {
				return err
			}
		}
		for l := rest &^ next; l != 0; l &= l - 1 {
			i := lowest(l)
			w := int(o.mem.width)
			have := min(int(n[i]), w) * int(reads>>i&1)
			d := unsafe.Slice((*byte)(unsafe.Add(to, at[i])), w)
			if have > 0 {
				copy(d[:have], unsafe.Slice((*byte)(unsafe.Add(from, c.off[i])), have))
				if s.Stores.Holds(from) {
					s.Stores.Forward(from, c.off[i], d[:have])
				}
			}
			clear(d[have:])
		}
		rest = next
	}
	return nil
}
