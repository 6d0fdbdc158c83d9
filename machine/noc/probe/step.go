package probe

import "github.com/heddle-sim/heddle/machine/noc"

// step is one clock: what arrives at the sinks, draws, sends, and the router.
func (p *prober) step() {
	slot := p.time % delaySlots
	for _, c := range p.credits[slot] {
		p.nodes[c.in].credit[c.vc]--
	}
	p.credits[slot] = p.credits[slot][:0]
	if p.phase != emptying {
		for i := range p.nodes {
			p.draw(i)
		}
	}
	for i := range p.nodes {
		p.send(i)
	}
	for _, f := range p.exits[slot] {
		p.land(&f)
	}
	p.exits[slot] = p.exits[slot][:0]
	sent := (p.time + delaySlots - linkDelay) % delaySlots
	for _, f := range p.links[sent] {
		if f.head {
			p.x.PushHead(p.time, f.in, f.vc, f.out, f.flits, f.id, 0)
		} else {
			p.x.PushBody(f.in, f.vc)
		}
	}
	p.links[sent] = p.links[sent][:0]
	p.x.Tick(p.time)
	p.drainOutputs()
	p.time++
}

// drainOutputs empties the ejection queues: the sinks account for flits as they
// land.
func (p *prober) drainOutputs() {
	for i := range p.nodes {
		for {
			if _, ok := p.x.Pop(i, 0); !ok {
				break
			}
		}
	}
}

// draw lets a source without a packet catch up with the clock until it draws one.
func (p *prober) draw(i int) {
	n := &p.nodes[i]
	if n.left == 0 {
		for drew := false; !drew && n.drawn <= p.time; n.drawn++ {
			if p.fracs.next() < p.rate {
				p.newPacket(n)
				drew = true
			}
		}
		if p.phase == draining && n.drawn > p.drainFrom {
			n.drained = true
		}
	}
}

func (p *prober) newPacket(n *node) {
	if len(p.free) == 0 {
		p.free = append(p.free, int32(len(p.pkts)))
		p.pkts = append(p.pkts, pkt{})
	}
	n.pkt = p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	k := &p.pkts[n.pkt]
	*k = pkt{drawn: n.drawn, dest: p.pat.dest(p.ints), flits: p.opt.Packet}
	p.ints.next() // the reference draws the sub-network, of which there is one
	k.record = p.phase == running || p.phase == draining && k.drawn < p.drainFrom
	if k.record {
		p.recorded += k.flits
	}
	p.underWay++
	n.left, n.vc = p.opt.Packet, -1
}

// send puts at most one flit on a source's link.
func (p *prober) send(i int) {
	n := &p.nodes[i]
	if n.left == 0 {
		return
	}
	k := &p.pkts[n.pkt]
	head := n.vc < 0
	if head {
		n.vc = p.chooseVC(n, k.dest)
		if n.vc < 0 {
			return
		}
	} else if n.credit[n.vc] >= p.opt.Buf {
		return
	}
	if head {
		k.entered = p.time
		n.lastVC = n.vc
	}
	n.credit[n.vc]++
	n.inject[n.vc] = append(n.inject[n.vc], p.time)
	n.left--
	if p.phase <= running {
		n.sent++
	}
	s := p.time % delaySlots
	p.links[s] = append(p.links[s], sending{in: i, vc: n.vc, out: k.dest, flits: p.opt.Packet, id: n.pkt, head: head})
}

// chooseVC is the next virtual channel with credit after the last one used, or -1.
func (p *prober) chooseVC(n *node, dest int) int {
	if p.opt.VOQ {
		if n.credit[dest] < p.opt.Buf {
			return dest
		}
		return -1
	}
	for i := 1; i <= p.opt.VCs; i++ {
		vc := 0
		if n.lastVC >= 0 {
			vc = (n.lastVC + i) % p.opt.VCs
		}
		if n.credit[vc] < p.opt.Buf {
			return vc
		}
	}
	return -1
}

// switched sees a flit win the switch: its buffer place is free, and it is on its
// way to the sink.
func (p *prober) switched(now uint64, f noc.Flight) {
	n := &p.nodes[f.In]
	q := n.inject[f.VC]
	s := (now + exitDelay) % delaySlots
	p.exits[s] = append(p.exits[s], landing{f, q[0]})
	n.inject[f.VC] = append(q[:0], q[1:]...)
	s = (now + creditDelay) % delaySlots
	p.credits[s] = append(p.credits[s], place{f.In, f.VC})
}

// land retires a flit at its sink.
func (p *prober) land(f *landing) {
	if p.phase <= running {
		p.nodes[f.Out].accepted++
	}
	k := &p.pkts[f.ID]
	p.flat.add(p.time - f.entered)
	k.flits--
	if k.record {
		p.recorded--
	}
	if !f.Tail {
		return
	}
	p.underWay--
	if p.phase == warming || k.record {
		p.plat.add(p.time - k.drawn)
		p.nlat.add(p.time - k.entered)
	}
	p.free = append(p.free, f.ID)
}
