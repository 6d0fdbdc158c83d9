package sharing

import (
	"fmt"
	"slices"

	"github.com/heddle-sim/heddle/machine/backing"
	"github.com/heddle-sim/heddle/machine/interconnect"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/machine/timing"
	"github.com/heddle-sim/heddle/machine/transfer"
	"github.com/heddle-sim/heddle/machine/translation"
	"github.com/heddle-sim/heddle/mem/addrmap"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/stat"
)

// Sharing is the division of the machine among its tenants, and the parts that change it. Below them lie holdings;
// above, in this order: contexts, groups, mover, evictor, time slices, replicas, dispatcher. A part knows those before
// it.
type Sharing struct {
	Tenants      []*Tenant
	Repartitions []*Repartition
	Contexts     ContextStore
	TimeSlices   TimeSlices // off if tenants run side by side
	Replicas     Replicas   // copies of read-only lines in the LLC
	Dispatch     Dispatcher

	holdings holdings
	groups   handover
	mover    smMover
	evictor  evictor // SMK

	sheet       *sheets.Machine
	sms         []*sm.SM
	layouts     *interconnect.Layouts
	translation *translation.Translation
	rewrites    bool // every page needs another layout when channels change hands
	firstError  *timing.FirstError
	clock       *timing.Clock
	wakeups     timing.Wakeups
}

// Admit derives each tenant's address map and the SMs on which each tenant may run.
func (p *Sharing) Admit(s *sheets.Machine, amap *addrmap.Map, all []*Tenant, layouts *interconnect.Layouts) error {
	p.sheet, p.Tenants, p.layouts = s, all, layouts
	n := s.SM.Count
	p.holdings = holdings{
		sm: make([]int, n), group: make([]int, amap.Groups()),
		owners: make([][]int, n), open: make([]uint64, (n+63)/64),
	}
	for i, t := range all {
		if len(t.SMs)+len(t.Cores) == 0 {
			return fmt.Errorf("application %s has no SM", t.Name)
		}
		for _, s := range t.SMs {
			if s < 0 || s >= n {
				return fmt.Errorf("application %s: SM %d does not exist, the machine has %d", t.Name, s, n)
			}
			p.holdings.owners[s] = append(p.holdings.owners[s], i)
		}
		if !s.VM.Enabled {
			layouts.Of[i] = amap // the SM puts the tenant's number into the address
		}
		if t.Groups == nil {
			continue
		}
		own, err := amap.Restrict(t.Groups)
		if err != nil {
			return fmt.Errorf("application %s: %w", t.Name, err)
		}
		t.allow(amap)
		if !s.VM.Enabled {
			layouts.Of[i] = own
		}
	}
	p.holdings.note(all)
	return nil
}

// note notes the owners of SMs and channel groups at the start.
func (h *holdings) note(tenants []*Tenant) {
	for i := range h.sm {
		h.sm[i] = -1
		if o := h.owners[i]; len(o) > 0 {
			h.sm[i] = o[0]
		}
	}
	for i := range h.group {
		h.group[i] = -1
		for t, x := range tenants {
			if slices.Contains(x.Groups, i) {
				h.group[i] = t
			}
		}
	}
}

// Parts are the inputs from which it is built, after its tenants have been admitted.
type Parts struct {
	SMs         []*sm.SM
	Counters    *stat.Table // of the SMs
	Fabric      *interconnect.Fabric
	Memory      *backing.Memory
	Translation *translation.Translation
	Copies      *transfer.CopyEngine

	Meters     *timing.Meters
	FirstError *timing.FirstError
	Clock      *timing.Clock
	Wakeups    timing.Wakeups

	Profile   bool   // kernels keep stall cycles by PTX line
	Apart     bool   // SMs count the progress of kernels apart, as several run at the same time
	Replicate bool   // the LLC may hold copies of read-only lines
	Quantum   uint64 // cycles of a turn; 0: tenants run side by side
}

// Build makes the parts that hand out CTAs and that move SMs and channels, and joins them.
func (p *Sharing) Build(b *Parts) error {
	p.sms, p.translation, p.rewrites = b.SMs, b.Translation, b.Copies.Rewrites()
	p.firstError, p.clock, p.wakeups, p.holdings.wakeups = b.FirstError, b.Clock, b.Wakeups, b.Wakeups
	p.buildContexts()
	p.buildGroups(b)
	p.buildMover(b)
	p.buildShared(b)
	p.buildReplicas(b)
	p.buildDispatch(b)
	p.Dispatch.countPresent(0)
	if b.Quantum > 0 {
		if err := p.TimeSlices.begin(b.Quantum); err != nil {
			return err
		}
	}
	for i, owners := range p.holdings.owners { // turns have made one of several
		if len(owners) > 1 {
			p.sms[i].AdmitMany()
		}
	}
	return nil
}

func (p *Sharing) buildContexts() {
	c := &p.Contexts
	*c = newContextStore(p.sheet, len(p.Tenants))
	c.tenants, c.sms, c.tables = p.Tenants, p.sms, p.translation.Tables
	c.firstError, c.wakeups = p.firstError, p.wakeups
}

