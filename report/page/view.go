package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
)

// view is what the template shows and, in charts, what the script draws.
type view struct {
	Title        string
	Runs         []runView
	Compare      *table
	Verdict      string
	Unequal      string   // what the runs' work differs in
	Overlays     []string // tenants whose curves of all runs are laid over each other
	Style        template.CSS
	Plot, Script template.JS
	Data         template.JS
	charts       []chart
}

// runView is the part of one run.
type runView struct {
	ID        int
	Label     string
	Machine   string
	Mode      string
	Facts     []string
	Partial   string // why it is not complete
	Warnings  []string
	Failed    []string
	Tenants   []tenantView
	Table     table
	Windows   []string // what the numbers are of
	Kernels   []kernelView
	Metrics   table
	Moved     *table
	Contexts  *table
	Touches   *touchesView
	Managed   *table
	Accesses  *accessesView
	Roofline  *rooflineView
	Decisions []decisionView
	Stalls    []stallView
	Causes    []causeView
	Epochs    bool
	Pages     bool
	Owned     bool
	Timed     bool // not a functional run
	NoGroups  bool
	Memory    bool // what channels moved over time is known
}

type tenantView struct{ Name, Color string }

// kernelView is the table of a tenant's kernels.
type kernelView struct {
	Tenant string
	Table  table
}

func kernelViews(r *sim.Result) (out []kernelView) {
	for i := range r.Tenants {
		if rows, _ := report.KernelRows(&r.Tenants[i]); len(rows) > 0 {
			out = append(out, kernelView{r.Tenants[i].Name, table{report.KernelHead(), rows}})
		}
	}
	return out
}

// table is a head and rows, the first column of which is text.
type table struct {
	Head []string
	Rows [][]string
}

