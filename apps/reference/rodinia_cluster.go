package reference

import "fmt"

// clustering is the state of streamcluster's search; coordinates are stored dimension
// by dimension.
type clustering struct {
	coord, weight, cost []float32
	owner               []int32
	centres             int
	price               float64
	parts               int // in which sums are made
}

// streamcluster(which, coord, weight, candidates, price, parts) is the "owner" (slot of the
// centre) or "cost" of each point after trying the candidates in turn; sums over all points are made
// of those of parts of equal length.
func streamcluster(list []any) (any, error) {
	in := arguments{list: list}
	which := in.text()
	coord, weight := in.f32s(-1), in.f32s(-1)
	candidates := in.i32s(-1)
	price := in.f64()
	parts := in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	n := len(weight)
	if n == 0 || len(coord)%n != 0 {
		return nil, fmt.Errorf("%d coordinates of %d points: they must be a multiple", len(coord), n)
	}
	if parts < 1 || n%parts != 0 {
		return nil, fmt.Errorf("%d points in %d parts: they must be a multiple", n, parts)
	}
	if which != "owner" && which != "cost" {
		return nil, fmt.Errorf("result %q: it must be owner or cost", which)
	}
	c := &clustering{
		coord: coord, weight: weight, cost: make([]float32, n), owner: make([]int32, n), centres: 1,
		price: price, parts: parts,
	}
	for i := range c.cost {
		c.cost[i] = c.serve(i, 0)
	}
	for _, x := range candidates {
		if x < 0 || int(x) >= n {
			return nil, fmt.Errorf("candidate %d: there are %d points", x, n)
		}
		c.try(int(x))
	}
	if which == "owner" {
		return c.owner, nil
	}
	return c.cost, nil
}

// serve is the cost of serving point i from x.
func (c *clustering) serve(i, x int) float32 {
	var sum float32
	n := len(c.weight)
	for at := 0; at < len(c.coord); at += n {
		d := c.coord[at+i] - c.coord[at+x]
		sum += mul32(d, d)
	}
	return mul32(sum, c.weight[i])
}

// sum adds up as the kernels do: a block of threads each part, and one the parts.
func (c *clustering) sum(list []float32) float32 {
	if c.parts == 1 {
		return blockSum(list)
	}
	of := make([]float32, c.parts)
	for p := range of {
		each := len(list) / c.parts
		of[p] = blockSum(list[p*each : (p+1)*each])
	}
	return blockSum(of)
}

// blockSum is the sum by one block of sc_sum: by strides of its threads, then as a tree.
func blockSum(list []float32) float32 {
	var part [256]float32 // SUM_BLOCK
	for i, x := range list {
		part[i%len(part)] += x
	}
	return treeSum(part[:])
}

// try opens a centre at x if that lowers the total cost.
func (c *clustering) try(x int) {
	change := make([][]float32, c.centres+1)
	for s := range change {
		change[s] = make([]float32, len(c.cost))
	}
	there := make([]float32, len(c.cost))
	for i, here := range c.cost {
		there[i] = c.serve(i, x)
		if there[i] < here {
			change[c.centres][i] = there[i] - here
		} else {
			change[c.owner[i]][i] = here - there[i]
		}
	}
	outcome := c.price + float64(c.sum(change[c.centres]))
	slots, kept := make([]int32, c.centres), int32(0)
	for s := range slots {
		if saving := c.price + float64(c.sum(change[s])); saving > 0 {
			outcome -= saving
			slots[s] = -1
		} else {
			slots[s] = kept
			kept++
		}
	}
	if outcome >= 0 {
		return
	}
	for i := range c.owner {
		c.owner[i] = slots[c.owner[i]]
		if there[i] < c.cost[i] || c.owner[i] < 0 {
			c.owner[i], c.cost[i] = kept, there[i]
		}
	}
	c.centres = int(kept) + 1
}
