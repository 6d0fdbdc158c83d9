package dram_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-sim/heddle/machine/dram"
	"github.com/heddle-sim/heddle/mem"
)

// naive is the same scheduler written as its definition reads: every clock, every
// queued request, every constraint against the whole history. It knows FR-FCFS, its
// variants that protect row hits, and PrIS with open pages and single bursts.
type naive struct {
	cfg     *dram.Config
	clk     uint64
	queues  [2][]*want // reads and writes, oldest first; only the first is used when shared
	active  []*want
	refresh []int // ranks owed a refresh
	writing bool
	history []past
	open    map[[3]int]uint32
	log     []string
	replies []reply

	edge     uint64 // half-clock devices: the falling edge paired with a row command
	edgeRank int
	edgeBank [3]int
	edgeAll  bool
}

type want struct {
	at     dram.Loc
	write  bool
	id     int
	arrive uint64
	urgent bool
}

type past struct {
	cmd dram.Cmd
	at  dram.Loc
	clk uint64
}

type reply struct {
	clk uint64
	id  int
}

func bankOf(at dram.Loc) [3]int { return [3]int{int(at.Rank), int(at.BankGroup), int(at.Bank)} }

// next is the command a request needs now.
func (n *naive) next(w *want) dram.Cmd {
	row, open := n.open[bankOf(w.at)]
	switch {
	case !open:
		return dram.ACT
	case row != w.at.Row:
		return dram.PRE
	case w.write:
		return dram.WR
	}
	return dram.RD
}

// ready checks every constraint by its definition.
func (n *naive) ready(cmd dram.Cmd, at dram.Loc) bool {
	for _, k := range n.cfg.Constraints {
		if k.Next != cmd {
			continue
		}
		seen := 0
		for i := len(n.history) - 1; i >= 0; i-- {
			h := n.history[i]
			if h.clk+uint64(k.Min) <= n.clk {
				break
			}
			if h.cmd == k.Prev && n.meets(k, h.at, at) {
				if seen++; seen == k.Window {
					return false
				}
			}
		}
	}
	return true
}

// meets tells whether two places share the constraint's node, or are siblings.
func (n *naive) meets(k dram.Constraint, a, b dram.Loc) bool {
	path := func(x dram.Loc) []int {
		if x.Bank == dram.AllBanks {
			return []int{0, int(x.Rank), -1, -1, -1}
		}
		return []int{0, int(x.Rank), int(x.BankGroup) / n.cfg.Groups, int(x.BankGroup) % n.cfg.Groups, int(x.Bank)}
	}
	pa, pb := path(a), path(b)
	for level := 0; level <= int(k.Level); level++ {
		same := pa[level] == pb[level] || pa[level] < 0 || pb[level] < 0
		if level == int(k.Level) && k.Sibling {
			return !same
		}
		if !same {
			return false
		}
	}
	return true
}

func (n *naive) isActive(bank [3]int) bool {
	for _, w := range n.active {
		if bankOf(w.at) == bank {
			return true
		}
	}
	return false
}

func column(cmd dram.Cmd) bool { return cmd == dram.RD || cmd == dram.WR }

// fits tells whether a command may use a slot of the command buses at this clock.
func (n *naive) fits(cmd dram.Cmd, at dram.Loc, col, row bool) bool {
	if column(cmd) && !col || !column(cmd) && !row {
		return false
	}
	if !n.cfg.HalfCycle || n.clk%2 == 1 {
		return true
	}
	if cmd != dram.PRE && cmd != dram.PREA {
		return false
	}
	if n.clk != n.edge || int(at.Rank) != n.edgeRank {
		return true
	}
	return !n.edgeAll && cmd == dram.PRE && bankOf(at) != n.edgeBank
}

// tick is one clock.
func (n *naive) tick(clk uint64) {
	n.clk = clk
	if n.cfg.Refi > 0 && clk%uint64(n.cfg.Refi) == 0 {
		for r := range n.cfg.Ranks {
			n.refresh = append(n.refresh, r)
		}
	}
	if n.cfg.DualBus {
		if !n.cfg.HalfCycle || clk%2 == 1 {
			n.slot(true, false, true)
		}
		n.slot(false, true, false)
	} else {
		n.slot(true, true, true)
	}
}

