package host

import (
	"errors"
	"fmt"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
	"github.com/heddle-sim/heddle/ptx/parse"
)

// Image describes an array as a texture or surface. Sizes are in texels; a size of 0 means 1.
type Image struct {
	Width, Height, Depth int
	Layers               int   // 0: not layered
	Channels             int   // 1, 2 or 4 elements of the array to a texel
	Pitch                int64 // bytes from row to row; 0: rows follow each other
	Sampler              emulate.Sampler
}

// Texture is an array seen as a texture or a surface. As a kernel argument it is its handle
// (cudaTextureObject_t, cudaSurfaceObject_t). It shows the array itself, not a copy.
type Texture struct {
	c      *Context
	handle uint64
}

// NewTexture makes a texture of an array of i8 to u32, f16 or f32. A width of 0 is the length
// of the array.
func (c *Context) NewTexture(a *Array, d Image) (*Texture, error) {
	if err := a.usable(); err != nil {
		return nil, err
	}
	r := a.b.r
	if r.Data == nil || r.Kind == mem.Host && !r.Registered {
		return nil, fmt.Errorf("texture: %s is %s memory that kernels cannot read", r.Name, r.Kind)
	}
	types := map[DType]parse.Type{
		I8: parse.S8, U8: parse.U8, I16: parse.S16, U16: parse.U16, I32: parse.S32, U32: parse.U32, F16: parse.F16,
		F32: parse.F32,
	}
	t, ok := types[a.t]
	if !ok {
		return nil, fmt.Errorf("texture: %s is no type of a texel", a.t)
	}
	channels := max(d.Channels, 1)
	if d.Width == 0 {
		d.Width = int(a.n) / channels
	}
	i := &emulate.Image{
		Region: r, Offset: a.off, Size: [3]int{d.Width, max(d.Height, 1), max(d.Depth, 1)}, Layers: d.Layers,
		Channels: channels, Type: t, Pitch: d.Pitch, Sampler: d.Sampler,
	}
	handle, err := c.images.Add(i)
	if err != nil {
		return nil, fmt.Errorf("texture: %w", err)
	}
	return &Texture{c, handle}, nil
}

// Handle is the number by which kernels know the texture.
func (t *Texture) Handle() uint64 { return t.handle }

// ForgetTexture makes a handle invalid; false: there is no such handle.
func (d DriverAPI) ForgetTexture(handle uint64) bool { return d.c.images.Remove(handle) }

// Bind waits for the device and makes a .texref or .surfref variable of the module show t.
func (m *Module) Bind(name string, t *Texture) error {
	if t.c != m.c {
		return errors.New("the texture belongs to another application")
	}
	return m.BindHandle(name, t.handle)
}

// BindHandle is Bind for a handle. If the handle is invalid, the kernel that reads the variable reports it.
func (m *Module) BindHandle(name string, handle uint64) error {
	if err := m.c.Finish(); err != nil {
		return err
	}
	return m.inst.BindImage(name, handle)
}
