package apps_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/host/script"
	"github.com/heddle-sim/heddle/mem"
)

// rodinia holds what suites holds, for the applications of Rodinia, Mars, Lonestar and
// the micro-benchmarks.
var rodinia = []struct {
	dir  string
	args []string
	from string
	to   string
}{
	{
		"micro/randomaccess",
		[]string{"n=1 percent=100", "n=1000 block=32", "shape=update", "shape=update n=1"},
		"fma.rn.f32", "fma.rz.f32",
	},
	{"micro/pointer-chase", []string{"n=2 hops=7", "n=999 lanes=32 stride=1 warps=3"}, "mul.lo.s64", "add.s64"},
	{
		"rodinia-like/backprop",
		[]string{"n=16", "n=64 pad=True", "n=64 pad=True copy=True", "n=64 copy=True"},
		"fma.rn.f32", "fma.rz.f32",
	},
	{"rodinia-like/srad_v2", []string{"n=16 steps=1", "n=48 roi=7 steps=3"}, "fma.rn.f32", "fma.rz.f32"},
	{"rodinia-like/nw", []string{"n=16", "n=48 gap=1"}, "max.s32", "min.s32"},
	{"rodinia-like/lud", []string{"n=16", "n=32"}, "fma.rn.f32", "fma.rz.f32"},
	{
		"rodinia-like/kmeans",
		[]string{"n=1 clusters=1", "n=33 features=3 clusters=33 block=64"},
		"sub.rn.f32",
		"add.rn.f32",
	},
	// facility: every candidate is opened, and most are refused.
	{
		"rodinia-like/streamcluster",
		[]string{
			"facility=0.03", "facility=0.6 candidates=20", "n=100 dim=3 block=32", "parts=3",
			"n=900 candidates=20 parts=300",
		},
		"sub.rn.f32", "add.rn.f32",
	},
	{"rodinia-like/lavamd", []string{"n=1", "a=20", "particles=1", "n=1 particles=260"}, "fma.rn.f64", "fma.rz.f64"},
	{
		"rodinia-like/btree",
		[]string{"n=1 queries=9", "n=256 width=0", "n=70000 width=100000 queries=20"},
		"setp.ne.s32",
		"setp.eq.s32",
	},
	{"lonestar-like/sssp", []string{"n=1", "n=300 most=1 block=32", "longest=1"}, "min.s32", "max.s32"},
	{
		"mars-like/stringmatch",
		[]string{"n=1", "n=700 keyword=aa letters=1 line=5", "n=150000 line=1"},
		"shfl.sync.up",
		"shfl.sync.down",
	},
	{
		"mars-like/wordcount",
		[]string{"n=50 gaps=1", "n=3000 chunk=7 letters=26", "n=9000 letters=1"},
		"xor.b64",
		"or.b64",
	},
	{"mars-like/pageviewcount", []string{
		"n=1 pages=1 visitors=1", "n=5000 pages=3 visitors=5000",
		"pages=500 visitors=2",
	}, "atom.global.add.u32", "atom.global.max.u32"},
	{"rodinia-like/dwt2d", []string{
		"n=2 levels=1", "n=8", "n=66 levels=1", "n=160 levels=5", "n=728 levels=2 strip=1",
		"n=64 strip=99",
	}, "shr.s32", "shr.u32"},
	{
		"rodinia-like/euler3d",
		[]string{"n=1 rows=1 steps=1", "n=33 rows=70 mach=0.5", "n=1025 rows=2 steps=1"},
		"fma.rn.f32", "fma.rz.f32",
	},
	{
		"rodinia-like/leukocyte",
		[]string{"n=45 rows=45 steps=1", "n=100 rows=47 most=1 steps=2"},
		"fma.rn.f32",
		"fma.rz.f32",
	},
}

func TestRodiniaOtherArguments(t *testing.T) {
	for _, s := range rodinia {
		for _, text := range s.args {
			t.Run(fmt.Sprintf("%s/%s", s.dir, text), func(t *testing.T) { passes(t, s.dir, arguments(text)) })
		}
	}
}

func TestRodiniaChecksCanFail(t *testing.T) {
	for _, s := range rodinia {
		failsWith(t, s.dir, s.from, s.to)
	}
}

// With pairs an edge of bfs stands in the lists of both its nodes, and each node names 2 to 4 others itself.
func TestPairsLeadBothWays(t *testing.T) {
	const name, n = "rodinia-like_bfs", 2000
	refs := references()
	levels := refs[name]
	var first, end []int32
	refs[name] = func(args []any) (any, error) {
		first, end = slices.Clone(args[0].([]int32)), slices.Clone(args[1].([]int32))
		return levels(args)
	}
	p, err := script.Load("rodinia-like/bfs", script.Options{
		Args: map[string]string{"n": "2000", "pairs": "True"}, References: refs, Log: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	c := host.New(host.NewFunctional(context.Background(), limit), mem.NewSpace(1<<30), host.Options{})
	if err := p.Run(c); err != nil {
		t.Fatal(err)
	}
	ways := map[[2]int32]int{}
	for v := range int32(n) {
		if first[v+1]-first[v] < 2 {
			t.Errorf("node %d has %d edges, want 2 or more", v, first[v+1]-first[v])
		}
		for _, w := range end[first[v]:first[v+1]] {
			ways[[2]int32{v, w}]++
		}
	}
	for e, k := range ways {
		if back := ways[[2]int32{e[1], e[0]}]; back != k {
			t.Errorf("%d edges lead from %d to %d, and %d back", k, e[0], e[1], back)
		}
	}
	if len(end)%2 != 0 || len(end) < 4*n || len(end) > 8*n {
		t.Errorf("%d entries of edges, want two for each of %d to %d", len(end), 2*n, 4*n)
	}
}
