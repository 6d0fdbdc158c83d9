// Package draw makes random choices that depend only on their inputs: each number is a hash, not the next value of a
// generator, so any warp may ask in any order. A reader must know three types. Mix is the hash; Zipf turns a hash
// into a rank of a Zipf distribution; Perm is a bijection of [0, n) that can be asked for any single image.
package draw

import (
	"math"
	"math/bits"
)

// Golden is 2^64 divided by the golden ratio: multiples of it are well spread keys.
const Golden = 0x9e3779b97f4a7c15

// Mix is a hash of 64 bits (the finaliser of SplitMix64, Steele et al., OOPSLA 2014).
func Mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Key combines three numbers into one hash.
func Key(seed, a, b uint64) uint64 {
	return Mix(Mix(seed+a*Golden) + b*0xd1342543de82ef95 + 1)
}

// Below maps a hash evenly to [0, n).
func Below(h, n uint64) uint64 {
	hi, _ := bits.Mul64(h, n)
	return hi
}

// Threshold is the number that a hash is below with probability p, clamped to [0, 1].
func Threshold(p float64) uint64 {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return math.MaxUint64
	}
	return uint64(math.Ldexp(p, 64))
}

// Perm is a bijection of [0, n): a Feistel network over the next even number of
// bits, walked until the image lies in the range (fewer than 4 steps on average).
type Perm struct {
	n    uint64
	half uint
	mask uint64
	key  [4]uint64
}

// NewPerm makes the permutation of [0, n) that belongs to seed; n is at least 1.
func NewPerm(n, seed uint64) Perm {
	p := Perm{n: n, half: uint(bits.Len64(n-1)+1) / 2}
	p.mask = 1<<p.half - 1
	for i := range p.key {
		p.key[i] = Key(seed, n, uint64(i))
	}
	return p
}

// At is the image of i, which is below n.
func (p *Perm) At(i uint64) uint64 {
	for {
		l, r := i>>p.half, i&p.mask
		for _, k := range p.key {
			l, r = r, l^(((r+k)*Golden^k)*(k|1)>>32)&p.mask
		}
		if i = l<<p.half | r; i < p.n {
			return i
		}
	}
}

// exact is the number of leading ranks that have their own probability; above them
// ranks share groups of a 32nd of their rank.
const exact = 64

// Zipf draws ranks 0..n-1 with probability proportional to (rank+1)^-theta. The
// first 64 ranks are exact; ranks of a group (3 % wide) are equally probable, which
// is within 2 % of the distribution and needs no floating point when drawing.
type Zipf struct {
	below []uint64 // cumulative probability of the groups, times 2^64
	first []uint64 // first rank of each group; one more entry: n
	// guide is by the top bits of a hash the first group it may lie in (Chen and Asau,
	// 1974): the group is found in a step or two instead of by bisection.
	guide [1 << guideBits]uint16
}

// guideBits: a table of 4096 is some ten times the groups of a million ranks.
const guideBits = 12

// NewZipf makes a distribution over n ranks (at least 1); theta is 0 (uniform) or more.
func NewZipf(n uint64, theta float64) *Zipf {
	z := &Zipf{}
	var sums []float64
	total := 0.0
	for r := uint64(0); r < n; {
		size := uint64(1)
		if r >= exact {
			size = min(r/32, n-r)
			total += integral(float64(r)+0.5, float64(r+size)+0.5, theta)
		} else {
			total += math.Pow(float64(r+1), -theta)
		}
		z.first = append(z.first, r)
		sums = append(sums, total)
		r += size
	}
	z.first = append(z.first, n)
	for _, s := range sums {
		z.below = append(z.below, Threshold(s/total))
	}
	z.below[len(z.below)-1] = math.MaxUint64
	group := 0 // there are fewer than 1500 of them for any n
	for i := range z.guide {
		for z.below[group] <= uint64(i)<<(64-guideBits) && group < len(z.below)-1 {
			group++
		}
		z.guide[i] = uint16(group)
	}
	return z
}

// integral is the integral of x^-theta from a to b.
func integral(a, b, theta float64) float64 {
	if e := 1 - theta; math.Abs(e) > 1e-9 {
		return (math.Pow(b, e) - math.Pow(a, e)) / e
	}
	return math.Log(b / a)
}

// Rank maps a hash to a rank.
func (z *Zipf) Rank(h uint64) uint64 {
	lo := int(z.guide[h>>(64-guideBits)])
	for lo < len(z.below)-1 && h >= z.below[lo] {
		lo++
	}
	f := z.first[lo]
	if size := z.first[lo+1] - f; size > 1 {
		return f + Below(Mix(h), size)
	}
	return f
}
