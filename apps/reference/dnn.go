package reference

import (
	"errors"
	"fmt"
)

// dnnLayer(layer, tensors..., sizes...) is one layer of a network of apps/dnn; its
// functions below say what each layer takes. The scripts check every layer from what
// the device computed before it.
func dnnLayer(list []any) (any, error) {
	in := &arguments{list: list}
	layer := in.text()
	switch layer {
	case "conv", "filter":
		return boxed(in.dnnConv(layer == "conv"))
	case "maxpool":
		return boxed(in.dnnMaxpool())
	case "meanpool":
		return boxed(in.dnnMeanpool())
	case "lrn":
		return boxed(in.dnnLRN())
	case "norm", "norm+shortcut":
		return boxed(in.dnnNorm(layer == "norm+shortcut"))
	case "dense", "dense_relu":
		return boxed(in.dnnDense(layer == "dense_relu"))
	case "softmax":
		return boxed(in.dnnSoftmax())
	case "layernorm":
		return boxed(in.dnnLayernorm())
	case "linear", "linear+residual", "linear+gelu":
		return boxed(in.dnnLinear(layer))
	case "linear8", "linear8+residual", "linear8+gelu":
		return boxed(in.dnnLinear8(layer))
	case "quantize":
		return in.dnnQuantize()
	case "scores":
		return boxed(in.dnnScores())
	case "context":
		return boxed(in.dnnContext())
	case "lstm", "gru":
		return boxed(in.dnnRecurrent(layer))
	}
	if in.err != nil {
		return nil, in.err
	}
	return nil, fmt.Errorf("layer %q is not one of apps/dnn", layer)
}

// sized is the error of a tensor's length.
func sized(what string, got int, dims ...int) error {
	n := 1
	for _, d := range dims {
		if d < 1 || d > 1<<20 {
			return fmt.Errorf("%s: a size of %d: it must be 1 to %d", what, d, 1<<20)
		}
		if n *= d; n > 1<<40 {
			return fmt.Errorf("%s: sizes %v: too large", what, dims)
		}
	}
	if got != n {
		return fmt.Errorf("%s has %d elements: it must have %v", what, got, dims)
	}
	return nil
}

func (a *arguments) flag() bool {
	v := a.take("a bool")
	b, ok := v.(bool)
	if !ok {
		a.wrong(v, "a bool")
	}
	return b
}

// rectified is max(v, 0) where on is set.
func rectified(on bool, v float32) float32 {
	if on {
		return max(v, 0)
	}
	return v
}

// window is where a kernel of k taps meets an image of side pixels.
type window struct{ side, k, stride, pad int }

// out is the side of the result, 0 when there is none.
func (w window) out() int {
	if w.k < 1 || w.stride < 1 || w.side+2*w.pad < w.k {
		return 0
	}
	return (w.side+2*w.pad-w.k)/w.stride + 1
}

// span returns the first tap inside and the first beyond, and the pixel of tap 0.
func (w window) span(at int) (lo, hi, pixel int) {
	pixel = at*w.stride - w.pad
	return max(0, -pixel), min(w.k, w.side-pixel), pixel
}

// conv: x, w, bias, c, side, filters, k, stride, pad, groups; rectified. Without bias
// ("filter") it ends with the sum.
func (a *arguments) dnnConv(biased bool) ([]float32, error) {
	x, w := a.f32s(-1), a.f32s(-1)
	var bias []float32
	if biased {
		bias = a.f32s(-1)
	}
	c, side, filters := a.count(), a.count(), a.count()
	win := window{side: side, k: a.count(), stride: a.count(), pad: a.count()}
	groups := a.count()
	if err := a.done(); err != nil {
		return nil, err
	}
	out := win.out()
	if groups < 1 || c%groups != 0 || filters%groups != 0 || out == 0 {
		return nil, fmt.Errorf("%d channels, %d filters in %d groups, %+v: groups must divide both, the image must "+
			"hold the kernel", c, filters, groups, win)
	}
	c /= groups
	err := errors.Join(sized("the image", len(x), c, groups, side, side), sized("the weights", len(w), filters, c,
		win.k, win.k))
	if biased {
		err = errors.Join(err, sized("the bias", len(bias), filters))
	}
	if err != nil {
		return nil, err
	}
	y := make([]float32, filters*out*out)
	for m := range filters {
		g := m / (filters / groups)
		image, taps := x[g*c*side*side:(g+1)*c*side*side], w[m*c*win.k*win.k:(m+1)*c*win.k*win.k]
		for p := range out * out {
			v := win.apply(image, taps, c, p/out, p%out)
			if biased {
				v = max(v+bias[m], 0)
			}
			y[m*out*out+p] = v
		}
	}
	return y, nil
}

