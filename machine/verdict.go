package machine

// verdict keeps the first error of a run: a program's fault, or memory that is full.
// The machine stops at the end of the cycle.
type verdict struct{ err error }

func (v *verdict) fail(err error) {
	if err != nil && v.err == nil {
		v.err = err
	}
}
