// Package checker watches the commands of a memory channel and verifies, by
// definition and without any of the scheduler's tables, that none of them breaks
// the device: every timing constraint, the state of every bank and the use of the
// command and data buses.
//
// Read three types first: Rule (a distance that must be kept, by names), Device
// (geometry and rules) and Checker (fed with commands, asked for violations).
//
// It is slow on purpose: each command is compared with every earlier one that is
// close enough to matter.
package checker

import (
	"encoding/json"
	"fmt"

	"github.com/heddle-sim/heddle/machine/dram"
)

// Rule says that a Next may not follow a Prev of the same node of Level, or with
// Sibling of another node under the same parent, by less than Min clocks; with
// Window w it is the w-th last Prev that counts. The field names are those of the
// reference's constraint lists.
type Rule struct {
	Level   string   `json:"level"`
	Prev    []string `json:"prev"`
	Next    []string `json:"next"`
	Min     int64    `json:"min_ticks"`
	Window  int      `json:"window"`
	Sibling bool     `json:"sibling"`
}

// Device is what a command stream is checked against.
type Device struct {
	Ranks, Sids, Groups, Banks int // Groups per stack identifier
	DualBus, HalfCycle         bool
	Rules                      []Rule
	Refi                       int64 // 0: no refresh expected

	// Data bus, checked when Burst is not zero: clocks from RD and WR to the first
	// beat, and clocks of a burst. Ranks share the bus unless DualBus.
	ReadDelay, WriteDelay, Burst int64
}

