package control

// Observe sets nothing: it takes samples. Users see in them what a policy would see, and tests that sampling changes
// nothing. Its samples are those of ugpu.
func observeEntry() Entry {
	return Entry{
		Name: "observe", Source: "none", What: "records samples and changes nothing", Period: 10_000,
		Files: []string{"demand.go"},
		Make: func(Machine, func(string) float64) Policy {
			return Of(func(s *Sample) Plan { return Nothing{Cycle: s.Cycle} })
		},
	}
}

// Nothing is the plan that asks for nothing.
type Nothing struct {
	Cycle uint64 `json:"cycle"`
}

// Request implements Plan.
func (Nothing) Request() Request { return Request{} }

// Reasons implements Plan.
func (Nothing) Reasons() []string { return nil }
