package emulate

// sources prepares the first two sources of a modified op in c.t1 and c.t2.
func (c *cta) sources(wp *warp, o *op) (a, b *v32) {
	a, b = c.row32(wp, o.a), c.row32(wp, o.b)
	switch {
	case o.flags&fFtzIn != 0:
		flush32(&c.t1, a)
		flush32(&c.t2, b)
	case o.flags&fSext16 != 0:
		sext16(&c.t1, a)
		sext16(&c.t2, b)
	default:
		return a, b
	}
	return &c.t1, &c.t2
}

// modified computes an op with .ftz, .sat or 16-bit operands into c.t4.
func (c *cta) modified(wp *warp, o *op) {
	a, b := c.sources(wp, o)
	k := c.row32(wp, o.c)
	switch {
	case o.flags&fFtzIn != 0:
		flush32(&c.t3, k)
		k = &c.t3
	case o.flags&fSext16 != 0:
		sext16(&c.t3, k)
		k = &c.t3
	}
	o.f32(&c.t4, a, b, k)
	if o.flags&fFtzOut != 0 {
		flush32(&c.t4, &c.t4)
	}
	if o.flags&fSat != 0 {
		saturate32(&c.t4)
	}
	if o.flags&fTrunc16 != 0 {
		trunc16(&c.t4)
	}
}

// set writes a comparison as a number: all ones or zero for integer results, 1.0
// or 0.0 for f32 (o.e is the value for true).
func (c *cta) set(wp *warp, o *op, mask uint32) {
	var m uint32
	if o.cmp64 != nil {
		m = o.cmp64(c.row64(wp, o.a), c.row64(wp, o.b))
	} else {
		a, b := c.sources(wp, o)
		m = o.cmp32(a, b)
	}
	m = combine(o.n, m, combining(wp, o))
	for i := range c.t1 {
		c.t1[i] = uint32(o.e) * (m >> i & 1)
	}
	blend32(&wp.r32[o.d], &c.t1, mask)
}
