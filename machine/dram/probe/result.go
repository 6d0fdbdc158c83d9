package probe

import (
	"fmt"

	"github.com/heddle-sim/heddle/machine/dram"
)

// Result has the columns of the reference table.
type Result struct {
	ID      string `json:"id"`
	Dev     string `json:"dev"`
	Ch      int    `json:"ch"`
	Refresh string `json:"refresh"` // ref or noref
	Mapper  string `json:"mapper"`
	Sched   string `json:"sched"`
	Pattern string `json:"pattern"`
	N       uint64 `json:"n"`
	Inject  int    `json:"inject"`
	Window  int    `json:"window"`
	// bytes per access, ranks or pseudo-channels, groups, banks, accesses per row, rows, channels
	Geom string `json:"geom"`

	Requests      uint64  `json:"requests"`
	Reads         uint64  `json:"reads"`
	Writes        uint64  `json:"writes"`
	Cycles        uint64  `json:"cycles"` // clock of the last completion
	TxBytes       int     `json:"tx_bytes"`
	TCK           float64 `json:"tCK_ns"`
	BytesPerCycle float64 `json:"bytes_per_cycle"`
	GBps          float64 `json:"GBps"`
	LatAvg        float64 `json:"lat_avg"`
	LatMin        uint64  `json:"lat_min"`
	LatP50        uint64  `json:"lat_p50"`
	LatP95        uint64  `json:"lat_p95"`
	LatP99        uint64  `json:"lat_p99"`
	LatMax        uint64  `json:"lat_max"`

	ReadHits       uint64 `json:"read_row_hits"`
	ReadMisses     uint64 `json:"read_row_misses"`
	ReadConflicts  uint64 `json:"read_row_conflicts"`
	WriteHits      uint64 `json:"write_row_hits"`
	WriteMisses    uint64 `json:"write_row_misses"`
	WriteConflicts uint64 `json:"write_row_conflicts"`
	Forwarded      uint64 `json:"num_read_reqs_forwarded"`
	Coalesced      uint64 `json:"num_write_reqs_coalesced"`
	REFab          uint64 `json:"cmd_REFab"`
	WR             uint64 `json:"cmd_WR"`
	RD             uint64 `json:"cmd_RD"`
	PREab          uint64 `json:"cmd_PREab"`
	PREpb          uint64 `json:"cmd_PREpb"`
	ACT            uint64 `json:"cmd_ACT"`
}

func (r *runner) result(d *Device) *Result {
	k := &d.Config
	x := &Result{
		Dev: k.Name, Ch: d.Channels, Refresh: "ref", Mapper: r.mapper.Name, Sched: k.Sched.String(),
		Inject: r.opt.Inject, Window: r.opt.Window,
		Requests: r.reads + r.writes, N: r.reads + r.writes, Reads: r.reads, Writes: r.writes,
		Cycles: r.end, TxBytes: k.Access, TCK: d.TCK,
	}
	if k.Refi == 0 {
		x.Refresh = "noref"
	}
	ranks := k.Ranks
	x.Geom = fmt.Sprintf("%d,%d,%d,%d,%d,%d,%d", k.Access, ranks, k.Sids*k.Groups, k.Banks, k.Columns, k.Rows,
		d.Channels)
	if r.end > 0 {
		x.BytesPerCycle = float64(x.Requests) * float64(k.Access) / float64(r.end)
	}
	if d.TCK > 0 {
		x.GBps = x.BytesPerCycle / d.TCK
	}
	if r.reads > 0 {
		x.LatAvg = float64(r.sum) / float64(r.reads)
		x.LatMin, x.LatMax = r.quantile(0), r.quantile(1)
		x.LatP50, x.LatP95, x.LatP99 = r.quantile(0.5), r.quantile(0.95), r.quantile(0.99)
	}
	for _, c := range r.channels {
		n := c.Counters(0)
		x.ReadHits += n[dram.CReadHits]
		x.ReadMisses += n[dram.CReadMisses]
		x.ReadConflicts += n[dram.CReadConflicts]
		x.WriteHits += n[dram.CWriteHits]
		x.WriteMisses += n[dram.CWriteMisses]
		x.WriteConflicts += n[dram.CWriteConflicts]
		x.Forwarded += n[dram.CForwarded]
		x.Coalesced += n[dram.CCoalesced]
		x.REFab += n[dram.CRefreshes]
		x.WR += n[dram.CWriteBursts]
		x.RD += n[dram.CReadBursts]
		x.PREab += n[dram.CPrechargeAll]
		x.PREpb += n[dram.CPrecharges]
		x.ACT += n[dram.CActivates]
	}
	return x
}

// quantile is the latency of the request at rank q of the sorted latencies.
func (r *runner) quantile(q float64) uint64 {
	n := r.reads
	rank := min(uint64(q*float64(n)), n-1)
	for lat, k := range r.hist {
		if uint64(k) > rank {
			return uint64(lat)
		}
		rank -= uint64(k)
	}
	return 0
}
