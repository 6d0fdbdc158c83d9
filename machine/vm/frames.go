package vm

import (
	"fmt"

	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
)

// Frames hands out physical frames. Where the address map keeps the channel
// group above the page offset there is one pool per group; otherwise pages are
// spread over all channels and there is one pool.
type Frames struct {
	m      *addrmap.Map
	page   int
	bits   uint
	per    uint64     // frames per pool
	used   []uint64   // frames of each pool taken so far in order
	freed  [][]uint64 // frames given back, reused last in, first out
	groups bool
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

// Pools is the number of pools.
func (f *Frames) Pools() int { return len(f.used) }

// PerPool is the number of frames of a pool, free or not.
func (f *Frames) PerPool() int { return int(f.per) }

// PerGroup says that a pool is a channel group.
func (f *Frames) PerGroup() bool { return f.groups }

// Free is the number of free frames of a pool.
func (f *Frames) Free(pool int) int {
	return int(f.per-f.used[pool]) + len(f.freed[pool])
}

// Pool is the pool a frame belongs to.
func (f *Frames) Pool(ppn uint64) int {
	if !f.groups {
		return 0
	}
	return f.m.GroupOf(f.m.Channel(ppn << f.bits))
}

// Alloc takes a frame; false when the pool is exhausted.
func (f *Frames) Alloc(pool int) (ppn uint64, ok bool) {
	if n := len(f.freed[pool]); n > 0 {
		ppn = f.freed[pool][n-1]
		f.freed[pool] = f.freed[pool][:n-1]
		return ppn, true
	}
	if f.used[pool] == f.per {
		return 0, false
	}
	i := f.used[pool]
	f.used[pool]++
	if !f.groups {
		return i, true
	}
	return f.m.PageAddr(pool, i, f.page) >> f.bits, true
}

// Release gives a frame back.
func (f *Frames) Release(ppn uint64) {
	p := f.Pool(ppn)
	f.freed[p] = append(f.freed[p], ppn)
}
