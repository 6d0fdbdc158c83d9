package dram

import (
	"math"

	"heddle/internal/invariants"
	"heddle/stat"
)

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
	age        uint64 // number of arrival over both kinds, with kind and bank in the low bits
	arrive     uint64
	id         int32
	next, prev int16
	bank       uint8
	tenant     uint8
	kind       uint8
	left       uint8   // bursts still to issue
	started    bool    // a command has issued for it
	_          [8]byte // 48 bytes: the processor finds a field of a slot in fewer steps than with 40
}

// bankList is what one kind of queued request wants from one bank.
type bankList struct {
	first, last int16
	hit         int16 // oldest request for the open row
	miss        int16 // oldest request for another row; the oldest of all when closed
}

// bank is the state of one bank, and where the rest of it is.
type bank struct {
	open          int64             // open row, -1 when closed
	word          *word             // the word it is in
	bit           uint64            // its bit in the masks there
	effects       *[NumCmds]*effect // of commands to its group
	last          *[NumCmds]uint64  // of its rank, in Channel.last
	list          [numKinds]bankList
	active        int16 // request whose ACT has issued; none
	id, grp, rank uint8
}

// word is what a scan needs of 64 banks, side by side and in arrays whose indices need
// no check. A bank's bit in the masks is its place in the word.
type word struct {
	on     [bankCmds][numKinds]uint64 // by class: banks with a queued request that wants a command of it
	out    [bankCmds]uint64           // by class: banks that may not have one: a migration has claimed them, or some falling edges
	active uint64                     // banks with an activated request

	at    [bankCmds][64]uint64    // earliest clock of each command, as far as the bank itself goes
	since [numKinds][2][64]uint64 // complement of the age of the oldest miss and the oldest hit, where there is one
	grp   [64]uint8
}

// active is a request whose ACT has issued, or of which some bursts have.
type active struct {
	arrive           uint64
	own, above, wide *uint64 // earliest clock of its column command, as far as its bank, its group and the channel go
	slot             int16
}

func (a *active) ready() uint64 { return max(*a.own, *a.above, *a.wide) }

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

	// Event times: lower bounds, exact after a scan that found nothing.
	fresh uint64 // first clock not stepped yet
	next  uint64 // next step: work, or data to deliver
	work  uint64 // next clock at which anything but that can happen

	q       queues // of requests, by bank
	out     replies
	refresh refreshes
	edge    risingEdge
	half    uint64 // 1 for HalfCycle: rising edges are odd

	rows  []*counts
	share *share // for the migrations of the channel's stack; nil without
}

// queues are the requests of a channel, by bank: which command each wants, and from when on
// it may have it.
type queues struct {
	cfg     *Config
	perRank int // bank groups per rank

	bank []bank
	word []word
	time timing

	// Activated requests, one per bank at most, by arrival, then activation; with room for all.
	actives []active
	tActive uint64             // when one of them may have a command; Never when there are none
	due     [numClasses]uint64 // and a queued request

	slots  []request
	free   []int16 // the first unused are the slots that are
	unused int
	count  [numKinds]int
	hold   [bankCmds]uint64 // by class: all ones when a bank with an activated request may not have its command
	seq    uint64
	shared bool
	write  bool // write mode
	turn   bool // write mode is to end or to begin
	simple bool // the scheduler has one queue and one word of banks to look at
	multi  bool // a request of several bursts has been seen

	hiMark, loMark int         // write mode starts above the one and ends below the other
	places         [256]uint16 // queued writes by a hash of their place
}

// replies are finished requests.
type replies struct {
	arrival uint64 // when the first of pending is there
	pending ring   // reads on their way, in order of issue
	done    ring   // for Pop
	limit   int    // of done, above which no column command issues; 0: none
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
	c := &Channel{cfg: cfg, tab: tab}
	c.q.build(cfg, tab)
	n := 2 * len(c.q.slots)
	c.out.pending.init(n)
	c.out.done.init(n)
	c.out.arrival, c.out.limit = Never, cfg.Return
	if cfg.HalfCycle {
		c.half = 1
	}
	c.refresh.next = Never
	if cfg.Refi > 0 {
		c.refresh.next = uint64(cfg.Refi)
	}
	c.work, c.next = c.refresh.next, c.refresh.next
	c.edge.rank = -1
	c.Count(stat.NewTable("dram", Desc, 1, max(cfg.Tenants, 1)), 0)
	return c, nil
}

