package emulate

import (
	"unsafe"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// surface decodes suld.b.GEOM{.COP}{.VEC}.DTYPE.CLAMP d, [a, b] and sust.b, whose operands are
// the other way round; x counts bytes.
func (d textures) surface() {
	d.count(2, 2)
	x := &texop{kind: surfLoad}
	data, image := 0, 1
	if d.in.Op == "sust" {
		x.kind, data, image = surfStore, 1, 0
	}
	if !d.take("b") {
		d.unsupported("only the unformatted .b")
	}
	geometry(d, x)
	cache := d.cacheOp()
	m := &memop{n: d.vectorLength(), tex: x}
	t := d.oneType()
	x.beyond = d.oneOf("trap", "clamp", "zero")
	m.elem = uint8(t.Bytes())
	if m.width = m.n * m.elem; m.n > 4 || m.width == 0 || m.width > 16 || x.beyond == "" {
		d.unsupported("")
	}
	coordinates(d, x, d.imageOperand(d.arg(image), x), parse.S32)
	d.vector(d.arg(data), m, t, x.kind == surfStore)
	if x.kind == surfStore {
		imageAccess(d, m, isa.Store)
	} else {
		imageAccess(d, m, isa.Load)
	}
	d.ins.Cache = isa.CacheSurface
	if x.kind == surfLoad && (cache == isa.CacheGlobal || cache == isa.CacheVolatile) {
		d.ins.Cache = isa.CacheSurfaceL2
	}
}

// surfStep executes a surface load or store.
func surfStep(c *cta, wp *warp, m *memop, mask uint32, s *isa.Step) error {
	x := m.tex
	for l := mask; l != 0; l &= l - 1 {
		i := lowest(l)
		b, off, img, err := x.surface(c, wp, m, i)
		if err != nil {
			return err
		}
		s.Addr[i] = img.Region.Base + uint64(off)
		base := unsafe.Pointer(&img.Region.Data[0])
		for e := range int(m.n) {
			at := uint64(off) + uint64(e)*uint64(m.elem)
			if x.kind == surfStore {
				if b == nil {
					continue
				}
				v := uint64(0)
				if m.wide {
					v = c.row64(wp, m.rows[e])[i]
				} else {
					v = uint64(c.row32(wp, m.rows[e])[i])
				}
				surfaceWrite(s, base, at, m.elem, v)
				continue
			}
			v := uint64(0)
			switch {
			case b == nil:
			case s.Stores.Holds(base):
				v = readForwarded(s.Stores, base, at, m.elem, m.signed)
			default:
				v = read(unsafe.Add(base, at), m.elem, m.signed)
			}
			switch {
			case m.skip>>e&1 != 0:
			case m.wide:
				wp.r64[m.rows[e]][i] = v
			default:
				wp.r32[m.rows[e]][i] = uint32(v)
			}
		}
	}
	return nil
}

// surface is the bytes a lane's access touches, nil beyond the edges under .zero, and their
// offset in the region.
func (x *texop) surface(c *cta, wp *warp, m *memop, lane int) (b []byte, off int64, img *Image, err error) {
	if img, _, err = x.find(c, wp, lane); err != nil {
		return nil, 0, nil, err
	}
	w := int64(m.width)
	var at [3]int64
	outside := false
	for k := range x.dims {
		size := int64(img.Size[k])
		at[k] = int64(int32(c.row32(wp, x.coord[k])[lane]))
		last := size - 1
		if k == 0 {
			if at[k]%w != 0 {
				return nil, 0, nil, c.fault(wp, lane, "x = %d bytes, not a multiple of the %d bytes of the access",
					at[k], w)
			}
			last = size*int64(img.texel()) - w
		}
		if at[k] < 0 || at[k] > last {
			outside = true
			at[k] = min(max(at[k], 0), max(last, 0))
		}
	}
	layer := int64(0)
	if x.layered {
		layer = int64(int32(c.row32(wp, x.layer)[lane]))
		if last := int64(max(img.Layers, 1) - 1); layer < 0 || layer > last {
			outside, layer = true, min(max(layer, 0), last)
		}
	}
	if outside && x.beyond == "trap" || int64(img.Size[0]*img.texel()) < w {
		return nil, 0, nil, c.fault(wp, lane, "access of %d bytes at (%d, %d, %d), layer %d of a surface of %v texels "+
			"of %d bytes", w, at[0], at[1], at[2], layer, img.Size, img.texel())
	}
	off = img.Offset + ((layer*int64(img.Size[2])+at[2])*int64(img.Size[1])+at[1])*img.Pitch + at[0]
	if outside && x.beyond == "zero" {
		return nil, off, img, nil
	}
	return img.Region.Data[off:], off, img, nil
}

// surfaceWrite stores an element. Rows of a surface begin anywhere, so it need not be aligned.
func surfaceWrite(s *isa.Step, base unsafe.Pointer, at uint64, size uint8, v uint64) {
	if s.Stores == nil {
		write(unsafe.Add(base, at), size, v)
		return
	}
	var bytes [8]byte
	write(unsafe.Pointer(&bytes), 8, v)
	s.Stores.Write(base, at, bytes[:size])
}
