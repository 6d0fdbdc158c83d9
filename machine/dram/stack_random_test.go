package dram_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/machine/dram"
)

// cell is a column of a bank of a channel.
type cell struct {
	ch int
	at dram.Loc
}

// memory follows what the commands do to the contents of a stack: versions of
// cells. A write takes its version when it is pushed and stores it by its WR; a
// MIGRATION copies what is there when it issues.
type memory struct {
	lineBursts int
	stored     map[cell]int
	queued     map[cell][]int // versions of writes waiting, oldest first
	expected   map[cell]int   // as if everything pushed had been done at once
	reads      map[cell][]int // versions expected by reads waiting
	bad        string
}

func (m *memory) command(i int, cmd dram.Cmd, at dram.Loc) {
	c := cell{i, at}
	switch cmd {
	case dram.WR, dram.WRA:
		q := m.queued[c]
		if len(q) == 0 {
			m.bad = fmt.Sprintf("a WR to %+v that nobody asked for", c)
			return
		}
		m.stored[c], m.queued[c] = q[0], q[1:]
	case dram.RD, dram.RDA:
		q := m.reads[c]
		if len(q) == 0 {
			m.bad = fmt.Sprintf("a RD of %+v that nobody asked for", c)
			return
		}
		if m.stored[c] < q[0] {
			m.bad = fmt.Sprintf("a read of %+v returns version %d, it came after version %d", c, m.stored[c], q[0])
		}
		m.reads[c] = q[1:]
	}
}

func (m *memory) migrate(x dram.MigrationCmd) {
	for i := range uint32(m.lineBursts) {
		from, to := cell{x.Src, x.From}, cell{x.Dst, x.To}
		from.at.Col += i
		to.at.Col += i
		m.stored[to] = m.stored[from]
	}
}

// mixture is a random load of reads, writes and migrations. The rows and columns are few,
// so that all of them meet.
type mixture struct {
	load
	m       *memory
	r       *rig
	locked  map[cell]int // 1: no writes, 2: nothing
	moves   map[int32]dram.Migration
	lines   int // of a migration at most
	version int
}

func (x *mixture) cells(m dram.Migration, each func(from, to cell)) {
	for i := range uint32(m.Lines * x.m.lineBursts) {
		from, to := cell{m.Src, m.From}, cell{m.Dst, m.To}
		from.at.Col += i
		to.at.Col += i
		each(from, to)
	}
}

// request pushes a read or a write; false when it must not or cannot be.
func (x *mixture) request(now uint64, id int32) bool {
	c := cell{x.below(len(x.r.ch)), x.loc()}
	write := x.below(8) < x.writes
	bursts := 1 + x.below(x.bursts)
	for i := range uint32(bursts) {
		touched := c
		touched.at.Col += i
		if x.locked[touched] == 2 || x.locked[touched] == 1 && write {
			return false
		}
	}
	ch := x.r.ch[c.ch]
	n := ch.Counters(0)
	merged, forwarded := n[dram.CCoalesced], n[dram.CForwarded]
	if !ch.Push(now, c.at, write, bursts, id, 0) {
		return false
	}
	if !write {
		if n[dram.CForwarded] == forwarded {
			least := x.m.expected[c]
			if len(x.m.queued[c]) > 0 {
				// as in the reference, a read may pass a write whose ACT has issued, or any in a shared window
				least = 0
			}
			for range bursts { // traces name the first place in each
				x.m.reads[c] = append(x.m.reads[c], least)
			}
		} else if q := x.m.queued[c]; q[len(q)-1] != x.m.expected[c] {
			x.m.bad = fmt.Sprintf("a read of %+v is answered by version %d, the last is %d", c, q[len(q)-1],
				x.m.expected[c])
		}
		return true
	}
	x.version++
	x.m.expected[c] = x.version
	if q := x.m.queued[c]; n[dram.CCoalesced] > merged {
		q[len(q)-1] = x.version
	} else {
		for range bursts {
			q = append(q, x.version)
		}
		x.m.queued[c] = q
	}
	return true
}

// migration pushes a migration between places that no other one uses.
func (x *mixture) migration(now uint64, id int32) bool {
	lb := x.m.lineBursts
	lines := 1 + x.below(x.lines)
	m := dram.Migration{
		Src: x.below(len(x.r.ch)), Dst: x.below(len(x.r.ch)), From: x.loc(), To: x.loc(), Lines: lines,
		ID: id,
	}
	m.From.Col, m.To.Col = uint32(x.below(3)*lb), uint32(x.below(3)*lb)
	ok := m.Src != m.Dst
	x.cells(m, func(from, to cell) { ok = ok && x.locked[from] == 0 && x.locked[to] == 0 })
	if !ok || !x.r.stack.Push(now, m) {
		return false
	}
	x.moves[id] = m
	x.cells(m, func(from, to cell) {
		x.locked[from], x.locked[to] = 1, 2
		x.m.expected[to] = x.m.expected[from]
	})
	return true
}

