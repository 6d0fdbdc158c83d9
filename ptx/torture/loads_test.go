package torture

import (
	"encoding/binary"
	"slices"
)

// constTable is the .const variable of loads.ptx.
var constTable = []byte{
	1, 2, 254, 255, 128, 127, 7, 200, 0, 255, 0, 128, 9, 9, 9, 137, 16, 32, 64, 128, 255, 255, 255,
	255, 0, 0, 0, 128, 1, 0, 0, 0,
}

const ldThreads = 64

// sources are the bytes a thread sees in the spaces the kernels go through, in their
// order: global, shared and local hold the thread's input, generic is global again.
func sources(own []byte) [][]byte { return [][]byte{own, own, own, constTable, own} }

// extended lists what ld_extend stores: for every space, type and register that is wide
// enough, the value extended to the register and then, without sign, to 64 bits.
func extended(own []byte) (want []uint64) {
	for _, src := range sources(own) {
		for _, size := range []int{1, 2, 4, 8} {
			for _, signed := range []bool{false, true, false} { // u, s, b
				for _, reg := range []int{2, 4, 8} {
					if reg < size {
						continue
					}
					var raw [8]byte
					copy(raw[:], src[len(want)*8%24:][:size])
					v := binary.LittleEndian.Uint64(raw[:])
					if signed {
						v = uint64(int64(v) << (64 - 8*size) >> (64 - 8*size))
					}
					want = append(want, v<<(64-8*reg)>>(64-8*reg))
				}
			}
		}
	}
	return want
}

// reversed lists what ld_vectors stores: slots of 16 bytes, elements in reverse.
func reversed(own []byte) (want []byte) {
	forms := []struct{ count, size int }{
		{2, 1},
		{4, 1},
		{2, 1},
		{4, 1},
		{2, 2},
		{4, 2},
		{4, 2},
		{2, 4},
		{4, 4},
		{2, 4},
		{4, 4},
		{2, 8},
		{2, 8},
		{2, 8},
	}
	c := 0
	for _, src := range sources(own) {
		for _, f := range forms {
			n := f.count * f.size
			from := src[c*n%(33-n)/n*n:][:n]
			slot := make([]byte, 16)
			for i := range f.count {
				copy(slot[(f.count-1-i)*f.size:], from[i*f.size:(i+1)*f.size])
			}
			want = append(want, slot...)
			c++
		}
	}
	return want
}

func ldInput() []byte {
	return table(32*ldThreads, func(i int) byte { return byte(mix(uint32(i) + 3000)) })
}

var loads = []kernelTest{
	one("loads", "ld_extend", d1(1), d1(ldThreads), 0, func() []any {
		a := ldInput()
		var want []uint64
		for own := range slices.Chunk(a, 32) {
			want = append(want, extended(own)...)
		}
		return []any{ptr(in(a)), ptr(out(want))}
	}),
	one("loads", "ld_vectors", d1(1), d1(ldThreads), 0, func() []any {
		a := ldInput()
		var want []byte
		for own := range slices.Chunk(a, 32) {
			want = append(want, reversed(own)...)
		}
		return []any{ptr(in(a)), ptr(out(want))}
	}),
	one("loads", "ld_params", d1(1), d1(ldThreads), 0, func() []any {
		a := ldInput()
		pack := bytesOf(uint32(0x11223344), uint32(0xaabbccdd), []byte{1, 2, 3, 4}, float32(-0.75))
		var want []byte
		for own := range slices.Chunk(a, 32) {
			want = append(want, bytesOf(int64(-100), uint64(156), int64(-30000), uint64(35536),
				uint64(0x11223344)<<32|0xaabbccdd,
				[]byte{4, 3, 2, 1}, float32(-0.75), own[0], own[4], own[8:10], own[12:16], own[16:18], own[16],
				byte(165), int32(-2))...)
		}
		return []any{ptr(in(a)), ptr(out(want)), int8(-100), int16(-30000), pack}
	}),
}
