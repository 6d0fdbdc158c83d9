package reference

import (
	"fmt"
	"math"
)

// gridding(x, y, z, value, window, side) spreads samples onto side^3 points. A point adds
// the samples of the cells within reach in order of cell, and within a cell in the order
// given. The window is a table by distance, from 0 to 2 cells.
func gridding(list []any) (any, error) {
	in := arguments{list: list}
	x := in.f32s(-1)
	y, z, value := in.f32s(len(x)), in.f32s(len(x)), in.f32s(len(x))
	window, side := in.f32s(-1), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	const reach = 2
	if len(window) < reach+1 || side < 1 || side > 1024 {
		return nil, fmt.Errorf("a table of %d values, side %d: there must be at least %d, and a side of 1 to 1024",
			len(window), side, reach+1)
	}
	cell := make([][]int32, side*side*side) // samples by cell, in order
	for i := range x {
		if cx, cy, cz := int(x[i]), int(y[i]), int(z[i]); min(cx, cy, cz) >= 0 && max(cx, cy, cz) < side {
			at := (cz*side+cy)*side + cx
			cell[at] = append(cell[at], int32(i))
		} else {
			return nil, fmt.Errorf("sample %d at %v, %v, %v lies outside the cube of side %d", i, x[i], y[i], z[i],
				side)
		}
	}
	steps := float32((len(window) - 1) / reach)
	weight := func(a float32, p int) float32 {
		return window[int(mul32(float32(math.Abs(float64(a-float32(p)))), steps))]
	}
	out := make([]float32, len(cell))
	for p := range out {
		px, py, pz := p%side, p/side%side, p/side/side
		for cz := max(pz-reach, 0); cz < min(pz+reach, side); cz++ {
			for cy := max(py-reach, 0); cy < min(py+reach, side); cy++ {
				row := (cz*side + cy) * side
				for cx := max(px-reach, 0); cx < min(px+reach, side); cx++ {
					for _, s := range cell[row+cx] {
						w := mul32(mul32(weight(x[s], px), weight(y[s], py)), weight(z[s], pz))
						out[p] = fma32(w, value[s], out[p])
					}
				}
			}
		}
	}
	return out, nil
}
