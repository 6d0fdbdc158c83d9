package sim

import (
	"errors"
	"sort"

	"heddle/isa"
	"heddle/machine"
	"heddle/machine/sm"
)

// collector gathers what a run tells while it goes on.
type collector struct {
	r       *run
	sampled uint64
	last    []machine.Totals // per tenant, at the last epoch's end
	epochs  []Epoch
	spans   []Span
	kernels [][]Kernel // per tenant
	prof    map[*isa.Code][]sm.PC
	codes   []*isa.Code // keys of prof in the order they came
}

func newCollector(r *run) *collector {
	return &collector{r: r, last: make([]machine.Totals, len(r.apps)), kernels: make([][]Kernel, len(r.apps)), prof: map[*isa.Code][]sm.PC{}}
}

// kernel books a kernel that has finished.
func (c *collector) kernel(k *machine.Kernel) {
	t, p := int(k.Tenant), k.Progress()
	c.kernels[t] = append(c.kernels[t], Kernel{
		Name: k.Name, Stream: k.Stream, CTAs: k.Geo.CTAs, Start: k.Start, End: k.End,
		ThreadInsts: p.ThreadInsts, WarpInsts: p.WarpInsts,
	})
	c.r.span("kernels/"+c.r.apps[t].spec.Name, k.Name, k.Start, k.End, t)
	c.profile(k)
}

// profile adds a kernel's stall cycles to those of earlier launches of its code.
func (c *collector) profile(k *machine.Kernel) {
	if k.Prof == nil {
		return
	}
	sum := c.prof[k.Code]
	if sum == nil {
		sum = make([]sm.PC, len(k.Prof))
		c.prof[k.Code] = sum
		c.codes = append(c.codes, k.Code)
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
	e := Epoch{Cycle: now}
	cycles := float64(now - c.sampled)
	seconds := cycles / (c.r.sheet.Clock.Core * 1e6)
	for i, t := range c.r.gpu.Tenants {
		n := c.r.gpu.Totals(i)
		d := n.Minus(&c.last[i])
		c.last[i] = n
		x := EpochTenant{
			SMs: len(t.SMs), Channels: c.r.gpu.Channels(i), ThreadInsts: d.ThreadInsts, WarpInsts: d.WarpInsts,
			L1Accesses: d.L1Accesses, L1Hits: d.L1Hits, LLCAccesses: d.LLCAccesses, LLCHits: d.LLCHits,
			DRAMReads: d.DRAMReads, DRAMWrites: d.DRAMWrites, DRAMBytes: d.DRAMBytes,
			IPC: ratio(float64(d.ThreadInsts), cycles), BandwidthGBs: ratio(float64(d.DRAMBytes)/1e9, seconds),
		}
		e.Tenants = append(e.Tenants, x)
	}
	c.epochs = append(c.epochs, e)
	c.sampled = now
}

// stalls lists the profile by PTX line, in code order.
func (c *collector) stalls() []Stall {
	var out []Stall
	for _, code := range c.codes {
		type key struct {
			line  int
			cause sm.Cause
		}
		sum := map[key]*Stall{}
		var keys []key
		add := func(k key, cycles, issues uint64) {
			s := sum[k]
			if s == nil {
				s = &Stall{Kernel: code.Kernel, File: code.File, Line: k.line, Cause: k.cause.String()}
				sum[k] = s
				keys = append(keys, k)
			}
			s.Cycles += cycles
			s.Issues += issues
		}
		for pc, p := range c.prof[code] {
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
	if r.spec.Epoch > 0 && now > r.col.sampled {
		r.col.epoch(now) // the last, shorter one
	}
	r.gpu.Settle()
	for _, k := range r.gpu.Unfinished() {
		r.col.profile(k)
	}
	hz := r.sheet.Clock.Core * 1e6
	res := &Result{
		Version: ResultVersion, Spec: *r.spec, Complete: true, Cycles: now, Seconds: float64(now) / hz,
		Epochs: r.col.epochs, Spans: r.col.spans, Stalls: r.col.stalls(),
	}
	for i, a := range r.apps {
		res.Tenants = append(res.Tenants, r.tenant(i, a, now))
		res.Checks = append(res.Checks, a.checks...)
		res.Tables = append(res.Tables, r.tables(i, a)...)
	}
	if r.ctl != nil {
		res.Decisions = r.ctl.decisions
	}
	switch {
	case r.spec.Sharing.together():
		r.contexts(res, now)
	case r.ctl.moves():
		r.ctl.finish(res, now)
	default:
		for i, t := range r.gpu.Tenants {
			for _, s := range t.SMs {
				r.span(smTrack(s), t.Name, 0, now, i)
			}
			for _, k := range t.Groups {
				r.span(groupTrack(k), t.Name, 0, now, i)
			}
		}
	}
	res.Spans = r.col.spans
	r.wall(res)
	return res
}

// tenant summarises an application over its first execution, or over the whole
// run where that is what counts (a budget) or what there is (it never ended).
func (r *run) tenant(i int, a *app, now uint64) Tenant {
	n := r.gpu.Totals(i)
	t := Tenant{
		Name: a.spec.Name, SMs: len(r.gpu.Tenants[i].SMs), Channels: r.gpu.Channels(i), Runs: a.runs,
		Cycles: now - min(now, a.arrived), ThreadInsts: n.ThreadInsts, WarpInsts: n.WarpInsts,
		L1HitRate: ratio(float64(n.L1Hits), float64(n.L1Accesses)), LLCHitRate: ratio(float64(n.LLCHits), float64(n.LLCAccesses)),
		DRAMBytes: n.DRAMBytes, Faults: n.Faults, Kernels: r.col.kernels[i], Log: a.logLines(),
	}
	t.BandwidthGBs = ratio(float64(n.DRAMBytes)/1e9, float64(now-min(now, a.arrived))/(r.sheet.Clock.Core*1e6))
	t.KernelCycles = r.gpu.Busy(i)
	if a.done && !r.spec.Length.Budget {
		t.Cycles, t.KernelCycles, t.ThreadInsts, t.WarpInsts = a.firstEnd-a.arrived, a.firstBusy, a.firstThread, a.firstWarp
	}
	t.IPC = ratio(float64(t.ThreadInsts), float64(t.KernelCycles))
	if a.err != nil && !errors.Is(a.err, ErrStopped) {
		t.Err = a.err.Error()
	}
	return t
}

func (r *run) tables(tenant int, a *app) []Counters {
	var out []Counters
	for _, t := range r.gpu.Tables {
		c := Counters{Owner: t.Owner, Tenant: a.spec.Name}
		for i, v := range t.Totals(tenant, nil) {
			c.Values = append(c.Values, Value{Desc: t.Desc[i], N: v})
		}
		for i := range t.Instances {
			c.Instances = append(c.Instances, t.Row(i, tenant))
		}
		out = append(out, c)
	}
	return out
}
