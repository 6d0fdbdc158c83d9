package draw

import (
	"math"
	"testing"
)

// Every permutation is one: each image once.
func TestPerm(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 17, 64, 1000, 4097} {
		p := NewPerm(n, 7)
		seen := make([]bool, n)
		moved := 0
		for i := range n {
			v := p.At(i)
			if v >= n || seen[v] {
				t.Fatalf("n = %d: image %d of %d is out of range or met twice", n, v, i)
			}
			seen[v] = true
			if v != i {
				moved++
			}
		}
		if n > 100 && moved < int(n)*9/10 {
			t.Errorf("n = %d: only %d moved", n, moved)
		}
	}
	a, b := NewPerm(1000, 1), NewPerm(1000, 2)
	same := 0
	for i := range uint64(1000) {
		if a.At(i) == b.At(i) {
			same++
		}
	}
	if same > 20 {
		t.Errorf("two seeds agree in %d of 1000 places", same)
	}
}

// The share of the top ranks is that of the exact sums.
func TestZipfShares(t *testing.T) {
	const n, draws = 50_000, 400_000
	for _, theta := range []float64{0, 0.5, 0.9, 1, 1.3} {
		z := NewZipf(n, theta)
		want, got := map[uint64]float64{}, map[uint64]float64{}
		tops := []uint64{1, 10, 100, 1000, 20_000}
		total := 0.0
		for r := range uint64(n) {
			m := math.Pow(float64(r+1), -theta)
			total += m
			for _, k := range tops {
				if r < k {
					want[k] += m
				}
			}
		}
		for i := range uint64(draws) {
			r := z.Rank(Key(3, i, 0))
			if r >= n {
				t.Fatalf("rank %d", r)
			}
			for _, k := range tops {
				if r < k {
					got[k]++
				}
			}
		}
		for _, k := range tops {
			w, g := want[k]/total, got[k]/draws
			if math.Abs(w-g) > 0.02*w+4*math.Sqrt(w/draws) {
				t.Errorf("theta %g: the first %d ranks have %.4f of the draws, want %.4f", theta, k, g, w)
			}
		}
	}
}

// The guide leads to the group that a search through all of them finds, at the edges
// of its entries and of the groups above all.
func TestZipfGuide(t *testing.T) {
	for _, n := range []uint64{1, 2, 63, 65, 1 << 20, math.MaxUint64} {
		for _, theta := range []float64{0, 0.99, 3} {
			z := NewZipf(n, theta)
			hashes := []uint64{0, math.MaxUint64}
			for _, b := range z.below {
				hashes = append(hashes, b-1, b, b+1)
			}
			for i := range uint64(1 << guideBits) {
				hashes = append(hashes, i<<(64-guideBits), (i+1)<<(64-guideBits)-1)
			}
			for _, h := range hashes {
				want := 0
				for want < len(z.below)-1 && h >= z.below[want] {
					want++
				}
				if r := z.Rank(h); r < z.first[want] || r >= z.first[want+1] {
					t.Fatalf("%d ranks, theta %g: hash %#x has rank %d, want one of %d to %d", n, theta, h, r,
						z.first[want], z.first[want+1]-1)
				}
			}
		}
	}
}

func TestBelowAndThreshold(t *testing.T) {
	var n [10]int
	hits := 0
	limit := Threshold(0.3)
	for i := range uint64(100_000) {
		h := Key(1, 2, i)
		n[Below(h, 10)]++
		if h < limit {
			hits++
		}
	}
	for i, c := range n {
		if c < 9_600 || c > 10_400 {
			t.Errorf("digit %d drawn %d times of 100000", i, c)
		}
	}
	if hits < 29_400 || hits > 30_600 {
		t.Errorf("a probability of 0.3 came true %d times in 100000", hits)
	}
	if Threshold(math.NaN()) != 0 || Threshold(2) != math.MaxUint64 {
		t.Error("thresholds are not clamped")
	}
}

func BenchmarkZipf(b *testing.B) {
	z := NewZipf(1<<20, 0.9)
	b.ReportAllocs()
	for i := range b.N {
		z.Rank(Mix(uint64(i)))
	}
}
