package dram

// closes is the row policy: whether the last burst of slot i should close its
// row. Open page never does; closed page does when nothing queued wants the row.
func (c *Channel) closes(b int, i int16) bool {
	if c.cfg.Page == OpenPage {
		return false
	}
	if a := c.active[b]; a != none && a != i {
		return false
	}
	return c.lists[kindRead][b].hit == none && c.lists[kindWrite][b].hit == none
}
