package torture

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// texCase is an image, how it is sampled, and 32 coordinates.
type texCase struct {
	img   emulate.Image
	coord [32][4]float64 // layer, x, y, z
	ints  bool           // integer coordinates
	geom  string
	dims  int
}

// texels fills an image with random values of its type and returns a function that reads them
// as numbers by the definition of the type.
func texels(r *rand.Rand, i *emulate.Image) func(layer, z, y, x, c int) float64 {
	d := i.Region.Data
	size := i.Type.Bytes()
	for k := 0; k+size <= len(d); k += size {
		switch i.Type {
		case parse.F32:
			binary.LittleEndian.PutUint32(d[k:], math.Float32bits(float32(r.IntN(4096)-2048)/16))
		case parse.F16:
			binary.LittleEndian.PutUint16(d[k:], exactHalf(float64(r.IntN(256)-128)/8))
		default:
			for b := range size {
				d[k+b] = byte(r.Uint32())
			}
		}
	}
	return func(layer, z, y, x, c int) float64 {
		at := ((layer*i.Size[2]+z)*i.Size[1]+y)*int(i.Pitch) + (x*i.Channels+c)*size
		b := d[i.Offset+int64(at):]
		switch i.Type {
		case parse.F32:
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		case parse.F16:
			return fromHalf(binary.LittleEndian.Uint16(b))
		case parse.U8:
			return float64(b[0])
		case parse.S8:
			return float64(int8(b[0]))
		case parse.U16:
			return float64(binary.LittleEndian.Uint16(b))
		case parse.S16:
			return float64(int16(binary.LittleEndian.Uint16(b)))
		case parse.U32:
			return float64(binary.LittleEndian.Uint32(b))
		}
		return float64(int32(binary.LittleEndian.Uint32(b)))
	}
}

// beyond is the texel an index stands for, -1 for the border: the image continued for ever.
func beyond(mode emulate.AddressMode, normalized bool, i, n int) int {
	if i >= 0 && i < n {
		return i
	}
	switch {
	case mode == emulate.Border:
		return -1
	case mode == emulate.Wrap && normalized:
		for i < 0 {
			i += n
		}
		return i % n
	case mode == emulate.Mirror && normalized:
		line := make([]int, 0, 2*n)
		for k := range n {
			line = append(line, k)
		}
		for k := range n {
			line = append(line, n-1-k)
		}
		for i < 0 {
			i += 2 * n
		}
		return line[i%(2*n)]
	case i < 0:
		return 0
	}
	return n - 1
}

// want is the value of channel c at a coordinate, by the formulas of the CUDA C++ Programming
// Guide ("Texture Fetching"), with weights of 8 bits.
func (t *texCase) want(value func(layer, z, y, x, c int) float64, k, c int) float64 {
	i := &t.img
	if c >= i.Channels {
		return map[bool]float64{true: 1}[c == 3]
	}
	layer := int(min(max(t.coord[k][0], 0), float64(max(i.Layers, 1)-1)))
	var at [3][2]int
	var weight [3][2]float64
	for a := range 3 {
		weight[a] = [2]float64{1, 0}
		if a >= t.dims {
			continue
		}
		x := t.coord[k][1+a]
		if i.Sampler.Normalized && !t.ints {
			x *= float64(i.Size[a])
		}
		mode := i.Sampler.Address[a]
		if t.ints && t.dims == 1 {
			mode = emulate.Border
		}
		first, alpha := math.Floor(x), 0.0
		if i.Sampler.Linear && !t.ints {
			first = math.Floor(x - 0.5)
			if alpha = math.Round((x-0.5-first)*256) / 256; alpha == 1 {
				first, alpha = first+1, 0
			}
		}
		weight[a] = [2]float64{1 - alpha, alpha}
		at[a][0] = beyond(mode, i.Sampler.Normalized, int(first), i.Size[a])
		at[a][1] = beyond(mode, i.Sampler.Normalized, int(first)+1, i.Size[a])
	}
	sum := 0.0
	for n := range 8 {
		x, y, z := n&1, n>>1&1, n>>2
		w := weight[0][x] * weight[1][y] * weight[2][z]
		if w == 0 || at[0][x] < 0 || at[1][y] < 0 || at[2][z] < 0 {
			continue
		}
		v := value(layer, at[2][z], at[1][y], at[0][x], c)
		if i.Sampler.Unit {
			top := map[parse.Type]float64{parse.U8: 255, parse.S8: 127, parse.U16: 65535, parse.S16: 32767}[i.Type]
			v = max(v/top, -1)
		}
		sum += w * v
	}
	return sum
}

