package control

// QuotaPlan says how much applications may issue, and how many CTAs they may have, on the SMs they share.
type QuotaPlan struct {
	Cycle uint64       `json:"cycle"`
	Apps  []QuotaShare `json:"apps"`
	Gated int          `json:"gated_sms"` // SMs that are powered down in the sample
	Why   []string     `json:"why"`
	quota *Quota
}

// QuotaShare is the part of one application.
type QuotaShare struct {
	Name  string  `json:"name"`
	SMs   int     `json:"sms"`
	Quota int64   `json:"quota"` // thread instructions of a quota period, summed over all SMs
	PerSM []int64 `json:"quota_per_sm"`
	CTAs  []int   `json:"ctas,omitempty"` // the most CTAs on each SM; nil: no limit
}

// Request implements Plan.
func (p *QuotaPlan) Request() Request {
	r := Request{Quota: p.quota}
	for i := range p.Apps {
		if p.Apps[i].CTAs != nil {
			r.CTAs = append(r.CTAs, p.Apps[i].CTAs)
		}
	}
	return r
}

// Reasons implements Plan.
func (p *QuotaPlan) Reasons() []string { return p.Why }

// unlimited is a quota in thread instructions that no period uses up. It is also the greatest that an SM takes.
const unlimited = 1 << 40

// takeBack takes instructions from a new quota, to which the unused part of the last one is added: those for the
// cycles of the last period in which the application had no kernel on the GPU, as far as they were not used. At least
// one instruction stays, because an SM needs one.
func (s *QuotaShare) takeBack(cycles, period uint64, left []uint64) {
	if cycles >= period || len(left) != len(s.PerSM) {
		return
	}
	absent := float64(period-cycles) / float64(period)
	for k := range s.PerSM {
		s.PerSM[k] = max(1, s.PerSM[k]-min(int64(absent*float64(s.PerSM[k])), int64(left[k])))
	}
}
