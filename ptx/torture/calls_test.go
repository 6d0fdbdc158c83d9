package torture

func fib(n uint32) uint32 {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func ackermann(m, n uint32) uint32 {
	switch {
	case m == 0:
		return n + 1
	case n == 0:
		return ackermann(m-1, 1)
	}
	return ackermann(m-1, ackermann(m, n-1))
}

var calls = []kernelTest{
	one("calls", "ca_struct", d1(2), d1(64), 0, refStruct),
	perThread("calls", "ca_recursion", func(i uint32) uint32 { return fib(i%9)*1000 + ackermann(i%3, i%4) }),
	perThread("calls", "ca_mutual", func(i uint32) uint32 { return flag(i%13%2 == 0) | flag(i%7%2 == 1)<<1 }),
	one("calls", "ca_pointer", d1(1), d1(64), 0, func() []any {
		data := words(61, 64)
		after := table(64, func(i int) uint32 { return data[i&^3+3-i&3] })
		return []any{ptr(inout(data, after)), ptr(out(table(64, func(t int) uint32 {
			local := table(9, func(k int) uint32 { return uint32(t*10 + k) })
			if t%3 == 0 {
				for i, j := 0, t&7+1; i < j; i, j = i+1, j-1 {
					local[i], local[j] = local[j], local[i]
				}
			}
			h := mix(uint32(t&^7 + 7 - t&7))
			for _, v := range local {
				h = h*3 + v
			}
			return h
		})))}
	}),
	one("calls", "ca_indirect", d1(2), d1(64), 0, func() []any {
		a := words(62, 100)
		return []any{ptr(in(a)), ptr(out(table(100, func(i int) uint32 {
			r := a[i]
			for k := range uint32(3) {
				b := uint32(i) + k
				switch r >> k & 3 {
				case 0:
					r += b
				case 1:
					r *= b
				case 2:
					r ^= b
				case 3:
					r = fib(r&7) - b
				}
			}
			return r
		}))), uint32(100)}
	}),
	one("calls", "ca_virtual", d1(2), d1(64), 0, func() []any {
		a := unit(63, 100)
		return []any{ptr(in(a)), ptr(out(table(100, func(i int) float32 {
			x, f := a[i], float32(1.5)
			switch i % 3 {
			case 0:
				return float32(x*2) + float32(float32(x*2)*f)
			case 1:
				area := float32(float32(0.5*x) * 3)
				return area + float32(area*f)
			}
			return float32(x*x) + float32(float32(float32(x*f)*x)*f)
		}))), uint32(100)}
	}),
	one("calls", "ca_scalars", d1(2), d1(64), 0, func() []any {
		a := table(100, func(i int) int32 { return int32(mix(uint32(i) + 640)) })
		d := make([]float64, 100)
		want := table(100, func(i int) int64 {
			x := a[i]
			d[i] = (float64(float32(x&0xffff)) + 0.125) * 0.5
			b := int32(int8(x)) - int32(uint16(x>>4))
			if x&1 != 0 {
				b = int32(int8(x)) + int32(uint16(x>>4))
			}
			return int64(uint8(b))*1000000 + int64(int16(x)+int16(x>>16)) + int64(x)<<20*int64(x)
		})
		return []any{ptr(in(a)), ptr(out(want)), ptr(out(d)), uint32(100)}
	}),
	one("calls", "ca_diverged", d1(2), d1(64), 0, func() []any {
		a, bins := words(65, 100), make([]uint32, 16)
		for _, v := range a {
			for ; v > 100; v /= 7 {
				part, w := bins[:8], v
				if v&1 == 0 {
					part, w = bins[8:], ^v
				}
				for ; w != 0; w >>= 3 {
					part[w&7]++
				}
			}
		}
		return []any{ptr(in(a)), ptr(out(bins)), uint32(100)}
	}),
}

type bigStruct struct {
	v    [7]uint32
	tag  uint8
	half uint16
}

func (b bigStruct) shuffle(k uint32) (r bigStruct) {
	for i := range r.v {
		r.v[i] = b.v[(uint32(i)+k)%7] ^ uint32(b.tag)
	}
	r.tag, r.half = uint8(b.half>>3), b.half*3+uint16(k)
	return r
}

func refStruct() []any {
	const n = 100
	a := table(n, func(i int) int32 { return int32(mix(uint32(i) + 660)) })
	var o []int32
	var d []float64
	for i := range uint32(n) {
		pa, pb := a[i], float64(i)*0.5
		for range i&3 + 1 {
			pa, pb = pa*int32(i)+1, pb-2.25
		}
		b := bigStruct{tag: uint8(i), half: uint16(i * 77)}
		for k := range b.v {
			b.v[k] = mix(i + uint32(k))
		}
		b = b.shuffle(i).shuffle(i >> 3)
		h := uint32(b.tag)*65536 + uint32(b.half)
		for _, v := range b.v {
			h = h*31 + v
		}
		o, d = append(o, pa, int32(h)), append(d, pb)
	}
	return []any{ptr(in(a)), ptr(out(o)), ptr(out(d)), uint32(n)}
}

// The initialisers of globals.cu.
var (
	entries = []struct {
		kind   uint8
		code   uint16
		value  int32
		weight float64
	}{{1, 1000, -5, 0.5}, {2, 2000, 77, -1.25}, {255, 65535, -2147483647, 1e300}, {0, 0, 0, 0}, {9, 3, 12345678, 3.0}}
	taps    = []float32{1, -0.5, 0.25, 3, 1e-40, -7, 0, 2.5}
	message = "heddle: a loom's comb\x00"
	pool    = []uint32{11, 22, 33, 44, 55, 66, 77, 88, 99, 110, 121, 132}
)

var bigGlobal = int64(-1234567890123456789)

var globals = []kernelTest{
	one("globals", "gl_entries", d1(3), d1(64), 0, func() []any {
		return []any{ptr(out(table(150, func(i int) float64 {
			e := entries[mix(uint32(i))%5]
			s := float64(e.kind) + float64(e.code)*2
			s += float64(e.value) * 0.5
			s += e.weight
			s += float64(taps[i&7])
			s += float64(message[i%len(message)])
			return s + float64(bigGlobal%1000)
		}))), uint32(150)}
	}),
	one("globals", "gl_pointers", d1(1), d1(48), 0, func() []any {
		return []any{ptr(out(table(48, func(t int) uint32 {
			h := []uint32{pool[9], pool[0], 3}[t%3] + pool[4]
			for k := range t % 4 {
				h = h*10 + uint32(5+k)
			}
			return h
		})))}
	}),
	{"gl_write", "globals", func() []launch {
		sum := uint64(bigGlobal + 12)
		value := 2*4*12 + (1 + 0x80000000 + 3) + uint32(sum) + pool[5]
		read := out(table(64, func(int) uint32 { return value }))
		return []launch{
			{"gl_write", d1(1), d1(64), 0, []any{uint32(5)}},
			{"gl_write", d1(1), d1(64), 0, []any{uint32(7)}},
			{"gl_read", d1(1), d1(64), 0, []any{&read}},
		}
	}},
	one("globals", "gl_generic", d1(1), d1(64), 0, func() []any {
		a, want := words(67, 64), make([]uint32, 192)
		for t := range uint32(64) {
			var p [4]uint32
			first := mix(4 * t)
			space := [4]uint32{1, 2, 4, 0}[t&3]
			for k := range uint32(4) {
				p[k] = [4]uint32{100 + k, mix(4*t + k), a[t&60+k], 9 - k}[t&3]
			}
			if t&3 == 1 {
				p[0], first = t+1, t+1
			} else {
				want[64+t] = t + 1
			}
			want[t] = (((p[0]*17+p[1])*17+p[2])*17+p[3])*8 + space
			want[128+t] = first
		}
		return []any{ptr(in(a)), ptr(out(want))}
	}),
}