// run samples the image in a kernel: by object, or by a .texref variable.
func (t *texCase) run(tt *testing.T, sp *mem.Space, byName bool) [32][4]uint32 {
	tt.Helper()
	float := t.img.Type == parse.F32 || t.img.Type == parse.F16 || t.img.Sampler.Unit
	dtype, ctype := "s32", "f32"
	if float {
		dtype = "f32"
	} else if !t.img.Type.Signed() {
		dtype = "u32"
	}
	if t.ints {
		ctype = "s32"
	}
	axes := []string{"%x", "%y", "%z", "%z"}[:t.dims]
	if t.dims == 3 {
		axes = append(axes, "%z")
	}
	if t.geom[0] == 'a' {
		axes = append([]string{"%l"}, axes[:min(t.dims, 3)]...)
		if len(axes) == 3 {
			axes = append(axes, "%x")
		}
	}
	object := "%h"
	if byName {
		object = "image"
	}
	src := legalHead + ".global .texref image;\n.visible .entry k(.param .u64 h, .param .u64 c, .param .u64 o)\n{\n" +
		"\t.reg .b64 %h, %c, %o, %w;\n\t.reg .b32 %t, %l, %x, %y, %z, %d<4>;\n\tld.param.u64 %h, [h];\n" +
		"\tld.param.u64 %c, [c];\n\tld.param.u64 %o, [o];\n\tmov.u32 %t, %tid.x;\n\tmul.wide.u32 %w, %t, 16;\n" +
		"\tadd.u64 %c, %c, %w;\n\tadd.u64 %o, %o, %w;\n\tld.global.v4.b32 {%l, %x, %y, %z}, [%c];\n" +
		fmt.Sprintf("\ttex.%s.v4.%s.%s {%%d0, %%d1, %%d2, %%d3}, [%s, {%s}];\n", t.geom, dtype, ctype, object,
			strings.Join(axes, ", ")) +
		"\tst.global.v4.b32 [%o], {%d0, %d1, %d2, %d3};\n\tret;\n}\n"
	m, err := emulate.Load("tex.ptx", []byte(src))
	must(err)
	in, err := m.Bind(sp)
	must(err)
	images := &emulate.Images{}
	in.SetImages(images)
	h, err := images.Add(&t.img)
	if err != nil {
		tt.Fatal(err)
	}
	if byName {
		must(in.BindImage("image", h))
	}
	c, err := sp.Alloc(512, mem.Device, "coordinates")
	must(err)
	o, err := sp.Alloc(512, mem.Device, "out")
	must(err)
	for k, p := range t.coord {
		binary.LittleEndian.PutUint32(c.Data[16*k:], uint32(int32(p[0])))
		for a, v := range p[1:] {
			bits := math.Float32bits(float32(v))
			if t.ints {
				bits = uint32(int32(v))
			}
			binary.LittleEndian.PutUint32(c.Data[16*k+4+4*a:], bits)
		}
	}
	var params []byte
	for _, v := range []uint64{h, c.Base, o.Base} {
		params = binary.LittleEndian.AppendUint64(params, v)
	}
	g, err := in.Grid(m.Kernels()[0], emulate.Launch{Grid: d1(1), Block: d1(32), Params: params})
	must(err)
	if _, err := emulate.Run(g, limit); err != nil {
		tt.Fatal(err)
	}
	var out [32][4]uint32
	for k := range out {
		for e := range out[k] {
			out[k][e] = binary.LittleEndian.Uint32(o.Data[16*k+4*e:])
		}
	}
	return out
}

