package accelsim

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestLeft: what a warp has left at a PC is the least any warp had there; at PC 0, which
// stands for warps to come, the least any warp executes.
func TestLeft(t *testing.T) {
	at := func(pcs ...uint64) (w []Inst) {
		for _, pc := range pcs {
			op := "MOV"
			if pc == 0x30 {
				op = "EXIT"
			}
			w = append(w, Inst{PC: pc, Mask: 1, Op: op})
		}
		return w
	}
	long := make([]uint64, 300)
	for name, c := range map[string]struct {
		warps [][]Inst
		want  []uint8
	}{
		"a loop":        {[][]Inst{at(0, 0x10, 0x10, 0x10, 0x20, 0x30), at(0, 0x20, 0x30)}, []uint8{3, 3, 2, 1, 1}},
		"another entry": {[][]Inst{at(0, 0x10, 0x20, 0x30), at(0x20, 0x30)}, []uint8{2, 3, 2, 1, 1}},
		"an empty warp": {[][]Inst{at(0, 0x10, 0x20, 0x30), nil}, []uint8{1, 3, 2, 1, 1}},
		"more than counts": {
			[][]Inst{at(append(slices.Clone(long), 0x10)...), at(append(slices.Clone(long), 0x10)...)},
			[]uint8{2, 1, 1},
		},
	} {
		h := vecadd(1)
		h.Block = [3]uint32{64, 1, 1}
		file := filepath.Join(t.TempDir(), "kernel-1.traceg")
		writeKernel(t, file, h, nil, func(_, w int) []Inst { return c.warps[w] })
		tr, err := Read(file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(tr.Code.Left, c.want) {
			t.Errorf("%s: %v, want %v", name, tr.Code.Left, c.want)
		}
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	}
}
