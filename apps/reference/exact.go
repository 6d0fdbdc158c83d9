package reference

import "math"

// exactExp is include/exact.cuh's exact_exp: e^a for |a| < 87 from IEEE operations.
func exactExp(a float32) float32 {
	t := float32(math.RoundToEven(float64(mul32(a, 1.44269504))))
	r := fma32(t, -0.693359375, a)
	r = fma32(t, 2.12194440e-4, r)
	p := fma32(r, float32(1)/720, float32(1)/120)
	p = fma32(r, p, float32(1)/24)
	p = fma32(r, p, float32(1)/6)
	p = fma32(r, p, 0.5)
	p = fma32(r, p, 1)
	p = fma32(r, p, 1)
	return mul32(p, math.Float32frombits(uint32(int32(t)+127)<<23))
}
