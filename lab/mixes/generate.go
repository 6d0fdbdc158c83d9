package mixes

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Cross lists every pair of one element of a and one of b, a's element first.
func Cross(a, b []string) (mixes [][]string) {
	for _, x := range a {
		for _, y := range b {
			mixes = append(mixes, []string{x, y})
		}
	}
	return mixes
}

// Pairs lists every unordered pair of different keys.
func Pairs(keys []string) (mixes [][]string) { return Choose(keys, 2) }

// Ordered lists every pair of an element of a and a different element of b, a's element first.
func Ordered(a, b []string) (mixes [][]string) {
	for _, m := range Cross(a, b) {
		if m[0] != m[1] {
			mixes = append(mixes, m)
		}
	}
	return mixes
}

// Choose lists every subset of n keys, in lexical order of positions.
func Choose(keys []string, n int) (mixes [][]string) {
	if n == 0 {
		return [][]string{nil}
	}
	for i := 0; i+n <= len(keys); i++ {
		for _, rest := range Choose(keys[i+1:], n-1) {
			mixes = append(mixes, append([]string{keys[i]}, rest...))
		}
	}
	return mixes
}

// Sample draws count different mixes of half keys of a followed by half keys of b.
// The same seed gives the same mixes: the possible ones, in the order of Choose,
// are shuffled with a PCG generator seeded (seed, 0), and the first count are kept
// in that order's original sequence.
func Sample(a, b []string, half, count int, seed uint64) (mixes [][]string) {
	left, right := Choose(a, half), Choose(b, half)
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(left) * len(right))
	order = order[:min(count, len(order))]
	slices.Sort(order)
	for _, i := range order {
		mixes = append(mixes, slices.Concat(left[i/len(right)], right[i%len(right)]))
	}
	return mixes
}

// Name is the name of a mix of these keys.
func Name(keys []string) string { return strings.Join(keys, "_") }
