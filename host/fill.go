package host

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Fill stores v in every element.
func (a *Array) Fill(v any) error {
	s, err := NewScalar(a.t, v)
	if err != nil {
		return fmt.Errorf("fill: %w", err)
	}
	return a.write("fill "+a.b.r.Name, true, func(b []byte) {
		size := a.t.Size()
		a.t.store(b, s.Bits)
		for done := size; done < len(b) && a.c.Err() == nil; {
			done += copy(b[done:], b[:min(done, patience/size*size)])
		}
	})
}

// Arange stores start + i*step in element i. Integer arrays take integers and every
// element must be within the range of the type; floating elements are computed in
// float64 and rounded once.
func (a *Array) Arange(start, step any) error {
	s, err := toNumber(start)
	if err != nil {
		return fmt.Errorf("arange: start: %w", err)
	}
	d, err := toNumber(step)
	if err != nil {
		return fmt.Errorf("arange: step: %w", err)
	}
	if a.t.IsFloat() {
		s, d := s.float(), d.float()
		return a.generate("arange", func(first int, out []uint64) {
			for i := range out {
				out[i] = a.t.round(s + float64(float64(first+i)*d))
			}
		})
	}
	if s, err = s.integer(); err != nil {
		return fmt.Errorf("arange: start: %w", err)
	}
	if d, err = d.integer(); err != nil {
		return fmt.Errorf("arange: step: %w", err)
	}
	if err := a.arangeFits(s, d); err != nil {
		return err
	}
	base, inc := s.two(), d.two()
	return a.generate("arange", func(first int, out []uint64) {
		for i := range out {
			out[i] = base + uint64(first+i)*inc
		}
	})
}

// arangeFits checks the first and the last value; the others lie between them.
func (a *Array) arangeFits(s, d number) error {
	if _, err := s.encode(a.t); err != nil {
		return fmt.Errorf("arange: start: %w", err)
	}
	if a.n == 0 {
		return nil
	}
	hi, lo := bits.Mul64(d.mag, uint64(a.n-1)) // distance to the last element
	below, above := a.t.limits()
	room := above - s.mag // the distance that the value may move in the direction of the step
	switch {
	case d.neg && s.neg:
		room = below - s.mag
	case d.neg:
		room = below + s.mag
	case s.neg:
		room = above + s.mag
	}
	if hi > 0 || lo > room {
		return fmt.Errorf("arange: the last of %d elements, %s + %d*%s, is outside the range of %s", a.n, s, a.n-1, d,
			a.t)
	}
	return nil
}

// pcgStream is the second word of every generator's seed (the golden ratio in 64
// bits, an arbitrary constant that must never change).
const pcgStream = 0x9e3779b97f4a7c15

// Random stores uniform values in [lo, hi). Element i uses draw i, x, of math/rand/v2's
// PCG seeded with (seed, 0x9e3779b97f4a7c15):
//
//   - floating types: lo + (hi-lo) * (x>>11) / 2^53 in float64, rounded to the type;
//     a value that rounds to hi becomes the largest one below hi;
//   - integers: lo + floor(x * (hi-lo) / 2^64).
func (a *Array) Random(seed uint64, lo, hi any) error {
	l, err := toNumber(lo)
	if err != nil {
		return fmt.Errorf("random: lo: %w", err)
	}
	h, err := toNumber(hi)
	if err != nil {
		return fmt.Errorf("random: hi: %w", err)
	}
	g := rand.NewPCG(seed, pcgStream)
	if a.t.IsFloat() {
		return a.randomFloat(g, l, h)
	}
	if l, err = l.integer(); err != nil {
		return fmt.Errorf("random: lo: %w", err)
	}
	if h, err = h.integer(); err != nil {
		return fmt.Errorf("random: hi: %w", err)
	}
	if _, err = l.encode(a.t); err != nil {
		return fmt.Errorf("random: lo: %w", err)
	}
	last := h // the largest possible value
	if h.neg || h.mag == 0 {
		last = number{neg: true, mag: h.mag + 1}
	} else {
		last.mag--
	}
	if _, err = last.encode(a.t); err != nil {
		return fmt.Errorf("random: hi: %w", err)
	}
	if !l.less(h) {
		return fmt.Errorf("random: [%s, %s) holds no integer", l, h)
	}
	base, span := l.two(), h.two()-l.two() // 0 stands for 2^64
	return a.generate("random", func(_ int, out []uint64) {
		for i := range out {
			off := g.Uint64()
			if span != 0 {
				off, _ = bits.Mul64(off, span)
			}
			out[i] = base + off
		}
	})
}

