package noc

// sweep allocates and switches as GPGPU-Sim's local crossbar does, which calls it iSLIP:
// the outputs take a flit each in ascending order, of the first input after their
// pointer whose first packet is for them. There is no accept phase: an input whose
// packet has gone shows its next one at once, and an output further on may take that
// in the same clock, so that one input can send several packets in a clock; the wires
// of hardware cannot. And no packet keeps an output: every sector is a packet of its own
// there, so those of several inputs take turns.
func (c *Crossbar) sweep(now uint64) {
	for out := c.requests.outs.next(0); out >= 0; out = c.requests.outs.next(out + 1) {
		asking := c.requests.of(out)
		in := asking.from(int(c.islip.grantPtr[out]), nil)
		if c.reserved[out] >= c.cfg.OutQueue { // only what has begun may end
			for n := c.cfg.Inputs; n > 0 && !c.begun(in, out); n-- {
				in = asking.from(int(wrap(in+1, c.cfg.Inputs)), nil)
			}
			if !c.begun(in, out) {
				continue
			}
		}
		c.islip.grantPtr[out] = wrap(in+1, c.cfg.Inputs)
		c.send(now, in, out)
	}
}

// begun says that the first packet of an input for an output has been switched in part.
func (c *Crossbar) begun(in, out int) bool {
	i := c.queue(in, 0, out)
	return c.packets[i*c.depth+c.in[i].head].moving
}
