package reference

import "fmt"

// clustering is the state of streamcluster's search; coordinates are stored dimension
// by dimension.
type clustering struct {
	coord, weight, cost []float32
	owner               []int32
	centres             int
	price               float64
}

// streamcluster(which, coord, weight, candidates, price) is the "owner" (slot of the
// centre) or "cost" of each point after trying the candidates in turn.
func streamcluster(list []any) (any, error) {
	in := arguments{list: list}
	which := in.text()
	coord, weight := in.f32s(-1), in.f32s(-1)
	candidates := in.i32s(-1)
	price := in.f64()
	if err := in.done(); err != nil {
		return nil, err
	}
	n := len(weight)
	if n == 0 || len(coord)%n != 0 {
		return nil, fmt.Errorf("%d coordinates of %d points: they must be a multiple", len(coord), n)
	}
	if which != "owner" && which != "cost" {
		return nil, fmt.Errorf("result %q: it must be owner or cost", which)
	}
	c := &clustering{
		coord: coord, weight: weight, cost: make([]float32, n), owner: make([]int32, n), centres: 1,
		price: price,
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
		sum = fma32(d, d, sum)
	}
	return mul32(sum, c.weight[i])
}

// try opens a centre at x if that lowers the total cost.
func (c *clustering) try(x int) {
	const block = 256 // threads of the kernel that adds up
	part := make([][block]float32, c.centres+1)
	there := make([]float32, len(c.cost))
	for i, here := range c.cost {
		there[i] = c.serve(i, x)
		if there[i] < here {
			part[c.centres][i%block] += there[i] - here
		} else {
			part[c.owner[i]][i%block] += here - there[i]
		}
	}
	outcome := c.price + float64(treeSum(part[c.centres][:]))
	slots, kept := make([]int32, c.centres), int32(0)
	for s := range slots {
		if saving := c.price + float64(treeSum(part[s][:])); saving > 0 {
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
