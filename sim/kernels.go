package sim

import (
	"sort"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/machine"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/machine/sm"
	"github.com/heddle-sim/heddle/stat"
)

// launch is a kernel on the GPU, and its tenant's counters when it was launched.
type launch struct {
	k       *sharing.Kernel
	cycle   uint64
	sums    stat.Sums
	overlap bool // other kernels of the tenant were there meanwhile
}

// interval is a time in which something was under way, in core cycles.
type interval struct{ start, end uint64 }

// launched notes that tenant i has launched k.
func (c *collector) launched(i int, k *sharing.Kernel) {
	if t := &c.tallies[i]; !t.launch.taken() {
		t.launch = c.mark(i)
	}
	c.kernelTally(i, k.Name).launched(k, c.r.gpu.Now())
	l := &launch{k: k, cycle: c.r.gpu.Now(), sums: c.set.Sums(i), overlap: len(c.open[i]) > 0}
	for _, other := range c.open[i] {
		other.overlap = true
	}
	c.open[i] = append(c.open[i], l)
}

// executes notes that tenant i begins an execution on CPU cores.
func (c *collector) executes(i int) {
	if t := &c.tallies[i]; !t.launch.taken() {
		t.launch = c.mark(i)
	}
}

// executedOnCPU records an execution of tenant i on CPU cores.
func (c *collector) executedOnCPU(i int, x *machine.Execution) {
	c.onCPU[i] = append(c.onCPU[i], interval{x.Start, x.End})
	name := c.r.apps[i].spec.Name
	c.r.span("cores/"+name, name, x.Start, x.End, i)
}

// kernel records a kernel that has finished.
func (c *collector) kernel(k *sharing.Kernel) {
	t := int(k.Tenant)
	for at, l := range c.open[t] {
		if l.k == k {
			c.kernels[t] = append(c.kernels[t], c.describe(t, l, k.End))
			c.open[t] = append(c.open[t][:at], c.open[t][at+1:]...)
			break
		}
	}
	c.kernelTally(t, k.Name).ended(k)
	c.r.span("kernels/"+c.r.apps[t].spec.Name, k.Name, k.Start, k.End, t)
	c.profile(k)
}

// unfinished are a tenant's launches that are on the GPU and have executed something, up to now.
func (c *collector) unfinished(tenant int, now uint64) (out []Kernel) {
	for _, l := range c.open[tenant] {
		if l.k.Progress().WarpInsts > 0 {
			out = append(out, c.describe(tenant, l, now))
		}
	}
	return out
}

// underWay records the unfinished kernels, executions on CPU cores and copies of each application.
func (r *run) underWay(now uint64) {
	for i, a := range r.apps {
		for _, l := range r.col.open[i] {
			if l.begun() {
				r.span("kernels/"+a.spec.Name, l.k.Name, l.k.Start, now, i)
			}
		}
		if a.dev == nil {
			continue
		}
		for k := range len(a.dev.streams) + 1 {
			s := a.dev.stream(k)
			switch {
			case s.execution != nil:
				r.col.cutOnCPU[i] = append(r.col.cutOnCPU[i], interval{s.execution.Start, now})
				r.span("cores/"+a.spec.Name, a.spec.Name, s.execution.Start, now, i)
			case s.copy != nil && s.ops[0].Kind == host.OpCopy:
				r.col.copied(i, s.ops[0].Start, now)
				r.span("copies/"+a.spec.Name, s.ops[0].Name, s.ops[0].Start, now, i)
			}
		}
	}
}

// begun says that CTAs of a launch have been on SMs.
func (l *launch) begun() bool { return l.k.Start > 0 || l.k.Progress().Running > 0 }

// describe describes a launch up to a cycle, which is its end if it has come to it.
func (c *collector) describe(tenant int, l *launch, end uint64) Kernel {
	k, p := l.k, l.k.Progress()
	d := c.set.Sums(tenant).Minus(l.sums)
	sms, warps := c.meanSMs(tenant, k.Start, end), k.Geo.Warps
	cycles := float64(end - k.Start)
	slots := float64(c.r.sheet.SM.Threads / isa.Lanes)
	out := Kernel{
		Name: k.Name, Stream: k.Stream, CTAs: k.Geo.CTAs, Launch: l.cycle, Start: k.Start, End: end,
		ThreadInsts: p.ThreadInsts, WarpInsts: p.WarpInsts, IPC: ratio(float64(p.ThreadInsts), cycles),
		ActiveLanes: ratio(float64(p.ThreadInsts), float64(p.WarpInsts)),
		L1Accesses:  c.columns.count(d, l1Accesses), LLCAccesses: c.columns.count(d, llcAccesses),
		DRAMBytes: c.columns.count(d, dramBytes), Overlapped: l.overlap,
	}
	out.CTAsPerSM = c.limits.Occupancy(&k.Geo)
	out.Theoretical = float64(out.CTAsPerSM*warps) / slots
	out.Achieved = ratio(float64(p.CTACycles)*float64(warps), cycles*sms*slots)
	out.Roof, out.RoofShare = c.roof(tenant, &out, cycles, sms)
	out.TopStall = topStall(&p.Stall)
	return out
}

