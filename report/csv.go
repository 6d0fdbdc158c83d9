package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"heddle/sim"
)

// epochRow is one tenant in one epoch, as epochs.csv and epochs.parquet have it.
type epochRow struct {
	Cycle        uint64  `parquet:"cycle"`
	Tenant       string  `parquet:"tenant,dict"`
	SMs          int64   `parquet:"sms"`
	Channels     int64   `parquet:"channels"`
	IPC          float64 `parquet:"ipc"`
	BandwidthGBs float64 `parquet:"bandwidth_gbs"`
	ThreadInsts  uint64  `parquet:"thread_insts"`
	WarpInsts    uint64  `parquet:"warp_insts"`
	L1Accesses   uint64  `parquet:"l1_accesses"`
	L1Hits       uint64  `parquet:"l1_hits"`
	LLCAccesses  uint64  `parquet:"llc_accesses"`
	LLCHits      uint64  `parquet:"llc_hits"`
	DRAMReads    uint64  `parquet:"dram_reads"`
	DRAMWrites   uint64  `parquet:"dram_writes"`
	DRAMBytes    uint64  `parquet:"dram_bytes"`
}

func epochRows(r *sim.Result) []epochRow {
	var out []epochRow
	for _, e := range r.Epochs {
		for i, t := range e.Tenants {
			name := strconv.Itoa(i)
			if i < len(r.Tenants) {
				name = r.Tenants[i].Name
			}
			out = append(out, epochRow{
				Cycle: e.Cycle, Tenant: name, SMs: int64(t.SMs), Channels: int64(t.Channels), IPC: t.IPC,
				BandwidthGBs: t.BandwidthGBs, ThreadInsts: t.ThreadInsts, WarpInsts: t.WarpInsts, L1Accesses: t.L1Accesses, L1Hits: t.L1Hits,
				LLCAccesses: t.LLCAccesses, LLCHits: t.LLCHits, DRAMReads: t.DRAMReads, DRAMWrites: t.DRAMWrites, DRAMBytes: t.DRAMBytes,
			})
		}
	}
	return out
}

// csvColumns is the head of epochs.csv.
func csvColumns() []string {
	return []string{
		"cycle", "tenant", "sms", "channels", "ipc", "bandwidth_gbs", "thread_insts", "warp_insts",
		"l1_accesses", "l1_hits", "llc_accesses", "llc_hits", "dram_reads", "dram_writes", "dram_bytes",
	}
}

// EpochsCSV writes one line per epoch and tenant. Counters are differences since
// the previous epoch; cycle is the epoch's end.
func EpochsCSV(w io.Writer, r *sim.Result) error {
	c := csv.NewWriter(w)
	if err := c.Write(csvColumns()); err != nil {
		return err
	}
	u := func(x uint64) string { return strconv.FormatUint(x, 10) }
	f := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	for _, e := range epochRows(r) {
		if err := c.Write([]string{
			u(e.Cycle), e.Tenant, strconv.FormatInt(e.SMs, 10), strconv.FormatInt(e.Channels, 10), f(e.IPC), f(e.BandwidthGBs),
			u(e.ThreadInsts), u(e.WarpInsts), u(e.L1Accesses), u(e.L1Hits), u(e.LLCAccesses), u(e.LLCHits), u(e.DRAMReads), u(e.DRAMWrites), u(e.DRAMBytes),
		}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// CountersCSV writes every counter of every component kind and tenant.
func CountersCSV(w io.Writer, r *sim.Result) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"owner", "tenant", "counter", "unit", "value"}); err != nil {
		return err
	}
	for _, t := range r.Tables {
		for _, v := range t.Values {
			if err := c.Write([]string{t.Owner, t.Tenant, v.Name, v.Unit, strconv.FormatUint(v.N, 10)}); err != nil {
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
	if err := c.Write([]string{"sharing", "complete", "cycles", "tenant", "sms", "channels", "ipc", "slowdown", "stp", "antt", "ws", "hs", "fairness"}); err != nil {
		return err
	}
	for _, r := range results {
		if r == nil {
			continue
		}
		m := []string{"", "", "", "", ""}
		if r.Metrics != nil {
			for i, x := range []float64{r.Metrics.STP, r.Metrics.ANTT, r.Metrics.WS, r.Metrics.HS, r.Metrics.Fairness} {
				m[i] = strconv.FormatFloat(x, 'g', -1, 64)
			}
		}
		for i := range r.Tenants {
			t := &r.Tenants[i]
			row := []string{
				label(r), fmt.Sprint(r.Complete), fmt.Sprint(r.Cycles), t.Name, fmt.Sprint(t.SMs), fmt.Sprint(t.Channels),
				strconv.FormatFloat(t.IPC, 'g', -1, 64), strconv.FormatFloat(t.Slowdown, 'g', -1, 64),
			}
			if err := c.Write(append(row, m...)); err != nil {
				return err
			}
		}
	}
	c.Flush()
	return c.Error()
}
