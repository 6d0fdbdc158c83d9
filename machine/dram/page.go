package dram

// closes is the row policy: whether the last burst of slot i should close its
// row. Open page never does; closed page does when nothing queued wants the row.
func (c *Channel) closes(b int, i int16) bool {
	if c.cfg.Page == OpenPage {
		return false
	}
	k := &c.bank[b]
	if k.active != none && k.active != i {
		return false
	}
	if c.share != nil && c.share.held.has(b) {
		return false // a migration needs the row
	}
	return k.list[kindRead].hit == none && k.list[kindWrite].hit == none
}
