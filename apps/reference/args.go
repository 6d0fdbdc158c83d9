package reference

import "fmt"

// arguments reads what a script passed, in order, and keeps the first error.
type arguments struct {
	list []any
	next int
	err  error
}

func (a *arguments) take(want string) any {
	if a.err != nil {
		return nil
	}
	if a.next >= len(a.list) {
		a.err = fmt.Errorf("argument %d is missing: it must be %s", a.next+1, want)
		return nil
	}
	a.next++
	return a.list[a.next-1]
}

func (a *arguments) wrong(v any, want string) {
	if a.err == nil {
		a.err = fmt.Errorf("argument %d is %T: it must be %s", a.next, v, want)
	}
}

// slice reads an array of exactly n elements; n < 0 accepts any length.
func slice[T any](a *arguments, n int, want string) []T {
	v := a.take(want)
	s, ok := v.([]T)
	if !ok {
		a.wrong(v, want)
		return nil
	}
	if n >= 0 && len(s) != n {
		a.err = fmt.Errorf("argument %d has %d elements: it must have %d", a.next, len(s), n)
		return nil
	}
	return s
}

func (a *arguments) f32s(n int) []float32 { return slice[float32](a, n, "an array of f32") }
func (a *arguments) i32s(n int) []int32   { return slice[int32](a, n, "an array of i32") }
func (a *arguments) u32s(n int) []uint32  { return slice[uint32](a, n, "an array of u32") }

// count reads a non-negative integer.
func (a *arguments) count() int {
	v := a.take("a count")
	n, ok := v.(int64)
	if !ok || n < 0 || n > 1<<40 {
		a.wrong(v, "a count (an integer, 0 or more)")
		return 0
	}
	return int(n)
}

// f32 reads a number as the kernel's float parameter does.
func (a *arguments) f32() float32 {
	switch v := a.take("a number").(type) {
	case float64:
		return float32(v)
	case int64:
		return float32(v)
	default:
		a.wrong(v, "a number")
		return 0
	}
}

func (a *arguments) text() string {
	v := a.take("a string")
	s, ok := v.(string)
	if !ok {
		a.wrong(v, "a string")
	}
	return s
}

// done says whether all arguments were read and good.
func (a *arguments) done() error {
	if a.err == nil && a.next != len(a.list) {
		return fmt.Errorf("%d arguments given, %d wanted", len(a.list), a.next)
	}
	return a.err
}