func (a *Array) randomFloat(g *rand.PCG, l, h number) error {
	bl, err := l.encode(a.t)
	if err != nil {
		return fmt.Errorf("random: lo: %w", err)
	}
	if _, err := h.encode(a.t); err != nil {
		return fmt.Errorf("random: hi: %w", err)
	}
	low, high := l.float(), h.float()
	if !(low < high) || math.IsInf(high-low, 0) {
		return fmt.Errorf("random: [%s, %s) is empty or too wide", l, h)
	}
	width := high - low
	below := func(v uint64) uint64 { // at most one step, unless nothing of the type lies in [lo, hi)
		for a.t.float(v) >= high && v != bl {
			v = a.t.before(v)
		}
		return v
	}
	return a.generate("random", func(_ int, out []uint64) {
		for i := range out {
			v := low + float64(width*(float64(g.Uint64()>>11)/(1<<53)))
			if f := float32(v); a.t == F32 { // nearly all arrays are of these
				if out[i] = uint64(math.Float32bits(f)); float64(f) >= high {
					out[i] = below(out[i])
				}
				continue
			}
			out[i] = below(a.t.round(v))
		}
	})
}

// before is the next smaller value of a floating type; bits is finite and not the
// smallest.
func (t DType) before(bits uint64) uint64 {
	sign := uint64(1) << (8*t.Size() - 1)
	switch {
	case bits&^sign == 0:
		return sign | 1
	case bits&sign != 0:
		return bits + 1
	}
	return bits - 1
}

// generate stores elements in index order: f makes the bits of the elements from first on; only the low bits count. A
// call for each would cost more than most of them, and arrays of a gigabyte are common.
func (a *Array) generate(what string, f func(first int, out []uint64)) error {
	return a.write(what+" "+a.b.r.Name, true, func(b []byte) {
		var some [1 << 10]uint64
		size, n := a.t.Size(), int(a.n)
		for i := 0; i < n; i += len(some) {
			if i&(patience-1) == 0 && a.c.Err() != nil {
				return // the program has been stopped, and the rest is not needed
			}
			out := some[:min(len(some), n-i)]
			f(i, out)
			a.t.storeAll(b[i*size:], out)
		}
	})
}

// patience is the number of elements, or bytes, that are made between two checks whether the program shall stop: tens
// of milliseconds' worth.
const patience = 1 << 20

// SetBytes stores raw little-endian bytes; src must have exactly the array's size.
func (a *Array) SetBytes(src []byte) error {
	if int64(len(src)) != a.Size() {
		return fmt.Errorf("%d bytes given, but the array of %d %s has %d", len(src), a.n, a.t, a.Size())
	}
	return a.write("load "+a.b.r.Name, true, func(b []byte) { copy(b, src) })
}

// Load stores the little-endian bytes of r, which must have at least as many as the array. After an error the
// elements are undefined.
func (a *Array) Load(r io.Reader) error {
	var failed error
	err := a.write("load "+a.b.r.Name, true, func(b []byte) {
		for n := 0; len(b) > 0 && failed == nil; b = b[n:] {
			if failed = a.c.Err(); failed == nil {
				n, failed = io.ReadFull(r, b[:min(len(b), patience)])
			}
		}
	})
	if err != nil {
		return err
	}
	return failed
}
