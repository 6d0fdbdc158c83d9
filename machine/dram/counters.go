package dram

import "github.com/heddle-sim/heddle/stat"

// Counter indices. Rank-wide commands (refresh and the PREab before it) belong to no tenant and count for tenant 0.
const (
	CReads          = iota // read requests accepted
	CWrites                // write requests accepted
	CForwarded             // reads answered from the write queue
	CCoalesced             // writes merged with a queued write
	CActivates             // ACT
	CPrecharges            // PREpb and auto-precharges
	CPrechargeAll          // PREab
	CRefreshes             // REFab
	CReadBursts            // RD, RDA
	CWriteBursts           // WR, WRA
	CReadHits              // row open when the request's first command issued
	CReadMisses            // bank closed
	CReadConflicts         // another row open
	CWriteHits             // as for reads
	CWriteMisses           //
	CWriteConflicts        //
	CBusBusy               // data-bus clocks moving data
	CQueueCycles           // sum over requests of clocks in a queue: divide by time for the mean occupancy
	CReadLatency           // sum over reads of clocks from Push to data
	CMigrations            // MIGRATION commands, at the source channel
	CTSVBusy               // clocks the channel's TSV set carried migrations
	CAskingClocks          // clocks with requests of the tenant here and no page moving
	CAskedBursts           // RD, WR and their likes in those clocks
	NumCounters
)

// Desc describes the counters of a channel, one row per tenant.
var Desc = []stat.Desc{
	CReads:      {Name: "reads", Unit: "requests", Doc: "read requests accepted"},
	CWrites:     {Name: "writes", Unit: "requests", Doc: "write requests accepted"},
	CForwarded:  {Name: "reads_forwarded", Unit: "requests", Doc: "reads answered from the write queue"},
	CCoalesced:  {Name: "writes_coalesced", Unit: "requests", Doc: "writes merged with a queued write"},
	CActivates:  {Name: "activates", Unit: "commands", Doc: "rows opened"},
	CPrecharges: {Name: "precharges", Unit: "commands", Doc: "rows closed, auto-precharge included"},
	CPrechargeAll: {Name: "precharges_all", Unit: "commands", Doc: "all banks of a rank closed before a refresh " +
		"(tenant 0)"},
	CRefreshes:      {Name: "refreshes", Unit: "commands", Doc: "all-bank refreshes (tenant 0)"},
	CReadBursts:     {Name: "read_bursts", Unit: "commands", Doc: "column reads"},
	CWriteBursts:    {Name: "write_bursts", Unit: "commands", Doc: "column writes"},
	CReadHits:       {Name: "read_row_hits", Unit: "requests", Doc: "reads whose row was open"},
	CReadMisses:     {Name: "read_row_misses", Unit: "requests", Doc: "reads that found the bank closed"},
	CReadConflicts:  {Name: "read_row_conflicts", Unit: "requests", Doc: "reads that found another row open"},
	CWriteHits:      {Name: "write_row_hits", Unit: "requests", Doc: "writes whose row was open"},
	CWriteMisses:    {Name: "write_row_misses", Unit: "requests", Doc: "writes that found the bank closed"},
	CWriteConflicts: {Name: "write_row_conflicts", Unit: "requests", Doc: "writes that found another row open"},
	CBusBusy:        {Name: "bus_busy", Unit: "clocks", Doc: "data-bus clocks moving data"},
	CQueueCycles:    {Name: "queue_cycles", Unit: "clocks", Doc: "sum over requests of clocks spent queued"},
	CMigrations: {
		Name: "migrations", Unit: "commands",
		Doc: "lines migrated out of the channel, one MIGRATION each",
	},
	CTSVBusy: {Name: "tsv_busy", Unit: "clocks", Doc: "clocks in which the channel's TSV set carried migrations"},
	CAskingClocks: {
		Name: "asking_clocks", Unit: "clocks",
		Doc: "clocks with requests waiting or served, without those in which pages move",
	},
	CAskedBursts: {Name: "asked_bursts", Unit: "commands", Doc: "column commands in clocks in which no page moves"},
	CReadLatency: {Name: "read_latency", Unit: "clocks", Doc: "sum over reads of clocks from acceptance to data"},
}
