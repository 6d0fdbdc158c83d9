package uvm

// Thrashing of today's driver (NVIDIA open-gpu-kernel-modules 595.45.04, nvidia-uvm, described in words):
// pages that host and device take from each other are found by the times at which they move. A page that
// thrashes is throttled, that is, a fault of the device for it has to wait while the host goes on with it;
// one that has been throttled often is pinned on the host, where the device uses it. Prefetchers leave both
// alone. Times are the caller's, in core cycles.

// Defaults of uvm_perf_thrashing_*.
const (
	thrashLapseUs   = 500       // moves at most so far apart are an event
	thrashThreshold = 3         // events from which on a page thrashes
	thrashPin       = 10        // times that a page is throttled before it is pinned
	thrashUnpinUs   = 150_000   // a pin ends
	thrashEpochUs   = 1_000_000 // without an event of a page that thrashes, after which its whole chunk is forgotten
	thrashResets    = 4         // times that a chunk is forgotten in this way
)

// Wait says what happens to a fault of the device.
type Wait uint8

const (
	// Served now: the page comes.
	Served Wait = iota
	// Throttled: the fault has to wait, and is looked at again.
	Throttled
	// Pinned: the page stays on the host, and the device is mapped to it.
	Pinned
	// Placed is Pinned for a page that does not thrash: the program wants it there.
	Placed
)

// thrashedPage is the history of a page that has moved; moved 0: it has not.
type thrashedPage struct {
	moved     uint64 // cycle of its latest move, plus 1
	until     uint64 // end of the lapse for which it is throttled, or pinned; 0: it is neither
	events    uint8
	throttles uint8
	host      bool // took it last
}

// thrashedChunk is the history of a chunk of 2 MB.
type thrashedChunk struct {
	latest uint64 // cycle of the latest event of a page that thrashes, plus 1; 0: none does
	resets uint8
}

// thrashing tracks the pages of all chunks. Cost: 24 bytes a page, in the driver.
type thrashing struct {
	lapse, unpin, epoch uint64 // cycles
	pages               []thrashedPage
	chunks              []thrashedChunk
	pinned              []page // in the order in which their pins end
}

// newThrashing tracks nothing yet; mhz is the clock of the cycles.
func newThrashing(mhz float64) *thrashing {
	return &thrashing{
		lapse: uint64(thrashLapseUs * mhz), unpin: uint64(thrashUnpinUs * mhz), epoch: uint64(thrashEpochUs * mhz),
	}
}

// grow makes room for n chunks.
func (t *thrashing) grow(n int) {
	if n > len(t.chunks) {
		t.chunks = append(t.chunks, make([]thrashedChunk, n-len(t.chunks))...)
		t.pages = append(t.pages, make([]thrashedPage, n*PagesPerChunk-len(t.pages))...)
	}
}

// quiet says that the history of a chunk can be forgotten: none of its pages has thrashed for long.
func (t *thrashing) quiet(now uint64, chunk int32) bool {
	c := &t.chunks[chunk]
	if c.latest == 0 || now-(c.latest-1) <= t.epoch || c.resets == thrashResets {
		return false
	}
	c.latest = 0
	c.resets++
	return true
}

// move records that one side has taken a page from the other, and says whether it thrashes.
func (t *thrashing) move(now uint64, p page, host bool) bool {
	x := &t.pages[p]
	switch near := x.moved != 0 && now-(x.moved-1) <= t.lapse; {
	case near && x.events < 255:
		x.events++
	case !near && x.events < thrashThreshold:
		x.events = 0
	}
	x.moved, x.host = now+1, host
	if x.events < thrashThreshold {
		return false
	}
	t.chunks[p.chunk()].latest = now + 1
	return true
}

