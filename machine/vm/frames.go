package vm

import (
	"fmt"

	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
)

// Frames hands out physical frames. If the address map keeps the channel group above the page offset there is one
// pool per group. Otherwise pages are spread over all channels, and there is one pool, or one for each owner of
// colors.
type Frames struct {
	m      *addrmap.Map
	page   int
	bits   uint
	per    uint64     // frames per pool, where colors do not say otherwise
	used   []uint64   // frames of each pool taken so far in order
	freed  [][]uint64 // frames given back, reused last in, first out
	groups bool
	owner  []uint8    // by color of a frame, its number modulo their count: a pool; nil: no colors
	colors [][]uint64 // [pool] its colors, ascending
}

// NewFrames makes the pools of a machine, all free.
func NewFrames(s *sheets.Machine, m *addrmap.Map) (*Frames, error) {
	f := &Frames{m: m, page: s.VM.Page, groups: m.PageInGroup(s.VM.Page)}
	for 1<<f.bits < f.page {
		f.bits++
	}
	pools := 1
	if f.groups {
		pools = m.Groups()
	}
	f.per = uint64(s.MemoryBytes()) >> f.bits / uint64(pools)
	if f.per == 0 {
		return nil, fmt.Errorf("machine %s: a memory of %d bytes (dram.capacity) holds no page of %d bytes in each of "+
			"%d channel groups", s.Name, s.MemoryBytes(), f.page, pools)
	}
	f.used, f.freed = make([]uint64, pools), make([][]uint64, pools)
	return f, nil
}

// Color divides the frames, all of which must be free and in one pool, by their colors (page coloring): a frame's
// color is its number modulo the number of colors, and owner gives the pool of each color. An error names a pool
// without frames.
func (f *Frames) Color(owner []uint8, pools int) error {
	f.owner, f.colors = owner, make([][]uint64, pools)
	for color, p := range owner {
		f.colors[p] = append(f.colors[p], uint64(color))
	}
	f.used, f.freed = make([]uint64, pools), make([][]uint64, pools)
	for p := range pools {
		if f.size(p) == 0 {
			return fmt.Errorf("of %d frames in %d colors none is for pool %d", f.per, len(owner), p)
		}
	}
	return nil
}

// size is the number of frames of a pool, free or not. Frames after the last whole round of colors are not used.
func (f *Frames) size(pool int) uint64 {
	if f.owner == nil {
		return f.per
	}
	return f.per / uint64(len(f.owner)) * uint64(len(f.colors[pool]))
}

// Pools is the number of pools.
func (f *Frames) Pools() int { return len(f.used) }

// PerPool is the number of frames of a pool, free or not.
func (f *Frames) PerPool() int { return int(f.per) }

// PerGroup says that a pool is a channel group.
func (f *Frames) PerGroup() bool { return f.groups }

// Free is the number of free frames of a pool.
func (f *Frames) Free(pool int) int {
	return int(f.size(pool)-f.used[pool]) + len(f.freed[pool])
}

// Pool is the pool a frame belongs to.
func (f *Frames) Pool(ppn uint64) int {
	if !f.groups {
		if f.owner != nil {
			return int(f.owner[ppn%uint64(len(f.owner))])
		}
		return 0
	}
	return f.m.GroupOf(f.m.Channel(ppn << f.bits))
}

// Alloc takes a frame; false if the pool is exhausted.
func (f *Frames) Alloc(pool int) (ppn uint64, ok bool) {
	if n := len(f.freed[pool]); n > 0 {
		ppn = f.freed[pool][n-1]
		f.freed[pool] = f.freed[pool][:n-1]
		return ppn, true
	}
	if f.used[pool] == f.size(pool) {
		return 0, false
	}
	i := f.used[pool]
	f.used[pool]++
	switch {
	case f.owner != nil:
		own := f.colors[pool]
		return i/uint64(len(own))*uint64(len(f.owner)) + own[i%uint64(len(own))], true
	case !f.groups:
		return i, true
	}
	return f.m.PageAddr(pool, i, f.page) >> f.bits, true
}

// Release returns a frame.
func (f *Frames) Release(ppn uint64) {
	p := f.Pool(ppn)
	f.freed[p] = append(f.freed[p], ppn)
}