func (p *Sharing) buildGroups(b *Parts) {
	h, x := &p.groups, p.translation
	h.tenants, h.sms, h.tlbs, h.slices, h.memory = p.Tenants, p.sms, x.TLBs, b.Memory.Slices, b.Memory
	h.mmu, h.driver, h.tables, h.layouts = x.MMU, x.Driver, x.Tables, p.layouts
	h.holdings, h.meters, h.firstError = &p.holdings, b.Meters, p.firstError
	h.clock, h.wakeups = p.clock, p.wakeups
	b.Copies.PageLeft = h.leave
}

func (p *Sharing) buildMover(b *Parts) {
	v, s := &p.mover, p.sheet
	v.wakeDelay, v.gated, v.counters = uint64(s.SM.WakeDelay), make([]timing.Meter, s.SM.Count), b.Counters
	v.tenants, v.sms, v.tlbs, v.contexts = p.Tenants, p.sms, p.translation.TLBs, &p.Contexts
	v.groups, v.holdings, v.meters = &p.groups, &p.holdings, b.Meters
	v.clock, v.wakeups, v.onMoved = p.clock, p.wakeups, p.Dispatch.countPresent
}

// buildShared makes the parts by which tenants share SMs: at the same time, and in turn.
func (p *Sharing) buildShared(b *Parts) {
	v := &p.evictor
	v.line, v.last, v.closed = p.sheet.L1D.Line, make([]int, len(p.sms)), make([]bool, len(p.sms))
	v.sms, v.holdings, v.contexts, v.meters, v.wakeups = p.sms, &p.holdings, &p.Contexts, b.Meters, p.wakeups

	t := &p.TimeSlices
	t.tenants, t.sms, t.mover, t.contexts, t.holdings = p.Tenants, p.sms, &p.mover, &p.Contexts, &p.holdings
	t.meters, t.clock, t.refill.count = b.Meters, p.clock, b.Counters
}

func (p *Sharing) buildReplicas(b *Parts) {
	x, n := &p.Replicas, len(b.Memory.Slices)
	x.flushes = b.Replicate || p.sheet.LLC.FlushEach
	x.onlyReplicas = p.sheet.LLC.Flush == "copies"
	x.at, x.until = make([]int, n), make([]uint64, n)
	x.sheet, x.interSlice, x.done = p.sheet, &b.Fabric.Between, p.Dispatch.end
	x.slices, x.layouts, x.wakeups = b.Memory.Slices, p.layouts, p.wakeups
}

func (p *Sharing) buildDispatch(b *Parts) {
	d, s := &p.Dispatch, p.sheet
	n := s.SM.Count
	d.flushEach, d.profile, d.apart = s.L1D.FlushEach, b.Profile, b.Apart
	if r := s.SM.CTARate; r > 0 {
		d.rate = rate{gap: uint64(256 / r), last: n - 1}
	}
	if s.SM.Dispatch == "distributed" {
		if d.parts = s.SM.DispatchParts; d.parts == 0 {
			d.parts = n
			if s.NoC.Shape() == sheets.NUBA {
				d.parts = s.NoC.Parts()
			}
		}
		for range p.Tenants {
			d.present = append(d.present, make([]int, d.parts))
		}
	}
	d.tenants, d.sms, d.contexts, d.holdings = p.Tenants, p.sms, &p.Contexts, &p.holdings
	d.evictor, d.turns, d.replicas = &p.evictor, &p.TimeSlices, &p.Replicas
	d.firstError, d.clock, d.wakeups = p.firstError, p.clock, p.wakeups
}

// Tick ends turns, evicts CTAs, and advances hand-overs of SMs and channels and flushes of the LLC. While something is
// changing hands it looks every cycle. It returns the next cycle with work.
func (p *Sharing) Tick(now uint64) uint64 {
	return min(p.TimeSlices.tick(now), p.evictor.tick(now), p.mover.tick(now), p.groups.tick(now), p.Replicas.tick(now))
}

// Shared says that some SM has several owners.
func (p *Sharing) Shared() bool { return p.holdings.shared() }

// Owners are the tenants whose CTAs may run on SM i.
func (p *Sharing) Owners(i int) []int { return p.holdings.owners[i] }

// Owner is the one owner of SM i; -1: nobody, or several.
func (p *Sharing) Owner(i int) int { return p.holdings.sm[i] }

// Works says that a kernel or a program of CPU cores runs.
func (p *Sharing) Works() bool {
	for _, t := range p.Tenants {
		if t.Works() > 0 {
			return true
		}
	}
	return false
}

// Unfinished lists the kernels that still run.
func (p *Sharing) Unfinished() (out []*Kernel) {
	for _, t := range p.Tenants {
		out = append(out, t.Kernels...)
	}
	return out
}

// PageLeft notes that a page of a tenant has been freed or has moved, so that lost channel groups may be empty.
func (p *Sharing) PageLeft(now uint64, tenant int) { p.groups.leave(now, tenant) }

// SyncWaking brings the counters of SMs that wake up to a cycle.
func (p *Sharing) SyncWaking(now uint64) {
	for _, m := range p.mover.moving {
		p.mover.countWaking(m, now)
	}
}

// Evicted is how many CTAs have been evicted so far.
func (p *Sharing) Evicted() Evictions { return p.evictor.evicted }