// build makes empty queues and closed banks.
func (q *queues) build(cfg *Config, tab *tables) {
	q.cfg, q.perRank, q.shared = cfg, cfg.Sids*cfg.Groups, cfg.WriteQueue == 0
	q.bank = make([]bank, cfg.Ranks*q.perRank*cfg.Banks)
	q.word = make([]word, (len(q.bank)+63)/64)
	q.time.build(cfg, tab)
	// An activated request still needs its row; and of several bursts, before other hits.
	q.hold[classPre] = ^uint64(0)
	q.actives = make([]active, 0, len(q.bank))
	for b := range q.bank {
		k := &q.bank[b]
		k.id, k.grp, k.rank = uint8(b), uint8(b/cfg.Banks), uint8(b/(cfg.Banks*q.perRank))
		k.word, k.bit, k.effects, k.last = &q.word[b>>6], 1<<(b&63), &tab.effects[k.grp], &q.time.last[k.rank]
		k.open, k.active = -1, none
		k.word.grp[b&63] = k.grp
		for i := range k.list {
			k.list[i] = bankList{first: none, last: none, hit: none, miss: none}
		}
	}
	n := cfg.Queue + cfg.WriteQueue + len(q.bank)
	q.slots, q.free, q.unused = make([]request, n), make([]int16, n), n
	for i := range q.free {
		q.free[i] = int16(n - 1 - i)
	}
	q.hiMark = int(cfg.HighWater * float64(cfg.WriteQueue))
	q.loMark = int(math.Ceil(cfg.LowWater * float64(cfg.WriteQueue)))
	q.tActive, q.due = Never, [numClasses]uint64{Never, Never, Never}
	q.turn = q.turns()
	q.simple = cfg.Sched == FRFCFS && !q.shared && len(q.word) == 1
}

// Count makes the channel count in t, as the given instance; t must be built on
// Desc. Counts so far stay where they were.
func (c *Channel) Count(t *stat.Table, instance int) {
	c.rows = c.rows[:0]
	for i := range t.Rows() {
		c.rows = append(c.rows, (*counts)(t.Row(instance, i)))
	}
}

// Counters is the live counter row of a tenant, indexed by the C constants.
func (c *Channel) Counters(tenant int) []uint64 { return c.rows[tenant][:] }

// Queued is the number of requests waiting in the queues.
func (c *Channel) Queued() (reads, writes int) { return c.q.count[kindRead], c.q.count[kindWrite] }

// CanPush tells whether the queue has room. A Push may succeed even when it does
// not: reads that hit the write queue and writes that coalesce need no entry.
func (c *Channel) CanPush(write bool) bool {
	if c.q.shared {
		return c.q.count[kindRead]+c.q.count[kindWrite] < c.cfg.Queue
	}
	if write {
		return c.q.count[kindWrite] < c.cfg.WriteQueue
	}
	return c.q.count[kindRead] < c.cfg.Queue
}

// Push offers a request of bursts consecutive accesses (1 to 255) in one row, to
// be seen by the first Tick at now or later. It answers false when the queue is
// full. id comes back from Pop.
func (c *Channel) Push(now uint64, at Loc, write bool, bursts int, id int32, tenant uint8) bool {
	if c.next < now {
		c.advance(now - 1)
	}
	if c.q.count[kindWrite] == 0 && !c.CanPush(write) {
		return false // as soon as possible: a caller may ask often
	}
	b := c.q.bankIndex(at.Rank, at.BankGroup, at.Bank)
	if invariants.On && c.share != nil {
		c.share.stack.checkPush(c.share.index, b, at, write, bursts)
	}
	if c.q.count[kindWrite] > 0 && bursts == 1 && !c.q.shared && c.q.places[placeHash(b, at.Row, at.Col)] > 0 &&
		c.q.queuedWrite(b, at.Row, at.Col) {
		c.fromWriteQueue(now, write, id, tenant)
		return true
	}
	if !c.CanPush(write) {
		return false
	}
	kind := uint8(kindRead)
	if write {
		kind = kindWrite
	}
	c.rows[tenant][CReads+int(kind)]++
	c.q.unused--
	i := c.q.free[c.q.unused]
	c.q.seq++
	r := &c.q.slots[i]
	r.row, r.col, r.age, r.arrive = at.Row, at.Col, c.q.seq<<ageShift|uint64(kind)*maxBanks|uint64(b), now
	r.id, r.next, r.bank, r.kind = id, none, uint8(b), kind
	r.tenant, r.left, r.started = tenant, uint8(bursts), false
	if bursts > 1 {
		c.q.multi = true
		c.q.hold[classHit] = ^uint64(0)
	}
	if c.q.enqueue(i, r) {
		c.wake(max(now, c.nextWork(now-1))) // there may be nothing to do for it yet
	}
	return true
}

