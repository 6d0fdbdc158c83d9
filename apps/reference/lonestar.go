package reference

import (
	"container/heap"
	"fmt"
	"math"
)

// sssp(first, edge, length, source) is the length of the shortest path to every node,
// 2^31 - 1 where there is none, by Dijkstra's algorithm.
func sssp(list []any) (any, error) {
	in := arguments{list: list}
	first, edge := in.i32s(-1), in.i32s(-1)
	length := in.i32s(len(edge))
	source := in.count()
	if err := in.done(); err != nil {
		return nil, err
	}
	if source >= len(first)-1 {
		return nil, fmt.Errorf("source %d: there are %d nodes", source, len(first)-1)
	}
	if err := checkCSR(first, edge, len(first)-1); err != nil {
		return nil, err
	}
	cost := make([]int32, len(first)-1)
	for v := range cost {
		cost[v] = math.MaxInt32
	}
	cost[source] = 0
	open := &frontier{{0, int32(source)}}
	for open.Len() > 0 {
		at := heap.Pop(open).(reached)
		if at.cost > cost[at.node] {
			continue
		}
		for e := first[at.node]; e < first[at.node+1]; e++ {
			if length[e] < 0 {
				return nil, fmt.Errorf("edge %d has length %d: lengths must not be negative", e, length[e])
			}
			if c := at.cost + length[e]; c < cost[edge[e]] {
				cost[edge[e]] = c
				heap.Push(open, reached{c, edge[e]})
			}
		}
	}
	return cost, nil
}

// reached is a node on Dijkstra's frontier.
type reached struct{ cost, node int32 }

type frontier []reached

func (f frontier) Len() int           { return len(f) }
func (f frontier) Less(i, j int) bool { return f[i].cost < f[j].cost }
func (f frontier) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *frontier) Push(x any)        { *f = append(*f, x.(reached)) }
func (f *frontier) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}