// ParseRules reads the constraint list of a device description in JSON.
func ParseRules(data []byte) ([]Rule, error) {
	var d struct {
		Constraints []Rule `json:"constraints"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	if len(d.Constraints) == 0 {
		return nil, fmt.Errorf("no constraints")
	}
	return d.Constraints, nil
}

var levelNames = [...]string{"Channel", "Rank", "Sid", "BankGroup", "Bank"}

// Of is the device of a channel configuration.
func Of(c *dram.Config) Device {
	d := Device{
		Ranks: c.Ranks, Sids: c.Sids, Groups: c.Groups, Banks: c.Banks, DualBus: c.DualBus,
		HalfCycle: c.HalfCycle, Refi: int64(c.Refi),
	}
	for _, k := range c.Constraints {
		d.Rules = append(d.Rules, Rule{
			Level: levelNames[k.Level], Prev: []string{k.Prev.String()}, Next: []string{k.Next.String()},
			Min: int64(k.Min), Window: k.Window, Sibling: k.Sibling,
		})
	}
	return d
}

// command is one command that issued. Rank-wide commands have bank -1.
type command struct {
	at              int64
	name            string
	rank, sid       int
	group, bank     int // group within the stack identifier
	row             uint32
	column, allBank bool
}

// Checker verifies one channel.
type Checker struct {
	dev     Device
	reach   int64 // longest distance any rule looks back
	history []command
	open    map[[4]int]uint32
	refs    []int64 // refreshes by rank
	bad     []string
	total   int
}

// New starts with every bank closed.
func New(d Device) *Checker {
	c := &Checker{dev: d, open: map[[4]int]uint32{}, refs: make([]int64, d.Ranks)}
	for _, r := range d.Rules {
		c.reach = max(c.reach, r.Min)
	}
	c.reach = max(c.reach, 64, d.ReadDelay+d.Burst, d.WriteDelay+d.Burst)
	return c
}

// Commands is the number of commands seen.
func (c *Checker) Commands() int { return c.total }

// Violations describes what went wrong, at most the first hundred.
func (c *Checker) Violations() []string { return c.bad }

func (c *Checker) fail(x command, format string, args ...any) {
	if len(c.bad) < 100 {
		where := fmt.Sprintf("rank %d", x.rank)
		if !x.allBank {
			where = fmt.Sprintf("rank %d sid %d group %d bank %d row %d", x.rank, x.sid, x.group, x.bank, x.row)
		}
		c.bad = append(c.bad, fmt.Sprintf("clock %d: %s (%s): %s", x.at, x.name, where, fmt.Sprintf(format, args...)))
	}
}

// Command checks the next command; it fits Channel.Trace.
func (c *Checker) Command(now uint64, cmd dram.Cmd, at dram.Loc) {
	x := command{at: int64(now), name: cmd.String(), rank: int(at.Rank), row: at.Row}
	switch x.name {
	case "RD", "WR", "RDA", "WRA":
		x.column = true
	case "PREab", "REFab":
		x.allBank = true
	}
	if x.allBank {
		x.sid, x.group, x.bank = -1, -1, -1
	} else {
		x.sid, x.group, x.bank = int(at.BankGroup)/c.dev.Groups, int(at.BankGroup)%c.dev.Groups, int(at.Bank)
	}
	c.total++
	old := 0
	for old < len(c.history) && c.history[old].at <= x.at-c.reach {
		old++
	}
	c.history = append(c.history[:0], c.history[old:]...)
	c.place(x)
	c.buses(x)
	for i := range c.dev.Rules {
		c.rule(&c.dev.Rules[i], x)
	}
	c.banks(x)
	c.history = append(c.history, x)
}

// place checks the coordinates.
func (c *Checker) place(x command) {
	d := &c.dev
	if x.rank >= d.Ranks || !x.allBank && (x.sid >= d.Sids || x.group >= d.Groups || x.bank >= d.Banks) {
		c.fail(x, "no such place")
	}
}

// buses checks that commands do not collide on their bus nor data on theirs.
func (c *Checker) buses(x command) {
	d := &c.dev
	if d.HalfCycle && x.at%2 == 0 && x.name != "PREpb" && x.name != "PREab" {
		c.fail(x, "on a falling edge")
	}
	for _, h := range c.history {
		if h.at > x.at {
			c.fail(x, "after a command of clock %d", h.at)
		}
		if h.at == x.at && (!d.DualBus || h.column == x.column) {
			c.fail(x, "%s has the command bus", h.name)
		}
		if d.Burst == 0 || !h.column || !x.column || d.DualBus && h.rank != x.rank {
			continue
		}
		a, b := h.at+c.delay(h), x.at+c.delay(x)
		if a < b+d.Burst && b < a+d.Burst {
			c.fail(x, "its data at %d meets that of %s of clock %d at %d", b, h.name, h.at, a)
		}
	}
}

func (c *Checker) delay(x command) int64 {
	if x.name[0] == 'R' {
		return c.dev.ReadDelay
	}
	return c.dev.WriteDelay
}

// banks checks and follows the state of the banks.
func (c *Checker) banks(x command) {
	key := [4]int{x.rank, x.sid, x.group, x.bank}
	row, open := c.open[key]
	switch x.name {
	case "ACT":
		if open {
			c.fail(x, "row %d is open", row)
		}
		c.open[key] = x.row
	case "RD", "WR", "RDA", "WRA":
		if !open || row != x.row {
			c.fail(x, "its row is not open (open: %v, row %d)", open, row)
		}
		if len(x.name) == 3 {
			delete(c.open, key)
		}
	case "PREpb":
		if !open {
			c.fail(x, "no row is open")
		}
		delete(c.open, key)
	case "PREab", "REFab":
		for k := range c.open { // the order does not matter: either none is left or the bank is named
			if k[0] != x.rank {
				continue
			}
			if x.name == "REFab" {
				c.fail(x, "a row is open in sid %d group %d bank %d", k[1], k[2], k[3])
			}
			delete(c.open, k)
		}
		if x.name == "REFab" {
			c.refs[x.rank]++
		}
	}
}

// rule checks x against everything before it.
func (c *Checker) rule(r *Rule, x command) {
	if !named(r.Next, x.name) {
		return
	}
	n := 0
	for i := len(c.history) - 1; i >= 0; i-- {
		h := c.history[i]
		if x.at-h.at >= r.Min {
			return
		}
		if !named(r.Prev, h.name) || !related(r, h, x) {
			continue
		}
		if n++; n >= max(r.Window, 1) {
			c.fail(x, "%d clocks after %s of clock %d (rank %d sid %d group %d bank %d), %s needs %d (window %d, "+
				"sibling %v)",
				x.at-h.at, h.name, h.at, h.rank, h.sid, h.group, h.bank, r.Level, r.Min, r.Window, r.Sibling)
			return
		}
	}
}

func named(list []string, name string) bool {
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return false
}

// related tells whether two commands are in the same node of the rule's level, or
// in siblings. A rank-wide command is in every node of its rank.
func related(r *Rule, a, b command) bool {
	path := func(x command) [4]int { return [4]int{x.rank, x.sid, x.group, x.bank} }
	depth := map[string]int{"Channel": 0, "Rank": 1, "PseudoChannel": 1, "Sid": 2, "BankGroup": 3, "Bank": 4}[r.Level]
	pa, pb := path(a), path(b)
	same := func(n int) bool {
		for i := range n {
			if pa[i] != pb[i] && pa[i] >= 0 && pb[i] >= 0 {
				return false
			}
		}
		return true
	}
	if !r.Sibling {
		return same(depth)
	}
	return depth > 0 && same(depth-1) && pa[depth-1] != pb[depth-1] && pa[depth-1] >= 0 && pb[depth-1] >= 0
}

// Finish checks what only the end shows: that every rank was refreshed often
// enough. No rank may be more than slack refreshes behind.
func (c *Checker) Finish(now uint64, slack int64) {
	if c.dev.Refi == 0 {
		return
	}
	for rank, n := range c.refs {
		if due := int64(now) / c.dev.Refi; n < due-slack || n > due {
			c.bad = append(c.bad, fmt.Sprintf("rank %d: %d refreshes by clock %d, due are %d", rank, n, now, due))
		}
	}
}
