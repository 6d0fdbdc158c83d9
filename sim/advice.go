package sim

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/machine/uvm"
	"github.com/heddle-sim/heddle/mem"
)

// advised is a hint that a program has given, on allocations of one name.
type advised struct {
	advice host.Advice
	region string
	kind   mem.Kind
}

// advices is the hints of a program, in the order in which it gave them first.
type advices struct {
	given []advised
	fates map[advised][]*uvm.Hints // a nil: the run has nothing that carries it out
}

// add notes a hint.
func (a *advices) add(x advised, h *uvm.Hints) {
	if a.fates == nil {
		a.fates = map[advised][]*uvm.Hints{}
	}
	of := a.fates[x]
	if of == nil {
		a.given = append(a.given, x)
	}
	if len(of) == 0 || of[len(of)-1] != h {
		a.fates[x] = append(of, h)
	}
}

// idle says why a hint had no effect; "" if it had one, or was taken back before it could have one.
func (a *advices) idle(x advised, u *Unified) string {
	set, unset := adviceOf(x.advice)
	best := ""
	for _, h := range a.fates[x] {
		switch {
		case h == nil || set == 0 && h.Taken(unset):
			return ""
		case set == 0:
			best = x.region + " had no such advice"
			continue
		}
		switch h.Fate(set) {
		case uvm.Acted, uvm.TakenBack:
			return ""
		case uvm.Unused:
			best = fmt.Sprintf("no kernel used %s after it", x.region)
		case uvm.Present:
			best = fmt.Sprintf("all pages of %s that kernels used were on the device by then; advise before they come",
				x.region)
		case uvm.Overridden:
			best = "another advice on " + x.region + " goes before it: read_mostly goes first, then " +
				"accessed_by_device, prefer_host and prefer_device; take that back (unset_...)"
		case uvm.Indifferent:
			best = u.indifferent(set)
		}
	}
	return best
}

// indifferent says why the run is the same as without the hint, and what to set.
func (u *Unified) indifferent(set uvm.Advice) string {
	migrate := either(u.Migrate, "first-touch")
	if u.Smart {
		migrate = "smart"
	}
	runtime := either(u.Runtime, RuntimeNames()[0])
	ts := u.Ts
	if ts == 0 {
		ts = defaultTs
	}
	const counts = "set memory.unified.migrate: adaptive or always, under which pages come late without it"
	switch set {
	case uvm.ReadMostly:
		return "kernels wrote each page before it came, and a page that is written has no copies; advise what is " +
			"only read"
	case uvm.Mapped:
		return "the pages would have stayed on the host without it, too"
	case uvm.PreferDevice:
		if migrate == "first-touch" {
			return "under migrate: first-touch pages come when they are touched without it, too; " + counts
		}
		return fmt.Sprintf("under migrate: %s the pages would have come as early without it", migrate)
	}
	if migrate == "always" {
		return fmt.Sprintf("under migrate: always all pages come after %d accesses of their 64 KB (ts), as it asks; "+
			"set memory.unified.runtime: driver-today, under which they stay on the host", ts)
	}
	return fmt.Sprintf("under runtime: %s a page comes all the same when it is written or its 64 KB have had %d "+
		"accesses (memory.unified.ts), and each came before the first access had looked it up; set a higher ts, or "+
		"runtime: driver-today, under which pages stay on the host", runtime, ts)
}

// Advise implements host.Device: hints steer unified memory on demand.
func (d *device) Advise(r *mem.Region, a host.Advice) error {
	d.a.present()
	x := advised{a, r.Name, r.Kind}
	if !d.r.gpu.Unified.On() || r.Kind != mem.Managed {
		d.a.advices.add(x, nil)
		return nil
	}
	set, unset := adviceOf(a)
	d.a.advices.add(x, d.r.gpu.Unified.Advise(d.a.id, r, set, unset))
	return nil
}

// adviceOf is what a hint changes of what an allocation has been advised.
func adviceOf(a host.Advice) (set, clear uvm.Advice) {
	switch a {
	case host.ReadMostly:
		return uvm.ReadMostly, 0
	case host.PreferDevice:
		return uvm.PreferDevice, uvm.PreferHost
	case host.PreferHost:
		return uvm.PreferHost, uvm.PreferDevice
	case host.AccessedByDevice:
		return uvm.Mapped, 0
	case host.UnsetReadMostly:
		return 0, uvm.ReadMostly
	case host.UnsetPreferred:
		return 0, uvm.PreferDevice | uvm.PreferHost
	default:
		return 0, uvm.Mapped
	}
}

// idleAdvices says which advice to memory had no effect, and why.
func (n notes) idleAdvices() (out []string) {
	r := n.r
	u := &r.spec.Sharing.Memory.Unified
	for _, a := range r.apps {
		var told []string // by program and reason, not by call
		for _, x := range a.advices.given {
			why := ""
			switch {
			case x.kind != mem.Managed:
				why = fmt.Sprintf("it is %s memory, and advice works on malloc_managed memory only", x.kind)
			case !u.On():
				why = "the run has no memory.unified, which carries out advice: add " +
					"memory: {unified: {runtime: dissertation}} to the run file"
				if err := unifiedHost(r.sheet); err != nil && UnifiedNeeds(r.sheet) == nil {
					why = err.Error()
				}
			default:
				why = a.advices.idle(x, u)
			}
			if s := fmt.Sprintf("mem_advise(%s, %s) of %s had no effect: %s", x.region, x.advice, a.spec.Name,
				why); why != "" && !slices.Contains(told, s) {
				told = append(told, s)
			}
		}
		if len(told) > mostAdvices {
			told = append(told[:mostAdvices], fmt.Sprintf("%d more calls of mem_advise of %s had no effect",
				len(told)-mostAdvices, a.spec.Name))
		}
		out = append(out, told...)
	}
	return out
}

// mostAdvices is how many advices of an application a result names.
const mostAdvices = 3
