package dram

import (
	"fmt"

	"github.com/heddle-sim/heddle/sheets"
)

// Sched names the request scheduler.
type Sched uint8

const (
	FRFCFS         Sched = iota // timing-ready first, then oldest
	FCFS                        // strictly oldest first
	PrIS                        // urgent ones first, row hits before others, then oldest
	FRFCFSRowHit                // FRFCFS, but no row is closed while an older request than the closing one hits it
	FRFCFSPriorHit              // FRFCFS, but no row is closed while a request hits it
)

// SchedNames lists the schedulers that a sheet or a flag may name.
const SchedNames = "frfcfs, frfcfs-rowhit, frfcfs-priorhit or fcfs"

// ParseSched is the scheduler of a name.
func ParseSched(name string) (s Sched, ok bool) {
	switch name {
	case "frfcfs":
		return FRFCFS, true
	case "frfcfs-rowhit":
		return FRFCFSRowHit, true
	case "frfcfs-priorhit":
		return FRFCFSPriorHit, true
	case "fcfs":
		return FCFS, true
	}
	return 0, false
}

// String is the scheduler's name in the reference tables of probes.
func (s Sched) String() string {
	return [...]string{"FRFCFS", "FCFS", "PrIS", "FRFCFSRowHit", "FRFCFSPriorHit"}[s]
}

// Page names the row policy.
type Page uint8

const (
	OpenPage   Page = iota // rows stay open until a conflict or a refresh
	ClosedPage             // the last queued hit of a row closes it (auto-precharge)
)

// Level is where in the device a constraint holds.
type Level uint8

const (
	LevelChannel Level = iota
	LevelRank          // rank or pseudo-channel
	LevelSid           // stack identifier within a pseudo-channel
	LevelGroup         // bank group
	LevelBank
)

// Constraint says that Next may not issue less than Min clocks after Prev in the
// same node of the level, or with Sibling in another node under the same parent.
// With Window w > 1 the distance counts from the w-th last Prev.
type Constraint struct {
	Level      Level
	Prev, Next Cmd
	Min        int // clocks
	Window     int // 1 or more
	Sibling    bool
}

// Config is everything a Channel needs to know. All times are clocks of Tick.
type Config struct {
	Name    string
	Ranks   int // ranks or pseudo-channels
	Sids    int // stack identifiers per rank (1 when the device has none)
	Groups  int // bank groups per stack identifier
	Banks   int // banks per bank group
	Rows    int // rows per bank
	Columns int // accesses per row
	Access  int // bytes per access

	ReadLatency   int // RD issue to the last beat of its data
	ReturnLatency int // clocks from there to Pop, in the return queue
	WriteLatency  int // WR issue to the last beat of its data; only migrations need it
	BurstClocks   int // data-bus clocks of one access
	Refi          int // all-bank refresh interval; 0: no refresh

	DualBus   bool // separate row and column command buses
	HalfCycle bool // clocks are half CK: columns and ACT on rising edges (odd clocks), PRE on both

	Queue      int     // reads, or both kinds when WriteQueue is 0
	WriteQueue int     // writes; 0: one window shared with reads, no forwarding, no write mode
	HighWater  float64 // fraction of WriteQueue above which write mode starts
	LowWater   float64 // fraction below which it ends
	Return     int     // completed requests held for Pop before column commands stop; 0: no limit
	Sched      Sched
	Page       Page
	Tenants    int    // rows of counters; at least 1
	Movers     int    // first row that counts what is moved for an application; 0: none does
	Urgent     []bool // by row of counters: tenants whose requests PrIS serves first

	Constraints []Constraint
}

// maxBanks bounds the banks of a channel: Loc fields and slot links are small.
const maxBanks = 256

