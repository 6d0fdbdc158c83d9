package emulate

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// Images are what textures and surfaces show: texels of up to four channels in device memory,
// rows one after the other. Hardware keeps them in an order of its own; here neighbours in y
// and z are a row or a plane apart.

// AddressMode gives the texels beyond the edges of a texture.
type AddressMode uint8

// The address modes. Wrap and Mirror need normalised coordinates; without them they act as
// Clamp, as in CUDA.
const (
	Clamp AddressMode = iota
	Border
	Wrap
	Mirror
)

// AddressModes are their names, as scripts and .samplerref initialisers give them.
var addressModes = map[string]AddressMode{
	"clamp": Clamp, "border": Border, "wrap": Wrap, "mirror": Mirror,
	"clamp_ogl": Clamp, "clamp_to_edge": Clamp, "clamp_to_border": Border,
}

// AddressModeByName finds a mode: clamp, border, wrap or mirror, or as PTX writes them.
func AddressModeByName(name string) (AddressMode, bool) {
	m, ok := addressModes[name]
	return m, ok
}

// Sampler is how a texture is read.
type Sampler struct {
	Address    [3]AddressMode
	Linear     bool // filtering
	Normalized bool // coordinates from 0 to 1
	// Unit turns 8- and 16-bit integers into floats from 0 or -1 to 1
	// (cudaReadModeNormalizedFloat).
	Unit bool
}

// Image is texels in memory, seen through a sampler. A surface has no use for the sampler.
type Image struct {
	Region *mem.Region
	Offset int64 // bytes into the region
	// Size is width, height and depth in texels; a missing dimension has 1. Layers is 0 if the image is not layered.
	Size     [3]int
	Layers   int
	Pitch    int64 // bytes from row to row
	Channels int   // 1, 2 or 4
	Type     parse.Type
	Sampler  Sampler
}

// texel is the size of a texel in bytes.
func (i *Image) texel() int { return i.Channels * i.Type.Bytes() }

// check finds what is wrong with an image and fills in the pitch.
func (i *Image) check() error {
	switch i.Type {
	case parse.U8, parse.S8, parse.U16, parse.S16, parse.U32, parse.S32, parse.F16, parse.F32:
	default:
		return fmt.Errorf("texels of %s: they are i8 to i32, u8 to u32, f16 or f32", i.Type)
	}
	if i.Channels != 1 && i.Channels != 2 && i.Channels != 4 {
		return fmt.Errorf("%d channels: a texel has 1, 2 or 4", i.Channels)
	}
	for k, n := range i.Size {
		if n < 1 || n > 1<<27 {
			return fmt.Errorf("%d texels in %s: from 1 to %d", n, []string{"x", "y", "z"}[k], 1<<27)
		}
	}
	if i.Layers < 0 || i.Layers > 1<<16 {
		return fmt.Errorf("%d layers", i.Layers)
	}
	row := int64(i.Size[0]) * int64(i.texel())
	if i.Pitch == 0 {
		i.Pitch = row
	}
	if i.Pitch < row || i.Pitch%int64(i.texel()) != 0 {
		return fmt.Errorf("a pitch of %d bytes for rows of %d: it is a multiple of the texel's %d bytes and no less",
			i.Pitch, row, i.texel())
	}
	rows := int64(i.Size[1]) * int64(i.Size[2]) * int64(max(i.Layers, 1))
	have := i.Region.Len() - i.Offset
	if rows > have/i.Pitch+1 || (rows-1)*i.Pitch+row > have {
		return fmt.Errorf("%d rows of %d bytes need more than the %d bytes of %s", rows, i.Pitch, have, i.Region.Name)
	}
	if i.Offset%int64(i.texel()) != 0 {
		return fmt.Errorf("an image begins at a multiple of its texels' %d bytes", i.texel())
	}
	float := i.Type == parse.F32 || i.Type == parse.F16
	if i.Sampler.Linear && !float && !i.Sampler.Unit {
		return fmt.Errorf("linear filtering needs floats: f16 or f32 texels, or integers read as normalised floats")
	}
	if i.Sampler.Unit && (float || i.Type.Bytes() > 2) {
		return fmt.Errorf("only integers of 8 and 16 bits are read as normalised floats")
	}
	return nil
}

// Images are the images of an application. Kernels take their handles as cudaTextureObject_t and cudaSurfaceObject_t.
type Images struct{ list []*Image }

// imageHandle is the first handle; no address is as high.
const imageHandle = uint64(0x7e) << 56

// Add checks an image and returns its handle.
func (s *Images) Add(i *Image) (uint64, error) {
	if err := i.check(); err != nil {
		return 0, err
	}
	s.list = append(s.list, i)
	return imageHandle + uint64(len(s.list)-1), nil
}

// Forget makes the handles of images in a region that is about to be freed invalid.
func (s *Images) Forget(r *mem.Region) {
	for n, i := range s.list {
		if i != nil && i.Region == r {
			s.list[n] = nil
		}
	}
}

