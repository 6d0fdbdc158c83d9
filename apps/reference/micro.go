package reference

import "fmt"

// vecadd(a, b) is a + b.
func vecadd(list []any) (any, error) {
	in := arguments{list: list}
	a := in.f32s(-1)
	b := in.f32s(len(a))
	if err := in.done(); err != nil {
		return nil, err
	}
	c := make([]float32, len(a))
	for i := range c {
		c[i] = a[i] + b[i]
	}
	return c, nil
}

// triad(b, c, s) is b + s*c, fused.
func triad(list []any) (any, error) {
	in := arguments{list: list}
	b := in.f32s(-1)
	c := in.f32s(len(b))
	s := in.f32()
	if err := in.done(); err != nil {
		return nil, err
	}
	a := make([]float32, len(b))
	for i := range a {
		a[i] = fma32(s, c[i], b[i])
	}
	return a, nil
}

// reduction(in, blocks, block) is the one-element sum in the order of two launches:
// blocks x block threads over the input, then one block over the partial sums.
func reduction(list []any) (any, error) {
	in := arguments{list: list}
	data := in.f32s(-1)
	blocks, block := in.count(), in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if blocks < 1 || block < 32 || block > 1024 || block%32 != 0 {
		return nil, fmt.Errorf("%d blocks of %d threads: the block must be a multiple of 32 up to 1024", blocks, block)
	}
	return reduceGrid(reduceGrid(data, blocks, block), 1, block), nil
}

// reduceGrid is one launch of reduce_sum: one sum per block.
func reduceGrid(data []float32, blocks, block int) []float32 {
	out := make([]float32, blocks)
	share := make([]float32, block)
	for b := range out {
		for t := range share {
			share[t] = 0
			for i := b*block + t; i < len(data); i += blocks * block {
				share[t] += data[i]
			}
		}
		var partial [32]float32
		for w := 0; w < block/32; w++ {
			partial[w] = warpSum([32]float32(share[w*32:]))
		}
		out[b] = warpSum(partial)
	}
	return out
}

// warpSum is lane 0 of the shuffle-down reduction. A lane whose source is beyond the
// warp adds its own value, which never reaches lane 0.
func warpSum(v [32]float32) float32 {
	for d := 16; d > 0; d >>= 1 {
		for l := 0; l < d; l++ {
			v[l] += v[l+d]
		}
	}
	return v[0]
}

// histogram(words) counts the four bytes of each word in 256 bins.
func histogram(list []any) (any, error) {
	in := arguments{list: list}
	words := in.u32s(-1)
	if err := in.done(); err != nil {
		return nil, err
	}
	bins := make([]uint32, 256)
	for _, w := range words {
		bins[w&255]++
		bins[w>>8&255]++
		bins[w>>16&255]++
		bins[w>>24]++
	}
	return bins, nil
}

// spmv(shape, row, col, val, x) is A x in the order of spmv_scalar or spmv_vector.
func spmv(list []any) (any, error) {
	in := arguments{list: list}
	shape := in.text()
	row, col := in.i32s(-1), in.i32s(-1)
	val := in.f32s(len(col))
	x := in.f32s(-1)
	if err := in.done(); err != nil {
		return nil, err
	}
	if shape != "scalar" && shape != "vector" {
		return nil, fmt.Errorf("shape %q: it must be scalar or vector", shape)
	}
	if err := checkCSR(row, col, len(x)); err != nil {
		return nil, err
	}
	y := make([]float32, len(row)-1)
	for r := range y {
		first, end := int(row[r]), int(row[r+1])
		if shape == "scalar" {
			for k := first; k < end; k++ {
				y[r] = fma32(val[k], x[col[k]], y[r])
			}
			continue
		}
		var lane [32]float32
		for k := first; k < end; k++ {
			l := (k - first) % 32
			lane[l] = fma32(val[k], x[col[k]], lane[l])
		}
		y[r] = warpSum(lane)
	}
	return y, nil
}

// checkCSR verifies that row offsets ascend within the entries and that every column is below n.
func checkCSR(row, col []int32, n int) error {
	if len(row) < 1 || row[0] != 0 || int(row[len(row)-1]) > len(col) {
		return fmt.Errorf("row offsets must begin with 0 and end within the %d entries", len(col))
	}
	for r := 1; r < len(row); r++ {
		if row[r] < row[r-1] {
			return fmt.Errorf("row offset %d is %d, below its predecessor %d", r, row[r], row[r-1])
		}
	}
	for k, c := range col {
		if c < 0 || int(c) >= n {
			return fmt.Errorf("entry %d has column %d: it must be in [0, %d)", k, c, n)
		}
	}
	return nil
}
