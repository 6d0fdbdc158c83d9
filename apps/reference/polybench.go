package reference

import "fmt"

var conv2dCoefficients = [9]float32{0.2, -0.3, 0.4, 0.5, 0.6, 0.7, -0.8, -0.9, 0.1}

// conv2d(a, ni, nj) is the 3 x 3 convolution; the border is zero.
func conv2d(list []any) (any, error) {
	in := arguments{list: list}
	a := in.f32s(-1)
	ni, nj := in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(a) != ni*nj {
		return nil, fmt.Errorf("the image has %d elements: it must have %d x %d", len(a), ni, nj)
	}
	b := make([]float32, len(a))
	for i := 1; i < ni-1; i++ {
		for j := 1; j < nj-1; j++ {
			var sum float32
			for k, c := range conv2dCoefficients {
				sum = fma32(c, a[(i+k/3-1)*nj+j+k%3-1], sum)
			}
			b[i*nj+j] = sum
		}
	}
	return b, nil
}

// atax(A, x) is A^T (A x); A has len(x) columns.
func atax(list []any) (any, error) {
	in := arguments{list: list}
	a, x := in.f32s(-1), in.f32s(-1)
	if err := in.done(); err != nil {
		return nil, err
	}
	ny := len(x)
	if ny == 0 || len(a)%ny != 0 {
		return nil, fmt.Errorf("the matrix has %d elements, which is not a multiple of the %d columns", len(a), ny)
	}
	y := make([]float32, ny)
	for i := range len(a) / ny {
		row := a[i*ny : (i+1)*ny]
		var tmp float32
		for j, v := range row {
			tmp = fma32(v, x[j], tmp)
		}
		for j, v := range row { // row i is the i-th term of every column's sum
			y[j] = fma32(v, tmp, y[j])
		}
	}
	return y, nil
}
