package residency

import (
	"github.com/heddle-sim/heddle/engine"
	"github.com/heddle-sim/heddle/machine/vm"
	"github.com/heddle-sim/heddle/mem"
)

// pageCounters are what the memory side counts of each page and partition in an interval: a counter
// of 8 bits each, which stays at its last value, and a note whether the page was written.
type pageCounters struct {
	parts   int
	page    []uint64 // [frame] the page in it, as vpn<<8 | tenant
	place   []int32  // [frame] of its counters among those in use, and 1; 0: none has counted
	frames  []int32  // [place] in the order of the first access
	counts  []uint8  // [place*parts + partition]
	written []bool   // [place]
}

func newPageCounters(frames int64, parts int) pageCounters {
	return pageCounters{parts: parts, page: make([]uint64, frames), place: make([]int32, frames)}
}

// name notes the page in a frame.
func (c *pageCounters) name(frame int, tenant mem.TenantID, vpn uint64) {
	c.page[frame] = vpn<<8 | uint64(tenant)
}

// count counts a request of a partition for a line of a frame.
func (c *pageCounters) count(frame, part int, write bool) {
	k := c.place[frame] - 1
	if k < 0 {
		k = int32(len(c.frames))
		c.place[frame] = k + 1
		c.frames, c.written = append(c.frames, int32(frame)), append(c.written, false)
		for range c.parts {
			c.counts = append(c.counts, 0)
		}
	}
	if n := &c.counts[int(k)*c.parts+part]; *n < 255 {
		*n++
	}
	c.written[k] = c.written[k] || write
}

// reset begins an interval.
func (c *pageCounters) reset() {
	for _, f := range c.frames {
		c.place[f] = 0
	}
	c.frames, c.counts, c.written = c.frames[:0], c.counts[:0], c.written[:0]
}

// plan asks the home policy for a plan for the pages of the interval that ends. The part of the last plan that the
// driver has not begun is given up.
func (h *Homes) plan() {
	c, s := &h.use, &h.sample
	s.Partitions, s.Room, s.Most = h.parts, h.tables.Parts.CopyRoom(), h.most
	s.Carried = h.Copies.Carried(h.interval)
	s.Pages, h.pages = s.Pages[:0], h.pages[:0]
	if n := len(c.frames) * h.parts; len(h.copied) < n {
		h.copied = make([]bool, 2*n)
	}
	for k, f := range c.frames {
		ppn, state := h.tables.Lookup(mem.TenantID(c.page[f]&0xff), c.page[f]>>8)
		if state != vm.Resident || h.inFlight.frame(ppn<<h.inFlight.bits) != int(f) { // a copy, or gone since
			continue
		}
		u := vm.PageUse{
			Home: h.tables.Parts.Part(ppn), Counts: c.counts[k*h.parts : (k+1)*h.parts], Written: c.written[k],
		}
		if h.tables.Parts.Shared(ppn) {
			u.Copied = h.copied[k*h.parts : (k+1)*h.parts]
			h.tables.Parts.Served(ppn, u.Copied)
		}
		s.Pages = append(s.Pages, u)
		h.pages = append(h.pages, c.page[f])
	}
	h.planned, h.next = h.planned[:0], 0
	for _, do := range h.decide(s) {
		key := h.pages[do.Page]
		h.planned = append(h.planned, pageStep{vpn: key >> 8, tenant: mem.TenantID(key & 0xff), do: do})
	}
	c.reset()
	h.due = engine.Never
}

// LastPlan is the number of pages that the last plan was for, and of its changes.
func (h *Homes) LastPlan() (pages, changes int) { return len(h.sample.Pages), len(h.planned) }
