package uvm

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// desk is what carries out plans, as slowly and in whatever order it likes, as a machine may.
type desk struct {
	t      *rapid.T
	r      *Runtime
	in     []Transfer // planned, not arrived
	out    []Eviction // planned, not begun
	going  []Eviction // begun, not on the host yet
	faults []uint64
	waits  map[uint64]bool // pages somebody waits for
}

func (d *desk) plan(p *Plan) {
	d.in = append(d.in, p.In...)
	for i := range p.Out {
		if e := &p.Out[i]; !e.Stays {
			d.out = append(d.out, *e)
		}
	}
	d.faults = append(d.faults, p.Deferred...)
}

// step does one thing of those that can be done; false if nothing can.
func (d *desk) step(k int) bool {
	r := d.r
	switch {
	case k == 0 && len(d.faults) > 0:
		var come []uint64
		for _, a := range d.faults {
			if w, _ := r.Waits(0, a); w == Placed {
				r.MapRemote(a)
				delete(d.waits, a&^(PageSize-1))
				continue
			}
			come = append(come, a)
		}
		p := r.Plan(come)
		d.faults = nil
		d.plan(p)
	case k == 1 && len(d.out) > 0:
		i := rapid.IntRange(0, len(d.out)-1).Draw(d.t, "which")
		e := d.out[i]
		d.out = append(d.out[:i], d.out[i+1:]...)
		r.Leave(&e)
		d.going = append(d.going, e)
	case k == 2 && len(d.going) > 0:
		r.Gone(&d.going[0])
		d.going = d.going[1:]
	case k == 3 && len(d.in) > 0:
		i := rapid.IntRange(0, len(d.in)-1).Draw(d.t, "which")
		t := d.in[i]
		if !d.mayCome(t) {
			return false
		}
		d.in = append(d.in[:i], d.in[i+1:]...)
		r.Arrive(&t)
	case k == 4 && r.Crowded() && len(d.out) == 0:
		d.plan(r.Shrink())
	default:
		return false
	}
	return true
}

// mayCome says that a transfer has room, and its pages are not still on their way to the host.
func (d *desk) mayCome(t Transfer) bool {
	for a := t.Addr; a < t.end(); a += PageSize {
		if d.r.Leaving(a) {
			return false
		}
	}
	return d.r.Resident()+t.Pages <= d.r.Capacity()
}

// access is one of a kernel, which waits where it has to.
func (d *desk) access(addr uint64, write bool) {
	v, err := d.r.Access(addr, write)
	if err != nil {
		d.t.Fatal(err)
	}
	switch page := addr &^ (PageSize - 1); v {
	case Staged, Duplicate: // its chunk stays
		chunk := d.r.ChunkOf(addr)
		kept := d.out[:0]
		for i := range d.out {
			if e := d.out[i]; e.Of(chunk) {
				d.r.Keep(&e)
			} else {
				kept = append(kept, e)
			}
		}
		d.out = kept
		if write {
			d.r.Collapse(addr)
		}
		if d.r.Where(addr) != Resident || d.r.Duplicated(addr) && write {
			d.t.Fatalf("a write, or an access of what was to leave, finds %v", d.r.Where(addr))
		}
		d.r.Used(addr, write)
	case Fault:
		if !d.waits[page] {
			d.waits[page] = true
			d.faults = append(d.faults, addr)
		}
	case Coming:
		d.waits[page] = true
	}
}

func (d *desk) check() {
	if err := d.r.Check(); err != nil {
		d.t.Fatal(err)
	}
	for page := range d.waits { // those whose page has come go on
		if d.r.Used(page, false) {
			delete(d.waits, page)
		}
	}
}

// In whatever order faults, transfers, evictions, second thoughts, the host and accesses come, the books
// are right, and everybody who waits gets its page in the end.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := New(Options{
			Capacity: PageSize * int64(rapid.IntRange(1, 900).Draw(t, "capacity")),
			Prefetch: rapid.SampledFrom(PrefetcherNames()).Draw(t, "prefetch"),
			Evict:    rapid.SampledFrom(EvictionNames()).Draw(t, "evict"),
			Migrate:  rapid.SampledFrom(MigrationNames()).Draw(t, "migrate"),
			Ts:       2, P: 2, CleanDropped: rapid.Bool().Draw(t, "clean"),
		})
		if err != nil {
			t.Fatal(err)
		}
		d := &desk{t: t, r: r, waits: map[uint64]bool{}}
		if rapid.Bool().Draw(t, "waits for arrivals") {
			r.Expect(func() bool { return slices.ContainsFunc(d.in, d.mayCome) })
		}
		const bytes = 5 << 20
		if err := r.Allocate(0, base, bytes, false); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 150).Draw(t, "steps") {
			switch k := rapid.IntRange(0, 9).Draw(t, "step"); k {
			case 9:
				addr := base + uint64(rapid.IntRange(0, bytes-1).Draw(t, "addr"))
				switch rapid.IntRange(0, 4).Draw(t, "host") {
				case 0:
					p, _ := r.Withdraw(addr, 1, rapid.Bool().Draw(t, "host writes"))
					d.plan(p)
				case 1:
					d.plan(r.Fetch(addr, 1))
				case 2:
					any := rapid.IntRange(0, int(ReadMostly|PreferHost|PreferDevice|Mapped))
					r.Advise(base, Advice(any.Draw(t, "set")), Advice(any.Draw(t, "clear")))
				}
			case 5, 6, 7, 8:
				d.access(base+uint64(rapid.IntRange(0, bytes-1).Draw(t, "addr")), rapid.Bool().Draw(t, "write"))
			default:
				d.step(k)
			}
			d.check()
		}
		for n := 0; len(d.faults)+len(d.in)+len(d.out)+len(d.going)+len(d.waits) > 0; n++ {
			for k := range 5 {
				d.step(k)
				d.check()
			}
			for page := range d.waits {
				if r.Where(page) == Fault && len(d.faults) == 0 && len(d.in) == 0 {
					d.faults = append(d.faults, page) // it came and had to go: the access faults again
				}
			}
			if n > 20000 {
				t.Fatalf("livelock: %d faults, %d in, %d out, %d going, %d wait", len(d.faults), len(d.in), len(d.out),
					len(d.going), len(d.waits))
			}
		}
		if n := r.Free(base); n != 0 && r.Resident() != 0 {
			t.Fatalf("%d pages are left of nothing", r.Resident())
		}
		d.check()
	})
}
