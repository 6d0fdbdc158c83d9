package hybrid

// Hydrogen is decoupled partitioning with fast memory swaps (section IV-A), tokens for the
// migrations of the GPU (IV-B) and lazy reconfiguration (IV-D): a block that is hit by a
// class that does not own its way leaves the fast memory after the access. Misses of the CPU
// always migrate and cost nothing. Hardware: registers for cap, bw and tok, the counter of
// tokens, and a bit of each way that names its owner (0.049 % of the fast memory).
//
// With a share, tok is that part of the GPU's requests in the period before (DP+Token of
// Figure 5, section VI-B: 15 %).
//
// Where sets are divided instead of ways (section IV-F), pages have colors: blocks of the CPU
// come only into sets of its colors, and there is nothing to swap within a set.
type Hydrogen struct {
	shape   Shape
	mapping Mapping
	options HydrogenOptions
	tokens  []Tokens // one, or one per channel of the slow tier
	odd     bool     // the next swap of SwapProb happens
	// Of a share: requests of the GPU in the current period, and its number.
	requests, period uint64
}

// Owners implements Policy. If ways are divided, a set of one way in a shared channel is shared.
func (h *Hydrogen) Owners(set uint64) Owners {
	all := uint16(1<<h.shape.Ways - 1)
	o := Owners{Of: [numClasses]uint16{GPU: h.mapping.GPUWays(set)}}
	for w := range h.shape.Ways {
		if h.shape.Channel(set, w) < h.mapping.split.BW {
			o.Dedicated |= 1 << w
		}
	}
	if o.Of[CPU] = all &^ o.Of[GPU]; h.shape.Ways == 1 && h.shape.Page == 0 {
		o.Of[CPU] = all
	}
	return o
}

// Hit implements Policy.
func (h *Hydrogen) Hit(v *View, way int) (Action, int) {
	h.count(v)
	switch {
	case v.Owners.Of[v.Class]>>way&1 == 0:
		return Drop, 0
	case v.Class != CPU || v.Write || v.Owners.Dedicated>>way&1 != 0 || h.options.Swap == SwapNone:
		return Keep, 0
	}
	other := v.Victim(v.Owners.Dedicated &^ v.Busy)
	if other < 0 {
		return Keep, 0
	}
	switch h.options.Swap {
	case SwapIdeal:
		return Assign, other
	case SwapProb:
		if h.odd = !h.odd; !h.odd {
			return Keep, 0
		}
	}
	return Swap, other
}

// Miss implements Policy.
func (h *Hydrogen) Miss(v *View) Choice {
	h.count(v)
	c := v.fill(v.Owners.Of[v.Class])
	if c.Way < 0 || v.Class == CPU || h.tokens == nil {
		return c
	}
	if !h.tokens[v.Slow%len(h.tokens)].Miss(v.Now, v.Dirties(c.Way)) {
		c.Way = Bypass
	}
	return c
}

// count follows the requests of the GPU, of which a share may migrate in the next period.
func (h *Hydrogen) count(v *View) {
	if !h.options.ByShare || v.Class != GPU || v.Again {
		return
	}
	if period := v.Now / h.options.Period; period != h.period {
		last := h.requests
		if period != h.period+1 {
			last = 0
		}
		tok := uint64(h.options.Share * float64(last))
		for i := range h.tokens {
			h.tokens[i].Begin(v.Now, h.each(tok, i))
		}
		h.requests, h.period = 0, period
	}
	h.requests++
}
