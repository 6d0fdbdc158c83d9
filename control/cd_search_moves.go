package control

// The moves of CD-Search and how they are judged; the rule is in cd_search.go.

// toCompute is how many SMs went to compute-bound applications between two samples.
func (c *cdSearch) toCompute(from, to *Sample, cl []class) (n int) {
	for i := range cl {
		if cl[i] == computeBound {
			n += to.Apps[i].SMs - from.Apps[i].SMs
		}
	}
	return n
}

// better says whether the last move was good, so that the search continues in its direction.
func (c *cdSearch) better(prev, cur *Sample, cl []class, forward bool) bool {
	sum, active, kept := 0.0, 0.0, forward
	for i := range cl {
		a, b := &prev.Apps[i], &cur.Apps[i]
		if a.Insts == 0 || b.Insts == 0 || a.Cycles == 0 || b.Cycles == 0 {
			continue
		}
		r := float64(b.Insts) / float64(b.Cycles) / (float64(a.Insts) / float64(a.Cycles))
		sum += r
		active++
		kept = kept && (cl[i] != memoryBound || r >= keepIPC)
	}
	return kept || sum > active
}

// steer jumps to the SMs with which demand meets supply.
func (c *cdSearch) steer(s *Sample, cl []class) *Allocation {
	p := hold(s, "new classes: memory-bound slices keep the SMs their channels can feed")
	for i := range cl {
		d := c.m.measure(&s.Apps[i])
		p.Why = append(p.Why, c.m.explain(s.Apps[i].Name, d, p.Apps[i].Alloc))
		if cl[i] != memoryBound {
			continue
		}
		enough := max(1, ceil(d.perMC*float64(p.Apps[i].Groups*c.m.Channels)/d.perSM))
		for p.Apps[i].SMs > enough {
			c.give(p, cl, i)
		}
	}
	return p
}

// give moves one SM from an application to the one of the other class with the
// fewest SMs.
func (c *cdSearch) give(p *Allocation, cl []class, from int) {
	to := -1
	for j := range cl {
		if cl[j] != idle && cl[j] != cl[from] && (to < 0 || p.Apps[j].SMs < p.Apps[to].SMs) {
			to = j
		}
	}
	p.Apps[from].SMs--
	p.Apps[to].SMs++
}

// shift moves n SMs towards the compute-bound (forward) or the memory-bound, each from the giver that has most. An
// application keeps its last SM.
func (c *cdSearch) shift(s *Sample, cl []class, forward bool, n int, why string) Plan {
	p := hold(s, why)
	giver := computeBound
	if forward {
		giver = memoryBound
	}
	for range n {
		from := -1
		for i := range cl {
			if cl[i] == giver && p.Apps[i].SMs > 1 && (from < 0 || p.Apps[i].SMs > p.Apps[from].SMs) {
				from = i
			}
		}
		if from < 0 {
			break
		}
		c.give(p, cl, from)
	}
	return p
}

// held is the division of SMs in a period.
func held(s *Sample) (out []Alloc) {
	for i := range s.Apps {
		out = append(out, Alloc{s.Apps[i].SMs, s.Apps[i].Groups})
	}
	return out
}

// hold leaves everything as it is.
func hold(s *Sample, why string) *Allocation { return Hold(&s.Clock, s.Apps, why) }

func abs(n int) int { return max(n, -n) }
