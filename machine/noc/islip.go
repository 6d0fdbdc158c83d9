package noc

import "math/bits"

// allocateSwitch matches inputs with outputs by iSLIP (McKeown 1999): each free
// output offers itself to the next requesting free input after its pointer, each
// input takes the next offer after its own, and both pointers move past the pair
// when the pair was made in the first iteration.
func (c *Crossbar) allocateSwitch() {
	c.wins = c.wins[:0]
	clear(c.matched)
	clear(c.outDone)
	for iter := range c.cfg.Iterations {
		c.offerOutputs()
		if !c.takeOffers(iter == 0) {
			return
		}
	}
}

// offerOutputs is the grant phase.
func (c *Crossbar) offerOutputs() {
	staged := c.cfg.VCStage
	o := int32(c.cfg.Outputs)
	for w, m := range c.reqOut {
		for m &^= c.outDone[w]; m != 0; m &= m - 1 {
			out := w<<6 | bits.TrailingZeros64(m)
			var in int
			if h := c.holder[out]; h >= 0 { // its packet keeps the output
				if in = int(h); !c.asking(out).has(in) || c.matched.has(in) {
					continue
				}
			} else {
				if !staged && c.reserved[out] >= c.cfg.OutQueue {
					continue
				}
				if in = c.asking(out).from(int(c.grantPtr[out]), c.matched); in < 0 {
					continue
				}
			}
			d := int32(out) - c.acceptPtr[in]
			if d < 0 {
				d += o
			}
			if !c.offered.has(in) || d < c.offerAt[in] {
				c.offered.add(in)
				c.offer[in], c.offerAt[in] = int32(out), d
			}
		}
	}
}

// takeOffers is the accept phase; it reports whether any pair was made.
func (c *Crossbar) takeOffers(first bool) bool {
	any := false
	for w, m := range c.offered {
		if m == 0 {
			continue
		}
		any = true
		c.offered[w] = 0
		c.matched[w] |= m
		for ; m != 0; m &= m - 1 {
			in := w<<6 | bits.TrailingZeros64(m)
			out := c.offer[in]
			c.outDone.add(int(out))
			c.wins = append(c.wins, match{int32(in), out})
			if first {
				c.grantPtr[out] = wrap(in+1, c.cfg.Inputs)
				c.acceptPtr[in] = wrap(int(out)+1, c.cfg.Outputs)
			}
		}
	}
	return any
}

func wrap(i, n int) int32 {
	if i == n {
		return 0
	}
	return int32(i)
}

// allocateVCs matches packets at the head of input channels with free virtual
// channels of their output, by one iteration of iSLIP over all channels.
func (c *Crossbar) allocateVCs() {
	c.vcWins = c.vcWins[:0]
	v := c.cfg.VCs
	total := int32(c.cfg.Outputs * v)
	for w, m := range c.vcWantOut {
		for ; m != 0; m &= m - 1 {
			out := w<<6 | bits.TrailingZeros64(m)
			if c.reserved[out] >= c.cfg.OutQueue {
				continue
			}
			room := c.cfg.OutQueue - c.reserved[out]
			for f := c.vcFree[out]; f != 0 && room > 0; f &= f - 1 {
				ov := out*v + bits.TrailingZeros64(f)
				i := c.vcWant[out].from(int(c.vcGrantPtr[ov]), nil)
				d := int32(ov) - c.vcAcceptPtr[i]
				if d < 0 {
					d += total
				}
				if !c.vcOffered.has(i) {
					room--
				} else if d >= c.vcOfferAt[i] {
					continue
				}
				c.vcOffered.add(i)
				c.vcOffer[i], c.vcOfferAt[i] = int32(ov), d
			}
		}
	}
	for w, m := range c.vcOffered {
		c.vcOffered[w] = 0
		for ; m != 0; m &= m - 1 {
			i := w<<6 | bits.TrailingZeros64(m)
			ov := c.vcOffer[i]
			c.vcWins = append(c.vcWins, match{int32(i), ov})
			c.vcGrantPtr[ov] = wrap(i+1, len(c.in))
			c.vcAcceptPtr[i] = wrap(int(ov)+1, int(total))
		}
	}
}
