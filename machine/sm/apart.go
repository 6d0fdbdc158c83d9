package sm

// An SM may run some cycles apart from the other SMs of the machine: before they run these cycles, or while they do,
// on another core of the computer. It then touches nothing that they touch. Its stores to global memory stay in a
// buffer.

// Part makes the SM run apart for a number of cycles at most.
func (s *SM) Part(cycles int) { s.lsu.link.stock.Fill(s.lsu.link.most(cycles)) }

// Work gives the SM the working memory of whatever runs it apart. No other SM may run on it at the same time.
func (s *SM) Work(on *Scratch) {
	s.pipe.work = on
	on.step.Stores, on.pass.Stores = &s.stores, &s.stores
}

// Join ends running apart: the stores of the SM become visible to the others.
func (s *SM) Join() {
	s.stores.Publish()
	s.pipe.work.step.Stores, s.pipe.work.pass.Stores = nil, nil
}
