package reference

import (
	"cmp"
	"fmt"
	"slices"
)

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
		return nil, fmt.Errorf("an image of %d elements and %d taps: they must be %d x %d and an odd number",
			len(image), len(taps), width, height)
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

// binomialoptions(price, strike, width, up, down, steps) values European calls by
// binomial trees. The kernel's exponential is approximate, so compare with a tolerance.
func binomialoptions(list []any) (any, error) {
	in := arguments{list: list}
	price := in.f32s(-1)
	strike, width, up, down := in.f32s(len(price)), in.f32s(len(price)), in.f32s(len(price)), in.f32s(len(price))
	steps := in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if steps < 1 || steps > 1<<16 {
		return nil, fmt.Errorf("%d steps: there must be 1 to %d", steps, 1<<16)
	}
	out, v := make([]float32, len(price)), make([]float32, steps+1)
	for o, s := range price {
		for i := range v {
			v[i] = max(fma32(s, exp32(mul32(width[o], float32(2*i-steps))), -strike[o]), 0)
		}
		for step := steps; step > 0; step-- {
			for i := range step {
				v[i] = fma32(up[o], v[i+1], mul32(down[o], v[i]))
			}
		}
		out[o] = v[0]
	}
	return out, nil
}

// mergesort(part, keys, values) sorts stably by key and returns the "keys" or "values".
func mergesort(list []any) (any, error) {
	in := arguments{list: list}
	part := in.text()
	keys := in.u32s(-1)
	values := in.u32s(len(keys))
	if err := in.done(); err != nil {
		return nil, err
	}
	from := map[string][]uint32{"keys": keys, "values": values}[part]
	if from == nil {
		return nil, fmt.Errorf("part %q: it must be keys or values", part)
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	out := make([]uint32, len(keys))
	for i, at := range order {
		out[i] = from[at]
	}
	return out, nil
}
