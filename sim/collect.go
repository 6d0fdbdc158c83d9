package sim

import (
	"errors"
	"slices"
	"sort"

	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/stat"
)

// collector gathers the results of a run while it runs.
type collector struct {
	r         *run
	set       stat.Set // the tables of the machine
	columns   *columns
	limits    *sm.Config // for the occupancy of kernels
	sampled   uint64
	last      [][]uint64 // per tenant, columns at the last epoch's end
	epochs    []Epoch
	accesses  []PageAccess
	lastBytes []uint64 // of each channel, at the last epoch's end
	period    uint64   // of epochs at present, in core cycles; 0: there are none
	gated     uint64   // SM-cycles powered down at the last epoch's end
	spans     []Span
	tallies   []tally          // per tenant
	open      [][]*launch      // per tenant, kernels on the GPU
	kernels   [][]Kernel       // per tenant
	names     [][]*kernelTally // per tenant, in the order of first launches
	copies    [][]interval     // per tenant
	onCPU     [][]interval     // per tenant, executions on CPU cores
	cutOnCPU  [][]interval     // per tenant, those that the run's end has cut
	prof      map[profiled][]sm.PC
	codes     []profiled // keys of prof in the order they came
}

func newCollector(r *run) (*collector, error) {
	n := len(r.apps)
	c := &collector{
		r: r, set: r.gpu.Tables, period: r.spec.Epoch,
		tallies: make([]tally, n), open: make([][]*launch, n), kernels: make([][]Kernel, n),
		copies: make([][]interval, n), onCPU: make([][]interval, n), cutOnCPU: make([][]interval, n),
		names: make([][]*kernelTally, n), prof: map[profiled][]sm.PC{},
	}
	var err error
	if c.columns, err = newColumns(c.set, r.sheet.DRAM.Access); err != nil {
		return nil, err
	}
	for range r.apps {
		c.last = append(c.last, c.columns.all(c.set.Zero()))
	}
	c.limits, err = sm.Derive(r.sheet)
	return c, err
}

// profiled is the code whose stalls are counted, of one application.
type profiled struct {
	tenant int
	code   *isa.Code
}

// profile adds a kernel's stall cycles to those of earlier launches of its code.
func (c *collector) profile(k *sharing.Kernel) {
	if k.Prof == nil {
		return
	}
	of := profiled{int(k.Tenant), k.Code}
	sum := c.prof[of]
	if sum == nil {
		sum = make([]sm.PC, len(k.Prof))
		c.prof[of] = sum
		c.codes = append(c.codes, of)
	}
	for pc := range k.Prof {
		sum[pc].Issues += k.Prof[pc].Issues
		for i, n := range k.Prof[pc].Stall {
			sum[pc].Stall[i] += n
		}
	}
}

// span keeps a bar for the timeline.
func (r *run) span(track, name string, start, end uint64, tenant int) {
	if r.spec.Timeline {
		r.col.spans = append(r.col.spans, Span{Track: track, Name: name, Start: start, End: end, Tenant: tenant})
	}
}

// epoch samples every tenant's counters since the last sample.
func (c *collector) epoch(now uint64) {
	c.r.gpu.SyncSMs()
	e := Epoch{Cycle: now}
	cycles := now - c.sampled
	for i, t := range c.r.gpu.Tenants {
		n := c.columns.all(c.set.Sums(i))
		x := EpochTenant{SMs: len(t.SMs), Channels: c.r.gpu.Channels(i), Counts: make([]uint64, len(n))}
		for k := range n {
			x.Counts[k] = n[k] - c.last[i][k]
		}
		c.last[i] = n
		x.IPC = ratio(float64(x.Counts[c.columns.at[threadInsts]]), float64(cycles))
		if len(t.Cores) > 0 && len(t.SMs) == 0 {
			x.IPC = ratio(float64(x.Counts[c.columns.at[cpuInsts]]),
				float64(cycles)*c.r.sheet.CPU.Clock/c.r.sheet.Clock.Core)
		}
		x.BandwidthGBs = c.r.bandwidth(x.Counts[c.columns.at[dramBytes]], cycles)
		e.Tenants = append(e.Tenants, x)
	}
	gated := c.r.gated()
	e.Nobody.GatedSMCycles, c.gated = gated-c.gated, gated
	e.Nobody.SMs, e.Nobody.Channels = c.r.nobodys()
	c.sinceLast(&e)
	c.epochs = append(c.epochs, e)
	c.r.gpu.Unified.Accesses(func(tenant int, page uint64, n uint32) {
		c.accesses = append(c.accesses, PageAccess{now, tenant, page, n})
	})
	c.sampled = now
	if len(c.epochs) == c.r.spec.MostEpochs {
		c.halve()
	}
}

