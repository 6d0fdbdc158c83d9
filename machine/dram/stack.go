package dram

import (
	"fmt"

	"github.com/heddle-sim/heddle/internal/invariants"
	"github.com/heddle-sim/heddle/mem"
)

// Migration copies Lines consecutive lines from a row of one bank to a row of a bank of another
// channel of the same stack, one MIGRATION command each (UGPU section 4.3). From and To are the
// first line's places; each next line is MigrationTiming.LineBursts columns further on.
//
// From Push until the completion is popped the caller must not push writes to the source lines nor
// anything to the destination lines; builds with the invariants tag panic when it does. Earlier
// requests of all of them are served first.
type Migration struct {
	Src, Dst int // channels within the stack; they differ
	From, To Loc
	Lines    int
	ID       int32
	Tenant   mem.TenantID
}

// MigrationTiming describes the migration hardware of a stack.
type MigrationTiming struct {
	Clocks     int  // command clocks for which the line of a MIGRATION has its paths (UGPU section 4.5)
	LineBursts int  // columns (accesses) per line: 128 bytes / Config.Access
	Crossbar   bool // any idle TSV set of the stack can carry a line; otherwise the source channel's own only
	Queue      int  // migrations the stack can hold
	// MaxWait is the number of clocks for which a migration gives way to ordinary requests, from when no older
	// migration needs its banks and no older request its lines. After that it closes rows that still have hits and
	// reserves the paths it needs. The paper has no such limit.
	MaxWait int
}

// MigrationCmd is one MIGRATION as it issues, for traces.
type MigrationCmd struct {
	Src, Dst, TSV int // channels within the stack; TSV is the one whose TSV set carries the line
	From, To      Loc
}

// String shows a MIGRATION as "MIG 0:[rank group bank row col] -> 1:[...] by 2".
func (m MigrationCmd) String() string {
	p := func(l Loc) []uint32 {
		return []uint32{uint32(l.Rank), uint32(l.BankGroup), uint32(l.Bank), l.Row, l.Col}
	}
	return fmt.Sprintf("MIG %d:%d -> %d:%d by %d", m.Src, p(m.From), m.Dst, p(m.To), m.TSV)
}

// A migration has two ends.
const (
	endFrom = iota
	endTo
	numEnds
)

// move is a migration that waits or runs.
type move struct {
	Migration
	bank    [numEnds]int
	seq     [numEnds]uint64 // last request of the end's channel that is older
	pushed  uint64          // clock of the first Tick that may see it
	since   uint64          // clock from which nothing older had to come first; Never before
	claimed bool            // both banks are its own: no ordinary request opens or closes a row there
	running bool            // a line is on its way, or its paths are reserved
	shown   bool            // its MIGRATION has been traced and counted
	tsv     int             // of the line on its way
	start   uint64          // clock of the line's MIGRATION
	stop    uint64          // clock at which the line has arrived
}

// Stack is the channels of one HBM stack and the migrations among them (PageMove's
// parallel page migration mode). It is not safe for concurrent use. Channels that
// are in no stack, or whose stack has nothing to migrate, behave as without.
//
// A MIGRATION takes the column command bus (the command bus, where there is one)
// of both channels for two clocks; the local data path of the bank groups of both ends;
// and one TSV set, that is the data path of a channel. None of the three carries
// anything else meanwhile. A RD keeps them busy only when its data come, a
// latency after it: a MIGRATION that is over by then may start in between (section 4.5:
// it executes without interrupting READ and WRITE). RDs of the destination's group wait
// tWTR after it.
// The rows are opened by ordinary PRE and ACT; the source bank obeys the timing
// of a read whose last data leaves when the MIGRATION ends, the destination that of a
// write whose last data arrives then.
//
// Migrations give way to ordinary requests: to those on the paths already, and to queued hits of the row that they
// would close, if these are of the kind being served. Refreshes come first. From its first command on, a migration
// keeps ordinary requests from opening or closing rows in its two banks. MigrationTiming.MaxWait bounds the waiting,
// with two exceptions outside the stack: an older write to the migration's own lines that the channel has not written
// yet, and a refresh. Migrations that share a bank run in order of Push.
type Stack struct {
	// Trace, when set, sees every MIGRATION as it issues; PRE and ACT are seen by the
	// channels' own.
	Trace func(now uint64, m MigrationCmd)

	ch     []*Channel
	t      MigrationTiming
	queue  []move // in order of arrival
	taken  []mask // per channel: banks of the migrations looked at so far in this step
	done   []int32
	popped int
}

