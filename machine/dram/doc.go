// Package dram models one memory channel: its request queues, FR-FCFS
// scheduler, row buffers, refresh and every timing constraint of the device,
// command by command.
//
// Read three types first: Config (geometry, queues and the list of timing Constraints), Loc (where an access goes)
// and Channel (Push, Tick, Pop). Stack joins the channels of an HBM stack for UGPU's MIGRATION commands. A Channel
// holds its queues, which know the next command of each bank and its earliest clock (timing), the replies on their
// way, and the refreshes that are due.
//
// Time is counted in command clocks (half clocks for devices with HalfCycle,
// which issue row commands on both clock edges). A Channel is event driven: Tick
// returns the next clock at which it can do anything, and ticking more often
// never changes a result.
//
// The scheduling rules are those of Ramulator 2: requests whose ACT has issued
// come first, then refresh, then the queue (timing-ready first, then oldest);
// no queue command issues while a refresh waits; a PRE never closes a row that
// an activated request still needs. Devices with separate row and column
// command buses issue one of each per clock.
package dram

// Cmd is a DRAM command.
type Cmd uint8

const (
	ACT   Cmd = iota // open a row
	PRE              // close one bank
	RD               // read burst
	WR               // write burst
	PREA             // close every bank of a rank
	REFab            // refresh every bank of a rank
	RDA              // read with auto-precharge
	WRA              // write with auto-precharge
	NumCmds
)

var cmdNames = [NumCmds]string{"ACT", "PREpb", "RD", "WR", "PREab", "REFab", "RDA", "WRA"}

// String is the command's name in traces and constraint lists.
func (c Cmd) String() string { return cmdNames[c] }

// ParseCmd is the inverse of String; ok is false for an unknown name.
func ParseCmd(s string) (c Cmd, ok bool) {
	for i, n := range cmdNames {
		if n == s {
			return Cmd(i), true
		}
	}
	return 0, false
}

// Never is the clock at which nothing happens any more.
const Never = ^uint64(0)

// AllBanks stands in Loc.BankGroup and Loc.Bank of a command that addresses a whole rank.
const AllBanks = 0xFF

// Loc is the place of one access within a channel. Stack identifiers (HBM3 and
// later) are folded into BankGroup: sid*groups + group. Col counts accesses
// (bursts), not beats.
type Loc struct {
	Rank, BankGroup, Bank uint8
	Row, Col              uint32
}
