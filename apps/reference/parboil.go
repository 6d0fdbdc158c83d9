package reference

import (
	"fmt"
	"math"
)

// cp(atoms, batch, width, height, spacing) is the potential on the lattice; atoms are
// quadruples (x, y, z^2, charge) added in batches as the launches do. The kernel's
// reciprocal square root is approximate, so compare with a tolerance.
func cp(list []any) (any, error) {
	in := arguments{list: list}
	atoms := in.f32s(-1)
	batch, width, height := in.count(), in.count(), in.count()
	spacing := in.f32()
	if err := in.done(); err != nil {
		return nil, err
	}
	if len(atoms)%4 != 0 || batch < 1 {
		return nil, fmt.Errorf("%d values in batches of %d atoms: four values make an atom, a batch has at least one",
			len(atoms), batch)
	}
	energy := make([]float32, width*height)
	for first := 0; first < len(atoms); first += 4 * batch {
		part := atoms[first:min(first+4*batch, len(atoms))]
		for row := range height {
			y := mul32(spacing, float32(row))
			for col := range width {
				energy[row*width+col] += potential(part, mul32(spacing, float32(col)), y)
			}
		}
	}
	return energy, nil
}

// potential is the sum of charge / distance over the atoms.
func potential(atoms []float32, x, y float32) float32 {
	var e float32
	for i := 0; i < len(atoms); i += 4 {
		dx, dy := x-atoms[i], y-atoms[i+1]
		r2 := fma32(dx, dx, fma32(dy, dy, atoms[i+2]))
		e = fma32(atoms[i+3], float32(1/math.Sqrt(float64(r2))), e)
	}
	return e
}