// fault says whether a fault of the device waits or stays on the host, and until when.
func (t *thrashing) fault(now uint64, p page) (w Wait, until uint64) {
	x := &t.pages[p]
	switch {
	case now < x.until: // by its throttle or its pin
		w = Throttled
		if x.throttles > thrashPin {
			w = Pinned
		}
	case x.until != 0: // it has waited
		x.until = 0
	case x.events < thrashThreshold || !x.host || now-(x.moved-1) > t.lapse:
	case x.throttles < thrashPin:
		x.throttles++
		w, x.until = Throttled, now+t.lapse
	default:
		x.throttles++
		w, x.until = Pinned, now+t.unpin
		t.pinned = append(t.pinned, p)
	}
	return w, x.until
}

// holds says that a fault of the device would wait, or be served on the host.
func (t *thrashing) holds(now uint64, p page) bool {
	x := &t.pages[p]
	return now < x.until || x.until == 0 && x.events >= thrashThreshold && x.host && now-(x.moved-1) <= t.lapse
}

// forget stops tracking a page.
func (t *thrashing) forget(p page) {
	if x := &t.pages[p]; x.throttles > thrashPin {
		for i, q := range t.pinned {
			if q == p {
				t.pinned = append(t.pinned[:i], t.pinned[i+1:]...)
				break
			}
		}
	}
	t.pages[p] = thrashedPage{}
}

// expired is the next page whose pin has ended; it is forgotten. -1: there is none.
func (t *thrashing) expired(now uint64) page {
	if len(t.pinned) == 0 || now < t.pages[t.pinned[0]].until {
		return -1
	}
	p := t.pinned[0]
	t.forget(p)
	return p
}

// Throttle makes a Runtime track pages that thrash from now on; mhz is the clock of the cycles that it gets. Earlier
// allocations are not tracked.
func (r *Runtime) Throttle(mhz float64) { r.thrash = newThrashing(mhz) }

// Taken notes that pages have moved because the device, or the host, has used them.
func (r *Runtime) Taken(now uint64, pages []uint64, host bool) {
	if r.thrash == nil {
		return
	}
	for _, a := range pages {
		p, ok := r.find(a)
		if !ok {
			continue // freed meanwhile
		}
		if r.thrash.quiet(now, p.chunk()) {
			all := span(0, PagesPerChunk)
			r.calm(p.chunk(), &all)
		}
		if r.thrash.move(now, p, host) {
			r.chunks[p.chunk()].thrash.Set(p.index())
		}
	}
}

// Waits says what happens to a fault of the device, and until when. A page that is pinned is mapped to the host from
// now on.
func (r *Runtime) Waits(now, addr uint64) (w Wait, until uint64) {
	p, ok := r.find(addr)
	switch {
	case ok && r.maps(p):
		return Placed, 0
	case r.thrash == nil || !ok:
		return Served, 0
	}
	c, k := &r.chunks[p.chunk()], p.index()
	if c.resident.Has(k) || c.coming.Has(k) {
		return Served, 0
	}
	if c.advice&PreferDevice != 0 {
		if r.thrash.holds(now, p) {
			c.hints.acted |= PreferDevice
		}
		return Served, 0
	}
	if w, until = r.thrash.fault(now, p); w == Pinned {
		c.pinned.Set(k)
		c.asked.Clear(k)
	}
	return w, until
}

// Unpin ends the pins whose time is over. If the device has a translation to the host, the next access drops it.
func (r *Runtime) Unpin(now uint64) {
	for t := r.thrash; t != nil; {
		p := t.expired(now)
		if p < 0 {
			return
		}
		c := &r.chunks[p.chunk()]
		c.pinned.Clear(p.index())
		c.thrash.Clear(p.index())
	}
}

// calm forgets the history of pages of a chunk: they are moved for another reason, or have been quiet.
func (r *Runtime) calm(chunk int32, pages *Mask) {
	c := &r.chunks[chunk]
	if r.thrash == nil || !c.live {
		return
	}
	for k := pages.Next(0); k < c.pages; k = pages.Next(k + 1) {
		r.thrash.forget(pageOf(chunk, k))
	}
	c.thrash, c.pinned = c.thrash.Without(pages), c.pinned.Without(pages)
}
