package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/heddle-sim/heddle/sim"
)

// epochColumn is a column of epochs.csv and epochs.parquet.
type epochColumn struct {
	name, unit string
	real       bool // else a count
}

// epochColumns lists them. The columns computed from counters come last, in the order of sim.Columns.
func epochColumns() []epochColumn {
	out := []epochColumn{
		{name: "cycle", unit: "cycles"},
		{name: "tenant", unit: "name"},
		{name: "sms", unit: "SMs"},
		{
			name: "channels",
			unit: "channels",
		},
		{name: "ipc", unit: "instructions/cycle", real: true},
		{name: "dram_gb_per_s", unit: "GB/s", real: true},
		{name: "gated_sm_cycles", unit: "SM-cycles"},
	}
	for _, c := range sim.Columns() {
		out = append(out, epochColumn{name: c.Name, unit: c.Unit})
	}
	return out
}

// counted is the first column that is computed from counters.
const counted = 7

// epochRow is one tenant in one epoch.
type epochRow struct {
	cycle  uint64
	tenant string
	*sim.EpochTenant
	gated uint64 // SM-cycles powered down: nobody's
}

// nobodysRow has the SM-cycles without an owner, as the row of a tenant that did nothing.
func nobodysRow(n *sim.EpochNobody) *sim.EpochTenant {
	return &sim.EpochTenant{SMs: n.SMs, Channels: n.Channels, Counts: make([]uint64, len(sim.Columns()))}
}

func epochRows(r *sim.Result) []epochRow {
	var out []epochRow
	gated := slices.ContainsFunc(r.Epochs, func(e sim.Epoch) bool { return e.Nobody.GatedSMCycles > 0 })
	for i := range r.Epochs {
		e := &r.Epochs[i]
		if gated {
			out = append(out, epochRow{e.Cycle, sim.NobodyName, nobodysRow(&e.Nobody), e.Nobody.GatedSMCycles})
		}
		for k := range e.Tenants {
			name := strconv.Itoa(k)
			if k < len(r.Tenants) {
				name = r.Tenants[k].Name
			}
			out = append(out, epochRow{e.Cycle, name, &e.Tenants[k], 0})
		}
	}
	return out
}

// csvColumns is the head of epochs.csv.
func csvColumns() (names []string) {
	for _, c := range epochColumns() {
		names = append(names, c.name)
	}
	return names
}

// EpochsCSV writes one line per epoch and tenant, and, if SMs were powered down, one for SMs without an owner.
// Counters are differences since the previous epoch; cycle is the epoch's end.
func EpochsCSV(w io.Writer, r *sim.Result) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvColumns()); err != nil {
		return err
	}
	u := func(x uint64) string { return strconv.FormatUint(x, 10) }
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, e := range epochRows(r) {
		row := []string{
			u(e.cycle), e.tenant, strconv.Itoa(e.SMs), strconv.Itoa(e.Channels), f(e.IPC),
			f(e.BandwidthGBs), u(e.gated),
		}
		for _, n := range e.Counts {
			row = append(row, u(n))
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// CountersCSV writes every counter of every component kind and tenant: of the tenants' windows, and of the time
// outside all windows.
func CountersCSV(w io.Writer, r *sim.Result) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"owner", "tenant", "moved", "counter", "unit", "value"}); err != nil {
		return err
	}
	for _, t := range r.Tables {
		for _, v := range t.Values {
			if err := c.Write([]string{
				t.Owner, t.Tenant, fmt.Sprint(t.Moved), v.Name, v.Unit,
				strconv.FormatUint(v.N, 10),
			}); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

// ComparisonCSV writes the metrics of several runs, one line per run and tenant.
func ComparisonCSV(w io.Writer, results []*sim.Result) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{
		"sharing", "complete", "run_cycles", "stp", "antt", "hs", "fairness", "energy_j", "energy_j_per_inst",
		"tenant", "sms", "channels", "window_cycles", "executions", "thread_insts", "cpu_insts", "ipc",
		"slowdown", "tenant_energy_j", "targets", "targets_met",
	}); err != nil {
		return err
	}
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, r := range results {
		if r == nil {
			continue
		}
		run := []string{label(r), fmt.Sprint(r.Complete), fmt.Sprint(r.Cycles), "", "", "", "", "", ""}
		if m := r.Metrics; m != nil {
			run[3], run[4], run[5], run[6] = f(m.STP), f(m.ANTT), f(m.HS), f(m.Fairness)
		}
		if r.Energy != nil {
			run[7], run[8] = f(r.Energy.Total), f(PerInst(r))
		}
		for i := range r.Tenants {
			t := &r.Tenants[i]
			row := append([]string(nil), run...)
			row = append(row, t.Name, fmt.Sprint(t.SMs), fmt.Sprint(t.Channels), fmt.Sprint(t.Cycles), f(t.Executions),
				fmt.Sprint(t.ThreadInsts), fmt.Sprint(t.Insts()-t.ThreadInsts), f(t.IPC), f(t.Slowdown), f(t.EnergyJ))
			row = append(row, targetsOf(r, t.Name)...)
			if err := c.Write(row); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}

// targetsOf is how many targets a tenant and its kernels have, and how many of them are met.
func targetsOf(r *sim.Result, tenant string) []string {
	n, met := 0, 0
	for _, t := range r.Targets {
		if t.Tenant == tenant {
			if n++; t.Met {
				met++
			}
		}
	}
	return []string{fmt.Sprint(n), fmt.Sprint(met)}
}
