package emulate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"unsafe"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/parse"
)

func itoa(n int) string { return strconv.Itoa(n) }

// Instance is a module bound to an application's address space: its .global and
// .const variables have addresses and initial values.
type Instance struct {
	module  *Module
	space   *mem.Space
	regions []*mem.Region // by Module.symbols
	mu      sync.Mutex
	consts  map[*Kernel]constants
	output  *Output
	heap    *Heap
	images  *Images
}

// SetHeap sets the heap for malloc in kernels; a module that needs one must have it before a launch.
func (in *Instance) SetHeap(h *Heap) { in.heap = h }

// Allocates reports whether some kernel of the module calls malloc or free.
func (m *Module) Allocates() bool { return m.heap }

// defaultOutput is CUDA's default size of the printf buffer in bytes.
const defaultOutput = 1 << 20

// SetOutput sets the printf buffer, which several instances may share; without it, an instance that prints has its
// own.
func (in *Instance) SetOutput(o *Output) { in.output = o }

// Output is the printf buffer; nil if the module does not print.
func (in *Instance) Output() *Output { return in.output }

// Prints reports whether some kernel of the module calls vprintf.
func (m *Module) Prints() bool { return m.prints }

// Bind allocates and initialises the module's symbols in sp.
func (m *Module) Bind(sp *mem.Space) (*Instance, error) {
	in := &Instance{module: m, space: sp, consts: map[*Kernel]constants{}}
	if m.prints {
		in.output = NewOutput(defaultOutput)
	}
	for _, v := range m.symbols {
		if v.Extern && v.Size == 0 || v.Extern && v.Init == nil {
			return nil, &parse.Error{
				File: m.File, Line: v.Line,
				Msg: fmt.Sprintf("%s is .extern and no module defines it: link the modules before", v.Name),
			}
		}
		r, err := sp.AllocAligned(int64(max(v.Size, 1)), mem.Symbol, v.Name, uint64(max(v.Align, 1)))
		if err != nil {
			return nil, &parse.Error{File: m.File, Line: v.Line, Msg: fmt.Sprintf("%s: %v", v.Name, err)}
		}
		if m.short[v] && r.End() > 1<<32 {
			return nil, &parse.Error{
				File: m.File, Line: v.Line,
				Msg: fmt.Sprintf("%s is at 0x%x, beyond the 32-bit constant addresses this module uses: load the "+
					"module before allocating gigabytes, or compile it without short pointers", v.Name, r.Base),
			}
		}
		r.ReadOnly = v.Space == parse.Const
		in.regions = append(in.regions, r)
	}
	for i, v := range m.symbols {
		for _, x := range v.Init {
			in.initialise(in.regions[i].Data[x.Offset:], v, x)
		}
	}
	return in, nil
}

// initialise stores one initial value.
func (in *Instance) initialise(data []byte, v *parse.Var, x parse.Init) {
	bits := x.Bits
	if x.Sym != "" {
		if in.module.ast.Func(x.Sym) != nil {
			bits += functionAddress(in.module.functionIndex(x.Sym))
		} else {
			bits += in.regions[in.module.symbol[in.module.ast.Var(x.Sym)]].Base
		}
		if x.Mask != 0 {
			bits &= x.Mask
			for m := x.Mask; m&1 == 0; m >>= 1 {
				bits >>= 1
			}
		}
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], bits)
	copy(data, b[:v.Type.Bytes()])
}

func functionAddress(i int) uint64 { return functionBase + 16*uint64(i+1) }

// Symbol finds a .global or .const variable by name.
func (in *Instance) Symbol(name string) (*mem.Region, error) {
	var names []string
	for i, v := range in.module.symbols {
		if v.Name == name {
			return in.regions[i], nil
		}
		names = append(names, v.Name)
	}
	return nil, fmt.Errorf("%s: no symbol %s: the module has %v", in.module.File, name, names)
}

// Launch is a kernel launch: dimensions, parameter bytes laid out as Kernel.Params
// says, and bytes of dynamic shared memory.
type Launch struct {
	Grid, Block   [3]uint32
	Params        []byte
	SharedDynamic int
	// Workspace is the address of the zeroed bytes through which the blocks of a cooperative
	// launch meet (WorkspaceBytes of them); 0: the launch is not cooperative.
	Workspace uint64
	// ReadOnly marks the loads of data that the kernel, as it is launched, does not write (isa.CacheReadOnly), as
	// NUBA's compiler does.
	ReadOnly bool
	// Unroll executes loops with several turns as one where NVIDIA's assembler makes them so (ptxas.Unroll). Results
	// are the same.
	Unroll bool
}

