package dram

// closes is the closed page policy: whether the last burst of r should close its
// row, which it does when nothing queued wants it.
func (q *queues) closes(r *request) bool {
	k := &q.bank[r.bank]
	if k.active != none && &q.slots[k.active] != r {
		return false
	}
	if k.word.out[classPre]&k.bit != 0 {
		return false // a migration needs the row
	}
	return k.list[kindRead].hit == none && k.list[kindWrite].hit == none
}
