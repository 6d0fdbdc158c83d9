//go:build !amd64 || purego

package emulate

// Machines without AVX2 forms use the pure Go rows.

func fast32(_ string, f fn32) fn32               { return f }
func fast64(_ string, f fn64) fn64               { return f }
func fastWide(_ string, f fnWide) fnWide         { return f }
func fastNarrow(_ string, f fnNarrow) fnNarrow   { return f }
func fastShift(_ string, f fnShift) fnShift      { return f }
func fastCompare(_, _ string, f fnCmp32) fnCmp32 { return f }
func blend32(d, s *v32, mask uint32)             { blend32Go(d, s, mask) }
func blend64(d, s *v64, mask uint32)             { blend64Go(d, s, mask) }
func offset64(d, a *[32]uint64, n uint64)        { offset64Go(d, a, n) }
func bounds64(d, a *[32]uint64, start, limit uint64) (uint64, bool) {
	return bounds64Go(d, a, start, limit)
}