// halve makes one epoch of every two, and those to come twice as long.
func (c *collector) halve() {
	for k := range len(c.epochs) / 2 {
		a, b := &c.epochs[2*k], c.epochs[2*k+1]
		for i := range b.Tenants {
			x, y := &a.Tenants[i], &b.Tenants[i]
			for n := range y.Counts {
				y.Counts[n] += x.Counts[n]
			}
			y.IPC, y.BandwidthGBs = (x.IPC+y.IPC)/2, (x.BandwidthGBs+y.BandwidthGBs)/2 // both are as long
		}
		b.Nobody.GatedSMCycles += a.Nobody.GatedSMCycles
		for n := range b.ChannelBytes {
			b.ChannelBytes[n] += a.ChannelBytes[n]
		}
		c.epochs[k] = b
	}
	c.epochs = c.epochs[:len(c.epochs)/2]
	c.period *= 2
}

// gated is the SM-cycles so far in which SMs were powered down.
func (r *run) gated() (sum uint64) {
	for i := range r.sheet.SM.Count {
		sum += r.gpu.Sharing.GatedCycles(i)
	}
	return sum
}

// nobodys are the SMs and channels without an owner.
func (r *run) nobodys() (sms, channels int) {
	ownedSMs, ownedGroups := map[int]bool{}, map[int]bool{}
	everybodys := false // memory is
	for _, t := range r.gpu.Tenants {
		for _, s := range t.SMs {
			ownedSMs[s] = true
		}
		for _, k := range t.Groups {
			ownedGroups[k] = true
		}
		everybodys = everybodys || t.Groups == nil
	}
	if !everybodys {
		groups := r.gpu.Groups()
		channels = (groups - len(ownedGroups)) * r.sheet.DRAM.Channels / groups
	}
	return r.sheet.SM.Count - len(ownedSMs), channels
}

// bandwidth is in GB/s.
func (r *run) bandwidth(bytes, cycles uint64) float64 {
	return ratio(float64(bytes)/1e9, float64(cycles)/(r.sheet.Clock.Core*1e6))
}

// stalls lists the profile by application and PTX line, in code order.
func (c *collector) stalls() []Stall {
	var out []Stall
	slices.SortStableFunc(c.codes, func(a, b profiled) int { return a.tenant - b.tenant })
	for _, of := range c.codes {
		code := of.code
		type key struct {
			line  int
			cause sm.Cause
		}
		sum := map[key]*Stall{}
		var keys []key
		add := func(k key, cycles, issues uint64) {
			s := sum[k]
			if s == nil {
				s = &Stall{
					Tenant: of.tenant, Kernel: code.Kernel, File: code.File, Line: k.line, Cause: k.cause.String(),
				}
				sum[k] = s
				keys = append(keys, k)
			}
			s.Cycles += cycles
			s.Issues += issues
		}
		for pc, p := range c.prof[of] {
			line := int(code.Instr[pc].Line)
			if p.Issues > 0 {
				add(key{line, sm.NoStall}, 0, p.Issues)
			}
			for cause, n := range p.Stall {
				if n > 0 {
					add(key{line, sm.Cause(cause)}, n, 0)
				}
			}
		}
		sort.Slice(keys, func(i, j int) bool {
			return keys[i].line < keys[j].line || keys[i].line == keys[j].line && keys[i].cause < keys[j].cause
		})
		for _, k := range keys {
			out = append(out, *sum[k])
		}
	}
	return out
}

