package dram

// closes is the closed page policy: whether the last burst of r should close its
// row, which it does when nothing queued wants it.
func (c *Channel) closes(r *request) bool {
	b := int(r.bank)
	k := &c.bank[b]
	if k.active != none && &c.slots[k.active] != r {
		return false
	}
	if c.held[classPre].has(b) {
		return false // a migration needs the row
	}
	return k.list[kindRead].hit == none && k.list[kindWrite].hit == none
}
