package cuda

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/mem"
	"github.com/heddle-sim/heddle/ptx/emulate"
)

// words compiles a file for the oldest GPUs, runs its kernel and gives back the n words of its buffer.
func words(t *testing.T, file, kernel string, grid, block uint32, n int) []uint32 {
	t.Helper()
	return ran(t, compiled(t, &Options{}, file), kernel, grid, block, n)
}

// compiled is the module of a file.
func compiled(t *testing.T, o *Options, file string) *emulate.Module {
	t.Helper()
	c, err := Find(os.Getenv("CLANG"))
	if err != nil {
		t.Skip("skipped, nothing is compiled: ", err)
	}
	to := filepath.Join(t.TempDir(), "out.ptx")
	var said bytes.Buffer
	if err := c.PTX(t.Context(), o, file, to, &said); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	text, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	m, err := emulate.Load(to, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ran runs a kernel in the functional emulator and gives back the n words of its buffer.
func ran(t *testing.T, m *emulate.Module, kernel string, grid, block uint32, n int) []uint32 {
	t.Helper()
	sp := mem.NewSpace(0)
	out, err := sp.Alloc(int64(4*n), mem.Device, "out")
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.Bind(sp)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range m.Kernels() {
		if k.Name != kernel {
			continue
		}
		g, err := in.Grid(k, emulate.Launch{
			Grid: [3]uint32{grid, 1, 1}, Block: [3]uint32{block, 1, 1},
			Params: binary.LittleEndian.AppendUint64(nil, out.Base),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := emulate.Run(g, 10_000_000); err != nil {
			t.Fatal(err)
		}
		res := make([]uint32, n)
		for i := range res {
			res[i] = binary.LittleEndian.Uint32(out.Data[4*i:])
		}
		return res
	}
	t.Fatalf("%s has no kernel %s", m.File, kernel)
	return nil
}

// TestGroups compares cooperative groups with loops over the members.
func TestGroups(t *testing.T) {
	const n, blocks, rows = 64, 2, 9
	got := words(t, "testdata/groups.cu", "groups", blocks, n, n*blocks*rows)
	value := func(t int) uint32 { return uint32(t*t + 7*t + 1) }
	for b := range blocks {
		for i := range n {
			tile, at := i/8*8, i%8
			want := [rows]uint32{value(n - 1 - i), 0, value(i), 0}
			for j := range 8 {
				want[1] += value(tile + j)
				if value(tile+j)%3 == 0 {
					want[3] |= 1 << j
				}
			}
			if at+3 < 8 {
				want[2] = value(i + 3)
			}
			want[3] = want[3]<<8 | uint32(i/8)
			if i%3 == 1 {
				members, rank := []int{}, 0
				for j := i / 32 * 32; j < i/32*32+32; j++ {
					if j == i {
						rank = len(members)
					}
					if j%3 == 1 {
						members = append(members, j)
					}
				}
				last := members[len(members)-1]
				want[4] = uint32(rank<<16 | len(members))
				want[5], want[6], want[7] = value(last), value(i), value(last)
				if rank >= 2 {
					want[6] = value(members[rank-2])
				}
				for _, j := range members[rank/4*4 : min(rank/4*4+4, len(members))] {
					want[8] += value(j)
				}
				want[8] = want[8]<<8 | uint32(rank/4)
			}
			for r, w := range want {
				if g := got[(b*rows+r)*n+i]; g != w {
					t.Errorf("block %d, thread %d, row %d: %#x, should be %#x", b, i, r, g, w)
				}
			}
		}
	}
}

// TestParts: groups of any kind, groups by label, values of several words, copies by a group.
func TestParts(t *testing.T) {
	const n, rows = 64, 6
	got := words(t, "testdata/groups.cu", "parts", 1, n, n*rows)
	value := func(t int) uint32 { return uint32(t*t + 7*t + 1) }
	var all uint32
	for i := range n {
		all += value(i)
	}
	for i := range n {
		var want [rows]uint32
		want[0], want[5] = all, all
		tile, warp := i/16*16, i/32*32
		for j := tile; j < tile+16; j++ {
			want[1] += value(j)
			if (j%3 == 0) == (i%3 == 0) {
				want[3]++
			}
		}
		first := -1
		var size, rank uint32
		for j := warp; j < warp+32; j++ {
			if value(j)%5 != value(i)%5 {
				continue
			}
			if first < 0 {
				first = j
			}
			if j < i {
				rank++
			}
			size++
		}
		want[2] = size<<16 | rank<<8 | uint32(first)
		want[4] = value(i ^ 5) // within the tile
		for r, w := range want {
			if g := got[r*n+i]; g != w {
				t.Errorf("thread %d, row %d: %#x, should be %#x", i, r, g, w)
			}
		}
	}
}

// TestWide: tiles of several warps.
func TestWide(t *testing.T) {
	const n = 256
	got := words(t, "testdata/groups.cu", "wide", 1, n, 2*n)
	value := func(t int) uint32 { return uint32(t*t + 7*t + 1) }
	for i := range n {
		tile := i / 64
		var sum uint32
		for j := 64 * tile; j < 64*tile+64; j++ {
			sum += value(j)
		}
		second := value(64*tile+40) ^ uint32(tile)<<28
		if tile == 1 {
			second ^= 1 << 27
		}
		if got[i] != sum || got[n+i] != second {
			t.Errorf("thread %d: %#x and %#x, should be %#x and %#x", i, got[i], got[n+i], sum, second)
		}
	}
}
