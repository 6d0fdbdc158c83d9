package dram

import "heddle/stat"

// Request kinds; also the index of their lists.
const (
	kindRead = iota
	kindWrite
	numKinds
)

const none = int16(-1)

// request is one slot of the request pool. Slots of a bank and kind form a list
// in order of arrival.
type request struct {
	row, col   uint32
	seq        uint64 // age over both kinds
	arrive     uint64
	id         int32
	next, prev int16
	bank       uint8
	tenant     uint8
	kind       uint8
	left       uint8 // bursts still to issue
	started    bool  // a command has issued for it
}

// bankList is what one kind of queued request wants from one bank.
type bankList struct {
	first, last int16
	hit         int16 // oldest request for the open row
	miss        int16 // oldest request for another row; the oldest of all when closed
}

// reply is a finished or finishing request.
type reply struct {
	depart uint64
	id     int32
	write  bool
	tenant uint8
}

// Channel is one memory channel. It is not safe for concurrent use.
type Channel struct {
	cfg *Config
	tab *tables

	// Trace, when set, sees every command as it issues. Rank-wide commands carry
	// AllBanks in BankGroup and Bank.
	Trace func(now uint64, cmd Cmd, at Loc)

	banks, groups, perRank int     // banks, bank groups, groups per rank
	grpOf, rankOf          []uint8 // of each bank
	rel                    [][]uint8
	words                  int // words of a bank mask

	// Ready times: the earliest clock each command may issue.
	bankAt [bankCmds][]uint64 // by bank
	grpAt  [bankCmds][]uint64 // by bank group: everything above the bank
	rankAt [rankCmds][]uint64 // PREA, REFab by rank
	acts   [][]uint64         // rings of the last ACT clocks, by rank and one for the channel
	actPos []int
	actNum []int

	// Bank state.
	open      []int64 // open row, -1 when closed
	openCount []int   // open banks by rank
	active    []int16 // request whose ACT has issued, by bank
	activeSeq []uint64
	activeCnt []int // by rank
	activeOn  []uint64
	actives   [numKinds]int
	promoted  uint64

	// Queues.
	slots  []request
	free   []int16
	lists  [numKinds][]bankList
	count  [numKinds]int
	hitOn  [numKinds][]uint64 // banks with a queued hit
	missOn [numKinds][]uint64 // open banks with a queued conflict
	actOn  [numKinds][]uint64 // closed banks with a queued request
	hitSeq [numKinds][]uint64 // age of the oldest hit, by bank
	oldSeq [numKinds][]uint64 // age of the oldest miss, by bank
	seq    uint64
	shared bool
	write  bool // write mode

	pending ring // reads on their way, in order of issue
	done    ring // for Pop

	// Refresh.
	nextRef  uint64
	refsDue  int // refreshes waiting, rank by rank
	refRank  int
	edgeRank int // HalfCycle: rank, bank and falling edge of the last rising row command
	edgeBank int
	edgeAt   uint64

	// Event times: lower bounds, exact after a scan that found nothing.
	last    uint64 // last step
	next    uint64 // next step
	begun   bool
	tActive uint64    // activated requests
	due     [3]uint64 // queue commands by class

	multi          bool     // a request of several bursts has been seen
	preHold        []uint64 // banks whose row a queued PRE must not close; activeOn but on some falling edges
	edgeHold       []uint64 // scratch for those
	hiMark, loMark float64
	rows           [][]uint64 // counters by tenant
}

// New builds an idle channel. It panics on a configuration Validate refuses or
// with constraints of an unsupported shape: configurations come from FromSheet or
// a device file, which report such errors.
func New(cfg *Config) *Channel {
	c, err := Build(cfg)
	if err != nil {
		panic(err)
	}
	return c
}