// wake makes sure that a clock is stepped, now or later, when a command may issue or
// the queues be looked at again.
func (c *Channel) wake(now uint64) {
	c.work = min(c.work, max(now, c.fresh))
	c.next = min(c.next, c.work)
}

// bankIndex is the bank of a place. (Not of a Loc, as a copy would be read back in one piece
// that the fields were just written in several: the processor stalls on that.)
func (q *queues) bankIndex(rank, group, bank uint8) int {
	return (int(rank)*q.perRank+int(group))*q.cfg.Banks + int(bank)
}

// placeHash spreads places over a byte: most requests meet no queued write, and
// learn it without a walk along the bank's list.
func placeHash(b int, row, col uint32) uint8 {
	return uint8((row*0x9E3779B1 ^ col*0x85EBCA6B ^ uint32(b)*0xC2B2AE35) >> 24)
}

// queuedWrite tells whether a write to the same access waits.
func (q *queues) queuedWrite(b int, row, col uint32) bool {
	for i := q.bank[b].list[kindWrite].first; i != none; {
		r := &q.slots[i]
		if r.row == row && r.col == col {
			return true
		}
		i = r.next
	}
	return false
}

// fromWriteQueue answers a read with the data of a queued write one clock after
// acceptance, behind the reads already on their way, and lets a write to the same
// place disappear into the queued one at once.
func (c *Channel) fromWriteQueue(now uint64, write bool, id int32, tenant uint8) {
	n := c.rows[tenant]
	if write {
		n[CWrites]++
		n[CCoalesced]++
		c.out.done.push(reply{id: id, write: true, tenant: tenant})
		return
	}
	n[CReads]++
	n[CForwarded]++
	n[CReadLatency]++
	c.out.send(reply{depart: now, id: id, tenant: tenant})
	c.next = min(c.next, max(now, c.fresh))
}

// Tick brings the channel to clock now and returns the next clock at which it
// has work: commands to issue or data to deliver. It returns Never when it is
// idle; refreshes of an idle channel are caught up, with their exact timing, at
// the next Push, Tick or Sync. Tick never goes back.
func (c *Channel) Tick(now uint64) uint64 {
	if c.next <= now {
		c.advance(now)
	}
	if c.idle() {
		return Never
	}
	return c.next
}

// Sync brings counters and bank states up to clock now.
func (c *Channel) Sync(now uint64) { c.advance(now) }

// idle means no request is anywhere but waiting for Pop.
func (c *Channel) idle() bool { return c.q.unused == len(c.q.slots) && c.out.pending.n == 0 }

// Pop returns the next completed request, in order of completion.
func (c *Channel) Pop() (id int32, write bool, ok bool) {
	if c.out.done.n == 0 {
		return 0, false, false
	}
	r := c.out.done.pop()
	return r.id, r.write, true
}

// Completed is the number of requests waiting for Pop.
func (c *Channel) Completed() int { return c.out.done.n }

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
		r.grow()
	}
	r.buf[(r.head+r.n)&(len(r.buf)-1)] = x
	r.n++
}

func (r *ring) first() *reply { return &r.buf[r.head] }

func (r *ring) grow() {
	big := make([]reply, 2*len(r.buf))
	for i := range r.n {
		big[i] = r.buf[(r.head+i)&(len(r.buf)-1)]
	}
	r.buf, r.head = big, 0
}

func (r *ring) pop() reply {
	x := *r.first()
	r.head = (r.head + 1) & (len(r.buf) - 1)
	if r.n--; r.n == 0 {
		r.head = 0
	}
	return x
}