// Validate reports the first field that cannot work.
func (c *Config) Validate() error {
	for _, f := range []struct {
		name string
		v    int
	}{
		{"ranks", c.Ranks},
		{"sids", c.Sids},
		{"bank groups", c.Groups},
		{"banks", c.Banks},
		{"rows", c.Rows},
		{"columns", c.Columns},
		{"access bytes", c.Access},
		{"read latency", c.ReadLatency},
		{"burst clocks", c.BurstClocks},
		{"queue", c.Queue},
	} {
		if f.v < 1 {
			return fmt.Errorf("dram %s: %s must be at least 1, is %d", c.Name, f.name, f.v)
		}
	}
	if n := c.Ranks * c.Sids * c.Groups * c.Banks; n > maxBanks {
		return fmt.Errorf("dram %s: %d banks in a channel, at most %d", c.Name, n, maxBanks)
	}
	if c.Queue > 8192 || c.WriteQueue < 0 || c.WriteQueue > 8192 {
		return fmt.Errorf("dram %s: queues of %d and %d entries, at most 8192 each", c.Name, c.Queue, c.WriteQueue)
	}
	if c.WriteQueue > 0 && !(0 <= c.LowWater && c.LowWater < c.HighWater && c.HighWater <= 1) {
		return fmt.Errorf("dram %s: watermarks %g and %g, want 0 <= low < high <= 1", c.Name, c.LowWater, c.HighWater)
	}
	if c.Sched == PrIS && len(c.Urgent) < max(1, c.Tenants) {
		return fmt.Errorf("dram %s: the pris scheduler has to know which of %d tenants are urgent", c.Name, c.Tenants)
	}
	if c.Refi < 0 || c.Return < 0 || c.Tenants < 0 {
		return fmt.Errorf("dram %s: negative refresh interval, return queue or tenants", c.Name)
	}
	return nil
}

// FromSheet builds the configuration of one channel of the device in a machine
// sheet. Sheets name no stack identifiers; every derived distance is in rules.go.
func FromSheet(d *sheets.DRAM) (Config, error) {
	c := Config{
		Name: "sheet", Ranks: d.Ranks, Sids: 1, Groups: d.BankGroups, Banks: d.Banks, Rows: d.Rows, Access: d.Access,
		ReadLatency: d.T.CL + d.T.BL, WriteLatency: d.T.CWL + d.T.BL, BurstClocks: d.T.BL, DualBus: d.DualBus,
		Queue: d.Queue, WriteQueue: d.WriteQueue, HighWater: d.HighWater, LowWater: d.LowWater,
		Return: d.Return, ReturnLatency: d.ReturnLatency, Tenants: 1,
	}
	if d.Access < 1 || d.RowBytes < d.Access || d.RowBytes%d.Access != 0 {
		return c, fmt.Errorf("dram: row_bytes %d is not a multiple of access %d", d.RowBytes, d.Access)
	}
	c.Columns = d.RowBytes / d.Access
	var ok bool
	if c.Sched, ok = ParseSched(d.Sched); !ok {
		return c, fmt.Errorf("dram: sched is %q, want %s", d.Sched, SchedNames)
	}
	switch d.Page {
	case "open":
		c.Page = OpenPage
	case "closed":
		c.Page = ClosedPage
	default:
		return c, fmt.Errorf("dram: page is %q, want open or closed", d.Page)
	}
	if d.Refresh {
		if d.T.REFI < 1 || d.T.RFC < 1 {
			return c, fmt.Errorf("dram: refresh needs timing.refi and timing.rfc, they are %d and %d", d.T.REFI,
				d.T.RFC)
		}
		c.Refi = d.T.REFI
	}
	for _, f := range []struct {
		name string
		v    int
	}{
		{"bl", d.T.BL},
		{"cl", d.T.CL},
		{"rcdrd", d.T.RCDRD},
		{"rcdwr", d.T.RCDWR},
		{"rp", d.T.RP},
		{"ras", d.T.RAS},
		{"ccds", d.T.CCDS},
	} {
		if f.v < 1 {
			return c, fmt.Errorf("dram: timing.%s must be at least 1 tCK, is %d", f.name, f.v)
		}
	}
	c.Constraints = SheetRules(&d.T, d.SharedBus || !d.DualBus)
	return c, c.Validate()
}
