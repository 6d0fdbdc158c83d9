package vm

import (
	"math/bits"

	"github.com/heddle-sim/heddle/sheets"
)

// Touches counts which SMs touch each page (NUBA, section 2 and Figure 3) and where the page
// lies. An SM that touches a page for the first time misses in its L1 TLB, so it is enough to see
// the answers to those misses. The memory is a bit per frame and SM, whatever the run's length. A
// page that changes frames counts once for each.
type Touches struct {
	sms, parts int
	words      int      // of a frame's bit set
	mask       uint64   // of a frame's number, without layout
	sets       []uint64 // [frame * words] SMs that have touched the page there
	frames     *Frames
	near       []int      // [SM] its partition
	degree     []uint64   // [n-1] pages touched by n SMs, of frames that were given back
	homes      [][]uint64 // [home][partition] of those, pages at home that some SM of the partition touched
}

// NewTouches watches the pages of a machine. Partitions are its channel groups, with the SMs
// nearest to each; where a page spans them, none is its home.
func NewTouches(s *sheets.Machine, t *Tables, near []int) *Touches {
	x := &Touches{
		sms: s.SM.Count, words: (s.SM.Count + 63) / 64, mask: 1<<t.LayoutBit() - 1, frames: t.frames, near: near,
		degree: make([]uint64, s.SM.Count),
	}
	if x.frames.PerGroup() {
		x.parts = x.frames.Pools()
	}
	for range x.parts {
		x.homes = append(x.homes, make([]uint64, x.parts))
	}
	x.sets = make([]uint64, uint64(s.MemoryBytes())>>t.bits*uint64(x.words))
	return x
}

// Note counts that an SM has touched a page.
func (x *Touches) Note(ppn uint64, sm int) {
	if x != nil {
		x.sets[(ppn&x.mask)*uint64(x.words)+uint64(sm>>6)] |= 1 << (sm & 63)
	}
}

// Freed notes frames that are returned: other pages may get them.
func (x *Touches) Freed(frames []uint64) {
	if x == nil {
		return
	}
	for _, f := range frames {
		set := x.set(f & x.mask)
		x.book(f&x.mask, set, x.degree, x.homes)
		clear(set)
	}
}

func (x *Touches) set(frame uint64) []uint64 {
	return x.sets[frame*uint64(x.words) : (frame+1)*uint64(x.words)]
}

// book adds a page to the counts.
func (x *Touches) book(frame uint64, set, degree []uint64, homes [][]uint64) {
	n := 0
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	if n == 0 {
		return
	}
	degree[n-1]++
	if x.parts == 0 {
		return
	}
	row, last := homes[x.frames.Pool(frame)], -1
	for k, w := range set {
		for ; w != 0; w &= w - 1 {
			if p := x.near[k<<6+bits.TrailingZeros64(w)]; p != last { // SMs are in the order of partitions
				row[p]++
				last = p
			}
		}
	}
}

// Counts returns the touches so far: by n-1 the pages that n SMs touched; and by home and partition the pages there
// that some SM of the partition touched, nil if pages have no home.
func (x *Touches) Counts() (degree []uint64, homes [][]uint64) {
	degree = append(degree, x.degree...)
	for _, row := range x.homes {
		homes = append(homes, append([]uint64(nil), row...))
	}
	for f := range uint64(len(x.sets) / x.words) {
		x.book(f, x.set(f), degree, homes)
	}
	return degree, homes
}
