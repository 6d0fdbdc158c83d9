package timing

// FirstError keeps the first error of a run: a program's fault, or memory that is full.
// The machine stops at the end of the cycle.
type FirstError struct{ Err error }

// Note keeps an error, if it is one and the first.
func (f *FirstError) Note(err error) {
	if err != nil && f.Err == nil {
		f.Err = err
	}
}