// Build is New with an error instead of a panic.
func Build(cfg *Config) (*Channel, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	tab, err := compile(cfg)
	if err != nil {
		return nil, err
	}
	c := &Channel{cfg: cfg, tab: tab, shared: cfg.WriteQueue == 0}
	c.perRank = cfg.Sids * cfg.Groups
	c.groups = cfg.Ranks * c.perRank
	c.banks = c.groups * cfg.Banks
	c.words = (c.banks + 63) / 64
	c.buildTiming()
	c.buildQueues()
	c.hiMark = cfg.HighWater * float64(cfg.WriteQueue)
	c.loMark = cfg.LowWater * float64(cfg.WriteQueue)
	c.tActive, c.due = Never, [3]uint64{Never, Never, Never}
	c.nextRef = Never
	if cfg.Refi > 0 {
		c.nextRef = uint64(cfg.Refi)
	}
	c.next = c.nextRef
	c.edgeRank = -1
	c.Count(stat.NewTable("dram", Desc, 1, max(cfg.Tenants, 1)), 0)
	return c, nil
}

func (c *Channel) buildTiming() {
	c.grpOf, c.rankOf = make([]uint8, c.banks), make([]uint8, c.banks)
	for b := range c.banks {
		c.grpOf[b] = uint8(b / c.cfg.Banks)
		c.rankOf[b] = uint8(b / (c.cfg.Banks * c.perRank))
	}
	c.rel = make([][]uint8, c.groups)
	for g := range c.rel {
		c.rel[g] = make([]uint8, c.groups)
		for h := range c.rel[g] {
			switch {
			case g == h:
				c.rel[g][h] = sameGroup
			case g/c.cfg.Groups == h/c.cfg.Groups:
				c.rel[g][h] = sameSid
			case g/c.perRank == h/c.perRank:
				c.rel[g][h] = sameRank
			default:
				c.rel[g][h] = otherRank
			}
		}
	}
	for n := range bankCmds {
		c.bankAt[n] = make([]uint64, c.banks)
		c.grpAt[n] = make([]uint64, c.groups)
	}
	for n := range rankCmds {
		c.rankAt[n] = make([]uint64, c.cfg.Ranks)
	}
	c.acts = make([][]uint64, c.cfg.Ranks+1)
	for i := range c.acts {
		c.acts[i] = make([]uint64, max(c.tab.deepest, 1))
	}
	c.actPos, c.actNum = make([]int, c.cfg.Ranks+1), make([]int, c.cfg.Ranks+1)
	c.open, c.active, c.activeSeq = make([]int64, c.banks), make([]int16, c.banks), make([]uint64, c.banks)
	for b := range c.open {
		c.open[b], c.active[b] = -1, none
	}
	c.openCount, c.activeCnt = make([]int, c.cfg.Ranks), make([]int, c.cfg.Ranks)
	c.activeOn, c.edgeHold = make([]uint64, c.words), make([]uint64, c.words)
	c.preHold = c.activeOn
}

func (c *Channel) buildQueues() {
	n := c.cfg.Queue + c.cfg.WriteQueue + c.banks
	c.slots, c.free = make([]request, n), make([]int16, n)
	for i := range c.free {
		c.free[i] = int16(n - 1 - i)
	}
	for k := range numKinds {
		c.lists[k] = make([]bankList, c.banks)
		for b := range c.lists[k] {
			c.lists[k][b] = bankList{none, none, none, none}
		}
		c.hitOn[k], c.missOn[k], c.actOn[k] = make([]uint64, c.words), make([]uint64, c.words), make([]uint64, c.words)
		c.hitSeq[k], c.oldSeq[k] = make([]uint64, c.banks), make([]uint64, c.banks)
	}
	c.pending.init(2 * n)
	c.done.init(2 * n)
}

// Count makes the channel count in t, as the given instance; t must be built on
// Desc. Counts so far stay where they were.
func (c *Channel) Count(t *stat.Table, instance int) {
	c.rows = c.rows[:0]
	for i := range t.Tenants {
		c.rows = append(c.rows, t.Row(instance, i))
	}
}

// Counters is the live counter row of a tenant, indexed by the C constants.
func (c *Channel) Counters(tenant int) []uint64 { return c.rows[tenant] }

// Queued is the number of requests waiting in the queues.
func (c *Channel) Queued() (reads, writes int) { return c.count[kindRead], c.count[kindWrite] }

// CanPush tells whether the queue has room. A Push may succeed even when it does
// not: reads that hit the write queue and writes that coalesce need no entry.
func (c *Channel) CanPush(write bool) bool {
	if c.shared {
		return c.count[kindRead]+c.count[kindWrite] < c.cfg.Queue
	}
	if write {
		return c.count[kindWrite] < c.cfg.WriteQueue
	}
	return c.count[kindRead] < c.cfg.Queue
}