// NewStack joins channels of one stack for migrations. It reports what they lack:
// FR-FCFS scheduling, whole clocks, a write latency (Config.WriteLatency), the same geometry.
func NewStack(ch []*Channel, t MigrationTiming) (*Stack, error) {
	if t.Clocks < 2 || t.LineBursts < 1 || t.Queue < 1 || t.MaxWait < 0 {
		return nil, fmt.Errorf("dram: migration timing %+v: want clocks of at least 2, line bursts and a queue of at "+
			"least 1, and no negative MaxWait", t)
	}
	s := &Stack{
		ch: ch, t: t, queue: make([]move, 0, t.Queue), done: make([]int32, 0, 2*t.Queue),
		taken: make([]mask, len(ch)),
	}
	for i, c := range ch {
		a, b := ch[0].cfg, c.cfg
		switch {
		case b.Sched != FRFCFS:
			return nil, fmt.Errorf("dram %s: migrations need the frfcfs scheduler", b.Name)
		case b.HalfCycle:
			return nil, fmt.Errorf("dram %s: migrations on devices with half-clock commands are not supported", b.Name)
		case t.Clocks+max(b.ReadLatency, b.WriteLatency) > horizon:
			return nil, fmt.Errorf("dram %s: a migration of %d clocks with a read latency of %d looks further ahead "+
				"than %d clocks", b.Name, t.Clocks, b.ReadLatency, horizon)
		case b.WriteLatency < 1:
			return nil, fmt.Errorf("dram %s: migrations need the write latency, it is %d", b.Name, b.WriteLatency)
		case a.Ranks != b.Ranks || a.Sids != b.Sids || a.Groups != b.Groups || a.Banks != b.Banks ||
			a.Columns != b.Columns || a.Rows != b.Rows:
			return nil, fmt.Errorf("dram %s: channel %d of the stack has another geometry than channel 0", b.Name, i)
		case c.share != nil:
			return nil, fmt.Errorf("dram %s: channel %d of the stack is in a stack already", b.Name, i)
		}
	}
	for i, c := range ch {
		c.share = newShare(s, i, c)
	}
	return s, nil
}

// CanPush tells whether Push would succeed.
func (s *Stack) CanPush() bool { return len(s.queue) < s.t.Queue }

// Pending is the number of migrations pushed and not completed.
func (s *Stack) Pending() int { return len(s.queue) }

// Push offers a migration, to be seen by the first Tick at now or later. It
// answers false when the queue is full. It panics when the migration is none: the
// same channel twice, a channel that does not exist, no lines, or lines beyond the row.
func (s *Stack) Push(now uint64, m Migration) bool {
	if m.Src == m.Dst || m.Src < 0 || m.Dst < 0 || m.Src >= len(s.ch) || m.Dst >= len(s.ch) {
		panic(fmt.Sprintf("dram: a migration from channel %d to channel %d of a stack of %d", m.Src, m.Dst, len(s.ch)))
	}
	if columns := s.ch[0].cfg.Columns; m.Lines < 1 || int(max(m.From.Col, m.To.Col))+m.Lines*s.t.LineBursts > columns {
		panic(fmt.Sprintf("dram: a migration of %d lines from column %d to %d in rows of %d columns", m.Lines,
			m.From.Col, m.To.Col, columns))
	}
	if !s.CanPush() {
		return false
	}
	from, to := s.ch[m.Src], s.ch[m.Dst]
	s.queue = append(s.queue, move{
		Migration: m, pushed: now, since: Never,
		bank: [numEnds]int{from.share.bankOf(&m.From), to.share.bankOf(&m.To)},
		seq:  [numEnds]uint64{from.q.seq, to.q.seq},
	})
	return true
}

// Pop returns the next completed migration, in order of completion.
func (s *Stack) Pop() (id int32, ok bool) {
	if s.popped == len(s.done) {
		return 0, false
	}
	id = s.done[s.popped]
	if s.popped++; s.popped == len(s.done) {
		s.done, s.popped = s.done[:0], 0
	}
	return id, true
}

// Tick brings the stack's channels and its migrations to clock now, in this order,
// and returns the next clock at which a migration or any channel of the stack has
// work; Never, with the channels left alone, when nothing is to migrate. While migrations are pending it
// must be called, after the channels' own Tick, at every clock it returned and at
// every clock a channel of the stack is ticked or pushed to; and the channels must be visited
// at the clocks it returns, as a migration can give them work earlier than
// they said. Calling it more often never changes a result.
func (s *Stack) Tick(now uint64) uint64 {
	if len(s.queue) == 0 {
		return Never
	}
	for _, c := range s.ch {
		c.advance(now)
	}
	next := s.step(now)
	for _, c := range s.ch {
		next = min(next, c.next)
	}
	return max(next, now+1)
}

// end is the channel and the place of an end of m.
func (s *Stack) end(m *move, e int) (*Channel, Loc) {
	if e == endFrom {
		return s.ch[m.Src], m.From
	}
	return s.ch[m.Dst], m.To
}

// checkPush panics when an access of bursts columns at bank b of channel i breaks the contract
// of a pending migration.
func (s *Stack) checkPush(i, b int, at Loc, write bool, bursts int) {
	for k := range s.queue {
		m := &s.queue[k]
		n := uint32(m.Lines * s.t.LineBursts)
		meets := func(first Loc) bool {
			return at.Row == first.Row && at.Col < first.Col+n && first.Col < at.Col+uint32(bursts)
		}
		if write && m.Src == i && m.bank[endFrom] == b && meets(m.From) {
			invariants.Fail("a write to %+v of channel %d, which migration %d shall copy", at, i, m.ID)
		}
		if m.Dst == i && m.bank[endTo] == b && meets(m.To) {
			invariants.Fail("an access to %+v of channel %d, where migration %d has not arrived", at, i, m.ID)
		}
	}
}
