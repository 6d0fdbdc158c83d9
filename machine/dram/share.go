package dram

import (
	"math/bits"

	"github.com/heddle-sim/heddle/mem"
)

// share is what a channel keeps for the migrations of its stack: the paths its own
// commands use, and the banks that are not its own for the moment.
type share struct {
	ch    *Channel
	stack *Stack
	index int // of the channel in the stack

	kept   uint64 // clock for which the row command bus is kept for a migration
	keptBy int    // and the bank it is kept for

	row, col uint64 // clocks from which the row and the column command bus are free (the same without DualBus)
	bus      path   // data path and TSV set
	group    []groupPath

	rtp, wr, wtr uint64 // distances after the last data: read to PRE, write to PRE, write to read of the group
	local        uint64 // clocks an access keeps the path of its bank group
}

// groupPath is the local data path of a bank group, and from when a read may start
// after the last write.
type groupPath struct {
	path
	read uint64
}

// path is a data path over the next clocks. Accesses are booked when their command
// issues and come to use it a latency later: a MIGRATION that is over by then goes first.
type path struct {
	base, busy uint64 // bit i of busy is clock base+i
	idle       uint64 // clock from which nothing is booked
}

// horizon is how many clocks a path is known for.
const horizon = 64

// from is what is booked at clock t (bit 0) and later.
func (p *path) from(t uint64) uint64 { return p.busy >> min(t-min(t, p.base), horizon) }

// use reserves clocks [first, end) at clock t; end is within the horizon.
func (p *path) use(first, end, t uint64) {
	p.busy, p.base = p.from(t), max(t, p.base)
	p.busy |= (1<<(end-first) - 1) << (first - p.base)
	p.idle = max(p.idle, end)
}

// gap is the first i at or after from where n clocks of busy are free.
func gap(busy uint64, from, n int) int {
	for from < horizon {
		rest := busy >> from
		free := bits.TrailingZeros64(rest)
		if free >= n {
			return from
		}
		from += free
		from += bits.TrailingZeros64(^(busy >> from))
	}
	return from
}

func newShare(s *Stack, index int, c *Channel) *share {
	h := &share{ch: c, stack: s, index: index, group: make([]groupPath, c.tab.groups), local: uint64(c.cfg.BurstClocks)}
	late := uint64(c.cfg.WriteLatency)
	h.rtp = c.tab.bank[RD][PRE]
	h.wr = c.tab.bank[WR][PRE] - min(c.tab.bank[WR][PRE], late)
	h.local = max(h.local, c.tab.group[RD][RD][sameGroup])
	wtr := c.tab.group[WR][RD][sameGroup]
	h.wtr = wtr - min(wtr, late)
	return h
}

// bankOf is the bank of a place.
func (h *share) bankOf(at *Loc) int { return h.ch.q.bankIndex(at.Rank, at.BankGroup, at.Bank) }

// note follows a command the channel issues.
func (h *share) note(cmd Cmd, g int, t uint64) {
	column := true
	switch cmd {
	case RD, RDA:
		h.burst(g, uint64(h.ch.cfg.ReadLatency), t)
	case WR, WRA:
		h.burst(g, uint64(h.ch.cfg.WriteLatency), t)
		h.group[g].read = max(h.group[g].read, t+uint64(h.ch.cfg.WriteLatency)+h.wtr)
	default:
		column = false
	}
	if column || !h.ch.cfg.DualBus {
		h.col = max(h.col, t+1)
	}
	if !column || !h.ch.cfg.DualBus {
		h.row = max(h.row, t+1)
	}
	if cmd == PREA || cmd == REFab {
		h.kept = 0 // what it was kept for may not issue then any more
	}
}

// burst reserves the paths of an access of group g whose data end a latency after t.
func (h *share) burst(g int, latency, t uint64) {
	end := t + latency
	h.bus.use(end-uint64(h.ch.cfg.BurstClocks), end, t)
	h.group[g].use(end-min(h.local, latency), end, t)
}

// occupy takes the command bus for a two-clock command at t.
func (h *share) occupy(t uint64) {
	h.col = max(h.col, t+2)
	h.ch.q.time.delay(RD, t+2)
	h.ch.q.time.delay(WR, t+2)
	if h.ch.cfg.DualBus {
		return
	}
	h.row = max(h.row, t+2)
	h.ch.q.time.delay(ACT, t+2)
	h.ch.q.time.delay(PRE, t+2)
	for n := range h.ch.q.time.rankAt {
		for r := range h.ch.q.time.rankAt[n] {
			h.ch.q.time.rankAt[n][r] = max(h.ch.q.time.rankAt[n][r], t+2)
		}
	}
}

