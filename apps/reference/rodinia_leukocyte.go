package reference

import "fmt"

const (
	cellMargin = 22 // from the border, where no circle fits
	cellReach  = 12 // of the dilation's disc
	cellRows   = 41 // of the window around a cell
	cellCols   = 81
)

// leukocyte("score", image, width, cosine, sine, dx, dy) is the GICOV of every pixel;
// leukocyte("dilated", score, width) its dilation; leukocyte("field", image, width,
// cells, steps, vx, vy) the flow field in the window of each cell (x, y).
func leukocyte(list []any) (any, error) {
	in := arguments{list: list}
	which := in.text()
	image := in.f32s(-1)
	width := in.count()
	var cosine, sine []float32
	var dx, dy, cells []int32
	var steps int
	var vx, vy float32
	switch which {
	case "score":
		cosine = in.f32s(-1)
		sine = in.f32s(len(cosine))
		dx = in.i32s(-1)
		dy = in.i32s(len(dx))
	case "field":
		cells, steps, vx, vy = in.i32s(-1), in.count(), in.f32(), in.f32()
	}
	if err := in.done(); err != nil {
		return nil, err
	}
	if width == 0 || len(image)%width != 0 || len(cells)%2 != 0 {
		return nil, fmt.Errorf("%d pixels in rows of %d, %d coordinates of cells: whole rows, and pairs", len(image),
			width, len(cells))
	}
	switch which {
	case "score":
		return gicov(image, width, cosine, sine, dx, dy)
	case "dilated":
		return dilate(image, width), nil
	case "field":
		gx, gy := gradient(image, width)
		var field []float32
		for c := 0; c < len(cells); c += 2 {
			field = append(field, flowField(edges(gx, gy, width, int(cells[c]), int(cells[c+1])), steps, vx, vy)...)
		}
		return field, nil
	}
	return nil, fmt.Errorf("result %q: it must be score, dilated or field", which)
}

// gradient by central differences; beyond the border stands the border's pixel.
func gradient(image []float32, width int) (gx, gy []float32) {
	height := len(image) / width
	gx, gy = make([]float32, len(image)), make([]float32, len(image))
	for i := range image {
		x, y := i%width, i/width
		gx[i] = mul32(0.5, image[y*width+min(x+1, width-1)]-image[y*width+max(x-1, 0)])
		gy[i] = mul32(0.5, image[min(y+1, height-1)*width+x]-image[max(y-1, 0)*width+x])
	}
	return gx, gy
}

// gicov is the largest mean squared over variance of the outward gradient on the circles.
func gicov(image []float32, width int, cosine, sine []float32, dx, dy []int32) ([]float32, error) {
	height, points := len(image)/width, len(cosine)
	if points < 2 || len(dx)%points != 0 {
		return nil, fmt.Errorf("%d offsets for circles of %d points: whole circles of at least 2", len(dx), points)
	}
	for i := range dx {
		if max(dx[i], -dx[i], dy[i], -dy[i]) > cellMargin {
			return nil, fmt.Errorf("offset (%d, %d): circles reach at most %d", dx[i], dy[i], cellMargin)
		}
	}
	gx, gy := gradient(image, width)
	score := make([]float32, len(image))
	for y := cellMargin; y < height-cellMargin; y++ {
		for x := cellMargin; x < width-cellMargin; x++ {
			for c := 0; c < len(dx); c += points {
				var sum, squares float32
				for p := range cosine {
					at := (y+int(dy[c+p]))*width + x + int(dx[c+p])
					outward := fma32(gy[at], sine[p], mul32(gx[at], cosine[p]))
					sum += outward
					squares = fma32(outward, outward, squares)
				}
				mean := sum / float32(points)
				variance := fma32(-sum, mean, squares) / float32(points-1)
				score[y*width+x] = max(score[y*width+x], mul32(mean, mean)/variance)
			}
		}
	}
	return score, nil
}

// dilate is the maximum over a disc.
func dilate(score []float32, width int) []float32 {
	height := len(score) / width
	out := make([]float32, len(score))
	for i := range out {
		x, y := i%width, i/width
		for v := max(-cellReach, -y); v <= min(cellReach, height-1-y); v++ {
			for u := max(-cellReach, -x); u <= min(cellReach, width-1-x); u++ {
				if u*u+v*v <= cellReach*cellReach {
					out[i] = max(out[i], score[i+v*width+u])
				}
			}
		}
	}
	return out
}

// edges is the gradient's length, up to 1, in the window around (x, y).
func edges(gx, gy []float32, width, x, y int) []float32 {
	height := len(gx) / width
	f := make([]float32, cellRows*cellCols)
	for i := range f {
		row := min(max(y-cellRows/2+i/cellCols, 0), height-1)
		at := row*width + min(max(x-cellCols/2+i%cellCols, 0), width-1)
		f[i] = min(sqrt32(fma32(gy[at], gy[at], mul32(gx[at], gx[at]))), 1)
	}
	return f
}

// flowField relaxes the motion gradient vector flow; the first step sets it to f.
func flowField(f []float32, steps int, vx, vy float32) []float32 {
	now, next := make([]float32, len(f)), make([]float32, len(f))
	for s := range steps {
		if s == 0 {
			copy(now, f)
			continue
		}
		for i, here := range now {
			x, y := i%cellCols, i/cellCols
			var pull float32
			for v := -1; v <= 1; v++ {
				for u := -1; u <= 1; u++ {
					if u == 0 && v == 0 {
						continue
					}
					at := min(max(y+v, 0), cellRows-1)*cellCols + min(max(x+u, 0), cellCols-1)
					rise := now[at] - here
					along := fma32(vy, float32(v), mul32(vx, float32(u)))
					pull = fma32(smoothStep(mul32(rise, along)), rise, pull)
				}
			}
			next[i] = fma32(mul32(-0.4, f[i]), here-f[i], fma32(0.1, pull, here))
		}
		now, next = next, now
	}
	return now
}

// smoothStep is 1/2 + arctan(100 z) / pi, the arctangent by A & S 4.4.48.
func smoothStep(z float32) float32 {
	const inversePi = 0.318309886
	z = mul32(z, 100)
	square := mul32(z, z)
	if square <= 1 {
		return fma32(z/fma32(0.28, square, 1), inversePi, 0.5)
	}
	var side float32
	if z > 0 {
		side = 1
	}
	return fma32(z/(square+0.28), -inversePi, side)
}