// apply is the sum of one filter at one output pixel.
func (w window) apply(x, taps []float32, c, row, col int) float32 {
	ky0, ky1, y0 := w.span(row)
	kx0, kx1, x0 := w.span(col)
	var sum float32
	for i := range c {
		for ky := ky0; ky < ky1; ky++ {
			line := x[(i*w.side+y0+ky)*w.side:]
			row := taps[(i*w.k+ky)*w.k:]
			for kx := kx0; kx < kx1; kx++ {
				sum = fma32(row[kx], line[x0+kx], sum)
			}
		}
	}
	return sum
}

// maxpool: x, c, side, k, stride, pad.
func (a *arguments) dnnMaxpool() ([]float32, error) {
	x, c := a.f32s(-1), a.count()
	win := window{side: a.count(), k: a.count(), stride: a.count(), pad: a.count()}
	if err := a.done(); err != nil {
		return nil, err
	}
	out := win.out()
	if out == 0 {
		return nil, fmt.Errorf("%+v: the image must hold the window", win)
	}
	if err := sized("the image", len(x), c, win.side, win.side); err != nil {
		return nil, err
	}
	y := make([]float32, 0, c*out*out)
	for at := range c * out * out {
		i0, i1, row := win.span(at / out % out)
		j0, j1, col := win.span(at % out)
		best := float32(-3.4e38)
		for i := i0; i < i1; i++ {
			for j := j0; j < j1; j++ {
				best = max(best, x[(at/out/out*win.side+row+i)*win.side+col+j])
			}
		}
		y = append(y, best)
	}
	return y, nil
}

// laneSum adds as a warp does: lane l takes elements l, l+32, ..., then a tree.
func laneSum(n int, add func(i int, sum float32) float32) float32 {
	var lane [32]float32
	for i := range n {
		lane[i%32] = add(i, lane[i%32])
	}
	return treeSum(lane[:])
}

// meanpool: x, c, 1/pixels.
func (a *arguments) dnnMeanpool() ([]float32, error) {
	x, c, inverse := a.f32s(-1), a.count(), a.f32()
	if err := a.done(); err != nil {
		return nil, err
	}
	if c == 0 || len(x)%c != 0 {
		return nil, fmt.Errorf("the image has %d elements, which is no multiple of %d channels", len(x), c)
	}
	y, pixels := make([]float32, c), len(x)/c
	for i := range y {
		y[i] = mul32(inverse, laneSum(pixels, func(p int, sum float32) float32 { return sum + x[i*pixels+p] }))
	}
	return y, nil
}

// lrn: x, c, reach, bias, alpha.
func (a *arguments) dnnLRN() ([]float32, error) {
	x, c, reach, bias, alpha := a.f32s(-1), a.count(), a.count(), a.f32(), a.f32()
	if err := a.done(); err != nil {
		return nil, err
	}
	if c == 0 || len(x)%c != 0 {
		return nil, fmt.Errorf("the image has %d elements, which is no multiple of %d channels", len(x), c)
	}
	y, pixels := make([]float32, len(x)), len(x)/c
	for at, v := range x {
		var squares float32
		for i := max(at/pixels-reach, 0); i <= min(at/pixels+reach, c-1); i++ {
			n := x[i*pixels+at%pixels]
			squares = fma32(n, n, squares)
		}
		root := sqrt32(fma32(alpha, squares, bias))
		y[at] = v / mul32(root, sqrt32(root))
	}
	return y, nil
}

// norm: x, scale, shift, rectified, and with a shortcut its tensor.
func (a *arguments) dnnNorm(short bool) ([]float32, error) {
	x, scale := a.f32s(-1), a.f32s(-1)
	shift, relu := a.f32s(len(scale)), a.flag()
	var shortcut []float32
	if short {
		shortcut = a.f32s(len(x))
	}
	if err := a.done(); err != nil {
		return nil, err
	}
	if len(scale) == 0 || len(x)%len(scale) != 0 {
		return nil, fmt.Errorf("the image has %d elements, which is no multiple of %d channels", len(x), len(scale))
	}
	y, pixels := make([]float32, len(x)), len(x)/len(scale)
	for at, v := range x {
		v = fma32(v, scale[at/pixels], shift[at/pixels])
		if short {
			v += shortcut[at]
		}
		y[at] = rectified(relu, v)
	}
	return y, nil
}

// dense: W, x, bias.
func (a *arguments) dnnDense(relu bool) ([]float32, error) {
	w, x, bias := a.f32s(-1), a.f32s(-1), a.f32s(-1)
	if err := a.done(); err != nil {
		return nil, err
	}
	if err := sized("the matrix", len(w), len(bias), len(x)); err != nil {
		return nil, err
	}
	return dense(w, x, bias, relu), nil
}

func dense(w, x, bias []float32, relu bool) []float32 {
	y := make([]float32, len(bias))
	for r := range y {
		row := w[r*len(x) : (r+1)*len(x)]
		y[r] = rectified(relu, laneSum(len(x), func(i int, sum float32) float32 { return fma32(row[i], x[i], sum) })+
			bias[r])
	}
	return y
}
