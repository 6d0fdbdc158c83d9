package uvm

// Advice is the hints that a program has given on an allocation (2.2.4, cudaMemAdvise), any of them together.
// ReadMostly goes before all others, then Mapped.
type Advice uint8

const (
	// ReadMostly lets the device get copies of pages that it reads, while the host keeps them (duplicate.go).
	ReadMostly Advice = 1 << iota
	// PreferHost keeps its pages on the host. In the dissertation that is a soft pin: a page migrates by the static
	// threshold, or when it is written. With Options.HostStays it never migrates: when the device faults, the
	// driver maps it to the page on the host, as CUDA's documentation has it.
	PreferHost
	// PreferDevice makes its pages come when they are touched first, also pages that thrash.
	PreferDevice
	// Mapped keeps it on the host, to which the device is mapped: it never faults.
	Mapped
)

// Hints are the known effects of the advice on an allocation, also after it has been freed. Each field holds hints.
type Hints struct {
	set    Advice // in force
	used   Advice // in force when the device used the allocation
	missed Advice // in force when the device used a page of it that it did not have
	hidden Advice // in force when another, which goes before it, decided
	acted  Advice // in force, and had an effect
	taken  Advice // taken back
	idle   Advice // taken back, without an effect although the device had used the allocation
}

// Fate says whether a hint had an effect, and if not, why.
type Fate uint8

const (
	Acted       Fate = iota // it had an effect
	TakenBack               // before the device used the allocation
	Unused                  // the device did not use the allocation
	Present                 // all pages that the device used were on the device
	Overridden              // another hint went before it
	Indifferent             // the run would have been the same without it
)

// Fate says whether one hint had an effect.
func (h *Hints) Fate(a Advice) Fate {
	switch {
	case h.acted&a != 0:
		return Acted
	case (h.set|h.idle)&a == 0:
		return TakenBack
	case h.used&a == 0:
		return Unused
	case h.missed&a == 0:
		return Present
	case h.hidden&a != 0:
		return Overridden
	}
	return Indifferent
}

// Taken says that one of the hints has been taken back.
func (h *Hints) Taken(a Advice) bool { return h.taken&a != 0 }

// change sets and clears hints. The effect of a hint that is set again counts from now on.
func (h *Hints) change(set, clear Advice) {
	h.taken |= h.set & clear
	h.idle |= h.set & clear & h.used &^ h.acted
	fresh := set &^ h.set &^ h.idle
	h.used, h.missed, h.hidden = h.used&^fresh, h.missed&^fresh, h.hidden&^fresh
	h.set = h.set&^clear | set
}

// first is the hint that decides, together with hints that say the same: programs that map an allocation also say
// that they prefer it on the host.
func (a Advice) first() Advice {
	switch {
	case a&ReadMostly != 0:
		return ReadMostly
	case a&Mapped != 0:
		return a & (Mapped | PreferHost)
	case a&PreferHost != 0:
		return PreferHost
	}
	return a
}

// weigh notes whether advice decides about an absent page: it comes or stays, and would not without advice.
func (r *Runtime) weigh(c *chunk, k int, comes, write bool) {
	a := c.advice.first()
	c.hints.hidden |= c.advice &^ a
	if _, pinned := r.limit(c, k/PagesPerBlock); pinned {
		comes = false
	}
	t, _ := r.limitAdvised(c, k/PagesPerBlock, 0)
	if comes != (t == 0 || write || c.count(k) >= t) {
		c.hints.acted |= a
	}
}

// Advise changes the hints on the allocation that begins at base, and returns their known effects; nil if there is no
// such allocation. If it loses ReadMostly, the device's copies of its pages become the pages.
func (r *Runtime) Advise(base uint64, set, clear Advice) *Hints {
	x := r.allocationOf(base)
	if x == nil {
		return nil
	}
	h := r.chunks[x.first].hints
	if h == nil {
		h = &Hints{}
	}
	h.change(set, clear)
	for i := x.first; i < x.first+x.chunks; i++ {
		c := &r.chunks[i]
		c.hints = h
		if c.advice = c.advice&^clear | set; c.advice&ReadMostly == 0 {
			c.twice.here = c.twice.here.And(&c.staged) // those are dropped, as has been planned
		}
	}
	return h
}

// maps says that the driver answers a fault of an absent page by mapping the device to the host, which ends the
// fault.
func (r *Runtime) maps(p page) bool {
	c, k := &r.chunks[p.chunk()], p.index()
	if c.advice&PreferHost == 0 || c.resident.Has(k) || c.coming.Has(k) {
		return false
	}
	if _, pinned := r.limit(c, k/PagesPerBlock); !pinned {
		return false
	}
	c.asked.Clear(k)
	r.weigh(c, k, false, c.twice.own.Has(k))
	return true
}
