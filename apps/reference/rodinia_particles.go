package reference

import (
	"fmt"
	"math"
)

// lavamd(at, charge, boxes, particles, a) is force and potential (x, y, z, v) of each particle; at holds its place in
// its box (x, y, z, unused), of boxes^3 boxes of as many particles each.
func lavamd(list []any) (any, error) {
	in := arguments{list: list}
	at := slice[float64](&in, -1, "an array of f64")
	charge := slice[float64](&in, len(at)/4, "an array of f64")
	boxes, particles := in.count(), in.count()
	a := in.f64()
	if err := in.done(); err != nil {
		return nil, err
	}
	if boxes > 1<<10 || particles > 1<<20 || len(at) != 4*particles*boxes*boxes*boxes {
		return nil, fmt.Errorf("%d values: they must be 4 per particle, %d particles in each of %d^3 boxes", len(at),
			particles, boxes)
	}
	force := make([]float64, len(at))
	size := 4 * particles
	for home := range boxes * boxes * boxes {
		hx, hy, hz := home%boxes, home/boxes%boxes, home/(boxes*boxes)
		for z := max(hz-1, 0); z <= min(hz+1, boxes-1); z++ {
			for y := max(hy-1, 0); y <= min(hy+1, boxes-1); y++ {
				for x := max(hx-1, 0); x <= min(hx+1, boxes-1); x++ {
					from := (z*boxes+y)*boxes + x
					shift := [3]float64{float64(x - hx), float64(y - hy), float64(z - hz)}
					attract(force[home*size:][:size], at[home*size:][:size], at[from*size:][:size],
						charge[from*particles:][:particles], shift, a)
				}
			}
		}
	}
	return force, nil
}

// attract adds to the particles of one box what those of another exert, which lies shift boxes away.
func attract(force, me, other, charge []float64, shift [3]float64, a float64) {
	for i := 0; i < len(me); i += 4 {
		for j := 0; j < len(other); j += 4 {
			dx, dy, dz := me[i]-other[j]-shift[0], me[i+1]-other[j+1]-shift[1], me[i+2]-other[j+2]-shift[2]
			r2 := math.FMA(dz, dz, math.FMA(dy, dy, float64(dx*dx)))
			v := float64(charge[j/4] * expNegative(float64(-a*r2)))
			s := float64(2 * a * v)
			force[i] = math.FMA(s, dx, force[i])
			force[i+1] = math.FMA(s, dy, force[i+1])
			force[i+2] = math.FMA(s, dz, force[i+2])
			force[i+3] += v
		}
	}
}

// expNegative is the kernel's e^x for -700 < x <= 0.
func expNegative(x float64) float64 {
	const magic = 6755399441055744.0
	k := math.FMA(x, 1.4426950408889634, magic) - magic
	r := math.FMA(-k, 0.693147180369123816490, x)
	r = math.FMA(-k, 1.90821492927058770002e-10, r)
	p := 1.6059043836821614599e-10
	for _, c := range [13]float64{
		2.0876756987868098979e-9, 2.5052108385441718775e-8,
		2.7557319223985890653e-7, 2.7557319223985890653e-6, 2.4801587301587301587e-5, 1.9841269841269841270e-4,
		1.3888888888888888889e-3, 8.3333333333333333333e-3, 4.1666666666666666667e-2, 1.6666666666666666667e-1, 0.5, 1,
		1,
	} {
		p = math.FMA(p, r, c)
	}
	return math.Float64frombits(math.Float64bits(p) + uint64(int64(k))<<52)
}