// transfer takes bank b and the path of its group for the source or the destination
// of a MIGRATION in clocks [first, end). Accesses of the group may issue as soon as
// their data come after it, reads of the destination's when the group has turned round.
func (h *share) transfer(e, b int, first, end, t uint64) {
	k := &h.ch.q.bank[b]
	p := &h.group[k.grp]
	p.use(first, end, t)
	read, pre := lead(end+h.local, h.ch.cfg.ReadLatency), h.rtp
	if e == endTo {
		read, pre = end+h.wtr, h.wr
		p.read = max(p.read, read)
	}
	reads, writes, row := &h.ch.q.time.group[RD][k.grp], &h.ch.q.time.group[WR][k.grp], k.own(PRE)
	*reads = max(*reads, read)
	*writes = max(*writes, lead(end+h.local, h.ch.cfg.WriteLatency))
	*row = max(*row, end+pre)
	all := h.ch.q.time.rankAt[0]
	all[k.rank] = max(all[k.rank], end+pre)
}

// lead is when to issue what ends at a clock, a latency later.
func lead(end uint64, latency int) uint64 { return end - min(end, uint64(latency)) }

// carry takes the TSV set for a MIGRATION in clocks [first, end).
func (h *share) carry(first, end, t uint64) {
	h.bus.use(first, end, t)
	end += uint64(h.ch.cfg.BurstClocks)
	h.ch.q.time.delay(RD, lead(end, h.ch.cfg.ReadLatency))
	h.ch.q.time.delay(WR, lead(end, h.ch.cfg.WriteLatency))
}

// rowReady is the earliest clock of an ACT or PRE of a migration for bank b.
func (h *share) rowReady(cmd Cmd, b int, t uint64) uint64 {
	k := &h.ch.q.bank[b]
	if h.kept >= t && h.keptBy == b {
		return max(*k.own(cmd), h.row, h.kept) // keep has moved all others, and the group's time with them
	}
	return max(h.ch.q.time.ready(cmd, k), h.row)
}

// keep sees to it that ordinary requests do not put off for ever what a migration wants at
// clock ready: columns of the bank would move its PRE, ACTs of others its ACT, any
// command the bus. It returns when to look again.
func (h *share) keep(cmd Cmd, b int, ready, t uint64) uint64 {
	k := &h.ch.q.bank[b]
	at := *k.own(cmd)
	waits := at > t
	if waits {
		ready = at // the bank's own time; then see what the others do
	} else if h.kept > t {
		return min(ready, h.kept) // one at a time: its ACT moves the next
	}
	if cmd == PRE {
		read, write := k.own(RD), k.own(WR)
		*read, *write = max(*read, ready+1), max(*write, ready+1)
	}
	if waits {
		return ready
	}
	h.kept, h.keptBy = ready, b
	h.ch.q.time.delay(ACT, ready+1)
	h.ch.q.time.delay(PRE, ready+1)
	if !h.ch.cfg.DualBus {
		h.ch.q.time.delay(RD, ready+1)
		h.ch.q.time.delay(WR, ready+1)
	}
	return ready
}

// openRow issues an ACT for a migration.
func (h *share) openRow(b int, at Loc, tenant mem.TenantID, t uint64) {
	k := &h.ch.q.bank[b]
	h.ch.rows[tenant][CActivates]++
	if h.ch.Trace != nil {
		h.ch.Trace(t, ACT, at)
	}
	h.ch.apply(ACT, k, t)
	k.open = int64(at.Row)
	h.ch.q.opened(k)
	h.review(t)
}

// closeRow issues a PRE for a migration.
func (h *share) closeRow(b int, at Loc, tenant mem.TenantID, t uint64) {
	k := &h.ch.q.bank[b]
	h.ch.rows[tenant][CPrecharges]++
	if h.ch.Trace != nil {
		at.Row = uint32(k.open)
		h.ch.Trace(t, PRE, at)
	}
	h.ch.apply(PRE, k, t)
	h.ch.q.closed(k)
	h.review(t)
}

// review makes the channel look at its queues again after clock t, at which the stack
// has changed a bank.
func (h *share) review(t uint64) { h.ch.wake(max(h.ch.nextWork(t), t+1)) }

// claimBank keeps ordinary requests from opening and closing rows of bank b, until
// freeBank gives it back to them.
func (h *share) claimBank(b int, t uint64) {
	h.ch.disturb(t)
	k := &h.ch.q.bank[b]
	k.word.out[classAct] |= k.bit
	k.word.out[classPre] |= k.bit
}

func (h *share) freeBank(b int, t uint64) {
	h.ch.calm(t)
	k := &h.ch.q.bank[b]
	k.word.out[classAct] &^= k.bit
	k.word.out[classPre] &^= k.bit
	h.ch.q.due[classAct], h.ch.q.due[classPre] = 0, 0
	h.review(t)
}
