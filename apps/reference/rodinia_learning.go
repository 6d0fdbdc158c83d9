package reference

import (
	"fmt"
	"math"
)

const hiddenUnits = 16 // of backprop's network

// backprop(which, input, weight, step, output, rate, momentum, target) is "weight" or
// "step" after one training step. Row 0 of weight and step belongs to the bias.
func backprop(list []any) (any, error) {
	in := arguments{list: list}
	which := in.text()
	input := in.f32s(-1)
	weight := in.f32s((len(input) + 1) * hiddenUnits)
	step := in.f32s(len(weight))
	output := in.f32s(hiddenUnits + 1)
	rate, momentum, target := in.f32(), in.f32(), in.f64()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(input)%16 != 0 {
		return nil, fmt.Errorf("%d inputs: a block adds 16, so it must be a multiple", len(input))
	}
	if which != "weight" && which != "step" {
		return nil, fmt.Errorf("result %q: it must be weight or step", which)
	}
	delta := hiddenErrors(hiddenLayer(input, weight), output, target)
	w, s := append([]float32(nil), weight...), append([]float32(nil), step...)
	for j, d := range delta {
		d = mul32(rate, d)
		s[j] = fma32(momentum, s[j], d)
		w[j] += s[j]
		for i, x := range input {
			at := (i+1)*hiddenUnits + j
			s[at] = fma32(d, x, mul32(momentum, s[at]))
			w[at] += s[at]
		}
	}
	if which == "weight" {
		return w, nil
	}
	return s, nil
}

// hiddenLayer is the state of the hidden units: sums of 16 inputs by a tree as the
// kernel's, these in order in double precision as the host's.
func hiddenLayer(input, weight []float32) (state [hiddenUnits]float64) {
	for j := range state {
		state[j] = float64(weight[j])
		for i := 0; i < len(input); i += 16 {
			var t [16]float32
			for r := range t {
				t[r] = mul32(weight[(i+r+1)*hiddenUnits+j], input[i+r])
			}
			state[j] += float64(treeSum(t[:]))
		}
		state[j] = squash(state[j])
	}
	return state
}

// treeSum adds the upper half onto the lower until one is left; it overwrites v, whose
// length is a power of two.
func treeSum(v []float32) float32 {
	for half := len(v) / 2; half > 0; half /= 2 {
		for i := range half {
			v[i] += v[i+half]
		}
	}
	return v[0]
}

func squash(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// hiddenErrors goes forward through the output unit and back to the hidden layer.
func hiddenErrors(hidden [hiddenUnits]float64, output []float32, target float64) (delta [hiddenUnits]float32) {
	total := float64(output[0])
	for j, h := range hidden {
		total += float64(float64(output[j+1]) * h)
	}
	out := squash(total)
	wrong := out * (1 - out) * (target - out)
	for j, h := range hidden {
		delta[j] = float32(h * (1 - h) * float64(wrong*float64(output[j+1])))
	}
	return delta
}

// kmeans(points, n, clusters, steps) is the cluster of each point after the steps.
func kmeans(list []any) (any, error) {
	in := arguments{list: list}
	points := in.f32s(-1)
	n, clusters, steps := in.count(), in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if n == 0 || len(points)%n != 0 || clusters < 1 || clusters > n {
		return nil, fmt.Errorf("%d values for %d points in %d clusters: a multiple of the points, and no more "+
			"clusters than points", len(points), n, clusters)
	}
	features := len(points) / n
	centre := append([]float32(nil), points[:clusters*features]...)
	member := make([]int32, n)
	for step := range steps {
		for i := range member {
			member[i] = nearest(points[i*features:(i+1)*features], centre)
		}
		if step < steps-1 {
			recentre(points, member, centre, features)
		}
	}
	return member, nil
}

// nearest is the first centre with the least distance.
func nearest(p, centre []float32) int32 {
	best, least := int32(0), float32(3.4e38)
	for c := 0; c*len(p) < len(centre); c++ {
		var sum float32
		for f, v := range p {
			d := v - centre[c*len(p)+f]
			sum = fma32(d, d, sum)
		}
		if sum < least {
			best, least = int32(c), sum
		}
	}
	return best
}

// recentre moves each centre to the mean of its points, summed in units of 2^-20.
func recentre(points []float32, member []int32, centre []float32, features int) {
	const unit = 1 << 20
	sum, count := make([]uint64, len(centre)), make([]uint64, len(centre)/features)
	for i, c := range member {
		count[c]++
		for f := range features {
			sum[int(c)*features+f] += uint64(uint32(mul32(points[i*features+f], unit)))
		}
	}
	for s := range centre {
		if n := count[s/features]; n > 0 {
			centre[s] = float32(float64(sum[s]) / (unit * float64(n)))
		}
	}
}
