package control

// settled is the number of its SMs when all moves are over.
func (h *Held) settled() int { return h.SMs + h.SMsArriving - h.SMsLeaving }

// moves says that SMs are on their way to it or from it.
func (h *Held) moves() bool { return h.SMsArriving+h.SMsLeaving > 0 }

// spare is the number of SMs without an owner, powered and not, when all moves are over.
type spare struct{ idle, gated int }

func spareOf[A any, P interface {
	*A
	held() *Held
}](c *Clock, apps []A) spare {
	s := spare{c.IdleSMs - c.SMsGating, c.GatedSMs + c.SMsGating}
	for i := range apps {
		h := P(&apps[i]).held()
		s.idle += h.SMsLeaving - h.SMsArriving
	}
	return s
}

// TaskPlan divides SMs among tasks and says how many SMs are powered down.
type TaskPlan struct {
	Cycle uint64      `json:"cycle"` // of the sample
	Apps  []TaskShare `json:"apps"`
	Gated int         `json:"gated_sms"`
	Why   []string    `json:"why"`
	free  Freeing
	floor int    // SMs that a batch task keeps
	ended []bool // applications whose program has ended
}

// TaskShare is what a task shall get.
type TaskShare struct {
	Name string `json:"name"`
	SMs  int    `json:"sms"`
}

// Request implements Plan.
func (p *TaskPlan) Request() Request {
	r := Request{Gated: &p.Gated, Free: p.free}
	for _, a := range p.Apps {
		r.SMs = append(r.SMs, a.SMs)
	}
	return r
}

// Reasons implements Plan.
func (p *TaskPlan) Reasons() []string { return p.Why }

// take gives task i one more SM: an idle one, else one that is powered down, else an SM of the batch task that has
// most SMs, and more than the floor (the first of equals). from is the task that gives, -1 if the SM had no owner. ok
// is false if no task can give.
func (p *TaskPlan) take(i int, s *spare, batch func(int) bool) (from int, ok bool) {
	from = -1
	switch {
	case s.idle > 0:
		s.idle--
	case s.gated > 0:
		s.gated--
		p.Gated--
	default:
		for j := range p.Apps {
			if j != i && batch(j) && p.Apps[j].SMs > p.floor && (from < 0 || p.Apps[j].SMs > p.Apps[from].SMs) {
				from = j
			}
		}
		if from < 0 {
			return from, false
		}
		p.Apps[from].SMs--
	}
	p.Apps[i].SMs++
	return from, true
}

// feed gives each batch task without an SM one: an SM without an owner, or an SM of task ls, which needs none for
// now. ls is -1 if there is no such task.
func (p *TaskPlan) feed(ls int, s *spare) {
	for i := range p.Apps {
		if i == ls || p.Apps[i].SMs > 0 || p.ended[i] {
			continue
		}
		if _, ok := p.take(i, s, func(j int) bool { return j == ls && p.Apps[j].SMs > 1 }); ok {
			p.Why = append(p.Why, p.Apps[i].Name+" has no SM and gets one")
		}
	}
}

// floorParam is the parameter of policies that can leave batch tasks without an SM.
func floorParam() Param {
	return Param{
		"floor", 1, "SMs", "SMs that a batch task keeps, whatever a task with a target needs; with 0 it may have to " +
			"wait",
		true, 0, 1,
	}
}

// freeing is the meaning of parameter free.
func freeing(x float64) Freeing { return [...]Freeing{FreeBySwitch, FreeByDrain, ""}[int(x)] }

// freeParam is the parameter of policies that say how SMs are freed.
func freeParam() Param {
	return Param{
		"free", 0, "choice", "how an SM is freed: 0 its contexts go through memory, 1 its CTAs run to their ends, " +
			"2 the one that ends sooner, as far as known (UGPU's rule)", true, 0, 2,
	}
}
