package control

// The parameters of a point, in the order in which they are tried.
const (
	cpuWays     = iota // cap
	cpuChannels        // bw
	tokens             // tok
	dimensions
)

// point is a place on the grid.
type point [dimensions]int

// grid is the range of a search.
type grid struct {
	start             point
	least, most, step point // a step of 0: this parameter stays
	ways, channels    int   // of the fast memory
}

// has says whether a point lies in the ranges, and the CPU's channels hold no more ways than
// are the CPU's. In sets of one way cap does not count; the GPU keeps a channel.
func (g *grid) has(p point) bool {
	for i, v := range p {
		if v < g.least[i] || v > g.most[i] {
			return false
		}
	}
	if g.ways == 1 {
		return p[cpuChannels] < g.channels
	}
	return p[cpuChannels]*g.ways <= p[cpuWays]*g.channels
}

// climb is hill climbing, a measurement at a time: from the best point a step of one parameter is tried, and further
// steps in the same direction while they are strictly better; then the other direction, then the other parameters.
// When no neighbour is better, the search has settled.
type climb struct {
	grid  grid
	best  point
	value float64 // of best, as measured in this phase
	known bool    // it was
	// tried are the neighbours of best that are not better: of each parameter, up and down.
	tried     [dimensions][2]bool
	param     int             // the parameter that is tried
	direction [dimensions]int // that is tried first: 0 up, 1 down
	trying    bool            // what is held is a neighbour of best, in this direction of param
	settled   bool
}

// held is the point that is being measured, or will be.
func (c *climb) held() point {
	if !c.trying {
		return c.best
	}
	return c.neighbour(c.param, c.direction[c.param])
}

func (c *climb) neighbour(param, direction int) point {
	p := c.best
	p[param] += c.grid.step[param] * (1 - 2*direction)
	return p
}

// measured takes the value of the point that is held, chooses the next one and says why.
func (c *climb) measured(value float64) string {
	if c.settled {
		return "the search has settled"
	}
	way := &c.direction[c.param]
	why := "the start of a search"
	switch {
	case !c.known:
		c.known, c.value = true, value
	case value > c.value:
		why = "better than the best point so far"
		c.best, c.value = c.held(), value
		c.tried = [dimensions][2]bool{}
		c.tried[c.param][1-*way] = true // it came from there
	default:
		why = "not better than the best point"
		c.tried[c.param][*way] = true
	}
	c.next()
	if c.settled {
		why += "; no neighbour of the best point is better"
	}
	return why
}

// next finds a neighbour of the best point to try; without one the search has settled.
func (c *climb) next() {
	for i := range dimensions {
		param := (c.param + i) % dimensions
		for _, way := range [2]int{c.direction[param], 1 - c.direction[param]} {
			if c.grid.step[param] == 0 || c.tried[param][way] || !c.grid.has(c.neighbour(param, way)) {
				continue
			}
			c.param, c.direction[param], c.trying = param, way, true
			return
		}
	}
	c.trying, c.settled = false, true
}

// reopen begins a new phase: at the best point, which is measured again.
func (c *climb) reopen() { *c = climb{grid: c.grid, best: c.best} }
