package characterise

import (
	"testing"

	"github.com/heddle-sim/heddle/isa"
)

func TestShapes(t *testing.T) {
	lanes := func(f func(l int) int) (a [isa.Lanes]uint64) {
		for l := range a {
			a[l] = uint64(1<<20 + f(l))
		}
		return a
	}
	noise := []int{5, 1000, 3, 77777, 12, 450, 99999, 8}
	all := ^uint32(0)
	for _, c := range []struct {
		what string
		addr [isa.Lanes]uint64
		mask uint32
		want Shape
	}{
		{"one address", lanes(func(int) int { return 0 }), all, Uniform},
		{"floats in a row", lanes(func(l int) int { return 4 * l }), all, Unit},
		{"floats in a row, half the lanes", lanes(func(l int) int { return 4 * l }), 0x55555555, Unit},
		{"backwards", lanes(func(l int) int { return -4 * l }), all, Strided},
		{"structures of 16 B", lanes(func(l int) int { return 16 * l }), all, Strided},
		{"a column", lanes(func(l int) int { return 4096 * l }), all, Sparse},
		{"a line per lane", lanes(func(l int) int { return 128 * l }), all, Sparse},
		{"two rows of 16", lanes(func(l int) int { return 4*(l%16) + 5000*(l/16) }), all, Block},
		{
			"four rows of 8, the border left out", lanes(func(l int) int { return 4*(l%8) + 5000*(l/8) }), 0x7e7e7e7e,
			Block,
		},
		{"eight rows at uneven distances", lanes(func(l int) int { return 4*(l%4) + 512*noise[l/4] }), all, Scattered},
		{"two columns of 16", lanes(func(l int) int { return 4096*(l%16) + 4*(l/16) }), all, Sparse},
		{"random", lanes(func(l int) int { return 4 * noise[l%8] * (l + 1) }), all, Scattered},
		{"one lane", lanes(func(l int) int { return 4 * l }), 1 << 7, Single},
		{"one lane of each row of 16", lanes(func(l int) int { return 4 * (l / 16) }), 1 | 1<<16, Block},
		{"one lane of each row of 16, far apart", lanes(func(l int) int { return 4444 * (l / 16) }), 1 | 1<<16, Sparse},
		{"two far lanes", lanes(func(l int) int { return 4 * noise[l%8] }), 0b11, Sparse},
	} {
		if got := shapeOf(&c.addr, c.mask, 4); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, shapeNames[got], shapeNames[c.want])
		}
	}
}
