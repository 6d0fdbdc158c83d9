package probe

// Knuth's lagged Fibonacci generators (TAOCP volume 2, third edition, 3.6) with
// lags 100 and 37: integers modulo 2^30 by subtraction and multiples of 2^-52
// modulo 1 by addition. Of each 1009 values the first 100 are used.
const (
	longLag  = 100
	shortLag = 37
	quality  = 1009
	spread   = 70 // guaranteed separation between streams
	modulus  = 1 << 30
)

// integers is the integer generator.
type integers struct {
	state [longLag]int32
	buf   [quality]int32
	used  int // values of buf already handed out
}

func diff30(a, b int32) int32 { return (a - b) & (modulus - 1) }

// newIntegers seeds the generator: the seed's bits steer squarings and
// multiplications of a polynomial in the recurrence's ring.
func newIntegers(seed int64) *integers {
	g := &integers{used: longLag}
	var x [2*longLag - 1]int32
	ss := int32((seed + 2) & (modulus - 2))
	for j := range longLag {
		x[j] = ss
		if ss <<= 1; ss >= modulus {
			ss -= modulus - 2
		}
	}
	x[1]++
	ss = int32(seed & (modulus - 1))
	for t := spread - 1; t > 0; {
		for j := longLag - 1; j > 0; j-- {
			x[2*j], x[2*j-1] = x[j], 0
		}
		for j := 2*longLag - 2; j >= longLag; j-- {
			x[j-(longLag-shortLag)] = diff30(x[j-(longLag-shortLag)], x[j])
			x[j-longLag] = diff30(x[j-longLag], x[j])
		}
		if ss&1 == 1 {
			for j := longLag; j > 0; j-- {
				x[j] = x[j-1]
			}
			x[0] = x[longLag]
			x[shortLag] = diff30(x[shortLag], x[longLag])
		}
		if ss != 0 {
			ss >>= 1
		} else {
			t--
		}
	}
	for j := range shortLag {
		g.state[j+longLag-shortLag] = x[j]
	}
	for j := shortLag; j < longLag; j++ {
		g.state[j-shortLag] = x[j]
	}
	for range 10 {
		g.fill(x[:])
	}
	return g
}

// fill generates len(out) >= longLag values and advances the state.
func (g *integers) fill(out []int32) {
	n := copy(out, g.state[:])
	for ; n < len(out); n++ {
		out[n] = diff30(out[n-longLag], out[n-shortLag])
	}
	for i := range longLag {
		a := out[n-longLag+i]
		if i < shortLag {
			g.state[i] = diff30(a, out[n-shortLag+i])
		} else {
			g.state[i] = diff30(a, g.state[i-shortLag])
		}
	}
}

// next is uniform in [0, 2^30).
func (g *integers) next() int32 {
	if g.used == longLag {
		g.fill(g.buf[:])
		g.used = 0
	}
	g.used++
	return g.buf[g.used-1]
}

// below is uniform in [0, n).
func (g *integers) below(n int) int { return int(g.next()) % n }

// fractions is the floating-point generator.
type fractions struct {
	state [longLag]float64
	buf   [quality]float64
	used  int
}

// sum1 is a+b modulo 1, exact for multiples of 2^-52.
func sum1(a, b float64) float64 {
	s := a + b
	return s - float64(int(s))
}

func newFractions(seed int64) *fractions {
	g := &fractions{used: longLag}
	var u [2*longLag - 1]float64
	const ulp = 1.0 / (1 << 30) / (1 << 22)
	ss := 2 * ulp * float64(seed&(modulus-1)+2)
	for j := range longLag {
		u[j] = ss
		if ss += ss; ss >= 1 {
			ss -= 1 - 2*ulp
		}
	}
	u[1] += ulp
	s := seed & (modulus - 1)
	for t := spread - 1; t > 0; {
		for j := longLag - 1; j > 0; j-- {
			u[2*j], u[2*j-1] = u[j], 0
		}
		for j := 2*longLag - 2; j >= longLag; j-- {
			u[j-(longLag-shortLag)] = sum1(u[j-(longLag-shortLag)], u[j])
			u[j-longLag] = sum1(u[j-longLag], u[j])
		}
		if s&1 == 1 {
			for j := longLag; j > 0; j-- {
				u[j] = u[j-1]
			}
			u[0] = u[longLag]
			u[shortLag] = sum1(u[shortLag], u[longLag])
		}
		if s != 0 {
			s >>= 1
		} else {
			t--
		}
	}
	for j := range shortLag {
		g.state[j+longLag-shortLag] = u[j]
	}
	for j := shortLag; j < longLag; j++ {
		g.state[j-shortLag] = u[j]
	}
	for range 10 {
		g.fill(u[:])
	}
	return g
}

// fill is the sum form of the recurrence.
func (g *fractions) fill(out []float64) {
	n := copy(out, g.state[:])
	for ; n < len(out); n++ {
		out[n] = sum1(out[n-longLag], out[n-shortLag])
	}
	for i := range longLag {
		a := out[n-longLag+i]
		if i < shortLag {
			g.state[i] = sum1(a, out[n-shortLag+i])
		} else {
			g.state[i] = sum1(a, g.state[i-shortLag])
		}
	}
}

// next is uniform in [0, 1).
func (g *fractions) next() float64 {
	if g.used == longLag {
		g.fill(g.buf[:])
		g.used = 0
	}
	g.used++
	return g.buf[g.used-1]
}
