package accelsim

import (
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

const (
	bufA = 0x7f4a80000000
	bufB = 0x7f4a80400000
	bufC = 0x7f4a80800000
)

// vecadd is the header of c = a + b with one thread per element.
func vecadd(blocks int) Header {
	return Header{
		Name: "_Z6vecaddPfS_S_", ID: 1, Grid: [3]uint32{uint32(blocks), 1, 1}, Block: [3]uint32{
			128, 1,
			1,
		}, Regs: 12, Binary: 70, Version: 5, NVBit: "1.7.5",
		SharedBase: 0x7f4a70000000, LocalBase: 0x7f4a6e000000,
	}
}

func lanes(base uint64, stride int, mask uint32) []uint64 {
	out := []uint64{}
	for k := range bits.OnesCount32(mask) {
		out = append(out, base+uint64(stride*k))
	}
	return out
}

// vecaddWarp is what warp w of block b does.
func vecaddWarp(b, w int) []Inst {
	at := uint64(b*128+w*32) * 4
	full := ^uint32(0)
	load := func(pc uint64, dst, src int, base uint64, mode int) Inst {
		return Inst{
			PC: pc, Mask: full, Dst: []int{dst}, Op: "LDG.E.SYS", Src: []int{src},
			Addr: lanes(base+at, 4, full), Mode: mode,
		}
	}
	return []Inst{
		{PC: 0x00, Mask: full, Dst: []int{1}, Op: "IMAD.MOV.U32", Src: []int{255, 255}},
		{PC: 0x10, Mask: full, Dst: []int{0}, Op: "S2R", Src: nil},
		{PC: 0x20, Mask: full, Dst: []int{0}, Op: "IMAD", Src: []int{0, 255, 1}},
		{PC: 0x30, Mask: full, Op: "ISETP.GE.AND", Src: []int{0, 255}},
		{PC: 0x40, Mask: 0, Op: "EXIT"},
		{PC: 0x50, Mask: full, Dst: []int{2}, Op: "IMAD.WIDE", Src: []int{0, 255}},
		load(0x60, 4, 2, bufA, 1),
		load(0x70, 5, 2, bufB, 2),
		{PC: 0x80, Mask: full, Dst: []int{6}, Op: "FADD", Src: []int{4, 5}},
		{PC: 0x90, Mask: full, Op: "STG.E.SYS", Src: []int{2, 6}, Addr: lanes(bufC+at, 4, full), Mode: 0},
		{PC: 0xa0, Mask: full, Op: "EXIT"},
	}
}

// writeKernel writes a kernel whose blocks come in the given order (nil: that of
// the grid).
func writeKernel(t testing.TB, file string, h Header, order []int, warp func(b, w int) []Inst) {
	t.Helper()
	f, err := Create(file)
	if err != nil {
		t.Fatal(err)
	}
	out := NewWriter(f, h)
	if order == nil {
		for b := range h.CTAs() {
			order = append(order, b)
		}
	}
	gx, gy := int(h.Grid[0]), int(h.Grid[1])
	for _, b := range order {
		out.Block(uint32(b%gx), uint32(b/gx%gy), uint32(b/gx/gy))
		for w := range h.Warps() {
			list := warp(b, w)
			out.Warp(w, len(list))
			for i := range list {
				out.Inst(&list[i])
			}
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// writeVecadd makes a trace folder with copies of a and b, and one kernel.
func writeVecadd(t testing.TB, blocks int, suffix string, order []int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "vecadd")
	mkdir(t, dir)
	writeKernel(t, filepath.Join(dir, "kernel-1.traceg"+suffix), vecadd(blocks), order, vecaddWarp)
	n := int64(blocks * 128 * 4)
	if err := WriteList(dir, Copy(bufA, n), Copy(bufB, n), "kernel-1.traceg"+suffix,
		"MemcpyDtoH,0x7f4a80800000,16"); err != nil {
		t.Fatal(err)
	}
	return dir
}

func shuffled(n int) []int { return rand.New(rand.NewPCG(7, 7)).Perm(n) }