// Remove makes a handle invalid; false: there is no such handle.
func (s *Images) Remove(handle uint64) bool {
	if s.find(handle) == nil {
		return false
	}
	s.list[handle-imageHandle] = nil
	return true
}

func (s *Images) find(handle uint64) *Image {
	if n := handle - imageHandle; s != nil && n < uint64(len(s.list)) {
		return s.list[n]
	}
	return nil
}

// SetImages gives an instance the images behind handles.
func (in *Instance) SetImages(s *Images) { in.images = s }

// BindImage makes a .texref or .surfref variable show an image; handle 0 none. A sampler that
// the variable's initialiser describes replaces that of the image.
func (in *Instance) BindImage(name string, handle uint64) error {
	for i, v := range in.module.symbols {
		if v.Name != name {
			continue
		}
		if v.Type != parse.TexRef && v.Type != parse.SurfRef {
			return fmt.Errorf("%s is no .texref or .surfref", name)
		}
		binary.LittleEndian.PutUint64(in.regions[i].Data, handle)
		return nil
	}
	return fmt.Errorf("%s: no texture or surface %s", in.module.File, name)
}

// samplerOf is the sampler that an initialiser describes: .samplerref s = {addr_mode_0 = wrap, ...}.
func samplerOf(v *parse.Var) (s Sampler, err error) {
	for _, f := range v.State {
		switch f.Name {
		case "addr_mode_0", "addr_mode_1", "addr_mode_2":
			mode, ok := AddressModeByName(f.Value)
			if !ok {
				return s, fmt.Errorf("%s has no mode %s", f.Name, f.Value)
			}
			s.Address[f.Name[10]-'0'] = mode
		case "filter_mode":
			s.Linear = f.Value == "linear"
		case "normalized_coords":
			s.Normalized = f.Value != "0"
		case "force_unnormalized_coords":
			if f.Value != "0" {
				s.Normalized = false
			}
		}
	}
	return s, nil
}

// channel is one channel of a texel as a float. Channels that are not there are 0, the fourth 1.
func (i *Image) channel(t []byte, c int) float64 {
	if c >= i.Channels {
		return map[bool]float64{true: 1}[c == 3]
	}
	b := t[c*i.Type.Bytes():]
	switch i.Type {
	case parse.F32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case parse.F16:
		return half64(uint32(binary.LittleEndian.Uint16(b)))
	}
	v := i.integer(b)
	top := float64(int64(1)<<(i.Type.Bits()-1) - 1)
	if !i.Type.Signed() {
		return float64(v) / (2*top + 1)
	}
	return max(float64(int32(v))/top, -1)
}

// integer is an integer channel, extended to 32 bits.
func (i *Image) integer(b []byte) uint32 {
	switch i.Type.Bytes() {
	case 1:
		if i.Type.Signed() {
			return uint32(int8(b[0]))
		}
		return uint32(b[0])
	case 2:
		v := binary.LittleEndian.Uint16(b)
		if i.Type.Signed() {
			return uint32(int16(v))
		}
		return uint32(v)
	}
	return binary.LittleEndian.Uint32(b)
}

// floats reports whether texels are read as floats.
func (i *Image) floats() bool { return i.Type == parse.F32 || i.Type == parse.F16 || i.Sampler.Unit }

// raw is one channel as a register gets it without filtering.
func (i *Image) raw(t []byte, c int) uint32 {
	switch {
	case i.floats() && i.Type == parse.F32 && c < i.Channels:
		return binary.LittleEndian.Uint32(t[4*c:]) // NaNs as they are
	case i.floats():
		return math.Float32bits(float32(i.channel(t, c)))
	case c < i.Channels:
		return i.integer(t[c*i.Type.Bytes():])
	case c == 3:
		return 1
	}
	return 0
}

// wrap brings an index into an image of n texels; ok is false for the border.
func (m AddressMode) wrap(i int64, n int, normalized bool) (int, bool) {
	size := int64(n)
	if i >= 0 && i < size {
		return int(i), true
	}
	switch {
	case m == Border:
		return 0, false
	case m == Wrap && normalized:
		return int((i%size + size) % size), true
	case m == Mirror && normalized:
		if i = (i%(2*size) + 2*size) % (2 * size); i >= size {
			i = 2*size - 1 - i
		}
		return int(i), true
	}
	return int(min(max(i, 0), size-1)), true
}

// taps are the two texels along one axis that a coordinate lies between, and the weight of
// the second: CUDA's linear filter has 8 bits of fraction (CUDA C++ Programming Guide, "Linear
// Filtering"). Without filtering the weight is 0.
func (s *Sampler) taps(x float64, n int, linear bool) (first int64, weight float64) {
	if x != x {
		x = 0
	}
	if s.Normalized {
		x *= float64(n)
	}
	const far = 1 << 40
	if x = min(max(x, -far), far); !linear {
		return int64(math.Floor(x)), 0
	}
	fixed := math.Floor((x-0.5)*256 + 0.5) // with the fraction in 8 bits
	first = int64(math.Floor(fixed / 256))
	return first, fixed/256 - float64(first)
}
