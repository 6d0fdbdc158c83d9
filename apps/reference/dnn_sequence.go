package reference

import (
	"errors"
	"fmt"
	"math"
)

// threadFold folds as a block of 128 threads does: thread t takes elements t, t+128,
// ..., then a tree.
func threadFold(n int, add func(i int, sum float32) float32) float32 {
	var thread [128]float32
	for i := range n {
		thread[i%128] = add(i, thread[i%128])
	}
	return treeSum(thread[:])
}

// softmax: x, n elements per row.
func (a *arguments) dnnSoftmax() ([]float32, error) {
	x, n := a.f32s(-1), a.count()
	if err := a.done(); err != nil {
		return nil, err
	}
	if n == 0 || len(x)%n != 0 {
		return nil, fmt.Errorf("%d elements in rows of %d", len(x), n)
	}
	y := make([]float32, len(x))
	for at := 0; at < len(x); at += n {
		row, best := x[at:at+n], float32(-3.4e38)
		for _, v := range row {
			best = max(best, v)
		}
		sum := threadFold(n, func(i int, sum float32) float32 { return sum + exp32(row[i]-best) })
		for i, v := range row {
			y[at+i] = exp32(v-best) / sum
		}
	}
	return y, nil
}

// layernorm: x, gain, shift, 1/n, epsilon.
func (a *arguments) dnnLayernorm() ([]float32, error) {
	x, gain := a.f32s(-1), a.f32s(-1)
	shift, inverse, epsilon := a.f32s(len(gain)), a.f32(), a.f32()
	if err := a.done(); err != nil {
		return nil, err
	}
	n := len(gain)
	if n == 0 || len(x)%n != 0 {
		return nil, fmt.Errorf("%d elements in rows of %d", len(x), n)
	}
	y := make([]float32, len(x))
	for at := 0; at < len(x); at += n {
		row := x[at : at+n]
		mean := mul32(inverse, threadFold(n, func(i int, sum float32) float32 { return sum + row[i] }))
		squares := threadFold(n, func(i int, sum float32) float32 { return fma32(row[i]-mean, row[i]-mean, sum) })
		deviation := sqrt32(fma32(squares, inverse, epsilon))
		for i, v := range row {
			y[at+i] = fma32((v-mean)/deviation, gain[i], shift[i])
		}
	}
	return y, nil
}

func sigmoid32(v float32) float32 { return 1 / (1 + exp32(-v)) }
func tanh32(v float32) float32    { return 1 - 2/(1+exp32(mul32(2, v))) }

func gelu32(v float32) float32 {
	inner := fma32(mul32(mul32(0.044715, v), v), v, v)
	return mul32(mul32(0.5, v), 1+tanh32(mul32(0.79788456, inner)))
}

// ending is the code after the sums of a product of apps/dnn: one row's bias and residual, and the
// activation.
func ending(sum []float32, bias, residual []float32, gelu bool) {
	for j := range sum {
		sum[j] += bias[j]
		if residual != nil {
			sum[j] += residual[j]
		}
		if gelu {
			sum[j] = gelu32(sum[j])
		}
	}
}

// part is row i of a tensor with rows as long as the bias, nil without a tensor.
func part(v []float32, i, n int) []float32 {
	if v == nil {
		return nil
	}
	return v[i*n : (i+1)*n]
}

// linear: x (rows x k), W (n x k), bias (n), rows, and the residual (rows x n):
// x W^T + bias + residual, summed over k in order.
func (a *arguments) dnnLinear(layer string) ([]float32, error) {
	x, w, bias, rows := a.f32s(-1), a.f32s(-1), a.f32s(-1), a.count()
	var residual []float32
	if layer == "linear+residual" {
		residual = a.f32s(rows * len(bias))
	}
	if err := a.done(); err != nil {
		return nil, err
	}
	n := len(bias)
	if rows == 0 || len(x)%rows != 0 {
		return nil, fmt.Errorf("%d elements in %d rows", len(x), rows)
	}
	k := len(x) / rows
	if err := sized("the weights", len(w), n, k); err != nil {
		return nil, err
	}
	y := make([]float32, rows*n)
	for i := range rows {
		row := y[i*n : (i+1)*n]
		for j := range row {
			for l, v := range x[i*k : (i+1)*k] {
				row[j] = fma32(v, w[j*k+l], row[j])
			}
		}
		ending(row, bias, part(residual, i, n), layer == "linear+gelu")
	}
	return y, nil
}