// palette: Okabe and Ito, "Color universal design" (2008), as in package figure.
func palette(i int) string {
	colors := []string{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#444444", "#999999"}
	return colors[i%len(colors)]
}

func newView(runs []Run) *view {
	v := &view{}
	var labels []string
	var results []*sim.Result
	for i, r := range runs {
		labels = append(labels, r.Label)
		results = append(results, r.Result)
		v.Runs = append(v.Runs, newRun(i, r))
		v.charts = append(v.charts, newChart(r))
	}
	v.Title = "Heddle: " + strings.Join(labels, ", ")
	if len(runs) > 1 {
		v.Compare = compareTable(runs)
		v.Verdict = report.Verdict(results, labels)
		v.Unequal = report.Unequal(results)
		for _, r := range results {
			for i := range r.Tenants {
				if n := r.Tenants[i].Name; !slices.Contains(v.Overlays, n) && len(r.Epochs) > 0 {
					v.Overlays = append(v.Overlays, n)
				}
			}
		}
	}
	return v
}

func newRun(id int, in Run) runView {
	r := in.Result
	v := runView{
		ID: id, Label: in.Label, Machine: r.Spec.Machine, Mode: mode(r), Epochs: len(r.Epochs) > 0,
		Timed: !r.Spec.Functional,
	}
	if v.Timed {
		v.Facts = append(v.Facts, fmt.Sprintf("%d core cycles, %s simulated", r.Cycles, si(r.Seconds, "s")))
	} else {
		v.Facts = append(v.Facts, "functional: executed without timing")
	}
	v.Facts = append(v.Facts,
		fmt.Sprintf("seed %d", r.Spec.Seed), "spec "+r.SpecHash[:min(12, len(r.SpecHash))],
	)
	if r.Wall.Version != "" {
		v.Facts = append(v.Facts, r.Wall.Version)
	}
	v.Warnings = r.Warnings
	if !r.Complete {
		v.Partial = report.Why(r)
	}
	for _, c := range r.Checks {
		if !c.OK {
			v.Failed = append(v.Failed, c.App+": "+c.What+": "+c.Msg)
		}
	}
	for i := range r.Tenants {
		t := &r.Tenants[i]
		v.Tenants = append(v.Tenants, tenantView{t.Name, palette(i)})
		if t.Err != "" && (r.Complete || !strings.Contains(t.Err, r.Why)) {
			v.Failed = append(v.Failed, t.Name+": "+t.Err)
		}
	}
	v.Table, v.Metrics = tenantTable(r), metricsTable(r)
	if v.Timed {
		v.Windows = append(report.Windows(r), report.Targets(r)...)
		v.Kernels = kernelViews(r)
	}
	v.Moved, v.Contexts = movedTable(r), contextsTable(r)
	v.Touches, v.Decisions, v.Managed = touchesOf(r), decisionViews(r), managedOf(r)
	v.Accesses = accessesOf(r)
	v.Stalls, v.Causes = stallViews(r)
	v.Roofline = rooflineOf(r)
	v.Memory = v.Epochs && len(r.Epochs[0].ChannelBytes) > 0
	for _, s := range r.Spans {
		v.Owned = v.Owned || isOwnership(s.Track)
		v.NoGroups = v.NoGroups || strings.HasPrefix(s.Track, "channels ")
	}
	v.NoGroups = !v.NoGroups
	for i := range r.Decisions {
		v.Pages = v.Pages || len(r.Decisions[i].Groups) > 0
	}
	return v
}

func mode(r *sim.Result) string {
	m := r.Spec.Sharing.Mode
	if m == "" {
		m = "alone"
	}
	if n := r.Spec.Sharing.Name; n != "" && n != m {
		m = n + " (" + m + ")"
	}
	return m
}

func isOwnership(track string) bool {
	return strings.HasPrefix(track, "SM ") || strings.HasPrefix(track, "channels ")
}

func tenantTable(r *sim.Result) table {
	if r.Spec.Functional {
		return functionalTable(r)
	}
	t := table{Head: []string{
		"application", "SMs", "channels", "cycles", "executions", "IPC", "alone IPC", "slowdown", "L1 hits",
		"LLC hits", "DRAM GB/s", "moved GB/s", "faults", "energy",
	}}
	for i := range r.Tenants {
		x := &r.Tenants[i]
		alone, slow, energy := "", "", ""
		if r.Metrics != nil && i < len(r.Metrics.AloneIPC) {
			alone = number(r.Metrics.AloneIPC[i])
		}
		if x.Slowdown > 0 {
			slow = number(x.Slowdown)
		}
		if x.EnergyJ > 0 {
			energy = si(x.EnergyJ, "J")
		}
		t.Rows = append(t.Rows, []string{
			report.Name(x), report.SMs(x), report.Channels(x), whole(x.Cycles), report.Executions(x), number(x.IPC),
			alone, slow,
			report.Rate(x.L1HitRate), report.Rate(x.LLCHitRate), number(x.BandwidthGBs), number(x.MovedGBs),
			whole(x.Faults), energy,
		})
	}
	row := func(name, faults string, energy float64) {
		cells := make([]string, len(t.Head))
		cells[0], cells[len(cells)-2], cells[len(cells)-1] = name, faults, si(energy, "J")
		t.Rows = append(t.Rows, cells)
	}
	if o := r.Outside; o != nil && (o.EnergyJ > 0 || o.Faults > 0) {
		row(sim.OutsideWindows, whole(o.Faults), o.EnergyJ)
	}
	if r.Energy != nil && r.Energy.Nobody > 0 {
		row("nobody's", "", r.Energy.Nobody)
	}
	return t
}

// functionalTable has what exists without time.
func functionalTable(r *sim.Result) table {
	t := table{Head: []string{"application", "runs", "kernels", "warp instructions", "thread instructions"}}
	for i := range r.Tenants {
		x := &r.Tenants[i]
		t.Rows = append(t.Rows, []string{
			x.Name, strconv.Itoa(x.Runs), strconv.Itoa(len(x.Kernels)), whole(x.WarpInsts),
			whole(x.ThreadInsts),
		})
	}
	return t
}

func metricsTable(r *sim.Result) (t table) {
	add := func(name, value string) {
		t.Head = append(t.Head, name)
		if t.Rows == nil {
			t.Rows = [][]string{nil}
		}
		t.Rows[0] = append(t.Rows[0], value)
	}
	if m := r.Metrics; m != nil {
		add("STP", number(m.STP))
		add("ANTT", number(m.ANTT))
		add("HS", number(m.HS))
		add("fairness", number(m.Fairness))
	}
	if e := r.Energy; e != nil {
		add("energy", si(e.Total, "J"))
		for _, k := range report.EnergyKinds() {
			if j := e.Of(k[0]); j > 0 || k[0] != "migration" { // nothing was moved
				add(k[1], si(j, "J"))
			}
		}
	}
	return t
}

func movedTable(r *sim.Result) *table {
	m := r.Moved
	if m == nil || m.Repartitions == 0 { // there is no decision on shares, or no change
		return nil
	}
	return &table{
		Head: []string{
			"decisions", "repartitions", "SMs moved", "drained", "switched", "gated", "woken", "groups moved",
			"pages touched",
			"pages in background", "pages gained", "pages waiting", "bytes of pages", "bytes of contexts",
			"share of cycles", "of the worst period",
		},
		Rows: [][]string{{
			strconv.Itoa(m.Decisions), strconv.Itoa(m.Repartitions), strconv.Itoa(m.SMs), strconv.Itoa(m.Drained),
			strconv.Itoa(m.Switched), strconv.Itoa(m.Gated), strconv.Itoa(m.Woken), strconv.Itoa(m.Groups),
			whole(m.PagesTouched), whole(m.PagesSwept), whole(m.PagesGained), whole(m.PagesWaiting), whole(m.MoveBytes),
			whole(m.ContextBytes), percent(m.EpochShare), percent(m.WorstEpoch),
		}},
	}
}

func contextsTable(r *sim.Result) *table {
	c := r.Contexts
	if c == nil {
		return nil
	}
	all := float64(max(1, r.Cycles))
	t := &table{
		Head: []string{"turns", "CTAs taken off", "bytes of contexts", "cycles of taking off", "share of cycles"},
		Rows: [][]string{{
			strconv.Itoa(c.Turns), strconv.Itoa(c.CTAs), whole(c.Bytes), whole(c.Cycles),
			percent(float64(c.Cycles) / all),
		}},
	}
	if c.Turns > 0 { // of the SMs' time
		t.Head = append(t.Head, "saving", "waiting", "loading", "idle", "L1s refilling")
		for _, x := range []float64{c.Save, c.Wait, c.Load, c.Idle, c.Refill} {
			t.Rows[0] = append(t.Rows[0], percent(x/all))
		}
	}
	return t
}

func compareTable(runs []Run) *table {
	t := &table{Head: []string{
		"run", "machine", "sharing", "complete", "cycles", "STP", "ANTT", "HS", "fairness",
		"energy", "per instruction", "IPC of each application", "slowdown of each",
	}}
	for _, in := range runs {
		r := in.Result
		row := []string{in.Label, r.Spec.Machine, mode(r), "yes", whole(r.Cycles), "", "", "", "", "", ""}
		if !r.Complete {
			row[3] = "NO"
		}
		if m := r.Metrics; m != nil {
			row[5], row[6], row[7], row[8] = number(m.STP), number(m.ANTT), number(m.HS), number(m.Fairness)
		}
		if r.Energy != nil {
			row[9] = si(r.Energy.Total, "J")
			if x := report.PerInst(r); x > 0 {
				row[10] = si(x, "J")
			}
		}
		var ipc, slow []string
		for i := range r.Tenants {
			ipc = append(ipc, r.Tenants[i].Name+" "+number(r.Tenants[i].IPC))
			if r.Tenants[i].Slowdown > 0 {
				slow = append(slow, number(r.Tenants[i].Slowdown))
			}
		}
		t.Rows = append(t.Rows, append(row, strings.Join(ipc, ", "), strings.Join(slow, ", ")))
	}
	t.drop("complete", "yes")
	if len(runs) > 0 {
		t.drop("machine", runs[0].Result.Spec.Machine)
	}
	return t
}

// drop leaves a column out that says the same in every row: each run's own part of the page has it.
func (t *table) drop(head, same string) {
	at := slices.Index(t.Head, head)
	if at < 0 || slices.ContainsFunc(t.Rows, func(row []string) bool { return row[at] != same }) {
		return
	}
	t.Head = slices.Delete(t.Head, at, at+1)
	for i, row := range t.Rows {
		t.Rows[i] = slices.Delete(row, at, at+1)
	}
}

// number keeps four significant digits, and every digit before the point.
func number(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "-"
	}
	if x >= 1000 || x <= -1000 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

func whole(x uint64) string { return strconv.FormatUint(x, 10) }

func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) + " %" }

// si writes a quantity with the prefix that leaves one to three digits.
func si(x float64, unit string) string {
	for _, p := range []struct {
		least  float64
		prefix string
	}{{1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}, {1e-12, "p"}} {
		if x >= p.least {
			return strconv.FormatFloat(x/p.least, 'g', 4, 64) + " " + p.prefix + unit
		}
	}
	return strconv.FormatFloat(x, 'g', 4, 64) + " " + unit
}
