package exec

import (
	"github.com/heddle-sim/heddle/cuda/shim"
	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// texelType is the type of one channel by its kind, 0 signed, 1 unsigned or 2 float, and its bytes.
func texelType(kind, bytes uint8) (host.DType, bool) {
	switch [2]uint8{kind, bytes} {
	case [2]uint8{0, 1}:
		return host.I8, true
	case [2]uint8{0, 2}:
		return host.I16, true
	case [2]uint8{0, 4}:
		return host.I32, true
	case [2]uint8{1, 1}:
		return host.U8, true
	case [2]uint8{1, 2}:
		return host.U16, true
	case [2]uint8{1, 4}:
		return host.U32, true
	case [2]uint8{2, 2}:
		return host.F16, true
	case [2]uint8{2, 4}:
		return host.F32, true
	}
	return 0, false
}

// image makes a texture or a surface of texels from v[0] on, with rows v[1] bytes apart (0: one after the other): v[2]
// is their width, v[3] height, v[4] depth and, in its upper half, layers. v[5] is the kind of a channel, its bytes and
// the number of channels, one byte each. v[6] says how it is read: an address mode in two bits for each axis, then
// whether it is filtered, has coordinates from 0 to 1, and reads integers as floats to 1. The handle is v[0].
func (c *call) image() int32 {
	const most = 1 << 27 // of each, which package emulate checks again with its reason
	width, height, depth, layers := c.v[2], c.v[3], c.v[4]&0xffffffff, c.v[4]>>32
	channels := uint8(c.v[5] >> 16)
	t, ok := texelType(uint8(c.v[5]), uint8(c.v[5]>>8))
	if !ok || channels < 1 || channels > 4 || width < 1 || width > most || height < 1 || height > most ||
		depth < 1 || depth > most || layers > most {
		return c.refused(invalidValue, "a texture of %d x %d x %d texels in %d layers, of %d channels: each from 1 to "+
			"%d, channels 1, 2 or 4 of 8, 16 or 32 bits", width, height, depth, layers, channels, most)
	}
	if c.s.textures >= mostHandles {
		return outOfMemory
	}
	row := width * uint64(channels) * uint64(t.Size())
	pitch := max(c.v[1], row)
	rows, slices := height*depth, max(layers, 1) // rows: at most 1<<54
	if pitch > shim.WindowBytes || rows > shim.WindowBytes/pitch || slices > shim.WindowBytes/pitch/rows {
		return c.refused(invalidValue, "a texture of %d x %d x %d texels in %d layers is larger than memory", width,
			height, depth, layers)
	}
	a, err := c.s.d.At(c.v[0], int64(pitch*(rows*slices-1)+row))
	if err == nil {
		a, err = a.View(t)
	}
	if err != nil {
		return c.failed(err, invalidValue)
	}
	d := host.Image{
		Width: int(width), Height: int(height), Depth: int(depth), Layers: int(layers), Channels: int(channels),
		Pitch: int64(c.v[1]),
	}
	how := c.v[6]
	for k := range d.Sampler.Address {
		d.Sampler.Address[k] = emulate.AddressMode(how >> (2 * k) & 3)
	}
	d.Sampler.Linear, d.Sampler.Normalized, d.Sampler.Unit = how>>6&1 != 0, how>>7&1 != 0, how>>8&1 != 0
	x, err := c.s.c.NewTexture(a, d)
	if err != nil {
		return c.failed(err, invalidValue)
	}
	c.s.textures++
	c.v[0] = x.Handle()
	return success
}

// imageEnd forgets the texture or surface v[0] once all kernels are done.
func (c *call) imageEnd() int32 {
	if e := c.finish(); e != success {
		return e
	}
	if !c.s.d.ForgetTexture(c.v[0]) {
		return invalidHandle
	}
	return success
}

// imageBind has texture or surface reference data of module v[0] show image v[1] once all kernels are done; 0: none.
func (c *call) imageBind() int32 {
	m, e := c.module_()
	if e != success {
		return e
	}
	if e := c.finish(); e != success {
		return e
	}
	return c.failed(m.m.BindHandle(string(c.data), c.v[1]), invalidTexture)
}

// invalidTexture is CUDA's error for a reference that is none.
const invalidTexture = 18
