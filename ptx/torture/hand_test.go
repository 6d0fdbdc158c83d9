package torture

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// bytesOf concatenates the little-endian bytes of values.
func bytesOf(values ...any) (b []byte) {
	for _, v := range values {
		b = append(b, encoded(v)...)
	}
	return b
}

// hand are the kernels of testdata/hand/style.ptx.
var hand = []kernelTest{
	one("style", "hd_scopes", d1(1), d1(64), 0, func() []any {
		return []any{ptr(out(table(64, func(t int) uint32 {
			r := uint32(100 + 4*t)
			if t <= 15 {
				r += 5
			}
			return r
		})))}
	}),
	one("style", "hd_switch", d1(1), d1(64), 0, func() []any {
		return []any{ptr(out(table(64, func(t int) uint32 {
			v := uint32(t)
			for range 25 {
				switch v % 9 {
				case 0, 2:
					v += 5
				case 1, 6:
					v = v<<1 ^ 21
				case 3:
					v ^= 21
				case 5:
					v -= 3
				default:
					v = v*7 + 1
				}
			}
			return v
		}))), uint32(25)}
	}),
	one("style", "hd_indirect", d1(1), d1(64), 0, func() []any {
		return []any{ptr(out(table(64, func(t int) uint32 {
			switch {
			case t&1 != 0:
				return uint32(2*t + 10)
			case t < 8:
				return 4242
			}
			return uint32(t - 20)
		})))}
	}),
	one("style", "hd_struct", d1(1), d1(32), 0, func() []any {
		var want []byte
		for t := range uint32(32) {
			want = append(want, bytesOf(1000+t+1, uint16(500+9), ^uint8(9), uint8(90), 3.25)...)
		}
		return []any{bytesOf(uint32(1000), uint16(500), uint8(9), uint8(0), 2.25), ptr(out(want))}
	}),
	one("style", "hd_shared", d1(1), d1(64), 256, func() []any {
		return []any{ptr(out(table(64, func(t int) uint32 { return uint32(t ^ 3 + 10*t + 10) })))}
	}),
	one("style", "hd_symbols", d1(1), d1(1), 0, func() []any {
		want := bytesOf(uint32(13), uint32(19), math.Float64frombits(0x3FE5555555555555),
			[]byte{1, 2, 3, 4, 0xff, 0, 7, 128},
			int32(-32768), int32(-1), uint32(17), uint32(19), uint32(5), float32(1), uint64(0))
		return []any{ptr(out(want))}
	}),
	one("style", "hd_predicates", d1(1), d1(64), 0, func() []any {
		return []any{ptr(out(table(64, func(t int) uint32 { return refPredicates(uint32(t)) })))}
	}),
	one("style", "hd_packing", d1(1), d1(1), 0, func() []any {
		want := bytesOf(uint32(0x12345678), uint32(10), uint32(0x56781234), uint32(0o777),
			[]uint16{0, 10, 0x1234, 0x5678}, uint64(0x4005BF0A8B145769),
			float32(1), float32(1.5), uint32(math.MaxUint32), int32(-5), uint64(0xfedcba9876543210), uint16(0x5678),
			uint16(0x1234), uint32(0x5678))
		return []any{ptr(out(want))}
	}),
	one("style", "hd_red", d1(1), d1(64), 0, func() []any {
		before := make([]byte, 80)
		binary.LittleEndian.PutUint32(before[12:], 5000)
		xor := uint32(0)
		for t := range uint32(64) {
			xor ^= 1000 + t
		}
		want := bytesOf(uint32(2016), uint32(63), uint32(63), uint32(1000), uint64(2016), float32(2016), uint32(4),
			float64(2016),
			uint32(2016), xor, uint64(2016), uint32(2016), uint32(5), uint64(0), uint64(78))
		return []any{ptr(inout(before, want)), ptr(out([]uint32{128}))}
	}),
	one("style", "hd_barriers", d1(2), d1(96), 0, func() []any {
		return []any{ptr(out(table(96, func(int) uint32 { return 40<<8 | 56<<16 | 2 })))}
	}),
	one("style", "hd_convert", d1(1), d1(32), 0, func() []any {
		a := append([]int32{
			0, 1, -1, 77, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769, math.MaxInt32,
			math.MinInt32,
		},
			table(16, func(i int) int32 { return int32(mix(uint32(i))) })...)
		want := make([]int32, 8*32)
		for i, v := range a {
			if i == 3 {
				continue // returns early
			}
			copy(want[8*i:], []int32{
				int32(int8(v)), int32(uint8(v)), int32(int16(v)), max(-128, min(127, v)), max(0, min(255, v)),
				max(-32768, min(32767, v)), max(0, v), 0,
			})
		}
		return []any{ptr(in(a)), ptr(out(want))}
	}),
	one("style", "hd_specials", dim{2, 3, 2}, dim{8, 4, 2}, 0, func() []any {
		return []any{ptr(out(table(2*3*2*64, func(i int) uint32 { return 2*65536 + uint32(i&31)<<8 + 1 })))}
	}),
}

func refPredicates(t uint32) uint32 {
	m := t & 7
	p1, p2 := m < 3, m >= 3
	p3, p4 := t > 10 && p1, t <= 10 && p1
	p5 := m != 5 || !p2
	p6 := (m == 2) != p5
	p9 := (p1 && p3) != (p4 || p6)
	r := flag(p1) | flag(!p2)<<1 | flag(p3)<<2 | flag(p4)<<3 | flag(p5)<<4 | flag(p6)<<5 |
		flag(!p9)<<6 | flag(t > 20)<<7 | flag(m <= 4)<<10 | flag(!p1)<<11
	if m >= 4 {
		return r | 256
	}
	return r | 512
}

func handTests() []kernelTest { return slices.Concat(hand, loads, newer, halves, tensor) }

func TestHand(t *testing.T) {
	var ms modules
	for _, k := range handTests() {
		t.Run(k.name, func(t *testing.T) { k.run(t, ms.get(t, "hand/"+k.file+".ptx"), functional) })
	}
}
