package reference

// f64 reads a number as the host's part of an algorithm does.
func (a *arguments) f64() float64 {
	switch v := a.take("a number").(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	default:
		a.wrong(v, "a number")
		return 0
	}
}

// i32 reads an integer of the kernel's int.
func (a *arguments) i32() int32 {
	v := a.take("an integer")
	n, ok := v.(int64)
	if !ok || int64(int32(n)) != n {
		a.wrong(v, "an integer of 32 bits")
		return 0
	}
	return int32(n)
}
