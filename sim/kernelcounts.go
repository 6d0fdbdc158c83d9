package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-sim/heddle/control"
	"github.com/heddle-sim/heddle/machine/sharing"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/stat"
)

// Counters of a kernel: all its launches by one application together.
const (
	kernelWarpInsts = iota
	kernelThreadInsts
	kernelCTAs
	kernelLaunches
	kernelBusy
	numKernelCounters
)

// KernelCounters describes the counters that policies may read for each kernel of an application.
func KernelCounters() []stat.Desc {
	return []stat.Desc{
		kernelWarpInsts:   {Name: "warp_insts", Unit: "instructions", Doc: "warp instructions issued"},
		kernelThreadInsts: {Name: "thread_insts", Unit: "instructions", Doc: "lanes that executed"},
		kernelCTAs:        {Name: "ctas", Unit: "CTAs", Doc: "thread blocks completed"},
		kernelLaunches:    {Name: "launches", Unit: "launches", Doc: "times it was launched"},
		kernelBusy:        {Name: "busy_cycles", Unit: "cycles", Doc: "core cycles in which the kernel was on the GPU"},
	}
}

// kernelTally is a kernel of an application, by name.
type kernelTally struct {
	name  string
	done  [numKernelCounters]uint64 // of launches that have ended
	open  []*sharing.Kernel
	since uint64 // from which on one has been on the GPU
}

// tallyOf finds the place of a kernel's tally in names; below 0 if the kernel was never launched.
func (c *collector) tallyOf(tenant int, name string) int {
	return slices.IndexFunc(c.names[tenant], func(t *kernelTally) bool { return t.name == name })
}

// kernelTally finds the tally of a kernel, or begins it.
func (c *collector) kernelTally(tenant int, name string) *kernelTally {
	if k := c.tallyOf(tenant, name); k >= 0 {
		return c.names[tenant][k]
	}
	c.r.apps[tenant].launches(name)
	t := &kernelTally{name: name}
	c.names[tenant] = append(c.names[tenant], t)
	return t
}

func (t *kernelTally) launched(k *sharing.Kernel, now uint64) {
	if len(t.open) == 0 {
		t.since = now
	}
	t.open = append(t.open, k)
	t.done[kernelLaunches]++
}

func (t *kernelTally) ended(k *sharing.Kernel) {
	for i, o := range t.open {
		if o == k {
			t.open = append(t.open[:i], t.open[i+1:]...)
			break
		}
	}
	addProgress(&t.done, k)
	if len(t.open) == 0 {
		t.done[kernelBusy] += k.End - t.since
	}
}

func addProgress(to *[numKernelCounters]uint64, k *sharing.Kernel) {
	p := k.Progress()
	to[kernelWarpInsts] += p.WarpInsts
	to[kernelThreadInsts] += p.ThreadInsts
	to[kernelCTAs] += uint64(p.Finished)
}

// counts are the kernel's counters up to now.
func (t *kernelTally) counts(now uint64) [numKernelCounters]uint64 {
	n := t.done
	for _, k := range t.open {
		addProgress(&n, k)
	}
	if len(t.open) > 0 {
		n[kernelBusy] += now - t.since
	}
	return n
}

// Kernels implements control.Source.
func (s *source) Kernels(app int) (out []control.KernelCounts) {
	now := s.r.gpu.Now()
	for _, t := range s.r.col.names[app] {
		n := t.counts(now)
		out = append(out, control.KernelCounts{
			HeldKernel: control.HeldKernel{Name: t.name, QoS: s.r.apps[app].target(t.name)}, Counts: n[:],
		})
	}
	return out
}

// FindKernel implements control.Source.
func (s *source) FindKernel(name string) (int, error) {
	var names []string
	for i, d := range KernelCounters() {
		if "kernel."+d.Name == name {
			return i, nil
		}
		names = append(names, "kernel."+d.Name)
	}
	return 0, fmt.Errorf("no counter %q of kernels; there are %s%s", name, strings.Join(names, ", "),
		yamldoc.Guess(name, names))
}