// meanSMs is how many SMs a tenant had in the mean from one cycle to another. One that
// changed hands was its old owner's until then.
func (c *collector) meanSMs(tenant int, from, to uint64) float64 {
	n := float64(len(c.r.gpu.Tenants[tenant].SMs))
	for _, r := range c.r.gpu.Sharing.Repartitions {
		for i := range r.SMs {
			m := &r.SMs[i]
			if m.End <= from { // or not yet
				continue
			}
			before := ratio(float64(min(m.End, to)-from), float64(to-from))
			if m.From == tenant {
				n += before
			}
			if m.To == tenant {
				n -= before
			}
		}
	}
	return n
}

// roof is the limit of the tenant's part of the machine that a kernel came nearest to, and its share of that limit:
// the instructions that its SMs can issue, the sectors that their L1s can look up, the bytes that its LLC slices and
// channels (of both tiers, if there are two) can move in that time. sms is the mean number of its SMs.
func (c *collector) roof(tenant int, k *Kernel, cycles, sms float64) (name string, share float64) {
	m := c.r.sheet
	channels := float64(c.r.gpu.Channels(tenant))
	llc := channels * float64(m.LLC.SlicesPerChannel*m.LLC.PortBytes) * m.Clock.LLC / m.Clock.Core
	burst := float64(m.DRAM.Access) / float64(max(1, m.DRAM.T.BL, m.DRAM.T.CCDS))
	for _, r := range []struct {
		name       string
		done, peak float64
	}{
		{"issue", float64(k.WarpInsts), sms * float64(m.SM.Schedulers*max(1, m.SM.IssueWidth))},
		{"L1", float64(k.L1Accesses), sms * float64(m.L1D.Banks)},
		{"LLC", float64(k.LLCAccesses) * float64(m.LLC.Sector), llc},
		{"DRAM", float64(k.DRAMBytes), channels*burst*m.Clock.DRAM/m.Clock.Core + m.FastPeak()},
	} {
		if x := ratio(r.done, r.peak*cycles); name == "" || x > share {
			name, share = r.name, x
		}
	}
	return name, share
}

// topStall is the cause for which a kernel's warps waited longest.
func topStall(sum *[sm.NumCauses]uint64) string {
	top := 0
	for cause, n := range sum {
		if n > sum[top] {
			top = cause
		}
	}
	if sum[top] == 0 {
		return ""
	}
	return sm.Cause(top).String()
}

// copied notes that a copy of tenant i came to its end.
func (c *collector) copied(i int, start, end uint64) {
	if end > start {
		c.copies[i] = append(c.copies[i], interval{start, end})
	}
}

// time divides a window among launches that lie in it, others, copies without a kernel on
// the GPU, and the rest.
func (c *collector) time(i int, w Window) Time {
	var listed, kernels, all []interval
	for _, k := range c.kernels[i] {
		x := interval{k.Start, k.End}
		if kernels = append(kernels, x); w.holds(&k) {
			listed = append(listed, x)
		}
	}
	for _, l := range c.open[i] {
		if l.begun() {
			kernels = append(kernels, interval{l.k.Start, w.End})
		}
	}
	for _, x := range c.onCPU[i] {
		if kernels = append(kernels, x); x.start >= w.Start && x.end <= w.End {
			listed = append(listed, x)
		}
	}
	kernels = append(kernels, c.cutOnCPU[i]...)
	all = append(append(all, kernels...), c.copies[i]...)
	in, busy, both := covered(listed, w), covered(kernels, w), covered(all, w)
	return Time{Kernels: in, Cut: busy - in, Copies: both - busy, Gaps: w.End - w.Start - both}
}

// holds says whether a launch ran in the window from its first CTA to its last store.
func (w *Window) holds(k *Kernel) bool { return k.Start >= w.Start && k.End <= w.End }

// covered is the number of cycles of a window that lie in any of the intervals.
func covered(in []interval, w Window) (n uint64) {
	sort.Slice(in, func(i, j int) bool { return in[i].start < in[j].start })
	at := w.Start
	for _, x := range in {
		start, end := max(x.start, at), min(x.end, w.End)
		if end > start {
			n += end - start
			at = end
		}
	}
	return n
}