// WorkspaceBytes is the size of the workspace of a cooperative launch.
const WorkspaceBytes = 64

// maxShared is the shared memory a block may have on any GPU (sm_90: 227 KiB); the
// machine checks its own, smaller limit.
const maxShared = 227 << 10

// grid implements isa.Grid.
type grid struct {
	kernel *Kernel
	prog   *program
	code   *isa.Code
	space  *mem.Space
	launch Launch
	params []byte
	geo    isa.Geometry
	consts constants
	shared int
	output *Output
	heap   *Heap
	images *Images
	mu     sync.Mutex
	free   []*cta
	built  int   // CTAs there is state for
	rows32 []v32 // the rest of a piece, for the next
	rows64 []v64
}

// Grid checks a launch and makes it ready to run.
func (in *Instance) Grid(k *Kernel, l Launch) (isa.Grid, error) {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("launch of %s: %s", k.Name, fmt.Sprintf(format, args...))
	}
	if k.module != in.module {
		return nil, bad("the kernel belongs to another module (%s, not %s)", k.module.File, in.module.File)
	}
	limits := [3]uint32{1<<31 - 1, 65535, 65535}
	blocks := [3]uint32{1024, 1024, 64}
	ctas, threads := uint64(1), uint64(1)
	for i, axis := range []string{"x", "y", "z"} {
		if l.Grid[i] == 0 || l.Grid[i] > limits[i] {
			return nil, bad("grid %s is %d, it must be 1 to %d", axis, l.Grid[i], limits[i])
		}
		if l.Block[i] == 0 || l.Block[i] > blocks[i] {
			return nil, bad("block %s is %d, it must be 1 to %d", axis, l.Block[i], blocks[i])
		}
		ctas *= uint64(l.Grid[i])
		threads *= uint64(l.Block[i])
		if k.ReqNTid && int(l.Block[i]) != k.MaxNTid[i] {
			return nil, bad("block %v, the kernel requires %v (.reqntid)", l.Block, k.MaxNTid)
		}
	}
	if threads > uint64(k.MaxThreads) {
		return nil, bad("%d threads per block, the kernel allows %d", threads, k.MaxThreads)
	}
	if ctas > 1<<31-1 {
		return nil, bad("%d blocks, the limit is %d", ctas, 1<<31-1)
	}
	if len(l.Params) != k.ParamBytes {
		return nil, bad("%d bytes of parameters, the kernel takes %d (%s)", len(l.Params), k.ParamBytes,
			describe(k.Params))
	}
	if l.SharedDynamic < 0 {
		return nil, bad("%d bytes of dynamic shared memory", l.SharedDynamic)
	}
	shared := k.sharedWith(l.SharedDynamic)
	if shared > maxShared {
		return nil, bad("%d bytes of shared memory (%d of them static), no GPU gives a block more than %d", shared,
			k.SharedBytes, maxShared)
	}
	if l.Unroll {
		k = k.unrolled.of(k)
	}
	if err := in.ready(k); err != nil {
		return nil, bad("%v", err)
	}
	g := &grid{
		kernel: k, prog: k.prog, code: k.codeOf(in.space, &l), space: in.space, launch: l, shared: shared,
		consts: in.constants(k), output: in.output, heap: in.heap, images: in.images,
	}
	g.params = append([]byte(nil), l.Params...)
	g.geo = isa.Geometry{
		GridDim: l.Grid, BlockDim: l.Block, CTAs: int(ctas), Threads: int(threads),
		Warps: int(threads+isa.Lanes-1) / isa.Lanes, Regs: k.Regs, SharedBytes: shared, LocalBytes: k.LocalBytes,
	}
	return g, nil
}

// sharedWith is the shared memory of a block in bytes, with a dynamic part.
func (k *Kernel) sharedWith(dynamic int) int {
	if dynamic == 0 {
		return k.SharedBytes
	}
	a := max(k.prog.align, 16)
	return (k.SharedBytes+a-1)&^(a-1) + dynamic
}

