package workload

import (
	"math/bits"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/workload/draw"
)

// target is an access bound to its allocation: all that addresses follow from.
// Elements are Width bytes, blocks Block bytes.
type target struct {
	pattern Pattern
	shift   uint8  // log2 of the bytes of an element
	count   uint64 // accesses per iteration
	reuse   uint64
	base    uint64 // virtual address
	n       uint64 // elements of the allocation
	stride  uint64 // elements between neighbouring lanes, below n
	span    uint64 // tiled: elements of a tile; shared: of a slice
	steps   uint64 // tiled: accesses that cover the tile once
	groups  uint64 // shared: slices
	blocked bool   // shared: the CTAs of a group are neighbours
	sharers uint64
	off     []uint64 // stencil: distance of each neighbour, modulo n

	blocks    uint64 // random, zipf, chase
	blockAt   uint8  // log2 of the bytes of a block
	perLanes  uint64 // neighbouring lanes that read one block: a power of two
	lap       uint64 // chase: blocks between the starts of two chains, at least 1
	seed      uint64
	zipf      *draw.Zipf
	shuffle   draw.Perm // of the blocks
	threads   uint64    // of a CTA
	allThread uint64    // of the grid
	ctas      uint64
}

// bind prepares access i of a kernel on memory at base; seed is the program's.
func (k *Kernel) bind(a *Access, i int, base uint64, bytes Bytes, seed uint64, zipf *draw.Zipf) target {
	t := target{
		pattern: a.pattern(), shift: uint8(bits.TrailingZeros(uint(a.Width))), count: uint64(a.Count),
		reuse: uint64(a.Reuse), base: base,
		n: uint64(bytes) / uint64(a.Width), threads: uint64(k.Threads), ctas: uint64(k.CTAs), stride: 1, zipf: zipf,
		seed: draw.Key(seed, uint64(i), 1),
	}
	t.allThread = t.threads * t.ctas
	width := uint64(a.Width)
	switch t.pattern {
	case Stencil:
		t.off = neighbours(a, t.n)
	case Tiled:
		t.span = min(uint64(a.Tile)/width, t.n)
		t.steps = (t.span + t.threads - 1) / t.threads
	case Strided:
		t.stride = uint64(a.Stride) / width
	case Shared:
		t.sharers, t.blocked = uint64(a.Sharers), a.Layout == "blocked"
		t.groups = t.ctas / t.sharers
		t.span = t.n / t.groups
	case Random, Zipf, Chase:
		t.blockAt = uint8(bits.TrailingZeros64(uint64(a.Block)))
		t.blocks = uint64(bytes) >> t.blockAt
		t.perLanes = uint64(a.Block) / width
		t.shuffle = draw.NewPerm(t.blocks, draw.Key(seed, base, 2)) // of the allocation: the same in every kernel
		t.lap = max(1, t.blocks/(t.allThread/t.perLanes))
	}
	return t
}

// neighbours lists the points of a stencil by distance: the centre, then left,
// right, above, below, before, behind at 1, 2, ... elements.
func neighbours(a *Access, n uint64) []uint64 {
	steps := []uint64{1, uint64(a.Row) / uint64(a.Width) % n}
	if a.Plane > 0 {
		steps = append(steps, uint64(a.Plane)/uint64(a.Width)%n)
	}
	off := []uint64{0}
	for d := uint64(1); len(off) < a.Count; d++ {
		for _, s := range steps {
			by := d % n * s % n
			off = append(off, by, (n-by)%n)
		}
	}
	return off[:a.Count]
}

// fill writes the addresses of the sub-th of the access's instructions in iteration
// it of warp w of CTA number cta. Lanes outside mask may hold anything.
func (t *target) fill(cta, w, it, sub uint64, launch uint64, s *isa.Step) {
	seq := it / t.reuse
	if t.pattern == Tiled {
		seq = it // a sweep of the tile is reused, not a step
	}
	lane := cta*t.threads + w*isa.Lanes // thread number of lane 0
	inside := w * isa.Lanes             // in its CTA
	if t.pattern != Stencil {
		seq = seq*t.count + sub
	}
	switch t.pattern {
	case Stream:
		t.line(lane+seq*t.allThread, 0, t.n, s)
	case Stencil:
		t.line(lane+seq*t.allThread+t.off[sub], 0, t.n, s)
	case Strided:
		t.line(lane*t.stride+seq, 0, t.n, s)
	case Tiled:
		tile := (cta + seq/(t.steps*t.reuse)*t.ctas) % (t.n / t.span)
		t.line(inside+seq%t.steps*t.threads, tile*t.span, t.span, s)
	case Shared:
		group := cta % t.groups
		if t.blocked {
			group = cta / t.sharers
		}
		t.line(inside+seq*t.threads, group*t.span, t.span, s)
	default:
		t.scatter(lane, seq, launch, s)
	}
}

// line gives lane i element (first + i*stride) mod n of those from element at on.
func (t *target) line(first, at, n uint64, s *isa.Step) {
	e, step := first%n, t.stride%n
	base := t.base + at<<t.shift
	for i := range s.Addr {
		s.Addr[i] = base + e<<t.shift
		if e += step; e >= n {
			e -= n
		}
	}
}

// scatter gives each group of perLanes lanes a block.
func (t *target) scatter(lane, seq, launch uint64, s *isa.Step) {
	key := draw.Key(t.seed+launch*draw.Golden, lane, seq)
	for i := uint64(0); i < isa.Lanes; i += t.perLanes {
		if s.Mask>>i<<(isa.Lanes-t.perLanes) == 0 {
			continue
		}
		var b uint64
		switch t.pattern {
		case Random:
			b = draw.Below(draw.Mix(key+i*draw.Golden), t.blocks)
		case Zipf:
			b = t.shuffle.At(t.zipf.Rank(draw.Mix(key + i*draw.Golden)))
		default: // Chase: every chain walks the same cycle from a place of its own
			b = t.shuffle.At(((lane+i)/t.perLanes*t.lap + seq) % t.blocks)
		}
		a := t.base + b<<t.blockAt
		for j := range t.perLanes {
			s.Addr[i+j] = a + j<<t.shift
		}
	}
}
