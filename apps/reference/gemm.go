package reference

import "fmt"

// gemmSingle(A, B, m, n, k) is A^T B of row-major matrices, A k x m, B k x n; each element is summed over
// k in order.
func gemmSingle(list []any) (any, error) {
	a, b, m, n, k, err := factors(list)
	if err != nil {
		return nil, err
	}
	out := make([]float32, m*n)
	for p := range k {
		for i := range m {
			f, row := a[p*m+i], out[i*n:(i+1)*n]
			for j, x := range b[p*n : (p+1)*n] {
				row[j] = fma32(f, x, row[j])
			}
		}
	}
	return out, nil
}

// gemmHalf(A, B, m, n, k) is A B^T of row-major matrices, A m x k, B n x k. Tensor cores sum in an
// order of their own, so compare with a tolerance.
func gemmHalf(list []any) (any, error) {
	a, b, m, n, k, err := factors(list)
	if err != nil {
		return nil, err
	}
	out := make([]float32, m*n)
	for i := range m {
		row := a[i*k : (i+1)*k]
		for j := range n {
			sum := 0.0
			for p, x := range b[j*k : (j+1)*k] {
				sum += float64(row[p]) * float64(x)
			}
			out[i*n+j] = float32(sum)
		}
	}
	return out, nil
}

// factors are two matrices of m x k and k x n elements in whatever order, and m, n and k.
func factors(list []any) (a, b []float32, m, n, k int, err error) {
	in := arguments{list: list}
	a, b = in.f32s(-1), in.f32s(-1)
	m, n, k = in.count(), in.count(), in.count()
	if err = in.done(); err != nil {
		return nil, nil, 0, 0, 0, err
	}
	if len(a) != m*k || len(b) != n*k {
		err = fmt.Errorf("A and B have %d and %d elements: they must have %d x %d and %d x %d", len(a), len(b), m,
			k, n, k)
	}
	return a, b, m, n, k, err
}
