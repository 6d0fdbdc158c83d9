package emulate

import "math/bits"

// Integer rows of 64 bits.

func mov64(d, a, _, _ *v64) { *d = *a }

func add64(d, a, b, _ *v64) {
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func sub64(d, a, b, _ *v64) {
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

func mulLo64(d, a, b, _ *v64) {
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func madLo64(d, a, b, c *v64) {
	for i := range d {
		d[i] = a[i]*b[i] + c[i]
	}
}

func mulHiU64(a, b uint64) uint64 { h, _ := bits.Mul64(a, b); return h }

func mulHiS64(a, b uint64) uint64 {
	h, _ := bits.Mul64(a, b)
	return h - a&uint64(int64(b)>>63) - b&uint64(int64(a)>>63)
}

func madHiU64(a, b, c uint64) uint64 { return mulHiU64(a, b) + c }
func madHiS64(a, b, c uint64) uint64 { return mulHiS64(a, b) + c }

func sadU64(a, b, c uint64) uint64 { return c + max(a, b) - min(a, b) }
func sadS64(a, b, c uint64) uint64 {
	return c + uint64(max(int64(a), int64(b))) - uint64(min(int64(a), int64(b)))
}

func divU64(a, b uint64) uint64 {
	if b == 0 {
		return ^uint64(0)
	}
	return a / b
}

func divS64(a, b uint64) uint64 {
	switch b {
	case 0:
		return ^uint64(0)
	case ^uint64(0):
		return -a // -2^63 / -1 wraps
	}
	return uint64(int64(a) / int64(b))
}

func remU64(a, b uint64) uint64 {
	if b == 0 {
		return a
	}
	return a % b
}

func remS64(a, b uint64) uint64 {
	switch b {
	case 0:
		return a
	case ^uint64(0):
		return 0
	}
	return uint64(int64(a) % int64(b))
}

func neg64(d, a, _, _ *v64) {
	for i := range d {
		d[i] = -a[i]
	}
}

func abs64(a uint64) uint64 {
	s := uint64(int64(a) >> 63)
	return (a ^ s) - s
}

func minU64(a, b uint64) uint64 { return min(a, b) }
func maxU64(a, b uint64) uint64 { return max(a, b) }
func minS64(a, b uint64) uint64 { return uint64(min(int64(a), int64(b))) }
func maxS64(a, b uint64) uint64 { return uint64(max(int64(a), int64(b))) }

func and64(d, a, b, _ *v64) {
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func or64(d, a, b, _ *v64) {
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func xor64(d, a, b, _ *v64) {
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

func not64(d, a, _, _ *v64) {
	for i := range d {
		d[i] = ^a[i]
	}
}

func cnot64(a uint64) uint64 {
	if a == 0 {
		return 1
	}
	return 0
}

func shl64(d, a *v64, b, _ *v32) {
	for i := range d {
		d[i] = a[i] << b[i]
	}
}

func shrU64(d, a *v64, b, _ *v32) {
	for i := range d {
		d[i] = a[i] >> b[i]
	}
}

func shrS64(d, a *v64, b, _ *v32) {
	for i := range d {
		d[i] = uint64(int64(a[i]) >> b[i])
	}
}

func bfeRowU64(d, a *v64, b, c *v32) {
	for i := range d {
		d[i] = bfeU64(a[i], b[i], c[i], 64)
	}
}

func bfeRowS64(d, a *v64, b, c *v32) {
	for i := range d {
		d[i] = bfeS64(a[i], b[i], c[i], 64)
	}
}

func popc64(a uint64) uint64   { return uint64(bits.OnesCount64(a)) }
func clz64(a uint64) uint64    { return uint64(bits.LeadingZeros64(a)) }
func bfindU64(a uint64) uint64 { return uint64(bits.Len64(a) - 1) }
func bfindS64(a uint64) uint64 { return bfindU64(a ^ uint64(int64(a)>>63)) }
