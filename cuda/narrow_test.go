package cuda

import (
	"math"
	"slices"
	"testing"

	"github.com/heddle-sim/heddle/ptx/emulate"
)

// Each kernel is run as it is compiled for each generation of GPUs.
func TestNarrow(t *testing.T) {
	modules := map[int]*emulate.Module{}
	for _, sm := range []int{70, 80, 90} {
		modules[sm] = compiled(t, &Options{SM: sm}, "testdata/narrow.cu")
	}
	for _, c := range []struct {
		kernel  string
		threads uint32
		want    []uint32
	}{
		{"halves", 1, halves()},
		{"bfloats", 1, bfloats()},
		{"products", 32, products()},
		{"numbers", 1, numbers()},
		{"staged", 64, staged()},
	} {
		for sm, m := range modules {
			got := ran(t, m, c.kernel, 1, c.threads, len(c.want))
			for i, w := range c.want {
				if got[i] != w {
					t.Errorf("%s for sm_%d: word %d is %#x, should be %#x", c.kernel, sm, i, got[i], w)
				}
			}
		}
	}
}

// The words of IEEE 754's binary16: 1.5 is 0x3e00, 1 is 0x3c00.
func halves() []uint32 {
	return []uint32{
		0x3e00, 0x7bff, 0x7c00, 1, 0, 1, 0x8000, 0x3555, // 65520 is infinite, half of 2^-24 goes to the even 0
		0x4480, 0xbe00, 0x4480, 0x3800, 0x44c0, 0x3c00, 0x4200, 0x3e00, 0x7fff,
		1 | 1<<2 | 1<<3 | 1<<4 | 1<<5,
		0x48004400, 0x44004000, 0x3c003c00, 0x3c004000, 2 | 3<<8, 0x6800, 0x3c01, 100,
		0x44004500,
	}
}

// A bfloat16 is the upper half of a float.
func bfloats() []uint32 {
	return []uint32{
		0x3f80, 0x3f80, 0x3f82, 0x7f80, 0x8000, 0x3eab, 0xbf81, 0xbf82, 0xbf81,
		0x4090, 0x4040, 0x4098, 0x3f00, 0x40a04080, 8, 1,
		0x408040a0,
	}
}

func products() []uint32 {
	a := func(i int) float32 { return float32(i*5%7 - 3) }
	b := func(i int) float32 { return float32(i*3%5 - 2) }
	var want []uint32
	for row := range 16 {
		for col := range 16 {
			sum := float32((row*16 + col) % 11)
			for k := range 16 {
				sum += a(row*16+k) * b(col*16+k)
			}
			want = append(want, math.Float32bits(2*sum))
		}
	}
	for col := range 8 { // stored by columns of 32
		for row := range 32 {
			sum := float32(1)
			for k := range 16 {
				sum += a(k*32+row) * b(k*8+col)
			}
			want = append(want, math.Float32bits(sum))
		}
	}
	return want
}

func numbers() []uint32 {
	want := []uint32{
		0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 1, uint32(math.Round(0.127011122046577 * 4294967088)),
	}
	v, d := []uint32{123456789, 362436069, 521288629, 88675123, 5783321}, uint32(6615241)
	for range 3 { // Marsaglia's text, in other words
		x := v[0] ^ v[0]>>2
		last := v[4]
		v = append(slices.Clone(v[1:]), last^last<<4^(x^x<<1))
		d += 362437
		want = append(want, d+v[4])
	}
	want = append(want, 1, 1)
	return want
}

// The last word of each copy is filled with zeros.
func staged() []uint32 {
	var want []uint32
	for i := range 64 {
		from := uint32(63-i)*4 + 1
		want = append(want, from, from+1, from+2, 0)
	}
	return want
}
