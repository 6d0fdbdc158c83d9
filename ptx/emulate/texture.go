package emulate

import (
	"encoding/binary"
	"math"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// Instructions on textures and surfaces. A texture access is one step of the machine for each
// row of texels it reads, a load of the first texel of the row through the read-only path.

// texKind says what an image instruction does.
type texKind uint8

const (
	texFetch texKind = iota
	texGather
	texQuery
	surfLoad
	surfStore
)

// texop is a decoded one.
type texop struct {
	kind    texKind
	dims    int // 1 to 3: along which a texel has neighbours
	layered bool
	cube    bool
	image   int32 // row of the handle, or of the address of a variable
	sampler *Sampler
	coord   [3]int32 // rows of x, y, z; of a cube map a direction
	layer   int32
	float   bool   // of the coordinates
	comp    int    // tld4
	query   string //
	beyond  string // clamp, zero or trap
}

// imageOperand decodes [image, {coordinates}] or [image, sampler, {coordinates}].
func (d textures) imageOperand(o *parse.Operand, x *texop) (coord []parse.Operand) {
	if (o.Kind != parse.KVec && o.Kind != parse.KAddr) || len(o.List) == 0 || o.Off != 0 || o.Index != nil {
		d.fail("an image and its coordinates are written [image, {x, y}]")
	}
	x.image = imageRow(d, &o.List[0])
	rest := o.List[1:]
	if len(rest) == 2 {
		s := &rest[0]
		if s.Kind != parse.KSym || s.Var.Type != parse.SamplerRef {
			d.unsupported("a sampler that is no .samplerref variable")
		}
		state, err := samplerOf(s.Var)
		if err != nil {
			d.fail("%s: %v", s.Var.Name, err)
		}
		x.sampler = &state
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return nil
	}
	if rest[0].Kind == parse.KVec {
		return rest[0].List
	}
	return rest[:1]
}

// imageRow is the row of a handle: a 64-bit register, or the address of a variable that holds
// one.
func imageRow(d textures, o *parse.Operand) int32 {
	if o.Kind == parse.KSym && o.Var.Type != parse.TexRef && o.Var.Type != parse.SurfRef {
		d.fail("%s is no .texref or .surfref", o.Var.Name)
	}
	if o.Kind == parse.KSym && o.Var.Space == parse.Param {
		d.unsupported("an image that is a parameter: load it into a register first")
	}
	return d.src64(o, parse.B64)
}

// coordinates decodes those of the geometry.
func coordinates(d textures, x *texop, list []parse.Operand, t parse.Type) {
	axes := x.dims
	if x.cube {
		axes = 3
	}
	n := axes
	if x.layered {
		n++
	}
	// Three values are written as four, and code of the first ISA writes four always: those
	// behind the coordinates mean nothing.
	if len(list) != n && (n > 4 || len(list) != 4) {
		d.fail("%d coordinates, this geometry has %d", len(list), n)
	}
	if x.float = t == parse.F32; t != parse.F32 && t != parse.S32 && t != parse.U32 {
		d.unsupported("coordinates of type ." + t.String())
	}
	if x.layered {
		x.layer = d.src32(&list[0], parse.B32)
		list = list[1:]
	}
	if x.cube && !x.float {
		d.fail("a direction into a cube map must be .f32")
	}
	for i := range axes {
		x.coord[i] = d.src32(&list[i], t)
	}
}

// textures decodes them.
type textures struct{ accesses }

func geometry(d textures, x *texop) {
	switch g := d.oneOf("1d", "2d", "3d", "a1d", "a2d", "cube", "acube"); g {
	case "cube", "acube":
		x.dims, x.cube, x.layered = 2, true, g == "acube"
	case "1d", "2d", "3d":
		x.dims = int(g[0] - '0')
	case "a1d", "a2d":
		x.dims, x.layered = int(g[1]-'0'), true
	default:
		d.unsupported("this geometry")
	}
}

// fetch decodes tex{.base|.level|.grad}.GEOM.v4.DTYPE.CTYPE d, [a, c]{, lod or gradients} and
// tld4.COMP.2d.v4.DTYPE.f32 d, [a, c]. Cube maps are for tex alone. Images have their
// base level only, which any level of detail is clamped to.
func (d textures) fetch() {
	x := &texop{}
	n := 2
	if d.in.Op == "tld4" {
		x.kind = texGather
		comp := d.oneOf("r", "g", "b", "a")
		if comp == "" {
			d.unsupported("")
		}
		x.comp = map[string]int{"r": 0, "g": 1, "b": 2, "a": 3}[comp]
	} else {
		switch d.oneOf("base", "level", "grad") {
		case "level":
			n = 3
		case "grad":
			n = 4
		}
	}
	geometry(d, x)
	d.count(n, n)
	if !d.take("v4") || len(d.typ) != 2 || d.typ[0].Bytes() != 4 ||
		x.kind == texGather && (x.dims != 2 || x.cube || d.typ[1] != parse.F32) {
		d.unsupported("")
	}
	coordinates(d, x, d.imageOperand(d.arg(1), x), d.typ[1])
	m := &memop{n: 4, elem: 4, width: 4, tex: x}
	d.vector(d.arg(0), m, d.typ[0], false)
	if m.wide {
		d.fail("texels go to 32-bit registers")
	}
	imageAccess(d, m, isa.Load)
}

// imageAccess finishes an instruction that touches memory.
func imageAccess(d textures, m *memop, k isa.Kind) {
	m.space, m.slot = isa.Global, int32(d.prog.slots)
	d.prog.slots++
	d.o.shape, d.o.mem = shMatrix, m
	d.ins.Kind, d.ins.Unit, d.ins.Timing = k, isa.LDST, isa.TimeOther
	d.ins.Space, d.ins.Width, d.ins.Cache = isa.Global, m.width, isa.CacheTexture
}

// ask decodes txq{.level}.QUERY.b32 d, [a]{, lod} and suq.QUERY.b32 d, [a].
func (d textures) ask() {
	n := 2
	if d.take("level") {
		n = 3
	}
	d.count(n, n)
	x := &texop{kind: texQuery}
	x.query = d.oneOf("width", "height", "depth", "channel_data_type", "channel_order", "array_size",
		"num_mipmap_levels", "num_samples", "normalized_coords", "force_unnormalized_coords", "filter_mode",
		"addr_mode_0", "addr_mode_1", "addr_mode_2")
	if x.query == "" || d.oneType() != parse.B32 {
		d.unsupported("")
	}
	d.imageOperand(d.arg(1), x)
	d.o.d = d.dst(parse.B32)
	d.ins.Unit, d.ins.Timing = isa.INT, isa.TimeOther
	d.o.shape = shX
	d.o.fx = func(c *cta, wp *warp, o *op, mask uint32) error {
		for l := mask; l != 0; l &= l - 1 {
			i := lowest(l)
			img, _, err := x.find(c, wp, i)
			if err != nil {
				return err
			}
			wp.r32[o.d][i] = img.answer(x.query)
		}
		return nil
	}
}

// isType decodes istypep.TYPE p, a.
func isType(d textures) {
	d.count(2, 2)
	t := d.oneType()
	if t != parse.TexRef && t != parse.SurfRef && t != parse.SamplerRef {
		d.unsupported("")
	}
	x := &texop{image: d.src64(d.arg(1), parse.B64)}
	d.o.shape, d.o.d = shX, d.predDst(d.arg(0))
	d.o.fx = func(c *cta, wp *warp, o *op, mask uint32) error {
		for l := mask; l != 0; l &= l - 1 {
			_, _, err := x.find(c, wp, lowest(l))
			wp.p[o.d] &^= 1 << lowest(l)
			if err == nil && t != parse.SamplerRef { // an image is both, a sampler is none
				wp.p[o.d] |= 1 << lowest(l)
			}
		}
		return nil
	}
}

// answer is the value of a query; enumerations are those of OpenCL.
func (i *Image) answer(query string) uint32 {
	switch query {
	case "width":
		return uint32(i.Size[0])
	case "height":
		return uint32(i.Size[1])
	case "depth":
		return uint32(i.Size[2])
	case "array_size":
		return uint32(i.Layers)
	case "num_mipmap_levels", "num_samples":
		return 1
	case "normalized_coords":
		return bit(i.Sampler.Normalized)
	case "force_unnormalized_coords":
		return bit(!i.Sampler.Normalized)
	case "filter_mode":
		return bit(i.Sampler.Linear)
	case "channel_order":
		return map[int]uint32{1: 0x10b0, 2: 0x10b2, 4: 0x10b5}[i.Channels]
	case "channel_data_type":
		return map[parse.Type]uint32{
			parse.S8: 0x10d7, parse.S16: 0x10d8, parse.S32: 0x10d9, parse.U8: 0x10da, parse.U16: 0x10db,
			parse.U32: 0x10dc, parse.F16: 0x10dd, parse.F32: 0x10de,
		}[i.Type]
	}
	return [...]uint32{3, 4, 0, 1}[i.Sampler.Address[query[10]-'0']]
}

// find is the image of a lane, and how it is sampled.
func (x *texop) find(c *cta, wp *warp, lane int) (*Image, *Sampler, error) {
	handle := c.row64(wp, x.image)[lane]
	img := c.g.images.find(handle)
	if img == nil { // the address of a variable that holds one
		if r := c.g.space.Find(handle); r != nil && len(r.Data) == 8 {
			img = c.g.images.find(binary.LittleEndian.Uint64(r.Data))
		}
	}
	if img == nil {
		return nil, nil, c.fault(wp, lane, "0x%x is not the handle of a texture or surface: bind one before the launch",
			handle)
	}
	if x.sampler != nil {
		return img, x.sampler, nil
	}
	return img, &img.Sampler, nil
}

// sample is one lane's access: the texels along each axis and their weights.
type sample struct {
	img    *Image
	first  [3]int64
	weight [3]float64
	mode   *Sampler
	layer  int
	linear bool
	buffer bool // 1D by an integer (tex1Dfetch): zero beyond the ends, whatever the mode
}

// sample prepares the access of a lane.
func (x *texop) sample(c *cta, wp *warp, lane int) (s sample, err error) {
	if s.img, s.mode, err = x.find(c, wp, lane); err != nil {
		return s, err
	}
	if x.layered {
		s.layer = int(min(max(int32(c.row32(wp, x.layer)[lane]), 0), int32(max(s.img.Layers, 1)-1)))
	}
	if x.cube {
		err = x.intoCube(c, wp, lane, &s)
		return s, err
	}
	s.linear = (s.mode.Linear && x.float || x.kind == texGather) && s.img.floats() || x.kind == texGather
	s.buffer = !x.float && x.dims == 1
	for k := range x.dims {
		v := c.row32(wp, x.coord[k])[lane]
		if x.float {
			s.first[k], s.weight[k] = s.mode.taps(float64(math.Float32frombits(v)), s.img.Size[k], s.linear)
		} else {
			s.first[k] = int64(int32(v))
		}
	}
	return s, nil
}

// texel is the bytes of a texel, nil in the border, and its offset in the region.
func (s *sample) texel(dx, dy, dz int) ([]byte, int64) {
	var at [3]int
	inside := true
	for k, d := range [3]int{dx, dy, dz} {
		var ok bool
		mode := s.mode.Address[k]
		if s.buffer {
			mode = Border
		}
		at[k], ok = mode.wrap(s.first[k]+int64(d), s.img.Size[k], s.mode.Normalized)
		inside = inside && ok
	}
	i := s.img
	row := (int64(s.layer)*int64(i.Size[2])+int64(at[2]))*int64(i.Size[1]) + int64(at[1])
	off := i.Offset + row*i.Pitch + int64(at[0])*int64(i.texel())
	if !inside {
		return nil, off
	}
	return i.Region.Data[off:], off
}

// fetch is the four values of a lane.
func (x *texop) fetch(s *sample) (out [4]uint32) {
	if x.kind == texGather { // counter-clockwise from the lower left
		for k, d := range [4][2]int{{0, 1}, {1, 1}, {1, 0}, {0, 0}} {
			if t, _ := s.texel(d[0], d[1], 0); t != nil {
				out[k] = s.img.raw(t, x.comp)
			}
		}
		return out
	}
	if !s.linear {
		t, _ := s.texel(0, 0, 0)
		for k := range out {
			if t != nil || k >= s.img.Channels {
				out[k] = s.img.raw(t, k)
			}
		}
		return out
	}
	for k := range out {
		if k >= s.img.Channels {
			out[k] = s.img.raw(nil, k)
			continue
		}
		sum := 0.0
		for tap := range 1 << x.dims {
			w := 1.0
			var d [3]int
			for a := range x.dims {
				if d[a] = tap >> a & 1; d[a] == 1 {
					w *= s.weight[a]
				} else {
					w *= 1 - s.weight[a]
				}
			}
			if w == 0 {
				continue
			}
			if t, _ := s.texel(d[0], d[1], d[2]); t != nil {
				sum += w * s.img.channel(t, k)
			}
		}
		out[k] = math.Float32bits(c32(float32(sum)))
	}
	return out
}

// texStep executes a texture fetch: a step for each row of texels, the last of which writes
// the registers.
func texStep(c *cta, wp *warp, m *memop, mask uint32, s *isa.Step) (more bool, err error) {
	x := m.tex
	s.Space = isa.Global
	if x.kind >= surfLoad {
		return false, surfStep(c, wp, m, mask, s)
	}
	rows, step := 1, int(wp.step)
	var values [isa.Lanes][4]uint32
	for l := mask; l != 0; l &= l - 1 {
		i := lowest(l)
		a, err := x.sample(c, wp, i)
		if err != nil {
			return false, err
		}
		if a.linear {
			rows = max(rows, 1<<(x.dims-1))
		}
		dy, dz := step&1, step>>1
		if !a.linear {
			dy, dz = 0, 0
		}
		_, off := a.texel(0, dy, dz)
		s.Addr[i] = a.img.Region.Base + uint64(off)&^uint64(m.width-1)
		if step+1 >= rows {
			values[i] = x.fetch(&a)
		}
	}
	if step+1 < rows {
		wp.step++
		return true, nil
	}
	wp.step = 0
	for e := range 4 {
		if m.skip>>e&1 != 0 {
			continue
		}
		for l := mask; l != 0; l &= l - 1 {
			i := lowest(l)
			wp.r32[m.rows[e]][i] = values[i][e]
		}
	}
	return false, nil
}