// Push offers a request of bursts consecutive accesses (1 to 255) in one row, to
// be seen by the first Tick at now or later. It answers false when the queue is
// full. id comes back from Pop.
func (c *Channel) Push(now uint64, at Loc, write bool, bursts int, id int32, tenant uint8) bool {
	if now > 0 && c.next < now {
		c.advance(now - 1)
	}
	b := (int(at.Rank)*c.perRank+int(at.BankGroup))*c.cfg.Banks + int(at.Bank)
	k := kindRead
	if write {
		k = kindWrite
	}
	n := c.rows[tenant]
	if !c.shared && bursts == 1 && c.count[kindWrite] > 0 && c.queuedWrite(b, at.Row, at.Col) {
		c.fromWriteQueue(now, write, id, tenant)
		n[CReads+k]++
		n[CForwarded+k]++
		return true
	}
	if !c.CanPush(write) {
		return false
	}
	n[CReads+k]++
	i := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	c.seq++
	c.slots[i] = request{row: at.Row, col: at.Col, seq: c.seq, arrive: now, id: id, next: none, prev: none,
		bank: uint8(b), tenant: tenant, kind: uint8(k), left: uint8(bursts)}
	c.multi = c.multi || bursts > 1
	c.enqueue(i)
	c.wake(now)
	return true
}

// wake makes sure the clock of the next Tick is stepped.
func (c *Channel) wake(now uint64) {
	if c.begun && now <= c.last {
		now = c.last + 1
	}
	c.next = min(c.next, now)
}

// queuedWrite tells whether a write to the same access waits.
func (c *Channel) queuedWrite(b int, row, col uint32) bool {
	for i := c.lists[kindWrite][b].first; i != none; i = c.slots[i].next {
		if c.slots[i].row == row && c.slots[i].col == col {
			return true
		}
	}
	return false
}

// fromWriteQueue answers a read with the data of a queued write one clock after
// acceptance, behind the reads already on their way, and lets a write to the same
// place disappear into the queued one at once.
func (c *Channel) fromWriteQueue(now uint64, write bool, id int32, tenant uint8) {
	if write {
		c.done.push(reply{id: id, write: true, tenant: tenant})
		return
	}
	c.rows[tenant][CReadLatency]++
	c.pending.push(reply{depart: now, id: id, tenant: tenant})
	c.wake(now)
}

// Tick brings the channel to clock now and returns the next clock at which it
// has work: commands to issue or data to deliver. It returns Never when it is
// idle; refreshes of an idle channel are caught up, with their exact timing, at
// the next Push, Tick or Sync. Tick never goes back.
func (c *Channel) Tick(now uint64) uint64 {
	c.advance(now)
	if c.idle() {
		return Never
	}
	return c.next
}

// Sync brings counters and bank states up to clock now.
func (c *Channel) Sync(now uint64) { c.advance(now) }

// idle means no request is anywhere but waiting for Pop.
func (c *Channel) idle() bool {
	return c.count[kindRead]|c.count[kindWrite]|c.actives[kindRead]|c.actives[kindWrite]|c.pending.n == 0
}

// Pop returns the next completed request, in order of completion.
func (c *Channel) Pop() (id int32, write bool, ok bool) {
	if c.done.n == 0 {
		return 0, false, false
	}
	r := c.done.pop()
	return r.id, r.write, true
}

// Completed is the number of requests waiting for Pop.
func (c *Channel) Completed() int { return c.done.n }

// ring is a FIFO that grows when it must, which is never in steady state.
type ring struct {
	buf     []reply
	head, n int
}

func (r *ring) init(n int) {
	size := 1
	for size < n {
		size *= 2
	}
	r.buf = make([]reply, size)
}

func (r *ring) push(x reply) {
	if r.n == len(r.buf) {
		big := make([]reply, 2*len(r.buf))
		for i := range r.n {
			big[i] = r.buf[(r.head+i)&(len(r.buf)-1)]
		}
		r.buf, r.head = big, 0
	}
	r.buf[(r.head+r.n)&(len(r.buf)-1)] = x
	r.n++
}

func (r *ring) pop() reply {
	x := r.buf[r.head]
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
	return x
}
