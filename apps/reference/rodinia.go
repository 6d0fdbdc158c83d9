package reference

import "fmt"

// hotspot(power, t, n, steps, stepPerCap, invRx, invRy, invRz, ambient) takes all the
// time steps on the n x n chip.
func hotspot(list []any) (any, error) {
	in := arguments{list: list}
	power := in.f32s(-1)
	start := in.f32s(len(power))
	n, steps := in.count(), in.count()
	stepPerCap, rx, ry, rz, ambient := in.f32(), in.f32(), in.f32(), in.f32(), in.f32()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(power) != n*n {
		return nil, fmt.Errorf("the power map has %d cells: it must have %d x %d", len(power), n, n)
	}
	t, next := append([]float32(nil), start...), make([]float32, n*n)
	for range steps {
		for y := range n {
			north, south := max(y-1, 0), min(y+1, n-1)
			for x := range n {
				west, east := max(x-1, 0), min(x+1, n-1)
				c := t[y*n+x]
				flow := fma32(t[south*n+x]+t[north*n+x]-mul32(2, c), ry, power[y*n+x])
				flow = fma32(t[y*n+east]+t[y*n+west]-mul32(2, c), rx, flow)
				flow = fma32(ambient-c, rz, flow)
				next[y*n+x] = fma32(stepPerCap, flow, c)
			}
		}
		t, next = next, t
	}
	return t, nil
}

// bfs(first, edge, source) is the level of every node, -1 where there is no path.
func bfs(list []any) (any, error) {
	in := arguments{list: list}
	first, edge := in.i32s(-1), in.i32s(-1)
	source := in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	nodes := len(first) - 1
	if source >= nodes {
		return nil, fmt.Errorf("source %d: there are %d nodes", source, nodes)
	}
	if err := checkCSR(first, edge, nodes); err != nil {
		return nil, err
	}
	level := make([]int32, nodes)
	for i := range level {
		level[i] = -1
	}
	level[source] = 0
	for queue := []int{source}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		for _, to := range edge[first[v]:first[v+1]] {
			if level[to] < 0 {
				level[to] = level[v] + 1
				queue = append(queue, int(to))
			}
		}
	}
	return level, nil
}

// pathfinder(weight, cols) is the cost of the cheapest path to each cell of the last row.
func pathfinder(list []any) (any, error) {
	in := arguments{list: list}
	if len(list) > 0 {
		if _, words := list[0].([]int32); words {
			weight := slice[int32](&in, -1, "an array of u8 or i32")
			return cheapest(weight, &in)
		}
	}
	return cheapest(slice[uint8](&in, -1, "an array of u8 or i32"), &in)
}

// cheapest is pathfinder for weights of either kind; the columns are the argument that is left.
func cheapest[W uint8 | int32](weight []W, in *arguments) (any, error) {
	cols := in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if cols == 0 || len(weight) == 0 || len(weight)%cols != 0 {
		return nil, fmt.Errorf("the grid has %d cells, which is not a positive multiple of the %d columns", len(weight),
			cols)
	}
	cost, next := make([]int32, cols), make([]int32, cols) // above the first row: nothing
	for r := range len(weight) / cols {
		for x := range next {
			best := min(cost[x], cost[max(x-1, 0)], cost[min(x+1, cols-1)])
			next[x] = best + int32(weight[r*cols+x])
		}
		cost, next = next, cost
	}
	return cost, nil
}
