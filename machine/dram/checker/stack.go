package checker

import (
	"fmt"

	"github.com/heddle-sim/heddle/machine/dram"
)

// StackDevice is what the migrations among channels of one device are checked
// against. Device must have its data bus described (Burst and the delays).
type StackDevice struct {
	Device
	Clocks     int64 // of one MIGRATION
	LineBursts int   // columns it copies
	Crossbar   bool
}

// flight is a MIGRATION that has issued.
type flight struct {
	m          dram.MigrationCmd
	start, end int64
}

// Stack verifies the channels of a stack and the MIGRATION commands among them.
type Stack struct {
	dev     StackDevice
	ch      []*Checker
	flights []flight
	bad     []string
	moved   int
}

// NewStack starts with n channels, every bank closed.
func NewStack(d StackDevice, n int) *Stack {
	s := &Stack{dev: d}
	for range n {
		s.ch = append(s.ch, New(d.Device))
	}
	for _, c := range s.ch {
		c.reach += d.Clocks
	}
	return s
}

// Migrations is the number of MIGRATION commands seen.
func (s *Stack) Migrations() int { return s.moved }

// Violations describes what went wrong, in any channel or among them.
func (s *Stack) Violations() (bad []string) {
	bad = append(bad, s.bad...)
	for i, c := range s.ch {
		for _, v := range c.Violations() {
			bad = append(bad, fmt.Sprintf("channel %d: %s", i, v))
		}
	}
	return bad
}

func (s *Stack) fail(format string, args ...any) {
	if len(s.bad) < 100 {
		s.bad = append(s.bad, fmt.Sprintf(format, args...))
	}
}

// Finish is Checker.Finish for every channel.
func (s *Stack) Finish(now uint64, slack int64) {
	for _, c := range s.ch {
		c.Finish(now, slack)
	}
}

// gap is the device's distance between two commands in the same node of a level, 0
// without a rule.
func (s *Stack) gap(level, prev, next string) (min int64) {
	for i := range s.dev.Rules {
		r := &s.dev.Rules[i]
		if r.Level == level && !r.Sibling && r.Window <= 1 && named(r.Prev, prev) && named(r.Next, next) {
			min = max(min, r.Min)
		}
	}
	return min
}

// after is the distance that prev demands before next, counted from the end of prev's data.
func (s *Stack) after(level, prev, next string) int64 {
	if prev == "WR" {
		return max(0, s.gap(level, prev, next)-s.dev.WriteDelay-s.dev.Burst)
	}
	return s.gap(level, prev, next)
}

// delay is from a RD or WR to its data.
func (s *Stack) delay(name string) int64 { return s.ch[0].delay(command{name: name}) }

// local is for how long an access keeps the path of its bank group: the distance of
// two reads, up to the end of its data.
func (s *Stack) local(name string) int64 {
	return min(max(s.dev.Burst, s.gap("BankGroup", "RD", "RD")), s.delay(name)+s.dev.Burst)
}

// Command checks the next command of channel i.
func (s *Stack) Command(i int, now uint64, cmd dram.Cmd, at dram.Loc) {
	s.ch[i].Command(now, cmd, at)
	t, name := int64(now), cmd.String()
	column := cmd == dram.RD || cmd == dram.WR || cmd == dram.RDA || cmd == dram.WRA
	for k := range s.flights {
		f := &s.flights[k]
		if first := t + s.delay(name); column && f.m.TSV == i && first < f.end && f.start < first+s.dev.Burst {
			s.fail("clock %d: %s of channel %d, whose TSV set carries %v until %d", t, name, i, f.m, f.end)
		}
		for e, place := range []dram.Loc{f.m.From, f.m.To} {
			if []int{f.m.Src, f.m.Dst}[e] != i {
				continue
			}
			if t < f.start+2 && (column || !s.dev.DualBus) {
				s.fail("clock %d: %s of channel %d while %v of clock %d has the command bus", t, name, i, f.m, f.start)
			}
			if free := f.end + s.wait(e, name, place, at); t < free {
				s.fail("clock %d: %s %v of channel %d before %d: %v ends at %d", t, name, at, i, free, f.m, f.end)
			}
		}
	}
}

