package report

import (
	"fmt"

	"github.com/heddle-sim/heddle/sim"
)

// kernelRow sums up the launches of one kernel that ran in its tenant's window.
type kernelRow struct {
	name                 string
	launches             int
	cycles, insts, warps uint64
	ctas                 int     // per SM, at most
	theoretical, filled  float64 // occupancy, times cycles
	roofs                map[string]float64
	stalls               map[string]uint64 // cycles of launches with that top stall
	overlapped           bool
}

// kernelRows is in the order of first launches.
func kernelRows(t *sim.Tenant) (rows []*kernelRow) {
	byName := map[string]*kernelRow{}
	for i := range t.Kernels {
		k := &t.Kernels[i]
		if k.Start < t.Window.Start || k.End > t.Window.End {
			continue
		}
		x := byName[k.Name]
		if x == nil {
			x = &kernelRow{name: k.Name, roofs: map[string]float64{}, stalls: map[string]uint64{}}
			byName[k.Name] = x
			rows = append(rows, x)
		}
		n := k.End - k.Start
		x.launches, x.cycles, x.insts, x.warps = x.launches+1, x.cycles+n, x.insts+k.ThreadInsts, x.warps+k.WarpInsts
		x.ctas = max(x.ctas, k.CTAsPerSM)
		x.theoretical, x.filled = x.theoretical+k.Theoretical*float64(n), x.filled+k.Achieved*float64(n)
		x.roofs[k.Roof] += k.RoofShare * float64(n)
		x.stalls[k.TopStall] += n
		x.overlapped = x.overlapped || k.Overlapped
	}
	return rows
}

// KernelHead names the columns of KernelRows.
func KernelHead() []string {
	return []string{
		"kernel", "launches", "cycles", "of window", "IPC", "CTAs/SM", "occupancy", "achieved", "lanes",
		"nearest roof", "share", "top stall",
	}
}

// KernelRows is the table of a tenant's kernels, then the rest of its window; none if no kernel ended, as on CPU
// cores. overlapped says that kernels of the tenant ran side by side, so that their shares add up to more than the
// time.
func KernelRows(t *sim.Tenant) (rows [][]string, overlapped bool) {
	if len(t.Kernels) == 0 {
		return nil, false
	}
	of := func(n uint64) string { return percent(ratio(float64(n), float64(t.Cycles))) }
	for _, x := range kernelRows(t) {
		c := float64(x.cycles)
		name, roof, stall := x.name, top(x.roofs), top(x.stalls)
		if x.overlapped {
			name, overlapped = name+" "+mark, true
		}
		if stall == "" {
			stall = none
		}
		rows = append(rows, []string{
			name, fmt.Sprint(x.launches), fmt.Sprint(x.cycles), of(x.cycles), number(ratio(float64(x.insts), c)),
			fmt.Sprint(x.ctas),
			percent(ratio(x.theoretical, c)), percent(ratio(x.filled, c)), fmt.Sprintf("%.1f", ratio(float64(x.insts),
				float64(x.warps))),
			roof, percent(ratio(x.roofs[roof], c)), stall,
		})
	}
	for _, rest := range []struct {
		name string
		n    uint64
	}{{"(cut by the window)", t.Time.Cut}, {"(copies)", t.Time.Copies}, {"(gaps between launches)", t.Time.Gaps}} {
		if rest.n > 0 {
			row := []string{rest.name, none, fmt.Sprint(rest.n), of(rest.n)}
			for len(row) < len(KernelHead()) {
				row = append(row, none)
			}
			rows = append(rows, row)
		}
	}
	return rows, overlapped
}

// top is the key of the largest value; the first by name of several.
func top[N float64 | uint64](m map[string]N) (best string) {
	first := true
	for k, x := range m { // the order does not matter: ties are broken by name
		if first || x > m[best] || x == m[best] && k < best {
			best, first = k, false
		}
	}
	return best
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// kernels writes the tables of all tenants.
func (p *printer) kernels(r *sim.Result) {
	for i := range r.Tenants {
		t := &r.Tenants[i]
		rows, overlapped := KernelRows(t)
		if len(rows) == 0 {
			continue
		}
		p.f("kernels of %s\n", t.Name)
		p.fitted(append([][]string{KernelHead()}, rows...),
			[]string{"CTAs/SM", "lanes", "occupancy", "launches", "achieved", "cycles"})
		if overlapped {
			p.f("%s kernels of %s ran side by side: what caches and DRAM did is that of all of them\n", mark, t.Name)
		}
	}
}
