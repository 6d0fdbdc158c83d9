package torture

import "math/bits"

const divN = 300 // two full blocks of 128 and part of a third

// perThread tests kernels of the form k(out, n) with a function per thread.
func perThread(file, name string, f func(i uint32) uint32) kernelTest {
	return one(file, name, d1(3), d1(128), 0, func() []any {
		return []any{ptr(out(table(divN, func(i int) uint32 { return f(uint32(i)) }))), uint32(divN)}
	})
}

func ptr(b buffer) *buffer { return &b }

var divergence = []kernelTest{
	perThread("divergence", "div_nested", refNested),
	perThread("divergence", "div_loops", refLoops),
	perThread("divergence", "div_nested_loops", refNestedLoops),
	perThread("divergence", "div_irreducible", refIrreducible),
	perThread("divergence", "div_early_exit", refEarlyExit),
	one("divergence", "div_switch", d1(3), d1(128), 0, func() []any {
		code := table(256, func(i int) uint8 { return uint8(mix(uint32(i) + 9)) })
		return []any{
			ptr(in(code)), ptr(out(table(divN, func(i int) uint32 { return refSwitch(code, uint32(i)) }))),
			uint32(divN),
		}
	}),
	one("divergence", "div_shortcircuit", d1(3), d1(128), 0, func() []any {
		count := make([]uint32, 3)
		want := table(divN, func(i int) uint32 { return refShortCircuit(count, uint32(i)) })
		return []any{ptr(out(want)), ptr(out(count)), uint32(divN)}
	}),
	one("divergence", "div_stack", d1(2), d1(64), 0, func() []any {
		texts := []string{
			"7", "12+", "93/", "50/", "12+34+*", "99*9*9*9*9*1-", "1", "123456789+*-+*-+*", "80-1-2-",
			"12345678+++++++1+",
		}
		var text []byte
		start, want := []uint32{0}, []int32{}
		for i := range 100 {
			s := texts[mix(uint32(i))%uint32(len(texts))]
			text = append(text, s...)
			start = append(start, uint32(len(text)))
			want = append(want, refPolish(s))
		}
		return []any{ptr(in(text)), ptr(in(start)), ptr(out(want)), uint32(100)}
	}),
}

func refNested(i uint32) uint32 {
	h, r := mix(i), uint32(1)
	if h&1 != 0 {
		r += 10
		if h&2 != 0 {
			r *= 3
			if h&4 != 0 {
				r ^= h
			} else {
				r -= i
				if h&8 != 0 {
					r = bits.RotateLeft32(r, 3)
				}
			}
		} else if h&16 != 0 {
			r += mix(r)
		}
		return r + 7
	}
	if h&32 != 0 {
		for k := uint32(0); k < h>>8&7; k++ {
			r = r*5 + k
		}
		if h&64 != 0 {
			r = ^r
		}
	}
	return r + 1000
}

func refLoops(i uint32) uint32 {
	x, steps, odd := i+1, uint32(0), uint32(0)
	for x != 1 {
		if steps > 200 {
			return 0xffffffff
		}
		steps++
		if x%2 == 0 {
			x /= 2
			continue
		}
		odd++
		x = 3*x + 1
		if odd == 40 {
			break
		}
	}
	return steps<<8 | odd
}

func refNestedLoops(i uint32) uint32 {
	sum := uint32(0)
	for a := uint32(0); a < i&7+1; a++ {
		for b := uint32(0); b < mix(i+a)&15; b++ {
			sum = sum*31 + a*b + 1
			if sum&0x3f == 0x11 {
				return sum
			}
			if sum&0x1f == 3 {
				break
			}
		}
		for {
			sum ^= sum >> 5
			if sum&1 == 0 {
				break
			}
			sum = sum*3 + 2
			if sum >= 0xf0000000 {
				break
			}
		}
	}
	return sum
}

func refSwitch(code []uint8, i uint32) uint32 {
	a, b := i, uint32(7)
	for pc := uint32(0); pc < 24; pc++ {
		switch code[(pc*37+i*11)&255] % 13 {
		case 0:
			a += b
		case 1:
			a -= b
			fallthrough
		case 2:
			a ^= 0x55
		case 3:
			b = a >> 3
		case 4:
			b++
			fallthrough
		case 5:
			b += 2
			fallthrough
		case 6:
			b *= 3
		case 7:
			if a&1 == 0 {
				a = mix(a)
			}
		case 8:
			a = bits.RotateLeft32(a, 7)
		case 9:
			a, b = b, a
		case 11:
			pc += 2
		default:
			a = ^a
		}
	}
	return a*31 + b
}

func refShortCircuit(count []uint32, i uint32) uint32 {
	h, r := mix(i+77), uint32(0)
	bit := func(m uint32) bool { return h&m != 0 }
	touch := func(k int) bool { count[k]++; return true }
	if bit(1) && touch(0) && bit(2) || bit(4) && touch(1) && !bit(8) {
		r |= 1
	}
	if !bit(16) || touch(2) && (bit(32) || bit(64)) {
		r |= 2
	}
	switch {
	case bit(128) && bit(256):
		r |= 4
	case bit(128):
		r |= 8
	case bit(512):
		r |= 16
	default:
		r |= 32
	}
	return r
}

func refIrreducible(i uint32) uint32 {
	x, k := mix(i), uint32(0)
	second := x&1 != 0
	for {
		if !second {
			x = x*1664525 + 1013904223
			if k++; k > 20 {
				break
			}
			if x&0x100 != 0 {
				continue
			}
		}
		x ^= x >> 7
		if k++; k > 20 {
			break
		}
		if second = x&0x200 != 0; second {
			continue
		}
		if x&0x400 == 0 {
			break
		}
	}
	return x + k
}

func refEarlyExit(i uint32) uint32 {
	if i&31 == 5 {
		return 0
	}
	v, last := i, uint32(0)
	for k := uint32(0); k < 64 && i&31 != k; k++ {
		v = mix(v) + k
		last = v
	}
	return last
}

func refPolish(s string) int32 {
	var stack []int32
	for _, c := range s {
		if c >= '0' && c <= '9' {
			stack = append(stack, c-'0')
			continue
		}
		a, b := stack[len(stack)-2], stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch c {
		case '+':
			a += b
		case '-':
			a -= b
		case '*':
			a *= b
		case '/':
			if b == 0 {
				a = -1
			} else {
				a /= b
			}
		}
		stack[len(stack)-1] = a
	}
	if len(stack) != 1 {
		return 1 << 30
	}
	return stack[0]
}