// wait is how long after the end of a MIGRATION a command must wait at its end e (0 the
// source, 1 the destination); hugely negative when it need not wait.
func (s *Stack) wait(e int, name string, place, at dram.Loc) int64 {
	const never = -1 << 40
	kind := []string{"RD", "WR"}[e]
	sameRank := place.Rank == at.Rank
	sameGroup := sameRank && place.BankGroup == at.BankGroup
	switch name {
	case "RD", "RDA", "WR", "WRA":
		if !sameGroup {
			return never
		}
		if e == 1 && name[0] == 'R' {
			return s.after("BankGroup", "WR", "RD")
		}
		return s.local(name) - s.delay(name) - s.dev.Burst // its data come when the MIGRATION's have left the path
	case "PREpb":
		if sameGroup && place.Bank == at.Bank {
			return s.after("Bank", kind, "PREpb")
		}
	case "PREab":
		if sameRank {
			return s.after("Bank", kind, "PREpb")
		}
	}
	return never
}

// Migration checks a MIGRATION; it fits Stack.Trace. Commands of the same clock come
// before it.
func (s *Stack) Migration(now uint64, m dram.MigrationCmd) {
	t := int64(now)
	s.moved++
	if m.Src == m.Dst || !s.dev.Crossbar && m.TSV != m.Src {
		s.fail("clock %d: %v from a channel to itself, or by a TSV set that is not its own", t, m)
	}
	keep := s.flights[:0]
	for _, f := range s.flights {
		if f.end+s.ch[0].reach > t {
			keep = append(keep, f)
		}
	}
	s.flights = keep
	s.end(t, m, 0, m.Src, m.From)
	s.end(t, m, 1, m.Dst, m.To)
	for _, h := range s.ch[m.TSV].history {
		if first := h.at + s.delay(h.name); h.column && first < t+s.dev.Clocks && t < first+s.dev.Burst {
			s.fail("clock %d: %v takes a TSV set that carries %s of clock %d", t, m, h.name, h.at)
		}
	}
	for _, f := range s.flights {
		if f.m.TSV == m.TSV && f.end > t {
			s.fail("clock %d: %v takes a TSV set that carries %v until %d", t, m, f.m, f.end)
		}
	}
	s.flights = append(s.flights, flight{m: m, start: t, end: t + s.dev.Clocks})
}

// end checks one end of a MIGRATION at t: the row, the bank's timing, the bus, the
// path of the bank group.
func (s *Stack) end(t int64, m dram.MigrationCmd, e, i int, at dram.Loc) {
	c, kind := s.ch[i], []string{"RD", "WR"}[e]
	sid, group := int(at.BankGroup)/s.dev.Groups, int(at.BankGroup)%s.dev.Groups
	if row, open := c.open[[4]int{int(at.Rank), sid, group, int(at.Bank)}]; !open || row != at.Row {
		s.fail("clock %d: %v: row %d of channel %d is not open (open: %v, row %d)", t, m, at.Row, i, open, row)
	}
	for _, h := range c.history {
		mine := h.rank == int(at.Rank) && h.sid == sid && h.group == group
		switch {
		case h.at == t && (h.column || !s.dev.DualBus):
			s.fail("clock %d: %v while %s of channel %d has the command bus", t, m, h.name, i)
		case mine && h.bank == int(at.Bank) && h.name == "ACT" && t < h.at+s.gap("Bank", "ACT", kind):
			s.fail("clock %d: %v comes %d clocks after the ACT of channel %d", t, m, t-h.at, i)
		case mine && h.column:
			free := h.at + s.delay(h.name) + s.dev.Burst
			inTime := t+s.dev.Clocks <= free-s.local(h.name)
			if e == 0 && h.name[0] == 'W' {
				free, inTime = free+s.after("BankGroup", "WR", "RD"), false
			}
			if t < free && !inTime {
				s.fail("clock %d: %v while the group of channel %d is busy with %s of clock %d until %d", t, m, i,
					h.name, h.at, free)
			}
		}
	}
	for _, f := range s.flights {
		for o, place := range []dram.Loc{f.m.From, f.m.To} {
			if []int{f.m.Src, f.m.Dst}[o] != i {
				continue
			}
			if t < f.start+2 {
				s.fail("clock %d: %v while %v has the command bus of channel %d", t, m, f.m, i)
			}
			if place.Rank != at.Rank || place.BankGroup != at.BankGroup {
				continue
			}
			free := f.end
			if o == 1 && e == 0 {
				free += s.after("BankGroup", "WR", "RD")
			}
			if t < free {
				s.fail("clock %d: %v meets %v in its group of channel %d, free at %d", t, m, f.m, i, free)
			}
		}
	}
}