// slot issues at most one command: activated requests, refresh, queue.
func (n *naive) slot(col, row, active bool) {
	if active {
		var best *want
		for _, w := range n.active {
			if n.ready(n.next(w), w.at) && (best == nil || w.arrive < best.arrive) {
				best = w
			}
		}
		if best != nil {
			n.issue(best, n.next(best), &n.active)
			return
		}
	}
	if len(n.refresh) > 0 {
		if row {
			n.tryRefresh()
		}
		return
	}
	q := n.queue()
	for _, w := range n.inOrder(*q) {
		cmd := n.next(w)
		if !n.fits(cmd, w.at, col, row) || cmd == dram.PRE && n.isActive(bankOf(w.at)) || !n.ready(cmd, w.at) ||
			cmd == dram.PRE && n.held(w, *q) {
			continue
		}
		n.issue(w, cmd, q)
		return
	}
}

// held tells whether a hit that waits keeps w from closing its row.
func (n *naive) held(w *want, q []*want) bool {
	for _, h := range q {
		if bankOf(h.at) == bankOf(w.at) && column(n.next(h)) &&
			(n.cfg.Sched == dram.FRFCFSPriorHit || n.cfg.Sched == dram.FRFCFSRowHit && h.arrive <= w.arrive) {
			return true
		}
	}
	return false
}

// inOrder is a queue in the order in which its requests are looked at: under PrIS row hits
// first, then what is urgent. What a bank's row is closed or opened for is its first.
func (n *naive) inOrder(q []*want) []*want {
	if n.cfg.Sched != dram.PrIS {
		return q
	}
	list := slices.Clone(q)
	rank := func(w *want) int {
		r := 0
		if !column(n.next(w)) {
			r = 2
		}
		if !w.urgent {
			r++
		}
		return r
	}
	slices.SortStableFunc(list, func(a, b *want) int { return rank(a) - rank(b) })
	return list
}

func (n *naive) queue() *[]*want {
	if n.cfg.WriteQueue == 0 {
		return &n.queues[0]
	}
	reads, writes := len(n.queues[0]), float64(len(n.queues[1]))
	if !n.writing && (writes > n.cfg.HighWater*float64(n.cfg.WriteQueue) || reads == 0) {
		n.writing = true
	} else if n.writing && writes < n.cfg.LowWater*float64(n.cfg.WriteQueue) && reads != 0 {
		n.writing = false
	}
	if n.writing {
		return &n.queues[1]
	}
	return &n.queues[0]
}

func (n *naive) tryRefresh() {
	rank := n.refresh[0]
	at := dram.Loc{Rank: uint8(rank), BankGroup: dram.AllBanks, Bank: dram.AllBanks}
	cmd := dram.REFab
	for b := range n.open {
		if b[0] == rank {
			cmd = dram.PREA
		}
	}
	if !n.ready(cmd, at) || !n.fits(cmd, at, false, true) {
		return
	}
	if cmd == dram.PREA {
		for _, w := range n.active {
			if int(w.at.Rank) == rank {
				return
			}
		}
		for b := range n.open {
			if b[0] == rank {
				delete(n.open, b)
			}
		}
	} else {
		n.refresh = n.refresh[1:]
	}
	n.record(cmd, at)
}

func (n *naive) record(cmd dram.Cmd, at dram.Loc) {
	n.history = append(n.history, past{cmd, at, n.clk})
	n.log = append(n.log, fmt.Sprint(n.clk, cmd, bankOf(at)))
	if n.clk%2 == 1 && !column(cmd) {
		n.edge, n.edgeRank, n.edgeBank, n.edgeAll = n.clk+1, int(at.Rank), bankOf(at), at.Bank == dram.AllBanks
		if cmd == dram.ACT {
			n.edge = n.clk + 3
		}
	}
}

func (n *naive) issue(w *want, cmd dram.Cmd, from *[]*want) {
	n.record(cmd, w.at)
	switch cmd {
	case dram.PRE:
		delete(n.open, bankOf(w.at))
		return
	case dram.ACT:
		n.open[bankOf(w.at)] = w.at.Row
	}
	for i := range *from {
		if (*from)[i] == w {
			*from = append((*from)[:i:i], (*from)[i+1:]...)
			break
		}
	}
	switch cmd {
	case dram.ACT:
		n.active = append(n.active, w)
	case dram.RD:
		n.replies = append(n.replies, reply{n.clk + uint64(n.cfg.ReadLatency), w.id})
	case dram.WR:
		n.replies = append(n.replies, reply{n.clk, w.id})
	}
}

