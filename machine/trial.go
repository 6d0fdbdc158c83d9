package machine

// trial finds out whether the second core is worth waiting for. It may have another
// process's work, and then a piece of work that has both cores takes longer than on one.
// So the two ways are compared by the clock, in turns, and the better one is kept for a
// while: longer each time that one core wins again, and not for long when two take more
// time than when they won. Which way is taken changes no result.
type trial struct {
	clock func() int64 // nanoseconds; nil: the second core is always used

	begun  int64   // of the piece of work under way,
	counts bool    // which could have both cores
	alone  bool    // the way at present: one core
	turns  int     // of the comparison to come; 0: the better way is kept
	left   int64   // nanoseconds of the turn to go, or of keeping
	hold   int64   // nanoseconds that one core is kept when it wins next
	ways   [2]cost // [alone] in the comparison
	recent cost    // since, in a window
}

// cost is what simulated cycles have taken.
type cost struct {
	spent  int64 // nanoseconds
	cycles uint64
	pieces int
}

func (c *cost) add(spent int64, cycles uint64) {
	c.spent += spent
	c.cycles += cycles
	c.pieces++
}

// perCycle is the nanoseconds of a cycle.
func (c *cost) perCycle() float64 { return float64(c.spent) / float64(max(1, c.cycles)) }

// Times in nanoseconds. A turn is longer than the computer's clock errs; a comparison is
// longer than an operating system lets a process wait, and costs little of the shortest
// time that a way is kept.
const (
	trialTurn    = 4e6
	trialTurns   = 8
	turnPieces   = 4 // at least
	shortestHold = 10 * trialTurns * trialTurn
	longestHold  = 10 * shortestHold
)

// What makes one way better: a second core that saves next to nothing has a better use.
const (
	worthwhile = 1.05 // one core takes so much longer than two
	slower     = 1.3  // two take so much longer than when they won
)

func newTrial(clock func() int64) trial {
	return trial{clock: clock, turns: trialTurns, left: trialTurn, hold: shortestHold}
}

// start begins a piece of work that could perhaps have both cores.
func (t *trial) start() {
	if t.clock != nil {
		t.begun = t.clock()
	}
}

// both says that a piece of work that could have both cores has them.
func (t *trial) both() bool {
	t.counts = true
	return !t.alone
}

// end ends it, after so many simulated cycles.
func (t *trial) end(cycles uint64) {
	if t.clock == nil || !t.counts {
		return
	}
	t.counts = false
	took := t.clock() - t.begun
	t.left -= took
	t.recent.add(took, cycles)
	switch {
	case t.turns == 0:
		t.keep()
	case t.left <= 0 && t.recent.pieces >= turnPieces:
		t.turn()
	}
}

// turn ends a turn of the comparison.
func (t *trial) turn() {
	way := &t.ways[0]
	if t.alone {
		way = &t.ways[1]
	}
	way.spent += t.recent.spent
	way.cycles += t.recent.cycles
	t.recent = cost{}
	t.alone = !t.alone
	t.left = trialTurn
	if t.turns--; t.turns > 0 {
		return
	}
	t.alone = t.ways[1].perCycle() < worthwhile*t.ways[0].perCycle()
	if t.left = shortestHold; t.alone {
		t.left = t.hold
		t.hold = min(2*t.hold, longestHold)
	} else {
		t.hold = shortestHold
	}
}

// keep goes on in the better way, or begins to compare again.
func (t *trial) keep() {
	late := false
	if t.recent.spent > trialTurns*trialTurn {
		late = !t.alone && t.recent.perCycle() > slower*t.ways[0].perCycle()
		t.recent = cost{}
	}
	if t.left <= 0 || late {
		t.turns, t.left, t.ways, t.recent = trialTurns, trialTurn, [2]cost{}, cost{}
	}
}