// linear8: x, W, bias, rows, alpha, residual: as linear with alpha times sums of bytes.
func (a *arguments) dnnLinear8(layer string) ([]float32, error) {
	x, w := slice[int8](a, -1, "an array of i8"), slice[int8](a, -1, "an array of i8")
	bias, rows, alpha := a.f32s(-1), a.count(), a.f32()
	var residual []float32
	if layer == "linear8+residual" {
		residual = a.f32s(rows * len(bias))
	}
	if err := a.done(); err != nil {
		return nil, err
	}
	n := len(bias)
	if rows == 0 || len(x)%rows != 0 {
		return nil, fmt.Errorf("%d elements in %d rows", len(x), rows)
	}
	k := len(x) / rows
	if err := sized("the weights", len(w), n, k); err != nil {
		return nil, err
	}
	y := make([]float32, rows*n)
	for i := range rows {
		row := y[i*n : (i+1)*n]
		for j := range row {
			var sum int32
			for l, v := range x[i*k : (i+1)*k] {
				sum += int32(v) * int32(w[j*k+l])
			}
			row[j] = mul32(float32(sum), alpha)
		}
		ending(row, bias, part(residual, i, n), layer == "linear8+gelu")
	}
	return y, nil
}

// quantize: x, steps per unit.
func (a *arguments) dnnQuantize() (any, error) {
	x, inverse := a.f32s(-1), a.f32()
	if err := a.done(); err != nil {
		return nil, err
	}
	y := make([]int8, len(x))
	for i, v := range x {
		y[i] = int8(min(max(math.RoundToEven(float64(mul32(v, inverse))), -127), 127))
	}
	return y, nil
}

// scores: q, k (tokens x width), tokens, heads, alpha: heads x tokens x tokens.
func (a *arguments) dnnScores() ([]float32, error) {
	q := a.f32s(-1)
	k, tokens, heads, alpha := a.f32s(len(q)), a.count(), a.count(), a.f32()
	if err := a.done(); err != nil {
		return nil, err
	}
	depth, err := headDepth(len(q), tokens, heads)
	if err != nil {
		return nil, err
	}
	y, width := make([]float32, heads*tokens*tokens), heads*depth
	for at := range y {
		h, i, j := at/tokens/tokens, at/tokens%tokens, at%tokens
		for d := h * depth; d < (h+1)*depth; d++ {
			y[at] = fma32(q[i*width+d], k[j*width+d], y[at])
		}
		y[at] = mul32(alpha, y[at])
	}
	return y, nil
}

// headDepth is the columns of one head.
func headDepth(n, tokens, heads int) (int, error) {
	if tokens < 1 || heads < 1 || tokens > 1<<20 || heads > 1<<20 || n == 0 || n%(tokens*heads) != 0 {
		return 0, fmt.Errorf("%d elements of %d tokens in %d heads", n, tokens, heads)
	}
	return n / (tokens * heads), nil
}

// context: probabilities (heads x tokens x tokens), v (tokens x width), tokens, heads.
func (a *arguments) dnnContext() ([]float32, error) {
	p, v, tokens, heads := a.f32s(-1), a.f32s(-1), a.count(), a.count()
	if err := a.done(); err != nil {
		return nil, err
	}
	depth, err := headDepth(len(v), tokens, heads)
	if err = errors.Join(err, sized("the probabilities", len(p), heads, tokens, tokens)); err != nil {
		return nil, err
	}
	y, width := make([]float32, len(v)), heads*depth
	for at := range y {
		i, col := at/width, at%width
		row := p[(col/depth*tokens+i)*tokens:]
		for t := range tokens {
			y[at] = fma32(row[t], v[t*width+col], y[at])
		}
	}
	return y, nil
}

// lstm, gru: the gates' products with the input (steps x gates*units), U (gates*units x
// units), U's bias: the states before the first step and after each.
func (a *arguments) dnnRecurrent(layer string) ([]float32, error) {
	x, u, bias := a.f32s(-1), a.f32s(-1), a.f32s(-1)
	if err := a.done(); err != nil {
		return nil, err
	}
	gates := 3
	if layer == "lstm" {
		gates = 4
	}
	rows := len(bias)
	units := rows / gates
	if units == 0 || rows%gates != 0 || len(x)%rows != 0 || len(u) != rows*units {
		return nil, fmt.Errorf("products, U, bias have %d, %d, %d elements: "+
			"they must have steps x %d n, %d n x n, %d n",
			len(x), len(u), rows, gates, gates, gates)
	}
	states, cell := make([]float32, units, (len(x)/rows+1)*units), make([]float32, units)
	for ; len(x) > 0; x = x[rows:] {
		state := states[len(states)-units:]
		h := dense(u, state, bias, false)
		for i := range units {
			v := func(gate int) float32 { return x[gate*units+i] + h[gate*units+i] }
			if layer == "gru" {
				candidate := tanh32(fma32(sigmoid32(v(0)), h[2*units+i], x[2*units+i]))
				states = append(states, fma32(sigmoid32(v(1)), state[i]-candidate, candidate))
				continue
			}
			cell[i] = fma32(sigmoid32(v(1)), cell[i], mul32(sigmoid32(v(0)), tanh32(v(2))))
			states = append(states, mul32(sigmoid32(v(3)), tanh32(cell[i])))
		}
	}
	return states, nil
}