// push offers a request; places are all different here, so nothing is forwarded.
func (n *naive) push(now uint64, w want) bool {
	q, limit := 0, n.cfg.Queue
	if n.cfg.WriteQueue > 0 && w.write {
		q, limit = 1, n.cfg.WriteQueue
	}
	if len(n.queues[q]) >= limit {
		return false
	}
	w.arrive = now
	n.queues[q] = append(n.queues[q], &w)
	return true
}

// against runs the same requests through the channel and its definition.
func against(t interface{ Fatalf(string, ...any) }, cfg *dram.Config, l load, total int) {
	n := &naive{cfg: cfg, open: map[[3]int]uint32{}}
	c := dram.New(cfg)
	var log []string
	c.Trace = func(now uint64, cmd dram.Cmd, at dram.Loc) { log = append(log, fmt.Sprint(now, cmd, bankOf(at))) }
	done := map[int]uint64{}
	sent, due := 0, uint64(0)
	for now := uint64(1); len(done) < total; now++ {
		if now > uint64(20000+400*total) {
			t.Fatalf("%d of %d requests complete", len(done), total)
		}
		pushed := false
		for k := l.below(16); sent < total && k < l.density; k += 16 {
			at := l.loc()
			at.Col = uint32(sent) // never the same place twice
			write := l.below(8) < l.writes
			tenant := mem.TenantID(l.below(2))
			ok := c.Push(now, at, write, 1, int32(sent), tenant)
			if ok != n.push(now, want{at: at, write: write, id: sent, urgent: tenant == 1}) {
				t.Fatalf("clock %d: the channel accepts request %d: %v", now, sent, ok)
			}
			if ok {
				sent++
				pushed = true
			}
		}
		n.tick(now)
		if pushed || now >= due {
			due = c.Tick(now)
		}
		for {
			id, _, ok := c.Pop()
			if !ok {
				break
			}
			done[int(id)] = now
		}
	}
	if d := diff(n.log[:min(len(n.log), len(log))], log); d != "" {
		t.Fatalf("definition and channel differ: %s", d)
	}
	for _, r := range n.replies {
		if done[r.id] != r.clk {
			t.Fatalf("request %d is done at %d, by definition at %d", r.id, done[r.id], r.clk)
		}
	}
}

// TestAgainstDefinition: the incremental scheduler issues the very commands its
// definition does, on any device.
func TestAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := randomSheet(t)
		s.Sched, s.Page, s.Return = "frfcfs", "open", 0
		cfg, err := dram.FromSheet(s)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Sched = rapid.SampledFrom([]dram.Sched{
			dram.FRFCFS, dram.PrIS, dram.FRFCFSRowHit, dram.FRFCFSPriorHit,
		}).Draw(t, "sched")
		cfg.Tenants, cfg.Urgent = 2, []bool{false, true}
		if rapid.Bool().Draw(t, "stacks") { // fold two stack identifiers in
			cfg.Sids = 2
			for _, cmds := range [][2]dram.Cmd{{dram.RD, dram.RD}, {dram.WR, dram.WR}} {
				cfg.Constraints = append(cfg.Constraints, dram.Constraint{
					Level: dram.LevelSid, Prev: cmds[0], Next: cmds[1],
					Min: 1 + rapid.IntRange(0, 9).Draw(t, "ccdr"), Window: 1, Sibling: true,
				})
			}
			cfg.Constraints = append(cfg.Constraints, dram.Constraint{
				Level: dram.LevelChannel, Prev: dram.ACT, Next: dram.ACT,
				Min: rapid.IntRange(1, 20).Draw(t, "channel window"), Window: 3,
			})
		}
		if cfg.DualBus && rapid.Bool().Draw(t, "half clocks") {
			cfg.HalfCycle = true
			cfg.Constraints = append(cfg.Constraints, dram.Constraint{
				Level: dram.LevelChannel, Prev: dram.ACT,
				Next: dram.PRE, Min: 3, Window: 1,
			},
				dram.Constraint{Level: dram.LevelRank, Prev: dram.PRE, Next: dram.PRE, Min: 2, Window: 1})
		}
		l := drawLoad(t, &cfg)
		l.groups = cfg.Groups * cfg.Sids
		against(t, &cfg, l, 120)
	})
}
