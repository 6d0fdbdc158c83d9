package reference

import "fmt"

// srad(image, n, roi, steps, lambda) is the n x n image after the diffusion steps.
func srad(list []any) (any, error) {
	in := arguments{list: list}
	image := in.f32s(-1)
	n, roi, steps := in.count(), in.count(), in.count()
	lambda := in.f32()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(image) != n*n || roi < 1 || roi > n {
		return nil, fmt.Errorf("%d pixels and a region of %d: they must be n x n and in 1..n, n = %d", len(image), roi,
			n)
	}
	j := append([]float32(nil), image...)
	c := make([]float32, n*n)
	for range steps {
		q0 := float32(speckle(j, n, roi))
		for y := range n {
			for x := range n {
				c[y*n+x] = diffusion(j, n, x, y, q0)
			}
		}
		old := append([]float32(nil), j...)
		for y := range n {
			for x := range n {
				at := y*n + x
				north, south, west, east := differences(old, n, x, y)
				flow := mul32(c[at], north)
				flow = fma32(c[min(y+1, n-1)*n+x], south, flow)
				flow = fma32(c[at], west, flow)
				flow = fma32(c[y*n+min(x+1, n-1)], east, flow)
				j[at] = fma32(mul32(0.25, lambda), flow, j[at])
			}
		}
	}
	return j, nil
}

// speckle is the squared coefficient of variation over the first roi x roi pixels.
func speckle(j []float32, n, roi int) float64 {
	var total, squares float64
	for y := range roi {
		for _, v := range j[y*n : y*n+roi] {
			total += float64(v)
			squares += float64(float64(v) * float64(v))
		}
	}
	mean := total / float64(roi*roi)
	return (squares/float64(roi*roi) - float64(mean*mean)) / float64(mean*mean)
}

// differences to the four neighbours; at the border a pixel is its own neighbour.
func differences(j []float32, n, x, y int) (north, south, west, east float32) {
	here := j[y*n+x]
	return j[max(y-1, 0)*n+x] - here, j[min(y+1, n-1)*n+x] - here,
		j[y*n+max(x-1, 0)] - here, j[y*n+min(x+1, n-1)] - here
}

// diffusion is the coefficient of Yu and Acton's equations 31 and 33 in [0, 1].
func diffusion(j []float32, n, x, y int, q0 float32) float32 {
	here := j[y*n+x]
	north, south, west, east := differences(j, n, x, y)
	squares := fma32(east, east, fma32(west, west, fma32(south, south, mul32(north, north))))
	gradient := squares / mul32(here, here)
	laplace := (north + south + west + east) / here
	top := fma32(0.5, gradient, mul32(mul32(-0.0625, laplace), laplace))
	bottom := fma32(0.25, laplace, 1)
	q := top / mul32(bottom, bottom)
	c := 1 / (1 + (q-q0)/mul32(q0, 1+q0))
	return min(max(c, 0), 1)
}

// needleman(down, across, match, mismatch, gap) is the (n+1) x (n+1) matrix of costs.
func needleman(list []any) (any, error) {
	in := arguments{list: list}
	down := slice[uint8](&in, -1, "an array of u8")
	across := slice[uint8](&in, len(down), "an array of u8")
	match, mismatch, gap := in.i32(), in.i32(), in.i32()
	if err := in.done(); err != nil {
		return nil, err
	}
	pitch := len(down) + 1
	cost := make([]int32, pitch*pitch)
	for i := range pitch {
		cost[i], cost[i*pitch] = -gap*int32(i), -gap*int32(i)
	}
	for y, a := range down {
		for x, b := range across {
			score := mismatch
			if a == b {
				score = match
			}
			at := (y+1)*pitch + x + 1
			cost[at] = max(cost[at-pitch-1]+score, cost[at-pitch]-gap, cost[at-1]-gap)
		}
	}
	return cost, nil
}

// lud(a, n) is the LU decomposition of the n x n matrix in place: U above and on the
// diagonal, L below, whose diagonal is 1.
func lud(list []any) (any, error) {
	in := arguments{list: list}
	matrix := in.f32s(-1)
	n := in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(matrix) != n*n {
		return nil, fmt.Errorf("the matrix has %d elements: it must have %d x %d", len(matrix), n, n)
	}
	a := append([]float32(nil), matrix...)
	for k := range n {
		above := a[k*n : (k+1)*n]
		for i := k + 1; i < n; i++ {
			row := a[i*n : (i+1)*n]
			row[k] /= above[k]
			for j := k + 1; j < n; j++ {
				row[j] = fma32(-row[k], above[j], row[j])
			}
		}
	}
	return a, nil
}