// result puts the Result together.
func (r *run) result() *Result {
	now := r.gpu.Now()
	if r.col.period > 0 && now > r.col.sampled {
		r.col.epoch(now) // the last, shorter one
	}
	r.gpu.SyncCounters()
	for _, k := range r.gpu.Sharing.Unfinished() {
		r.col.profile(k)
	}
	hz := r.sheet.Clock.Core * 1e6
	res := &Result{
		Version: ResultVersion, Spec: *r.spec, Complete: true, Cycles: now, Seconds: float64(now) / hz,
		Epochs: r.col.epochs, Stalls: r.col.stalls(), Outside: &Outside{}, Machine: r.given,
	}
	r.underWay(now)
	res.Managed = r.managed()
	if r.spec.Touches {
		res.Touches = &Touches{Accesses: r.col.accesses}
		res.Touches.BySMs, res.Touches.Homes = r.gpu.PageTouches()
	}
	if r.ctl != nil {
		res.Decisions, res.Policies = r.ctl.decisions, r.ctl.used
	}
	switch {
	case r.spec.Sharing.together():
		r.contexts(res, now)
	case r.ctl.moves():
		r.ctl.finish(res, now)
	default:
		r.owners(now)
	}
	if !r.col.warm() {
		r.col.warmed() // nothing is left to measure; cold warns of it
	}
	outside, moved := r.col.set.Zero(), r.col.set.Zero()
	for i, a := range r.apps {
		r.tenant(res, i, a, outside, moved)
		res.Unfinished = append(res.Unfinished, r.col.unfinished(i, now))
		res.Checks = append(res.Checks, a.checks...)
	}
	res.Nobody = r.nobody(res)
	count := func(name string) uint64 { return r.col.columns.count(outside, name) }
	o := res.Outside
	o.ThreadInsts, o.WarpInsts = count(threadInsts), count(warpInsts)
	o.DRAMBytes, o.Faults = count(dramBytes), count(faults)
	for i, t := range r.col.set {
		res.Tables = append(res.Tables, counters(t, OutsideWindows, outside[i], -1))
	}
	if res.Nobody.GatedSMCycles > 0 {
		res.Tables = append(res.Tables, r.gatedTable(res.Nobody))
	}
	o.MovedBytes = r.col.columns.count(moved, dramBytes)
	res.Tables = append(res.Tables, r.movedTables(OutsideWindows, moved)...)
	r.unifiedSpans()
	res.Spans = r.col.spans
	notes{r, res}.take()
	r.wall(res)
	return res
}

// nobody collects the SM-cycles, channels and energy that no application held.
func (r *run) nobody(res *Result) *Nobody {
	n := &Nobody{IdleSMCycles: uint64(r.sheet.SM.Count) * res.Cycles, GatedSMCycles: r.gated()}
	minus := func(held uint64) { n.IdleSMCycles -= min(n.IdleSMCycles, held) }
	minus(res.Outside.HeldSMCycles)
	for i := range res.Tenants {
		minus(res.Tenants[i].HeldSMCycles)
	}
	minus(n.GatedSMCycles)
	return n
}

// NobodysCounters describes the counters of SMs while they have no owner.
func NobodysCounters() []stat.Desc {
	return []stat.Desc{{
		Name: "gated_cycles", Unit: "cycles",
		Doc: "SM-cycles in which SMs were powered down; they belong to no tenant, and no policy reads them",
	}}
}

// gatedTable is the counter of SMs without an owner.
func (r *run) gatedTable(n *Nobody) Counters {
	c := Counters{Owner: "sm", Tenant: NobodyName, Values: []Value{{Desc: NobodysCounters()[0], N: n.GatedSMCycles}}}
	for i := range r.sheet.SM.Count {
		c.Instances = append(c.Instances, []uint64{r.gpu.Sharing.GatedCycles(i)})
	}
	return c
}

// owners draws the owners of SMs and groups where nothing moves.
func (r *run) owners(now uint64) {
	for i, t := range r.gpu.Tenants {
		for _, s := range t.SMs {
			r.span(smTrack(s), t.Name, 0, now, i)
		}
		for _, k := range t.Groups {
			r.span(groupTrack(k), t.Name, 0, now, i)
		}
	}
}

