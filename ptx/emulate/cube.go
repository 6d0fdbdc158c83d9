package emulate

import (
	"math"
)

// Cube maps: images of six square layers, the faces to +x, -x, +y, -y, +z and -z, or of six for
// each cube of an array. A direction meets the face of its largest coordinate (of equal ones x comes
// before y and y before z), at the place that the CUDA C++ Programming Guide gives ("Cubemap
// Textures"). Filtering ends at the edges of a face, as CUDA's does unless told otherwise.

// faces is the number of layers of a cube.
const faces = 6

// cubeModes are the samplers of a face: point and linear.
var cubeModes = [2]Sampler{{Normalized: true}, {Normalized: true, Linear: true}}

// face is the face of a cube that a direction meets, and the place on it, from 0 to 1.
func face(x, y, z float64) (layer int, s, t float64) {
	ax, ay, az := math.Abs(x), math.Abs(y), math.Abs(z)
	var m float64
	switch {
	case ax >= ay && ax >= az:
		if m, s, t = ax, -z, -y; x < 0 {
			layer, s = 1, z
		}
	case ay >= az:
		if layer, m, s, t = 2, ay, x, z; y < 0 {
			layer, t = 3, -z
		}
	default:
		if layer, m, s, t = 4, az, x, -y; z < 0 {
			layer, s = 5, -x
		}
	}
	if m == 0 { // no direction at all, or none that is a number
		return layer, 0.5, 0.5
	}
	return layer, (s/m + 1) / 2, (t/m + 1) / 2
}

// intoCube prepares the access of a lane to a cube map; the layer of s is that of the cube.
func (x *texop) intoCube(c *cta, wp *warp, lane int, s *sample) error {
	i := s.img
	if i.Layers < faces || i.Layers%faces != 0 || i.Size[0] != i.Size[1] || i.Size[2] != 1 {
		return c.fault(wp, lane, "an image of %d x %d x %d texels in %d layers is no cube map: that has six square "+
			"layers, or six for each of an array", i.Size[0], i.Size[1], i.Size[2], i.Layers)
	}
	var d [3]float64
	for k := range d {
		d[k] = float64(math.Float32frombits(c.row32(wp, x.coord[k])[lane]))
	}
	layer, u, v := face(d[0], d[1], d[2])
	cube := 0
	if x.layered {
		cube = int(min(max(int32(c.row32(wp, x.layer)[lane]), 0), int32(i.Layers/faces-1)))
	}
	s.layer = cube*faces + layer
	s.linear = s.mode.Linear && i.floats()
	s.mode = &cubeModes[bit(s.linear)]
	for k, at := range [2]float64{u, v} {
		s.first[k], s.weight[k] = s.mode.taps(at, i.Size[k], s.linear)
	}
	return nil
}
