package reference

import "fmt"

// fastwalsh(a, b) is the dyadic convolution of two sequences of the same power of two:
// both transformed, multiplied and scaled, transformed back.
func fastwalsh(list []any) (any, error) {
	in := arguments{list: list}
	a := in.f32s(-1)
	b := in.f32s(len(a))
	if err := in.done(); err != nil {
		return nil, err
	}
	n := len(a)
	if n == 0 || n&(n-1) != 0 {
		return nil, fmt.Errorf("%d values: they must be a power of two", n)
	}
	out, other := append([]float32(nil), a...), append([]float32(nil), b...)
	walsh(out)
	walsh(other)
	scale := 1 / float32(n)
	for i, v := range other {
		out[i] = mul32(mul32(out[i], v), scale)
	}
	walsh(out)
	return out, nil
}

// walsh is the transform in place, largest stride first.
func walsh(d []float32) {
	for stride := len(d) / 2; stride > 0; stride /= 2 {
		for first := 0; first < len(d); first += 2 * stride {
			low, high := d[first:first+stride], d[first+stride:first+2*stride]
			for i, v := range low {
				low[i], high[i] = v+high[i], v-high[i]
			}
		}
	}
}

// convsep(image, taps, width, height) convolves the rows, then the columns; outside the
// image is zero.
func convsep(list []any) (any, error) {
	in := arguments{list: list}
	image, taps := in.f32s(-1), in.f32s(-1)
	width, height := in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(image) != width*height || len(taps)%2 != 1 {
		return nil, fmt.Errorf("an image of %d elements and %d taps: they must be %d x %d and an odd number", len(image), len(taps), width, height)
	}
	rows := convolveLines(image, taps, height, width, width, 1)
	return convolveLines(rows, taps, width, height, 1, width), nil
}

// convolveLines convolves `lines` lines of n elements; lines are `line` elements apart,
// the elements of one `step`.
func convolveLines(image, taps []float32, lines, n, line, step int) []float32 {
	out, radius := make([]float32, len(image)), len(taps)/2
	for l := range lines {
		for i := range n {
			var sum float32
			for k, tap := range taps {
				var v float32
				if at := i + k - radius; at >= 0 && at < n {
					v = image[l*line+at*step]
				}
				sum = fma32(tap, v, sum)
			}
			out[l*line+i*step] = sum
		}
	}
	return out
}