// tenant summarises an application over its window, and adds the rest to outside.
func (r *run) tenant(res *Result, i int, a *app, outside, moved stat.Sums) {
	last := r.col.mark(i)
	w, from, to := r.col.window(i, last)
	n := to.sums.Minus(from.sums)
	outside.Add(from.sums)
	outside.Add(last.sums.Minus(to.sums))
	own := to.moved.Minus(from.moved)
	moved.Add(from.moved)
	moved.Add(last.moved.Minus(to.moved))
	count := func(name string) uint64 { return r.col.columns.count(n, name) }
	has, tally := r.gpu.Tenants[i], &r.col.tallies[i]
	t := Tenant{
		Name: a.spec.Name, SMs: len(has.SMs), Channels: r.gpu.Channels(i), Window: w, Cycles: w.End - w.Start,
		SharedSMs: r.spec.Sharing.together(), SharedChannels: len(r.apps) > 1 && len(has.Groups) == 0,
		Runs: a.runs, Executions: to.executions, PerExecution: Executions{tally.least, tally.most, tally.mean()},
		BusyCycles: to.busy - from.busy, ThreadInsts: count(threadInsts), WarpInsts: count(warpInsts),
		L1HitRate: rate(count(l1Hits), count(l1Accesses)), LLCHitRate: rate(count(llcHits), count(llcAccesses)),
		DRAMBytes: count(dramBytes), Faults: count(faults), Time: r.col.time(i, w), Kernels: r.col.kernels[i],
		Log: a.log.lines(), ManagedBytes: r.gpu.Unified.Allocated(i),
	}
	t.IPC = ratio(float64(t.ThreadInsts), float64(t.Cycles))
	if t.CPU = r.cpuOf(i, &t, count); t.CPU != nil && t.SMs == 0 {
		t.IPC, t.L1HitRate = t.CPU.IPC, rate(count(cpuAccesses)-count(cpuL1Misses), count(cpuAccesses))
	}
	t.BusyIPC = ratio(float64(t.ThreadInsts), float64(t.BusyCycles))
	res.Targets = append(res.Targets, r.reached(i, &t, &from, &to)...)
	t.BandwidthGBs = r.bandwidth(t.DRAMBytes, t.Cycles)
	t.MovedBytes = r.col.columns.count(own, dramBytes)
	t.MovedGBs = r.bandwidth(t.MovedBytes, t.Cycles)
	if a.err != nil && !errors.Is(a.err, ErrStopped) {
		t.Err = a.err.Error()
	}
	if all := r.col.columns.count(last.sums, activeShare); t.SharedSMs {
		t.HeldSMCycles = count(activeShare)
		res.Outside.HeldSMCycles += all - t.HeldSMCycles
	} else {
		t.HeldSMCycles = held(res, &t, w.Start, w.End)
		res.Outside.HeldSMCycles += held(res, &t, 0, res.Cycles) - t.HeldSMCycles
	}
	res.Tenants = append(res.Tenants, t)
	for k, table := range r.col.set {
		res.Tables = append(res.Tables, counters(table, t.Name, n[k], i))
	}
	res.Tables = append(res.Tables, r.movedTables(t.Name, own)...)
}

// movedTables are the counters of the traffic that moved data for a tenant; none where nothing was.
func (r *run) movedTables(tenant string, sums stat.Sums) (out []Counters) {
	if !sums.Any() {
		return nil
	}
	for k, t := range r.col.set {
		if t.Rows() > t.Tenants {
			c := counters(t, tenant, sums[k], -1)
			c.Moved = true
			out = append(out, c)
		}
	}
	return out
}

// held is the SM-cycles of the SMs that a tenant owned from one cycle to another. Its SMs
// in the result are those of the run's end; one that changed hands was its old owner's
// until then.
func held(res *Result, t *Tenant, from, to uint64) uint64 {
	n := uint64(t.SMs) * (to - from)
	for i := range res.Decisions {
		for _, move := range res.Decisions[i].SMs {
			if move.End == 0 {
				continue
			}
			before := min(max(move.End, from), to) - from
			if move.From == t.Name {
				n += before
			}
			if move.To == t.Name {
				n -= before
			}
		}
	}
	return n
}

// rate is the share of some events in all of them; nil if there are none.
func rate(some, all uint64) *float64 {
	if all == 0 {
		return nil
	}
	x := float64(some) / float64(all)
	return &x
}

// counters lists a table's counters for a tenant (index -1: for nobody in particular).
func counters(t *stat.Table, tenant string, sums []uint64, index int) Counters {
	c := Counters{Owner: t.Owner, Tenant: tenant}
	for i, v := range sums {
		c.Values = append(c.Values, Value{Desc: t.Desc[i], N: v})
	}
	for i := 0; index >= 0 && i < t.Instances; i++ {
		c.Instances = append(c.Instances, t.Row(i, index))
	}
	return c
}
