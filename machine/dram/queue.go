package dram

import (
	"math"

	"github.com/heddle-sim/heddle/mem"
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
	tenant     mem.TenantID
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
	on [bankCmds][numKinds]uint64 // by class: banks with a queued request that wants a command of it
	// by class: banks that may not have one: a migration has claimed them, or some falling edges
	out    [bankCmds]uint64
	active uint64 // banks with an activated request

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
	guard  bool // row hits hold their rows (FRFCFSRowHit, FRFCFSPriorHit)

	hiMark, loMark int         // write mode starts above the one and ends below the other
	places         [256]uint16 // queued writes by a hash of their place
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
	q.guard = cfg.Sched == FRFCFSRowHit || cfg.Sched == FRFCFSPriorHit
	q.simple = cfg.Sched != FCFS && !q.shared && len(q.word) == 1
}

// lower lowers the bound of a class to when bank k may take its command.
func (q *queues) lower(class int, k *bank, cmd Cmd) {
	q.due[class] = min(q.due[class], q.time.ready(cmd, k))
}

// enqueue appends slot i to its bank's list and, when it becomes a candidate, lowers the bound of the command it
// needs. It says whether its command may be due before all commands that were known.
func (q *queues) enqueue(i int16, r *request) bool {
	k := &q.bank[r.bank]
	l := &k.list[r.kind&(numKinds-1)]
	r.prev = l.last
	if l.last == none {
		l.first = i
	} else {
		q.slots[l.last].next = i
	}
	l.last = i
	q.count[r.kind&(numKinds-1)]++
	q.turn = q.turns()
	if r.kind == kindWrite {
		q.places[placeHash(int(r.bank), r.row, r.col)]++
	}
	switch {
	case int64(r.row) == k.open:
		if l.hit != none {
			return q.turn
		}
		q.newHit(k, r.kind, i)
	case l.miss != none:
		return q.turn
	case k.open < 0:
		q.newMiss(classAct, k, r.kind, i)
		q.lower(classAct, k, ACT)
	default:
		q.newMiss(classPre, k, r.kind, i)
		q.lower(classPre, k, PRE)
	}
	return true
}

// want notes slot i as what a bank wants.
func (q *queues) want(k *bank, kind uint8, want int, i int16) {
	age := q.slots[i].age
	k.word.since[kind&(numKinds-1)][want][k.id&63] = ^age
}

// newHit makes slot i the oldest hit of its bank and kind.
func (q *queues) newHit(k *bank, kind uint8, i int16) {
	k.list[kind&(numKinds-1)].hit = i
	q.want(k, kind, wantHit, i)
	k.word.on[classHit][kind&(numKinds-1)] |= k.bit
	q.lower(classHit, k, RD+Cmd(kind))
}

// newMiss makes slot i the oldest request of its bank and kind that needs another
// row (classPre), or any row as the bank is closed (classAct).
func (q *queues) newMiss(class int, k *bank, kind uint8, i int16) {
	k.list[kind&(numKinds-1)].miss = i
	q.want(k, kind, wantMiss, i)
	k.word.on[class&(bankCmds-1)][kind&(numKinds-1)] |= k.bit
}

// unlink takes slot i out of its list, accounts its wait and, if its bank is and stays open, finds the list's next
// hit. (A closed bank's oldest request leaves just before opened finds the candidates again.)
func (q *queues) unlink(i int16, r *request, n *counts, now uint64) {
	k := &q.bank[r.bank]
	l := &k.list[r.kind&(numKinds-1)]
	if r.prev == none {
		l.first = r.next
	} else {
		q.slots[r.prev].next = r.next
	}
	if r.next == none {
		l.last = r.prev
	} else {
		q.slots[r.next].prev = r.prev
	}
	q.count[r.kind&(numKinds-1)]--
	q.turn = q.turns()
	if r.kind == kindWrite {
		q.places[placeHash(int(r.bank), r.row, r.col)]--
	}
	n[CQueueCycles] += now - r.arrive
	if i != l.hit {
		return
	}
	j := r.next
	for j != none && int64(q.slots[j].row) != k.open {
		j = q.slots[j].next
	}
	if j == none {
		l.hit = none
		k.word.on[classHit][r.kind&(numKinds-1)] &^= k.bit
	} else {
		l.hit = j // as ready as the one before
		q.want(k, r.kind, wantHit, j)
	}
}

// find is the oldest request for a row and the oldest for another among those from
// slot i on.
func (q *queues) find(i int16, row uint32) (hit, miss int16) {
	hit, miss = none, none
	for slots := q.slots; i != none && (hit == none || miss == none); {
		r := &slots[i]
		switch {
		case r.row != row:
			if miss == none {
				miss = i
			}
		case hit == none:
			hit = i
		}
		i = r.next
	}
	return hit, miss
}

// opened finds the candidates of bank k after a row of it was opened.
func (q *queues) opened(k *bank) {
	word, bit, conflict := k.word, k.bit, false
	for kind := range uint8(numKinds) {
		l := &k.list[kind]
		if l.miss == none {
			continue // nothing has waited for the row
		}
		word.on[classAct][kind] &^= bit
		l.miss = none
		hit, miss := q.find(l.first, uint32(k.open))
		if hit != none {
			q.newHit(k, kind, hit)
		}
		if miss != none {
			q.newMiss(classPre, k, kind, miss)
			conflict = true
		}
	}
	if conflict {
		q.lower(classPre, k, PRE)
	}
}

// closed makes the oldest requests of bank k candidates after its row was closed.
func (q *queues) closed(k *bank) {
	k.open = -1
	word, bit, wanted := k.word, k.bit, false
	for kind := range uint8(numKinds) {
		l := &k.list[kind]
		if l.first == none {
			continue // and no candidate either
		}
		word.on[classHit][kind] &^= bit
		word.on[classPre][kind] &^= bit
		l.hit = none
		q.newMiss(classAct, k, kind, l.first)
		wanted = true
	}
	if wanted {
		q.lower(classAct, k, ACT)
	}
}

// wanted tells whether a queued request of a kind being served hits the open row
// of bank b.
func (q *queues) wanted(b int) bool {
	k := &q.bank[b]
	hits := &k.word.on[classHit]
	switch {
	case q.shared:
		return (hits[kindRead]|hits[kindWrite])&k.bit != 0
	case q.write:
		return hits[kindWrite]&k.bit != 0
	}
	return hits[kindRead]&k.bit != 0
}

// activated tells whether bank b has an activated request.
func (q *queues) activated(b int) bool { return q.bank[b].active != none }

// waits tells whether a request no younger than seq that touches columns [col,
// col+n) of the row waits in bank b. An activated request is taken for all its row:
// some of its bursts may be gone.
func (q *queues) waits(b int, row, col, n uint32, seq uint64) bool {
	k := &q.bank[b]
	if k.active != none && q.slots[k.active].row == row && q.slots[k.active].age>>ageShift <= seq {
		return true
	}
	for kind := range k.list {
		for i := k.list[kind].first; i != none; i = q.slots[i].next {
			r := &q.slots[i]
			if r.age>>ageShift > seq {
				break
			}
			if r.row == row && r.col < col+n && col < r.col+uint32(r.left) {
				return true
			}
		}
	}
	return false
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
