package emulate

// Comparisons give one bit per lane.

type number interface {
	int32 | uint32 | int64 | uint64 | float32 | float64
}

func bit(c bool) uint32 {
	if c {
		return 1
	}
	return 0
}

func eqRow[T number](a, b *[32]T) (m uint32) {
	for i := range a {
		m |= bit(a[i] == b[i]) << i
	}
	return m
}

func ltRow[T number](a, b *[32]T) (m uint32) {
	for i := range a {
		m |= bit(a[i] < b[i]) << i
	}
	return m
}

func leRow[T number](a, b *[32]T) (m uint32) {
	for i := range a {
		m |= bit(a[i] <= b[i]) << i
	}
	return m
}

func numRow[T number](a, b *[32]T) (m uint32) {
	for i := range a {
		m |= bit(a[i] == a[i] && b[i] == b[i]) << i
	}
	return m
}

// compare builds the comparison named by a PTX CmpOp for rows of T; nil for an
// unknown name. Unordered forms (equ, ltu ...) are the negation of the opposite.
func compare[T number](op string) func(a, b *[32]T) uint32 {
	switch op {
	case "eq":
		return eqRow[T]
	case "lt", "lo":
		return ltRow[T]
	case "le", "ls":
		return leRow[T]
	case "gt", "hi":
		return func(a, b *[32]T) uint32 { return ltRow(b, a) }
	case "ge", "hs":
		return func(a, b *[32]T) uint32 { return leRow(b, a) }
	case "neu":
		return func(a, b *[32]T) uint32 { return ^eqRow(a, b) }
	case "ne": // ordered for floats; the same as neu for integers
		return func(a, b *[32]T) uint32 { return ^eqRow(a, b) & numRow(a, b) }
	case "equ":
		return func(a, b *[32]T) uint32 { return eqRow(a, b) | ^numRow(a, b) }
	case "ltu":
		return func(a, b *[32]T) uint32 { return ^leRow(b, a) }
	case "leu":
		return func(a, b *[32]T) uint32 { return ^ltRow(b, a) }
	case "gtu":
		return func(a, b *[32]T) uint32 { return ^leRow(a, b) }
	case "geu":
		return func(a, b *[32]T) uint32 { return ^ltRow(a, b) }
	case "num":
		return numRow[T]
	case "nan":
		return func(a, b *[32]T) uint32 { return ^numRow(a, b) }
	}
	return nil
}
