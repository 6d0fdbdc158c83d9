package reference

import "fmt"

// tangoLayer(layer, x, W, U, bias) is a recurrent layer of apps/tango-like: the states of all steps, from zeros. W is
// inputs by (gate, unit), U units by (gate, unit), x steps by inputs. The block of 128 threads of a unit folds products
// with input and state together, but those of a GRU's candidate, whose reset gate stands behind the state's alone.
func tangoLayer(list []any) (any, error) {
	in := &arguments{list: list}
	layer := in.text()
	x, w, u, bias := in.f32s(-1), in.f32s(-1), in.f32s(-1), in.f32s(-1)
	if err := in.done(); err != nil {
		return nil, err
	}
	gates, ok := map[string]int{"gru": 3, "lstm": 4}[layer]
	if !ok {
		return nil, fmt.Errorf("layer %q: it must be gru or lstm", layer)
	}
	width := len(bias)
	units := width / gates
	if units == 0 || width%gates != 0 || len(u) != units*width || len(w) == 0 || len(w)%width != 0 ||
		len(x)%(len(w)/width) != 0 {
		return nil, fmt.Errorf("x, W, U, bias have %d, %d, %d, %d elements: they must have steps x inputs, "+
			"inputs x %d n, n x %d n, %d n", len(x), len(w), len(u), len(bias), gates, gates, gates)
	}
	inputs := len(w) / width
	states, cell := make([]float32, units, (len(x)/inputs+1)*units), make([]float32, units)
	for ; len(x) > 0; x = x[inputs:] {
		state := states[len(states)-units:]
		for j := range units {
			sum := func(at int, parts ...[2][]float32) float32 {
				return columnFold(width, at*units+j, parts...)
			}
			fromInput, fromState := [2][]float32{w, x[:inputs]}, [2][]float32{u, state}
			gate := func(at int) float32 { return sum(at, fromInput, fromState) + bias[at*units+j] }
			if layer == "gru" {
				own := sum(2, fromInput) + bias[2*units+j]
				candidate := tanh32(fma32(sigmoid32(gate(0)), sum(2, fromState), own))
				states = append(states, fma32(sigmoid32(gate(1)), state[j]-candidate, candidate))
				continue
			}
			cell[j] = fma32(sigmoid32(gate(1)), cell[j], mul32(sigmoid32(gate(0)), tanh32(gate(2))))
			states = append(states, mul32(sigmoid32(gate(3)), tanh32(cell[j])))
		}
	}
	return states, nil
}

// columnFold is a vector times column `at` of a matrix with `width` columns, summed over pairs of matrix and vector,
// as a block of 128 threads folds it.
func columnFold(width, at int, parts ...[2][]float32) float32 {
	var total [128]float32
	for n, p := range parts {
		var thread [128]float32
		for i, v := range p[1] {
			thread[i%128] = fma32(p[0][i*width+at], v, thread[i%128])
		}
		for t := range total {
			if n == 0 {
				total[t] = thread[t]
				continue
			}
			total[t] += thread[t]
		}
	}
	return treeSum(total[:])
}
