package characterise

// Classes, in the papers' words.
const (
	MemoryBound  = "memory"  // UGPU section 3.2, SMQoS Table I
	ComputeBound = "compute" //
	LowSharing   = "low"     // NUBA section 2
	HighSharing  = "high"    //
	Streaming    = "streaming"
	Regular      = "regular"
	Random       = "random"
	Irregular    = "irregular"
)

// Limits of the rules below.
const (
	unshared  = 0.8  // NUBA: in low-sharing applications more than this share of pages has one SM
	irregular = 0.1  // share of sparse and scattered warp accesses above which a pattern is irregular
	random    = 0.5  // ... above which it is random
	ordered   = 0.85 // share of block touches beside another below which a walk is not dense; random gives 2/3
	enough    = 64   // blocks of 64 KiB a launch must touch for their order to say something
	repeated  = 0.5  // share of touches of pages an earlier launch touched from which a pattern repeats
)

// Bound is UGPU's class: memory where all SMs together could ask for more than all
// channels could give.
func (t *Traffic) Bound() string {
	if t.Demand > t.Supply {
		return MemoryBound
	}
	return ComputeBound
}

// Sharing is NUBA's class, by the share of pages one SM alone touches.
func (m *Memory) Sharing() string {
	if m.SharedBy[0] > unshared {
		return LowSharing
	}
	return HighSharing
}

// Uneven is the share of sparse and scattered warp accesses, among those of two
// lanes and more.
func (m *Memory) Uneven() float64 { return m.Shapes[Sparse] + m.Shapes[Scattered] }

// Pattern is one of the four classes of the UVM dissertation's Table 1: dense and in
// order, once (streaming) or by launch after launch (regular); or not, for some
// accesses (irregular) or most (random). The thresholds are this package's: the
// dissertation defines the classes by the order of migrated blocks under
// oversubscription.
func (m *Memory) Pattern() string {
	sparse := m.OrderTouches > 0 && m.Order < ordered
	switch {
	case m.Uneven() > random || sparse && m.Uneven() > irregular:
		return Random
	case m.Uneven() > irregular || sparse:
		return Irregular
	case m.Repeat >= repeated:
		return Regular
	}
	return Streaming
}

// Dense tells the two classes of regular patterns from the two of irregular ones.
func Dense(pattern string) bool { return pattern == Streaming || pattern == Regular }

// Verdict compares a claim with a measurement.
type Verdict struct {
	App, Size, Seed string
	What            string // "bound", "sharing" or "regularity"
	Want, Got       string
	Why             string // what seeds.yaml says where they differ
}

// OK says whether the application lands in the claimed class.
func (v *Verdict) OK() bool { return v.Want == v.Got }

// Judge lists what becomes of the claims about p, in the order of the file.
func Judge(p *Profile, claims []Claim) (out []Verdict) {
	for _, c := range claims {
		if c.App != p.App {
			continue
		}
		add := func(what, want, got string) {
			if want != "" && got != "" {
				out = append(out, Verdict{p.App, p.Size, c.Seed, what, want, got, c.Why})
			}
		}
		if p.Traffic != nil {
			add("bound", c.Bound, p.Traffic.Bound())
		}
		if p.Memory != nil {
			add("sharing", c.Sharing, p.Memory.Sharing())
			if c.Pattern != "" {
				add("regularity", density(c.Pattern), density(p.Memory.Pattern()))
			}
		}
	}
	return out
}

func density(pattern string) string {
	if Dense(pattern) {
		return Regular
	}
	return Irregular
}