// ready checks that the instance has what k needs.
func (in *Instance) ready(k *Kernel) error {
	if in.module.heap && in.heap == nil {
		return errors.New("the module allocates memory and has no heap")
	}
	if in.module.short32() && k.short {
		return fitsShort(in.module.File, in.space)
	}
	return nil
}

func describe(ps []Param) string {
	s := ""
	for i, p := range ps {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%s %s at %d", p.Type, p.Name, p.Offset)
	}
	return s
}

// constants gives the constant rows of k with symbol addresses filled in.
func (in *Instance) constants(k *Kernel) constants {
	if len(k.prog.fixups) == 0 {
		return constants{k.prog.k32, k.prog.k64}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if rows, ok := in.consts[k]; ok {
		return rows
	}
	rows := constants{append([]v32(nil), k.prog.k32...), append([]v64(nil), k.prog.k64...)}
	for _, f := range k.prog.fixups {
		a := in.regions[f.symbol].Base + f.addend
		for i := range isa.Lanes {
			if f.short {
				rows.k32[f.row][i] = uint32(a)
			} else {
				rows.k64[f.row][i] = a
			}
		}
	}
	in.consts[k] = rows
	return rows
}

// constants are the constant rows of a kernel in an instance.
type constants struct {
	k32 []v32
	k64 []v64
}

// Code implements isa.Grid.
func (g *grid) Code() *isa.Code { return g.code }

// Geometry implements isa.Grid.
func (g *grid) Geometry() isa.Geometry { return g.geo }

// Start implements isa.Grid.
func (g *grid) Start(index int, at isa.Place) isa.CTA {
	g.mu.Lock()
	var c *cta
	if n := len(g.free); n > 0 {
		c = g.free[n-1]
		g.free = g.free[:n-1]
	}
	g.mu.Unlock()
	if c == nil {
		c = g.build()
	}
	c.start(index, at)
	return c
}

func (g *grid) recycle(c *cta) {
	g.mu.Lock()
	g.free = append(g.free, c)
	g.mu.Unlock()
}

// build allocates the state of a CTA: all rows of all warps in one piece.
func (g *grid) build() *cta {
	p := g.prog
	n32, n64, np := 0, 0, 0
	local, args := 0, 0
	for i := range p.funcs { // room for one activation of everything; calls grow it
		f := &p.funcs[i]
		n32, n64, np = n32+int(f.n32), n64+int(f.n64), np+int(f.np)
		local, args = local+int(f.local), args+int(f.args)
	}
	w := g.geo.Warps
	c := &cta{
		g: g, ops: p.ops, k32: g.consts.k32, k64: g.consts.k64, warps: make([]warp, w),
		shared: make([]byte, g.shared), cache: make([]*mem.Region, p.slots),
	}
	c.local.resize(min(local, maxStack), w*isa.Lanes)
	c.args.resize(min(args, maxStack), w*isa.Lanes)
	if g.kernel.module.stack {
		c.stackAt = make([]uint32, w*isa.Lanes)
	}
	g.mu.Lock()
	left := max(1, g.geo.CTAs-g.built)
	r32, r64, rp := cut(&g.rows32, w*n32, left), cut(&g.rows64, w*n64, left), make([]uint32, w*np)
	g.built++
	g.mu.Unlock()
	for i := range c.warps {
		c.warps[i].all32 = r32[i*n32 : (i+1)*n32 : (i+1)*n32]
		c.warps[i].all64 = r64[i*n64 : (i+1)*n64 : (i+1)*n64]
		c.warps[i].allp = rp[i*np : (i+1)*np : (i+1)*np]
		c.warps[i].nodes = make([]node, 0, 8)
	}
	return c
}

// pieceBytes is the size of the pieces from which rows are cut: several large pages. The rows of
// 80 SMs are 20 to 40 MB that every stride of the machine goes through, far more than the
// computer finds the addresses of in small pages at once.
const pieceBytes = 8 << 20

// cut takes the n rows of a CTA from a piece, of which there is a new one for the next of up to
// left CTAs where it is used up.
func cut[row v32 | v64](piece *[]row, n, left int) []row {
	if n > len(*piece) {
		var r row
		size := int(unsafe.Sizeof(r))
		*piece = make([]row, n*min(left, max(1, pieceBytes/(n*size))))
		mem.LargePages(unsafe.Pointer(&(*piece)[0]), uintptr(len(*piece)*size))
	}
	rows := (*piece)[:n:n]
	*piece = (*piece)[n:]
	return rows
}
