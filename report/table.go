// Package report turns results into forms for people and tools: tables on the terminal, CSV and Parquet, a timeline
// for ui.perfetto.dev, a profile for go tool pprof, and progress while a simulation goes on.
//
// A reader must know three types. sim.Result is the input of all functions. Dir is a result directory being written;
// it appears all at once or not at all. Progress shows how far running simulations are.
package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/heddle-sim/heddle/sim"
)

// maxLog bounds the lines of a program's log that the terminal shows per tenant.
const maxLog = 40

// Table writes the result of one run for a terminal: tables of at most 100 columns, or with wide every column.
func Table(w io.Writer, r *sim.Result, wide bool) error {
	p := &printer{w: w, wide: wide}
	p.logs(r)
	if r.Spec.Functional {
		p.functional(r)
	} else {
		p.head(r)
		p.tenants(r)
		p.metrics(r)
		p.unified(r)
		p.kernels(r)
	}
	p.leftOut()
	p.checks(r)
	p.state(r)
	return p.err
}

// printer keeps the first error of a series of writes.
type printer struct {
	w    io.Writer
	err  error
	wide bool     // tables may be wider than the terminal
	left []string // columns that were left out of tables
}

// f writes text; lines that are wider than the terminal are folded, unless tables may be, too.
func (p *printer) f(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !p.wide {
		text = lines(text, columns)
	}
	p.raw(text)
}

// raw writes text that is not Heddle's as it is.
func (p *printer) raw(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}
}

// table writes rows of cells in aligned columns: the first to the left, the others
// to the right.
func (p *printer) table(rows [][]string) {
	if p.err != nil {
		return
	}
	width := 0 // of the first column, which tabwriter would align to the right
	for _, r := range rows {
		width = max(width, len([]rune(r[0])))
	}
	tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range rows {
		first := r[0] + strings.Repeat(" ", width-len([]rune(r[0])))
		fmt.Fprintf(tw, "%s\t%s\t\n", first, strings.Join(r[1:], "\t"))
	}
	p.err = tw.Flush()
}

func (p *printer) logs(r *sim.Result) {
	for i := range r.Tenants {
		t := &r.Tenants[i]
		for j, line := range t.Log {
			if j == maxLog {
				p.f("%s: ... %d more lines (see result.json)\n", t.Name, len(t.Log)-maxLog)
				break
			}
			p.raw(t.Name + ": " + line + "\n")
		}
	}
}

func (p *printer) head(r *sim.Result) {
	p.f("%s, sharing %s, %s: %s (%s simulated)\n", r.Spec.Machine, label(r), Many(len(r.Tenants), "application"),
		Many(r.Cycles, "cycle"), seconds(r.Seconds))
}

// label names the sharing mode of a result.
func label(r *sim.Result) string {
	if r.Spec.Sharing.Name != "" {
		return r.Spec.Sharing.Name
	}
	if r.Spec.Sharing.Mode != "" {
		return r.Spec.Sharing.Mode
	}
	return "alone"
}

func (p *printer) functional(r *sim.Result) {
	rows := [][]string{{"application", "warp instructions", "thread instructions"}}
	for i := range r.Tenants {
		t := &r.Tenants[i]
		rows = append(rows, []string{t.Name, fmt.Sprint(t.WarpInsts), fmt.Sprint(t.ThreadInsts)})
	}
	p.f("functional run, no timing\n")
	p.fitted(rows, nil)
}

func (p *printer) tenants(r *sim.Result) {
	head := []string{"tenant", "SMs", "channels", "cycles", "executions", "IPC"}
	shared, energy := r.Metrics != nil, r.Energy != nil
	if shared {
		head = append(head, "alone IPC", "slowdown")
	}
	head = append(head, "L1 hit", "LLC hit", "GB/s")
	moved := slices.ContainsFunc(r.Tenants, func(t sim.Tenant) bool { return t.MovedBytes > 0 })
	if moved {
		head = append(head, "moved GB/s")
	}
	head = append(head, "faults")
	if energy {
		head = append(head, "energy")
	}
	rows := [][]string{head}
	for i := range r.Tenants {
		t := &r.Tenants[i]
		row := []string{Name(t), SMs(t), Channels(t), fmt.Sprint(t.Cycles), Executions(t), number(t.IPC)}
		if shared && i < len(r.Metrics.AloneIPC) {
			row = append(row, number(r.Metrics.AloneIPC[i]), fmt.Sprintf("%.3f", t.Slowdown))
		} else if shared {
			row = append(row, none, none)
		}
		row = append(row, Rate(t.L1HitRate), Rate(t.LLCHitRate), number(t.BandwidthGBs))
		if moved {
			row = append(row, number(t.MovedGBs))
		}
		row = append(row, fmt.Sprint(t.Faults))
		if energy {
			row = append(row, joules(t.EnergyJ))
		}
		rows = append(rows, row)
	}
	if energy {
		rows = append(rows, others(r, len(head))...)
	}
	p.fitted(rows, []string{"faults", "alone IPC", "moved GB/s", "executions", "L1 hit", "LLC hit", "channels"})
	for _, line := range append(append(Windows(r), Targets(r)...), Touches(r)...) {
		p.f("%s\n", line)
	}
}

