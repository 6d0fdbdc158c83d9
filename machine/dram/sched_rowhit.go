package dram

import "math/bits"

// FRFCFSRowHit is the FRFCFS-RowHit scheduler of Ramulator 2.1: FR-FCFS, but a request may not close a row while one
// that arrived no later still waits to hit it. Plain FR-FCFS takes what is ready: where tRTP is shorter than tCCD_L,
// the PRE of a younger conflict is ready before the next hit and takes the row away from it. No request starves,
// because hits that arrive after the conflict do not delay it.
//
// FRFCFSPriorHit goes further, as FRFCFS_PriorHit of Ramulator 1 does: the PRE of an older conflict waits for younger
// hits, too, for as long as they keep coming.
//
// Under both, only requests of the kind that is being served hold a row.

// able is the banks of word w that want a command of the class for a kind and may have one.
func (q *queues) able(w, class int, kind uint8) uint64 {
	banks := &q.word[w]
	m := banks.on[class&(bankCmds-1)][kind&(numKinds-1)] &^ q.blocked(banks, class)
	if class == classPre && q.guard {
		m &^= q.guarded(banks, w<<6, kind)
	}
	return m
}

// guarded is the banks of a word whose oldest request of a kind for another row has to wait for hits.
func (q *queues) guarded(banks *word, base int, kind uint8) (out uint64) {
	hits := &banks.on[classHit]
	held := hits[kind&(numKinds-1)]
	if q.shared {
		held = hits[kindRead] | hits[kindWrite]
	}
	held &= banks.on[classPre][kind&(numKinds-1)]
	if q.cfg.Sched == FRFCFSPriorHit {
		return held
	}
	for m := held; m != 0; m &= m - 1 {
		k := &q.bank[base+bits.TrailingZeros64(m)]
		if q.firstHit(k, kind) <= q.slots[k.list[kind&(numKinds-1)].miss].arrive {
			out |= k.bit
		}
	}
	return out
}

// firstHit is when the oldest hit of a bank arrived, of a kind or, in one queue, of both.
func (q *queues) firstHit(k *bank, kind uint8) uint64 {
	at := Never
	for other := range k.list {
		if i := k.list[other].hit; i != none && (q.shared || other == int(kind)) {
			at = min(at, q.slots[i].arrive)
		}
	}
	return at
}

// release looks again at what may be closed, after a hit of bank k has gone.
func (q *queues) release(k *bank) {
	if q.guard && (k.word.on[classPre][kindRead]|k.word.on[classPre][kindWrite])&k.bit != 0 {
		q.lower(classPre, k, PRE)
	}
}
