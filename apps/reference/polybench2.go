package reference

import "fmt"

// matrixVector is start + A v ("A"; v has a column's index) or start + A^T v ("AT"; v
// has a row's), each element summed in order of that index, fused. The other side of A
// follows from its length. start nil is zero.
func matrixVector(side string, a, v, start []float32) ([]float32, error) {
	if side != "A" && side != "AT" {
		return nil, fmt.Errorf("side %q: it must be A or AT", side)
	}
	if len(v) == 0 || len(a)%len(v) != 0 {
		return nil, fmt.Errorf("the matrix has %d elements, which is not a multiple of the vector's %d", len(a), len(v))
	}
	n := len(a) / len(v)
	out := make([]float32, n)
	if start != nil && copy(out, start) != len(start) || start != nil && len(start) != n {
		return nil, fmt.Errorf("the vector added has %d elements: it must have %d", len(start), n)
	}
	if side == "AT" {
		for i, f := range v {
			for j, e := range a[i*n : (i+1)*n] {
				out[j] = fma32(e, f, out[j])
			}
		}
		return out, nil
	}
	for i := range out {
		for j, e := range a[i*len(v) : (i+1)*len(v)] {
			out[i] = fma32(e, v[j], out[i])
		}
	}
	return out, nil
}

// mvt(side, A, x, y) is x + A y ("A") or x + A^T y ("AT").
func mvt(list []any) (any, error) {
	in := arguments{list: list}
	side := in.text()
	a, x, y := in.f32s(-1), in.f32s(-1), in.f32s(-1)
	if err := in.done(); err != nil {
		return nil, err
	}
	return boxed(matrixVector(side, a, y, x))
}

// bicg(side, A, v) is A v ("A") or A^T v ("AT").
func bicg(list []any) (any, error) {
	in := arguments{list: list}
	side := in.text()
	a, v := in.f32s(-1), in.f32s(-1)
	if err := in.done(); err != nil {
		return nil, err
	}
	return boxed(matrixVector(side, a, v, nil))
}

// gesummv(A, B, x, alpha, beta) is alpha A x + beta B x.
func gesummv(list []any) (any, error) {
	in := arguments{list: list}
	a := in.f32s(-1)
	b, x := in.f32s(len(a)), in.f32s(-1)
	alpha, beta := in.f32(), in.f32()
	if err := in.done(); err != nil {
		return nil, err
	}
	y, err := matrixVector("A", a, x, nil)
	if err != nil {
		return nil, err
	}
	other, err := matrixVector("A", b, x, nil)
	if err != nil {
		return nil, err
	}
	for i, v := range y {
		y[i] = fma32(alpha, v, mul32(beta, other[i]))
	}
	return y, nil
}

// boxed keeps a nil slice of a failed computation from becoming a result.
func boxed(v []float32, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// mm2(A, B, C, D, alpha, beta, ni, nj, nk, nl) is alpha A B C + beta D.
func mm2(list []any) (any, error) {
	in := arguments{list: list}
	a, b, c, d := in.f32s(-1), in.f32s(-1), in.f32s(-1), in.f32s(-1)
	alpha, beta := in.f32(), in.f32()
	ni, nj, nk, nl := in.count(), in.count(), in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(a) != ni*nk || len(b) != nk*nj || len(c) != nj*nl || len(d) != ni*nl {
		return nil, fmt.Errorf("A, B, C, D have %d, %d, %d, %d elements: they must have %d x %d, %d x %d, %d x %d, "+
			"%d x %d",
			len(a), len(b), len(c), len(d), ni, nk, nk, nj, nj, nl, ni, nl)
	}
	out := make([]float32, len(d))
	tmp := make([]float32, nj)
	for i := range ni {
		clear(tmp)
		for k, e := range a[i*nk : (i+1)*nk] {
			f := mul32(alpha, e)
			for j, v := range b[k*nj : (k+1)*nj] {
				tmp[j] = fma32(f, v, tmp[j])
			}
		}
		row := out[i*nl : (i+1)*nl]
		for j := range row {
			row[j] = mul32(beta, d[i*nl+j])
		}
		for k, e := range tmp {
			for j, v := range c[k*nl : (k+1)*nl] {
				row[j] = fma32(e, v, row[j])
			}
		}
	}
	return out, nil
}

// conv3dPoints are the 15 points and coefficients of 3dconv, in the kernel's order.
var conv3dPoints = [15]struct {
	di, dj, dk int
	c          float32
}{
	{0, 0, 0, 0.6},
	{-1, 0, 0, 0.2},
	{1, 0, 0, -0.3},
	{0, -1, 0, 0.4},
	{0, 1, 0, -0.5},
	{0, 0, -1, 0.7},
	{0, 0, 1, -0.8},
	{-1, -1, -1, 0.9},
	{-1, -1, 1, -0.1},
	{-1, 1, -1, 0.15},
	{-1, 1, 1, -0.25},
	{1, -1, -1, 0.35},
	{1, -1, 1, -0.45},
	{1, 1, -1, 0.55},
	{1, 1, 1, -0.65},
}

// conv3d(a, ni, nj, nk) is the 15-point convolution; the border is zero.
func conv3d(list []any) (any, error) {
	in := arguments{list: list}
	a := in.f32s(-1)
	ni, nj, nk := in.count(), in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(a) != ni*nj*nk {
		return nil, fmt.Errorf("the volume has %d elements: it must have %d x %d x %d", len(a), ni, nj, nk)
	}
	b := make([]float32, len(a))
	for i := 1; i < ni-1; i++ {
		for j := 1; j < nj-1; j++ {
			for k := 1; k < nk-1; k++ {
				at := (i*nj+j)*nk + k
				sum := mul32(conv3dPoints[0].c, a[at])
				for _, p := range conv3dPoints[1:] {
					sum = fma32(p.c, a[at+(p.di*nj+p.dj)*nk+p.dk], sum)
				}
				b[at] = sum
			}
		}
	}
	return b, nil
}

// fdtd2d(field, ex, ey, hz, source, nx, ny) is one field ("ex", "ey" or "hz") after as
// many time steps as the source has values.
func fdtd2d(list []any) (any, error) {
	in := arguments{list: list}
	field := in.text()
	ex := in.f32s(-1)
	ey, hz, source := in.f32s(len(ex)), in.f32s(len(ex)), in.f32s(-1)
	nx, ny := in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(ex) != nx*ny {
		return nil, fmt.Errorf("the fields have %d elements: they must have %d x %d", len(ex), nx, ny)
	}
	f := map[string][]float32{
		"ex": append([]float32(nil), ex...), "ey": append([]float32(nil), ey...),
		"hz": append([]float32(nil), hz...),
	}
	if f[field] == nil {
		return nil, fmt.Errorf("field %q: it must be ex, ey or hz", field)
	}
	for _, s := range source {
		fdtdStep(f["ex"], f["ey"], f["hz"], s, nx, ny)
	}
	return f[field], nil
}

func fdtdStep(ex, ey, hz []float32, source float32, nx, ny int) {
	for at := range ey {
		if at < ny {
			ey[at] = source
		} else {
			ey[at] = fma32(-0.5, hz[at]-hz[at-ny], ey[at])
		}
		if at%ny != 0 {
			ex[at] = fma32(-0.5, hz[at]-hz[at-1], ex[at])
		}
	}
	for i := range nx - 1 {
		for at := i * ny; at < (i+1)*ny-1; at++ {
			hz[at] = fma32(-0.7, ex[at+1]-ex[at]+ey[at+ny]-ey[at], hz[at])
		}
	}
}
