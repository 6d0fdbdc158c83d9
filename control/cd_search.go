package control

import "slices"

// CD-Search inside balanced partitions, BP(CD-Search). Zhao, Wang and Eeckhout,
// "Classification-Driven Search for Effective SM Partitioning in Multitasking GPUs", ICS 2018, run
// as in UGPU (ISCA 2025), section 6.4: SMs move between the slices, channels do not. Period: 5 M
// core cycles. Hardware: UGPU's counters and each application's IPC of the last period.
//
// The original's text was not available; this is a reconstruction (equations 1 and 2 of UGPU for
// the off-SM bandwidth model):
//
//   - An application is memory-bound if an equal share of the SMs would want more
//     than its own channels supply.
//   - When classes are new, memory-bound applications go straight to the SMs whose
//     demand meets their supply; the compute-bound ones share what is freed.
//   - Then the search goes on by delta_sms per period while the memory-bound keep 95 %
//     of their IPC or the sum of progress (IPC over the IPC before the move) rises. A
//     long move that failed is halved, a single step undone; then it rests until
//     classes change.
//   - Gating SMs when all are memory-bound is left out: mixes of one class keep
//     their slices.
//
// There is no state but the history: what the last move was is read off the samples.
const keepIPC = 0.95

type cdSearch struct {
	m       Machine
	sms     int // of one step
	history []Sample
}

func cdSearchEntry() Entry {
	return Entry{
		Name: "cd-search", Machine: "ugpu",
		Source:   "Zhao et al., Classification-Driven Search, ICS 2018, as BP(CD-Search) of UGPU, section 6.4",
		What:     "SMs move from memory-bound to compute-bound slices by search; channels stay",
		Settings: []string{"sms"}, Period: 5_000_000, Files: []string{"cd_search_moves.go", "demand.go", "ugpu.go"},
		Params: []Param{{
			"delta_sms", 0, "SMs",
			"SMs of one step of the search; 0: SMs of the machine over its channel groups", true, 0, 0,
		}},
		Make: func(m Machine, get func(string) float64) Policy {
			return Of((&cdSearch{m: m, sms: orElse(get("delta_sms"), m.SMs/m.Groups)}).decide)
		},
	}
}

// class of an application in a period.
type class int8

const (
	idle class = iota
	computeBound
	memoryBound
)

func (c *cdSearch) classes(s *Sample) []class {
	out := make([]class, len(s.Apps))
	for i := range s.Apps {
		d := c.m.measure(&s.Apps[i])
		switch {
		case !d.active:
		case c.m.memoryBound(d, Alloc{c.m.SMs / len(s.Apps), s.Apps[i].Groups}):
			out[i] = memoryBound
		default:
			out[i] = computeBound
		}
	}
	return out
}

func (c *cdSearch) decide(s *Sample) Plan {
	c.history = append(c.history, *s)
	if s.Moving {
		return hold(s, moving)
	}
	history := c.history
	n := len(history)
	cur := &history[n-1]
	cl := c.classes(cur)
	if !slices.Contains(cl, computeBound) || !slices.Contains(cl, memoryBound) {
		return hold(cur, "all applications have the same class")
	}
	if n == 1 || !slices.Equal(cl, c.classes(&history[n-2])) {
		return c.steer(cur, cl)
	}
	prev := &history[n-2]
	moved := c.toCompute(prev, cur, cl)
	if moved == 0 {
		return hold(cur, "the search has ended and no class changed")
	}
	if n > 2 && slices.Equal(held(&history[n-3]), held(cur)) {
		return hold(cur, "the last step was undone: the search has ended")
	}
	forward := moved > 0
	switch {
	case c.better(prev, cur, cl, forward):
		return c.shift(cur, cl, forward, c.sms, "the last move raised progress: on in its direction")
	case abs(moved) > c.sms:
		return c.shift(cur, cl, !forward, abs(moved)/2, "progress fell: half of the last move is undone")
	}
	p := hold(cur, "progress fell: the last step is undone")
	for i, al := range held(prev) {
		p.Apps[i].Alloc = al
	}
	return p
}
