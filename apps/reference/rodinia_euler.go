package reference

import (
	"fmt"
	"math"
	"math/bits"
)

const (
	eulerVars   = 5 // density, momentum in x, y and z, energy
	eulerWall   = -1
	eulerFar    = -2
	eulerWindow = 128 // cells are numbered at random within windows
	eulerApart  = 32  // one of this number of cells is far from its neighbours
)

// eulerNormals are the outward normals of the four faces.
var eulerNormals = [4][3]float32{{-0.36, -0.48, -0.8}, {0.36, 0.48, 0.8}, {-0.8, 0.6, 0}, {0.8, -0.6, 0}}

// gas is the state of a cell.
type gas struct {
	u                 [eulerVars]float32
	v                 [3]float32
	pressure, fastest float32
}

// euler3d("mesh", width, height) is the neighbour over each of the four faces of every
// cell, face by face; euler3d("state", far, disturbance, area, width, height, steps) is
// the state after the steps, variable by variable.
func euler3d(list []any) (any, error) {
	in := arguments{list: list}
	which := in.text()
	var far, disturbance, area []float32
	steps := 0
	if which == "state" {
		far, disturbance, area = in.f32s(eulerVars), in.f32s(-1), in.f32s(-1)
	}
	width, height := in.count(), in.count()
	if which == "state" {
		steps = in.count()
	}
	if err := in.done(); err != nil {
		return nil, err
	}
	if width > 1<<20 || height > 1<<20 {
		return nil, fmt.Errorf("%d x %d cells: at most 2^20 on a side", width, height)
	}
	neighbour := eulerMesh(width, height)
	switch n := width * height; {
	case which == "mesh":
		return neighbour, nil
	case which != "state":
		return nil, fmt.Errorf("result %q: it must be mesh or state", which)
	case len(disturbance) != n || len(area) != n:
		return nil, fmt.Errorf("%d disturbances and %d areas: there are %d cells", len(disturbance), len(area), n)
	}
	state := eulerFlow(neighbour, far, disturbance, area, steps)
	for at, u := range state {
		if math.IsNaN(float64(u)) { // NaN equals NaN in a check: it would prove nothing
			return nil, fmt.Errorf("value %d of the state is not a number: the scheme is unstable with this far field",
				at)
		}
	}
	return state, nil
}

// eulerMesh numbers the places of the strip as the kernel does, its bijection inverted here by a table, and connects
// them.
func eulerMesh(width, height int) []int32 {
	n := width * height
	far := max(2, 1<<bits.Len(uint(n/eulerApart))>>1) // cells that change places
	place, cell := make([]int, n), make([]int32, n)
	for i := range place {
		p := i
		if k := i / eulerApart; i%eulerApart == 0 && k < far {
			p = int(bits.Reverse32(uint32(k))>>(33-bits.Len(uint(far)))) * eulerApart
		}
		if p|(eulerWindow-1) < n {
			p = p&^(eulerWindow-1) | p*37%eulerWindow
		}
		place[i], cell[p] = p, int32(i)
	}
	neighbour := make([]int32, 4*n)
	for i, p := range place {
		x, y := p%width, p/width
		to := [4]int32{eulerFar, eulerFar, eulerWall, eulerFar}
		if x > 0 {
			to[0] = cell[p-1]
		}
		if x < width-1 {
			to[1] = cell[p+1]
		}
		if y > 0 {
			to[2] = cell[p-width]
		}
		if y < height-1 {
			to[3] = cell[p+width]
		}
		for f, t := range to {
			neighbour[f*n+i] = t
		}
	}
	return neighbour
}

// eulerFlow takes the time steps of three stages each.
func eulerFlow(neighbour []int32, far, disturbance, area []float32, steps int) []float32 {
	n := len(area)
	state := make([]float32, eulerVars*n)
	for v, f := range far {
		for i, d := range disturbance {
			state[v*n+i] = mul32(f, d)
		}
	}
	outside := derive(far, 0, 1)
	factor, flux := make([]float32, n), make([]float32, eulerVars*n)
	for range steps {
		old := append([]float32(nil), state...)
		for i, a := range area {
			factor[i] = 0.5 / mul32(sqrt32(a), derive(state, i, n).fastest)
		}
		for stage := range 3 {
			for i := range n {
				for v, f := range eulerFlux(neighbour, state, &outside, i) {
					flux[v*n+i] = f
				}
			}
			for i, f := range factor {
				step := f / float32(3-stage)
				for at := i; at < len(state); at += n {
					state[at] = fma32(-step, flux[at], old[at])
				}
			}
		}
	}
	return state
}

// derive reads cell i of n.
func derive(state []float32, i, n int) gas {
	var g gas
	for v := range g.u {
		g.u[v] = state[v*n+i]
	}
	inverse := 1 / g.u[0]
	for d := range g.v {
		g.v[d] = mul32(g.u[1+d], inverse)
	}
	square := fma32(g.v[2], g.v[2], fma32(g.v[1], g.v[1], mul32(g.v[0], g.v[0])))
	g.pressure = mul32(0.4, fma32(mul32(-0.5, g.u[0]), square, g.u[4]))
	g.fastest = sqrt32(square) + sqrt32(mul32(mul32(1.4, g.pressure), inverse))
	return g
}

// eulerFlux is what flows out of cell i through its faces.
func eulerFlux(neighbour []int32, state []float32, outside *gas, i int) (sum [eulerVars]float32) {
	n := len(neighbour) / 4
	here := derive(state, i, n)
	for f, normal := range eulerNormals {
		to := neighbour[f*n+i]
		if to == eulerWall {
			for d, c := range normal {
				sum[1+d] = fma32(here.pressure, c, sum[1+d])
			}
			continue
		}
		there := *outside
		if to != eulerFar {
			there = derive(state, int(to), n)
		}
		here.outflow(&sum, normal)
		there.outflow(&sum, normal)
		length := sqrt32(fma32(normal[2], normal[2], fma32(normal[1], normal[1], mul32(normal[0], normal[0]))))
		damp := mul32(mul32(0.1, length), here.fastest+there.fastest)
		for v := range sum {
			sum[v] = fma32(damp, here.u[v]-there.u[v], sum[v])
		}
	}
	return sum
}

// outflow adds half of the flow through a face.
func (g *gas) outflow(sum *[eulerVars]float32, n [3]float32) {
	through := mul32(0.5, fma32(g.v[2], n[2], fma32(g.v[1], n[1], mul32(g.v[0], n[0]))))
	push := mul32(0.5, g.pressure)
	sum[0] = fma32(g.u[0], through, sum[0])
	for d, c := range n {
		sum[1+d] = fma32(push, c, fma32(g.u[1+d], through, sum[1+d]))
	}
	sum[4] = fma32(g.u[4]+g.pressure, through, sum[4])
}
