package host

import (
	"errors"
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// Module is a loaded PTX module with its variables in the application's memory.
type Module struct {
	c    *Context
	src  []emulate.Source
	mod  *emulate.Module
	inst *emulate.Instance
	ast  *parse.Module // for the element types of symbols; nil until one is asked for
}

// Kernel is an entry function of a module.
type Kernel struct {
	*emulate.Kernel
	m *Module
}

// LoadModule parses PTX, allocates its variables and initialises them. file is the
// name used in messages.
func (c *Context) LoadModule(file string, src []byte) (*Module, error) {
	return c.LinkModules([]emulate.Source{{File: file, Text: src}})
}

// LinkModules is LoadModule of several files, one of which may define what another declares .extern.
func (c *Context) LinkModules(src []emulate.Source) (*Module, error) {
	mod, err := emulate.Link(src)
	if err != nil {
		return nil, err
	}
	var next uint64 // variables lie behind everything allocated before
	if all := c.space.Regions(); len(all) > 0 {
		next = all[len(all)-1].End()
	}
	inst, err := mod.Bind(c.space)
	if err != nil {
		return nil, err
	}
	if err := c.runtime(mod, inst); err != nil {
		return nil, err
	}
	if d, ok := c.dev.(Allocator); ok {
		for _, r := range c.space.Regions() {
			if r.Base < next {
				continue
			}
			if err := d.Allocated(r); err != nil {
				return nil, err
			}
		}
	}
	m := &Module{c: c, src: src, mod: mod, inst: inst}
	if d, ok := c.dev.(Loader); ok {
		var symbols []*mem.Region
		for _, r := range c.space.Regions() {
			if r.Base >= next && r.Kind == mem.Symbol {
				symbols = append(symbols, r)
			}
		}
		if err := d.Loaded(m, symbols); err != nil {
			return nil, err
		}
	}
	c.modules = append(c.modules, m)
	return m, nil
}

// Loader is implemented by devices that execute the text of modules themselves; symbols are the regions of the
// module's variables.
type Loader interface {
	Loaded(m *Module, symbols []*mem.Region) error
}

// Sources is the text of the module's files.
func (m *Module) Sources() []emulate.Source { return m.src }

// Module is the module that the kernel is in.
func (k *Kernel) Module() *Module { return k.m }

// Kernel finds an entry function by name.
func (m *Module) Kernel(name string) (*Kernel, error) {
	k, err := m.mod.Kernel(name)
	if err != nil {
		return nil, err
	}
	return &Kernel{k, m}, nil
}

// Launch is the shape of a kernel launch.
type Launch struct {
	Grid, Block [3]uint32
	Shared      int     // bytes of dynamic shared memory per CTA
	Stream      *Stream // nil: the default stream
	// Cooperative launches let their blocks wait for each other (cudaLaunchCooperativeKernel): all of them must fit
	// on the machine at once.
	Cooperative bool
}

// Launch enqueues a kernel; it does not wait. Arguments follow the kernel's
// parameters: an *Array gives its address, a Scalar its bits, a bare Go number
// takes the parameter's type if it fits, nil is the null pointer, []byte fills a
// parameter passed by value.
func (c *Context) Launch(k *Kernel, l Launch, args ...any) error {
	if k.m.c != c {
		return fmt.Errorf("kernel %s belongs to another application", k.Name)
	}
	params, err := pack(k.Kernel, args)
	if err != nil {
		return err
	}
	if l.Shared < 0 {
		return fmt.Errorf("kernel %s: shared = %d must not be negative", k.Name, l.Shared)
	}
	shape := emulate.Launch{
		Grid: l.Grid, Block: l.Block, Params: params, SharedDynamic: l.Shared, ReadOnly: c.opt.ReadOnly,
		Unroll: c.opt.Unroll,
	}
	if l.Cooperative {
		if shape.Workspace, err = c.workspace(k.Name); err != nil {
			return err
		}
	}
	grid, err := k.m.inst.Grid(k.Kernel, shape)
	if err != nil {
		return err
	}
	if l.Cooperative {
		if err := c.fits(k.Name, grid.Geometry()); err != nil {
			return err
		}
	}
	return c.launch(&Op{Kind: OpLaunch, Name: k.Name, Grid: grid, Kernel: k, Shape: shape}, l.Stream)
}

// Resident is implemented by devices that know how many blocks of a launch fit at once.
type Resident interface {
	Resident(g isa.Geometry) int
}

// fits checks that a cooperative launch is resident as a whole.
func (c *Context) fits(kernel string, g isa.Geometry) error {
	d, ok := c.dev.(Resident)
	if !ok {
		return fmt.Errorf("kernel %s: this device makes no cooperative launches", kernel)
	}
	n := d.Resident(g)
	if p := c.opt.Properties; p.Timeless && p.SMs > 0 { // no machine runs it: as many as the machine would hold
		n = p.blocks(g) * p.SMs
	}
	if g.CTAs > n {
		return fmt.Errorf("kernel %s: a cooperative launch of %d blocks, %d find room at once: use fewer blocks and "+
			"let each do more", kernel, g.CTAs, n)
	}
	return nil
}

// workspace is memory through which the blocks of one cooperative launch meet.
func (c *Context) workspace(kernel string) (uint64, error) {
	r, err := c.space.Alloc(emulate.WorkspaceBytes, mem.Device, "workspace of "+kernel)
	if err != nil {
		return 0, err
	}
	if d, ok := c.dev.(Allocator); ok {
		if err := d.Allocated(r); err != nil {
			return 0, err
		}
	}
	return r.Base, nil
}

func (c *Context) launch(op *Op, s *Stream) error {
	c.flush()
	for len(c.launches) > 0 && c.launches[0].op.Done {
		c.launches = c.launches[1:]
	}
	c.launches = append(c.launches, launched{op, c.where()})
	return c.enqueue(s, op)
}

// pack lays the arguments out as the kernel's parameter block.
func pack(k *emulate.Kernel, args []any) ([]byte, error) {
	if len(args) != len(k.Params) {
		return nil, fmt.Errorf("kernel %s takes %d arguments (%s), got %d", k.Name, len(k.Params), signature(k),
			len(args))
	}
	out := make([]byte, k.ParamBytes)
	for i, p := range k.Params {
		if err := packOne(out[p.Offset:p.Offset+p.Size], p, args[i], k.Addresses()); err != nil {
			return nil, fmt.Errorf("kernel %s, argument %d (%s .%s): %w", k.Name, i+1, p.Name, p.Type, err)
		}
	}
	return out, nil
}

func signature(k *emulate.Kernel) string {
	var s []string
	for _, p := range k.Params {
		s = append(s, "."+p.Type+" "+p.Name)
	}
	return strings.Join(s, ", ")
}

// packOne stores one argument in the bytes of its parameter; addresses is the size in bytes
// of those the kernel works with, which may be smaller than 8.
func packOne(dst []byte, p emulate.Param, arg any, addresses int) error {
	want, known := paramType(p)
	switch v := arg.(type) {
	case []byte:
		if len(v) != p.Size {
			return fmt.Errorf("%d bytes given for a parameter of %d", len(v), p.Size)
		}
		copy(dst, v)
		return nil
	case *Array:
		if err := v.usable(); err != nil {
			return err
		}
		if p.Size != 8 && p.Size != addresses || !known || want.IsFloat() {
			return fmt.Errorf("an array (a 64-bit address) was given")
		}
		if v.Addr()>>(8*p.Size) != 0 {
			return fmt.Errorf("an array at 0x%x was given, which a 32-bit module cannot address", v.Addr())
		}
		want.store(dst, v.Addr())
		return nil
	case *Texture:
		if p.Size != 8 || !known || want.IsFloat() {
			return errors.New("a texture (a 64-bit handle) was given")
		}
		want.store(dst, v.handle)
		return nil
	case nil:
		if p.Size != 8 && p.Size != addresses || !known || want.IsFloat() {
			return errors.New("no value was given (None stands for a null pointer)")
		}
		clear(dst)
		return nil
	}
	if !known {
		return fmt.Errorf("a parameter of %d bytes passed by value takes bytes of that size", p.Size)
	}
	if s, ok := arg.(Scalar); ok {
		// PTX integers carry no sign worth the name (compilers write .u32 for int), and .b types hold anything.
		if s.Type.Size() != p.Size || !strings.HasPrefix(p.Type, "b") && s.Type.IsFloat() != want.IsFloat() {
			return fmt.Errorf("%s was given, which is not of the parameter's type", s)
		}
		s.Type.store(dst, s.Bits)
		return nil
	}
	n, err := toNumber(arg)
	if err != nil {
		return err
	}
	bits, err := encodeParam(n, p, want)
	if err != nil {
		return err
	}
	want.store(dst, bits)
	return nil
}

// encodeParam converts a bare number to the parameter's type. Compilers declare
// signed integers as .u or .b, so a negative number fits these when it fits the
// signed type of the same size. A float given for a .b parameter becomes a float
// of that size.
func encodeParam(n number, p emulate.Param, want DType) (uint64, error) {
	untyped := p.Type[0] == 'b'
	if untyped && n.isFloat && p.Size >= 2 {
		want = map[int]DType{2: F16, 4: F32, 8: F64}[p.Size]
	}
	if n.neg && !want.IsFloat() && !want.signed() {
		want-- // the signed type of the same size
	}
	return n.encode(want)
}

// paramType is the element type for a scalar parameter; known is false for
// aggregates passed by value.
func paramType(p emulate.Param) (t DType, known bool) {
	for t := range DType(NumDTypes) {
		name := t.String()
		if t.Size() == p.Size && (p.Type == strings.Replace(name, "i", "s", 1) || p.Type == name || name[0] == 'u' &&
			p.Type == "b"+name[1:]) {
			return t, true
		}
	}
	return U8, false
}