// others are the rows that make the energy of the tenants the machine's.
func others(r *sim.Result, columns int) (rows [][]string) {
	row := func(name, faults string, energy float64) {
		cells := []string{name}
		for len(cells) < columns-2 {
			cells = append(cells, none)
		}
		rows = append(rows, append(cells, faults, joules(energy)))
	}
	if o := r.Outside; o != nil && (o.EnergyJ > 0 || o.Faults > 0) {
		row(sim.OutsideWindows, fmt.Sprint(o.Faults), o.EnergyJ)
	}
	if r.Energy.Nobody > 0 {
		row("nobody's", none, r.Energy.Nobody)
	}
	return rows
}

func (p *printer) metrics(r *sim.Result) {
	if m := r.Metrics; m != nil {
		p.f("STP %.3f  ANTT %.3f  HS %.3f  fairness %.3f\n", m.STP, m.ANTT, m.HS, m.Fairness)
	}
	if c := r.Contexts; c != nil {
		turns := ""
		if c.Turns > 0 {
			turns = Many(c.Turns, "turn") + ", "
		}
		p.f("contexts: %s%s moved off SMs, %s stored and loaded again, in %s of the cycles\n",
			turns, Many(c.CTAs, "CTA"), sized(c.Bytes), percent(float64(c.Cycles)/float64(max(1, r.Cycles))))
		if of := float64(max(1, r.Cycles)); c.Turns > 0 {
			p.f("  of the SMs' time: save %s, wait for the last saved %s, load %s, idle %s; L1s refill in %s of it\n",
				percent(c.Save/of), percent(c.Wait/of), percent(c.Load/of), percent(c.Idle/of), percent(c.Refill/of))
		}
	}
	for _, line := range []string{handovers(r), gating(r)} {
		if line != "" {
			p.f("%s\n", line)
		}
	}
	if e := r.Energy; e != nil {
		p.f("energy %s, %s per %s: %s\n", joules(e.Total), perInst(r, joules), instruction(r), energyParts(e, joules))
	}
}

func (p *printer) checks(r *sim.Result) {
	failed := 0
	for _, c := range r.Checks {
		if !c.OK {
			failed++
			p.f("check FAILED in %s: %s: %s\n", c.App, c.What, c.Msg)
		}
	}
	if n := len(r.Checks); n > 0 {
		p.f("checks: %d passed, %d failed\n", n-failed, failed)
	}
}

// state says what a reader must know before trusting the numbers, and the speed.
func (p *printer) state(r *sim.Result) {
	for _, w := range r.Warnings {
		p.f("warning: %s\n", w)
	}
	if !r.Complete {
		p.f("INCOMPLETE: %s\n", Why(r))
	}
	if !r.Spec.Functional && r.Wall.Seconds > 0 {
		p.f("took %.2f s: %s cycles/s, %s warp instructions/s\n", r.Wall.Seconds, si(r.Wall.CyclesPerS),
			si(r.Wall.WarpInstsPerS))
	}
}

// Why says why a result is partial.
func Why(r *sim.Result) string {
	if r.Why == "" {
		return "the result gives no reason"
	}
	return r.Why
}

// number writes a quantity with three significant digits or more.
func number(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return none
	case a == 0:
		return "0"
	case a < 0.01:
		return fmt.Sprintf("%.2e", x)
	case a < 10:
		return fmt.Sprintf("%.3f", x)
	case a < 1000:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

func percent(x float64) string { return fmt.Sprintf("%.1f %%", 100*x) }

func joules(x float64) string { return scaled(x, "J") }

func seconds(x float64) string { return scaled(x, "s") }

// scaled writes a small quantity with an SI prefix.
func scaled(x float64, unit string) string {
	for _, s := range []struct {
		least  float64
		prefix string
	}{{1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}, {1e-12, "p"}} {
		if math.Abs(x) >= s.least {
			return fmt.Sprintf("%.3g %s%s", x/s.least, s.prefix, unit)
		}
	}
	return fmt.Sprintf("%.3g %s", x, unit)
}

// sized writes a number of bytes with k, M or G.
func sized(n uint64) string {
	if n < 1000 {
		return Many(n, "byte")
	}
	return si(float64(n)) + "B"
}

// si writes a rate with k, M or G.
func si(x float64) string {
	for _, s := range []struct {
		least  float64
		suffix string
	}{{1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if x >= s.least {
			return fmt.Sprintf("%.3g%s", x/s.least, s.suffix)
		}
	}
	return fmt.Sprintf("%.3g", x)
}