// TestTextures: random images, samplers and coordinates, inside and far outside, against the
// formulas.
func TestTextures(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	types := []parse.Type{parse.F32, parse.F16, parse.U8, parse.S8, parse.U16, parse.S16, parse.U32, parse.S32}
	for n := range 600 {
		x := texCase{geom: []string{"1d", "2d", "3d", "a1d", "a2d"}[r.IntN(5)], ints: r.IntN(4) == 0}
		x.dims = int(x.geom[len(x.geom)-2] - '0')
		i := &x.img
		i.Type, i.Channels, i.Size = types[r.IntN(len(types))], []int{1, 2, 4}[r.IntN(3)], [3]int{1, 1, 1}
		for a := range x.dims {
			i.Size[a] = 1 + r.IntN(9)
			i.Sampler.Address[a] = emulate.AddressMode(r.IntN(4))
		}
		if x.geom[0] == 'a' {
			i.Layers = 1 + r.IntN(4)
		}
		s := &i.Sampler
		s.Normalized = r.IntN(2) == 0
		s.Unit = i.Type.Bytes() < 4 && i.Type != parse.F16 && r.IntN(2) == 0
		s.Linear = (i.Type.Float() || s.Unit) && r.IntN(3) > 0
		texel := int64(i.Type.Bytes() * i.Channels)
		i.Pitch = texel * int64(i.Size[0]+r.IntN(3))
		i.Offset = texel * int64(r.IntN(3))
		sp := mem.NewSpace(0)
		var err error
		i.Region, err = sp.Alloc(i.Offset+i.Pitch*int64(i.Size[1]*i.Size[2]*max(i.Layers, 1)), mem.Device, "image")
		must(err)
		value := texels(r, i)
		for k := range x.coord {
			x.coord[k][0] = float64(r.IntN(7) - 1)
			for a := range 3 {
				v := float64(float32(r.Float64()*24 - 8)) // in texels
				if x.ints {
					v = math.Floor(v)
				} else if s.Normalized {
					v = float64(float32(float32(v) / float32(i.Size[a])))
				}
				x.coord[k][1+a] = v
			}
		}
		out := x.run(t, sp, n%2 == 0)
		for k := range out {
			for c := range out[k] {
				want := x.want(value, k, c)
				got := float64(math.Float32frombits(out[k][c]))
				switch {
				case !i.Type.Float() && !s.Unit && i.Type.Signed():
					got = float64(int32(out[k][c]))
				case !i.Type.Float() && !s.Unit:
					got = float64(out[k][c])
				}
				if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) || !s.Linear && !s.Unit && got != want {
					t.Fatalf("%s of %+v at %v, channel %d: %v, want %v", x.geom, *i, x.coord[k], c, got, want)
				}
			}
		}
	}
}

// imageRun runs a kernel k(texture, out) on a 4 x 3 image of u32 texels 100*y + x, or of f32.
func imageRun(t *testing.T, body string, typ parse.Type, words int) ([]uint32, *mem.Region, error) {
	t.Helper()
	src := legalHead + ".global .samplerref smp = {addr_mode_0 = clamp_to_border, addr_mode_1 = clamp_to_border,\n" +
		"filter_mode = nearest};\n.global .surfref srf;\n.tex .u32 old;\n" +
		".visible .entry k(.param .u64 h, .param .u64 out)\n{\n\t.reg .b64 %h, %o, %w, %v;\n" +
		"\t.reg .b32 %t, %a, %b, %c, %d, %x, %y;\n\t.reg .f32 %f, %g;\n\t.reg .pred %p;\n\tld.param.u64 %h, [h];\n" +
		"\tld.param.u64 %o, [out];\n\tmov.u32 %t, %tid.x;\n\tmul.wide.u32 %w, %t, 4;\n\tadd.u64 %o, %o, %w;\n" +
		body + legalStore
	m, err := emulate.Load("img.ptx", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	sp := mem.NewSpace(0)
	in, err := m.Bind(sp)
	must(err)
	img, err := sp.Alloc(4*3*4, mem.Device, "image")
	must(err)
	out, err := sp.Alloc(int64(4*words), mem.Device, "out")
	must(err)
	for y := range 3 {
		for x := range 4 {
			v := uint32(100*y + x)
			if typ == parse.F32 {
				v = math.Float32bits(float32(v))
			}
			binary.LittleEndian.PutUint32(img.Data[16*y+4*x:], v)
		}
	}
	images := &emulate.Images{}
	in.SetImages(images)
	h, err := images.Add(&emulate.Image{Region: img, Size: [3]int{4, 3, 1}, Channels: 1, Type: typ})
	must(err)
	must(in.BindImage("srf", h))
	must(in.BindImage("old", h))
	params := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, h), out.Base)
	g, err := in.Grid(m.Kernels()[0], emulate.Launch{Grid: d1(1), Block: d1(32), Params: params})
	must(err)
	_, err = emulate.Run(g, limit)
	list := make([]uint32, words)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(out.Data[4*i:])
	}
	return list, img, err
}