// migrationTrial runs the mixture to its end, on every clock or the ones asked for.
func migrationTrial(t *rapid.T, cfg *dram.Config, timing dram.MigrationTiming, x mixture, channels, total int,
	skip bool,
) (log []string, counters string) {
	r := newRig(t, cfg, channels, timing, true)
	x.r, x.locked, x.moves = r, map[cell]int{}, map[int32]dram.Migration{}
	x.m = &memory{
		lineBursts: timing.LineBursts, stored: map[cell]int{}, queued: map[cell][]int{},
		expected: map[cell]int{}, reads: map[cell][]int{},
	}
	r.onCmd, r.onMIG = x.m.command, x.m.migrate
	sent, done, lines, due, now := 0, 0, 0, uint64(0), uint64(0)
	for sent < total || done < sent {
		now++
		if now > uint64(20000+1000*total) {
			t.Fatalf("%d of %d never complete; migrations %v", sent-done, sent, x.moves)
		}
		pushed := false
		for n := x.below(16); sent < total && n < x.density; n += 16 {
			ok := false
			if x.below(6) == 0 {
				if ok = x.migration(now, int32(sent)); ok {
					lines += x.moves[int32(sent)].Lines
				}
			} else {
				ok = x.request(now, int32(sent))
			}
			if ok {
				sent, pushed = sent+1, true
			}
		}
		if skip && !pushed && now < due {
			continue
		}
		due = r.tick(now)
		if !skip { // several core cycles fall into a clock
			due = r.tick(now)
		}
		for i, c := range r.ch {
			for {
				id, _, ok := c.Pop()
				if !ok {
					break
				}
				done++
				r.log = append(r.log, fmt.Sprintf("%d:%d:done %d", now, i, id))
			}
		}
		for {
			id, ok := r.stack.Pop()
			if !ok {
				break
			}
			m, ok := x.moves[id]
			if !ok {
				t.Fatalf("migration %d completed twice", id)
			}
			delete(x.moves, id)
			x.cells(m, func(from, to cell) { delete(x.locked, from); delete(x.locked, to) })
			done++
			r.log = append(r.log, fmt.Sprintf("%d:moved %d", now, id))
		}
		if x.m.bad != "" {
			t.Fatalf("clock %d: %s", now, x.m.bad)
		}
	}
	r.check.Finish(now, int64(4+now/4/uint64(max(cfg.Refi, 1))))
	r.violations()
	if r.check.Migrations() != lines {
		t.Fatalf("%d MIGRATION commands for %d lines", r.check.Migrations(), lines)
	}
	counted := uint64(0)
	for _, c := range r.ch {
		c.Sync(now)
		counted += c.Counters(0)[dram.CMigrations]
		counters += fmt.Sprintln(c.Counters(0))
	}
	if counted != uint64(lines) {
		t.Fatalf("%d MIGRATION commands counted for %d lines", counted, lines)
	}
	for c, v := range x.m.expected {
		if x.m.stored[c] != v {
			t.Fatalf("%+v ends with version %d, the last is %d", c, x.m.stored[c], v)
		}
	}
	// An idle channel catches up on its refreshes when it is next visited.
	slices.SortStableFunc(r.log, func(a, b string) int {
		x, y := strings.SplitN(a, ":", 3), strings.SplitN(b, ":", 3)
		m, _ := strconv.Atoi(x[0])
		n, _ := strconv.Atoi(y[0])
		return cmp.Or(cmp.Compare(m, n), strings.Compare(x[1][:1], y[1][:1]))
	})
	return r.log, counters
}

// TestRandomMigrations: on any device, stack and mixture of reads, writes and
// migrations no command breaks a rule, everything completes once, no update is
// lost, and visiting only the clocks asked for changes nothing.
func TestRandomMigrations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomSheet(t)
		s.Sched, s.Return = "frfcfs", 0
		if !s.DualBus {
			s.Ranks = 1 // the reference lets a WR of another rank meet the data of a RD on a shared bus
		}
		cfg, err := dram.FromSheet(s)
		if err != nil {
			t.Fatal(err)
		}
		timing := dram.MigrationTiming{
			Clocks: rapid.IntRange(2, 30).Draw(t, "clocks"), LineBursts: rapid.IntRange(1, 4).Draw(t, "line bursts"),
			Crossbar: rapid.Bool().Draw(t, "crossbar"), Queue: rapid.IntRange(1, 12).Draw(t, "migrations"),
			MaxWait: rapid.SampledFrom([]int{0, 40, 300}).Draw(t, "patience"),
		}
		x := mixture{load: drawLoad(t, &cfg), lines: rapid.IntRange(1, 3).Draw(t, "lines")}
		channels := rapid.IntRange(2, 4).Draw(t, "channels")
		a, ca := migrationTrial(t, &cfg, timing, x, channels, 150, false)
		b, cb := migrationTrial(t, &cfg, timing, x, channels, 150, true)
		if d := diff(a, b); d != "" {
			t.Fatalf("every clock and skipping differ: %s", d)
		}
		if ca != cb {
			t.Fatalf("counters %v every clock, %v when skipping", ca, cb)
		}
	})
}
