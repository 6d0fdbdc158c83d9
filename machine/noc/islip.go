package noc

import "math/bits"

// match pairs an input with an output (ports, or virtual channels of them).
type match struct{ in, out int32 }

// switchAllocator matches inputs with outputs.
type switchAllocator struct {
	grantPtr  []int32 // by output: the input to prefer
	acceptPtr []int32 // by input: the output to prefer
	rrVC      []int32 // by input: the virtual channel to prefer

	// Scratch of one allocation.
	matched, offered bitset  // inputs
	offer, offerAt   []int32 // by input: the best output yet, and how far behind its pointer
	outDone          bitset
	wins             []match
}

func (x *switchAllocator) build(inputs, outputs int) {
	x.grantPtr, x.acceptPtr, x.rrVC = make([]int32, outputs), make([]int32, inputs), make([]int32, inputs)
	x.matched, x.offered, x.outDone = newBitset(inputs), newBitset(inputs), newBitset(outputs)
	x.offer, x.offerAt = make([]int32, inputs), make([]int32, inputs)
	x.wins = make([]match, 0, min(inputs, outputs))
}

// vcAllocator matches input virtual channels with those of outputs.
type vcAllocator struct {
	want                []bitset // by output: input virtual channels
	wantOut             bitset   // outputs some of them want
	free                []uint64 // by output: virtual channels
	grantPtr, acceptPtr []int32  // by output channel, by input channel: the one to prefer

	// Scratch of one allocation.
	offered        bitset
	offer, offerAt []int32
	wins           []match
}

// build makes the allocator of a number of input channels and outputs of vcs channels each,
// which matches no more than most in a clock.
func (x *vcAllocator) build(inputs, outputs, vcs, most int) {
	x.want, x.wantOut, x.free = make([]bitset, outputs), newBitset(outputs), make([]uint64, outputs)
	for i := range x.want {
		x.want[i], x.free[i] = newBitset(inputs), ^uint64(0)>>(64-vcs)
	}
	x.grantPtr, x.acceptPtr = make([]int32, outputs*vcs), make([]int32, inputs)
	x.offered, x.offer, x.offerAt = newBitset(inputs), make([]int32, inputs), make([]int32, inputs)
	x.wins = make([]match, 0, most)
}

// allocateSwitch matches inputs with outputs by iSLIP (McKeown 1999): each free
// output offers itself to the next requesting free input after its pointer, each
// input takes the next offer after its own, and both pointers move past the pair
// when the pair was made in the first iteration.
func (c *Crossbar) allocateSwitch() {
	c.islip.wins = c.islip.wins[:0]
	clear(c.islip.matched)
	clear(c.islip.outDone)
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
	for w, m := range c.requests.outs {
		for m &^= c.islip.outDone[w]; m != 0; m &= m - 1 {
			out := w<<6 | bits.TrailingZeros64(m)
			var in int
			if h := c.requests.holder[out]; h >= 0 { // its packet keeps the output
				if in = int(h); !c.requests.of(out).has(in) || c.islip.matched.has(in) {
					continue
				}
			} else {
				if !staged && c.reserved[out] >= c.cfg.OutQueue {
					continue
				}
				if in = c.requests.of(out).from(int(c.islip.grantPtr[out]), c.islip.matched); in < 0 {
					continue
				}
			}
			d := int32(out) - c.islip.acceptPtr[in]
			if d < 0 {
				d += o
			}
			if !c.islip.offered.has(in) || d < c.islip.offerAt[in] {
				c.islip.offered.add(in)
				c.islip.offer[in], c.islip.offerAt[in] = int32(out), d
			}
		}
	}
}

// takeOffers is the accept phase; it reports whether any pair was made.
func (c *Crossbar) takeOffers(first bool) bool {
	any := false
	for w, m := range c.islip.offered {
		if m == 0 {
			continue
		}
		any = true
		c.islip.offered[w] = 0
		c.islip.matched[w] |= m
		for ; m != 0; m &= m - 1 {
			in := w<<6 | bits.TrailingZeros64(m)
			out := c.islip.offer[in]
			c.islip.outDone.add(int(out))
			c.islip.wins = append(c.islip.wins, match{int32(in), out})
			if first {
				c.islip.grantPtr[out] = wrap(in+1, c.cfg.Inputs)
				c.islip.acceptPtr[in] = wrap(int(out)+1, c.cfg.Outputs)
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
	c.vcs.wins = c.vcs.wins[:0]
	v := c.cfg.VCs
	total := int32(c.cfg.Outputs * v)
	for w, m := range c.vcs.wantOut {
		for ; m != 0; m &= m - 1 {
			out := w<<6 | bits.TrailingZeros64(m)
			if c.reserved[out] >= c.cfg.OutQueue {
				continue
			}
			room := c.cfg.OutQueue - c.reserved[out]
			for f := c.vcs.free[out]; f != 0 && room > 0; f &= f - 1 {
				ov := out*v + bits.TrailingZeros64(f)
				i := c.vcs.want[out].from(int(c.vcs.grantPtr[ov]), nil)
				d := int32(ov) - c.vcs.acceptPtr[i]
				if d < 0 {
					d += total
				}
				if !c.vcs.offered.has(i) {
					room--
				} else if d >= c.vcs.offerAt[i] {
					continue
				}
				c.vcs.offered.add(i)
				c.vcs.offer[i], c.vcs.offerAt[i] = int32(ov), d
			}
		}
	}
	for w, m := range c.vcs.offered {
		c.vcs.offered[w] = 0
		for ; m != 0; m &= m - 1 {
			i := w<<6 | bits.TrailingZeros64(m)
			ov := c.vcs.offer[i]
			c.vcs.wins = append(c.vcs.wins, match{int32(i), ov})
			c.vcs.grantPtr[ov] = wrap(i+1, len(c.in))
			c.vcs.acceptPtr[i] = wrap(int(ov)+1, int(total))
		}
	}
}