// TestImages: surfaces, gathers, queries, samplers and the faults of what is not there.
func TestImages(t *testing.T) {
	const xy = "\tand.b32 %x, %t, 3;\n\tshr.u32 %y, %t, 2;\n" // 4 x 8: beyond the 3 rows, too
	inside := func(i int) bool { return i/4 < 3 }
	for _, c := range []struct {
		name, body string
		typ        parse.Type
		want       func(i int) uint32
	}{
		{
			"a surface", xy + "shl.b32 %x, %x, 2;\nsuld.b.2d.b32.zero %a, [%h, {%x, %y}];", parse.U32,
			func(i int) uint32 {
				if !inside(i) {
					return 0
				}
				return uint32(100*(i/4) + i%4)
			},
		},
		{
			"the edge of a surface by name", xy + "shl.b32 %x, %x, 2;\nsuld.b.2d.b32.clamp %a, [srf, {%x, %y}];",
			parse.U32, func(i int) uint32 { return uint32(100*min(i/4, 2) + i%4) },
		},
		{
			"a store", xy + "shl.b32 %x, %x, 2;\nadd.u32 %b, %t, 1000;\nsust.b.2d.b32.zero [srf, {%x, %y}], %b;\n" +
				"sust.b.2d.v2.b16.zero [srf, {0, 2}], {%hx, %hx};\nbar.sync 0;\nsuld.b.2d.b32.zero %a, [%h, {%x, %y}];",
			parse.U32, func(i int) uint32 {
				switch {
				case i == 8:
					return 7<<16 | 7
				case inside(i):
					return uint32(1000 + i)
				}
				return 0
			},
		},
		{
			"queries", "txq.width.b32 %a, [%h];\ntxq.height.b32 %b, [old];\nmad.lo.u32 %a, %b, 10, %a;\n" +
				"suq.width.b32 %b, [srf];\nmad.lo.u32 %a, %b, 100, %a;\nistypep.texref %p, %h;\n" +
				"@%p add.u32 %a, %a, 1000;\nistypep.surfref %p, %o;\n@%p add.u32 %a, %a, 5000;", parse.U32,
			func(int) uint32 { return 1434 },
		},
		{"a sampler", xy + "tex.2d.v4.u32.s32 {%a, _, _, _}, [old, smp, {%x, %y}];", parse.U32, func(i int) uint32 {
			if !inside(i) {
				return 0
			}
			return uint32(100*(i/4) + i%4)
		}},
		{
			"a level", xy + "cvt.rn.f32.u32 %f, %x;\ncvt.rn.f32.u32 %g, %y;\n" +
				"tex.level.2d.v4.u32.f32 {%a, %b, %c, %d}, [old, {%f, %g}], 0f00000000;\nmad.lo.u32 %a, %d, 1000, %a;",
			parse.U32, func(i int) uint32 { return uint32(100*min(i/4, 2) + i%4 + 1000) },
		},
		{"a gather", "tld4.r.2d.v4.u32.f32 {%a, %b, %c, %d}, [%h, {0f40000000, 0f3F800000}];\n" +
			"mad.lo.u32 %a, %b, 1000, %a;\nmad.lo.u32 %a, %c, 1000000, %a;", parse.U32, func(int) uint32 {
			return 101 + 102*1000 + 2*1000000
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := "\t.reg .b16 %hx;\n\tmov.b16 %hx, 7;\n" + c.body
			out, _, err := imageRun(t, body, c.typ, 32)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range out {
				if v != c.want(i) {
					t.Fatalf("thread %d: %d, want %d", i, v, c.want(i))
				}
			}
		})
	}
	for body, want := range map[string]string{
		"suld.b.2d.b32.trap %a, [%h, {16, 0}];":            "access of 4 bytes at",
		"suld.b.2d.b32.zero %a, [%h, {2, 0}];":             "not a multiple",
		"tex.2d.v4.u32.s32 {%a, _, _, _}, [%o, {%t, %t}];": "not the handle",
	} {
		if _, _, err := imageRun(t, body, parse.U32, 32); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// cubeFaces are, of each face, the direction of its middle, of its s axis and of its t axis.
var cubeFaces = [6][3][3]float64{
	{{1, 0, 0}, {0, 0, -1}, {0, -1, 0}},
	{{-1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
	{{0, 1, 0}, {1, 0, 0}, {0, 0, 1}},
	{{0, -1, 0}, {1, 0, 0}, {0, 0, -1}},
	{{0, 0, 1}, {1, 0, 0}, {0, -1, 0}},
	{{0, 0, -1}, {-1, 0, 0}, {0, -1, 0}},
}

// TestCubeMaps: a direction made of a face and a place on it reads what a 2D layer reads there.
func TestCubeMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := range 200 {
		side, cubes := 1+r.IntN(9), 1+r.IntN(3)
		flat := texCase{geom: "a2d", dims: 2}
		cube := texCase{geom: "acube", dims: 3}
		if cubes == 1 {
			cube.geom = "cube"
		}
		i := &flat.img
		i.Type = []parse.Type{parse.F32, parse.U8, parse.S32}[r.IntN(3)]
		i.Channels, i.Size, i.Layers = []int{1, 2, 4}[r.IntN(3)], [3]int{side, side, 1}, 6*cubes
		i.Sampler.Normalized = true
		i.Sampler.Linear = i.Type == parse.F32 && r.IntN(2) == 0
		i.Pitch = int64(i.Type.Bytes() * i.Channels * side)
		sp := mem.NewSpace(0)
		var err error
		i.Region, err = sp.Alloc(i.Pitch*int64(side*i.Layers), mem.Device, "image")
		must(err)
		texels(r, i)
		cube.img = *i
		// What the sampler of a cube map says of coordinates is of no meaning.
		cube.img.Sampler.Normalized = n%2 == 0
		cube.img.Sampler.Address = [3]emulate.AddressMode{emulate.Border, emulate.Wrap, emulate.Mirror}
		for k := range flat.coord {
			face, index, scale := r.IntN(6), r.IntN(cubes), math.Exp2(float64(r.IntN(9)-4))
			u := [2]float64{}
			for a := range u { // places that floats of 24 bits hold, the edges of the face apart
				u[a] = float64(1+r.IntN(2047)) / 2048
			}
			flat.coord[k] = [4]float64{float64(6*index + face), u[0], u[1], 0}
			cube.coord[k][0] = float64(index)
			for a := range 3 {
				f := &cubeFaces[face]
				cube.coord[k][1+a] = scale * (f[0][a] + (2*u[0]-1)*f[1][a] + (2*u[1]-1)*f[2][a])
			}
		}
		want, got := flat.run(t, sp, false), cube.run(t, sp, n%3 == 0)
		for k := range got {
			if got[k] != want[k] {
				t.Fatalf("%s of %+v to %v: %x, a layer %x at %v", cube.geom, cube.img, cube.coord[k], got[k], want[k],
					flat.coord[k])
			}
		}
	}
}

// TestNoCubeMap: what is no cube map faults.
func TestNoCubeMap(t *testing.T) {
	_, _, err := imageRun(t, "tex.cube.v4.u32.f32 {%a, _, _, _}, [%h, {%f, %f, %f, %f}];", parse.U32, 32)
	if err == nil || !strings.Contains(err.Error(), "is no cube map: that has six square layers") {
		t.Error(err)
	}
}
