package reference

import "fmt"

// lbmGrid is the box of lbm: nx x ny x nz cells in rows of row words, planes of plane
// words, directions of cells words, with two planes of margin at both ends.
type lbmGrid struct {
	nx, ny, nz, row, plane, cells int
	steps                         [9]int // from a cell to the neighbour in direction 2p + 1
	omega, lid                    float32
}

// lbm(a, b, flags, omega, lid, nx, ny, nz, row, steps) is the grid written last after
// that many steps from a to b and back.
func lbm(list []any) (any, error) {
	in := arguments{list: list}
	a := in.f32s(-1)
	b, flags := in.f32s(len(a)), in.u32s(-1)
	g := lbmGrid{omega: in.f32(), lid: in.f32(), nx: in.count(), ny: in.count(), nz: in.count(), row: in.count()}
	steps := in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	g.plane = g.row * g.ny
	g.cells = g.plane * (g.nz + 4)
	if len(a) != 19*g.cells || len(flags) != g.cells || g.row < g.nx {
		return nil, fmt.Errorf("%d populations, %d flags: for rows of %d words, %d rows and %d planes there must be "+
			"%d and %d",
			len(a), len(flags), g.row, g.ny, g.nz, 19*g.cells, g.cells)
	}
	r, p := g.row, g.plane
	g.steps = [9]int{1, r, p, r + 1, r - 1, p + 1, p - 1, p + r, p - r}
	src, dst := append([]float32(nil), a...), append([]float32(nil), b...)
	for range steps {
		for z := range g.nz {
			for y := range g.ny {
				for x := range g.nx {
					g.cell(src, dst, flags, 2*p+z*p+y*r+x)
				}
			}
		}
		src, dst = dst, src
	}
	return src, nil
}

// cell lets one cell collide and pushes its populations.
func (g *lbmGrid) cell(src, dst []float32, flags []uint32, at int) {
	var f [19]float32
	for i := range f {
		f[i] = src[i*g.cells+at]
	}
	const solid, lid = 1, 2
	if flags[at] == solid {
		for p := range 9 {
			f[2*p+1], f[2*p+2] = f[2*p+2], f[2*p+1]
		}
	} else {
		g.collide(&f, flags[at] == lid)
	}
	dst[at] = f[0]
	for p, step := range g.steps {
		dst[(2*p+1)*g.cells+at+step] = f[2*p+1]
		dst[(2*p+2)*g.cells+at-step] = f[2*p+2]
	}
}

func (g *lbmGrid) collide(f *[19]float32, lid bool) {
	rho := f[0]
	for _, v := range f[1:] {
		rho += v
	}
	xy, yx, xz, zx, yz, zy := f[7]-f[8], f[9]-f[10], f[11]-f[12], f[13]-f[14], f[15]-f[16], f[17]-f[18]
	inverse := 1 / rho
	ux := mul32(f[1]-f[2]+xy-yx+xz-zx, inverse)
	uy := mul32(f[3]-f[4]+xy+yx+yz-zy, inverse)
	uz := mul32(f[5]-f[6]+xz+zx+yz+zy, inverse)
	if lid {
		ux, uy, uz = g.lid, mul32(0.4, g.lid), 0
	}
	base := fma32(-1.5, fma32(ux, ux, fma32(uy, uy, mul32(uz, uz))), 1)
	keep, part := 1-g.omega, mul32(g.omega, rho)
	axis, edge := mul32(part, float32(1)/18), mul32(part, float32(1)/36)
	f[0] = fma32(keep, f[0], mul32(mul32(part, float32(1)/3), base))
	for p, eu := range [9]float32{ux, uy, uz, ux + uy, uy - ux, ux + uz, uz - ux, uy + uz, uz - uy} {
		weight := axis
		if p >= 3 {
			weight = edge
		}
		even, odd := mul32(weight, fma32(mul32(4.5, eu), eu, base)), mul32(mul32(3, weight), eu)
		plus, minus := &f[2*p+1], &f[2*p+2]
		*plus = fma32(keep, *plus, even+odd)
		*minus = fma32(keep, *minus, even-odd)
	}
}
