package characterise

import "fmt"

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
	unshared = 0.8 // NUBA: in low-sharing applications more than this share of pages has one SM
	// share of wide accesses, of first touches by spread ones, or of thinly touched pages, above which a
	// pattern is irregular
	irregular = 0.1
	random    = 0.5  // ... from which it is random
	ordered   = 0.85 // share of block touches beside another below which a walk is not dense; random gives 2/3
	enough    = 64   // blocks of 64 KiB a launch must touch for their order to say something
	repeated  = 0.5  // share of touches of pages an earlier launch touched from which a pattern repeats
)

// Bound is UGPU's class: memory-bound if all SMs together could ask for more than all channels could give.
func (t *Traffic) Bound() string {
	if t.Demand > t.Supply {
		return MemoryBound
	}
	return ComputeBound
}

// Sharing is NUBA's class, by the share of pages that only one SM touches.
func (m *Memory) Sharing() string {
	if m.SharedBy[0] > unshared {
		return LowSharing
	}
	return HighSharing
}

// Pattern is one of the four classes of the UVM dissertation's Table 1, by its
// section 6.2: dense and in order, once (streaming) or by launch after launch
// (regular); or sparse, for some pages (irregular) or most (random). What counts are
// pages, which migrate, not how lanes coalesce. The thresholds are this package's.
func (m *Memory) Pattern() string {
	jumps := m.OrderTouches > 0 && m.Order < ordered
	switch {
	case max(m.Spread, m.Wide) >= random:
		return Random
	case max(m.Spread, m.Wide) > irregular || jumps || m.FirstTouches > enough && m.Thin > irregular:
		return Irregular
	case m.Repeat >= repeated:
		return Regular
	}
	return Streaming
}

// Dense distinguishes the two classes of regular patterns from the two of irregular ones.
func Dense(pattern string) bool { return pattern == Streaming || pattern == Regular }

// Verdict compares one statement of a paper about an application with the measurements.
type Verdict struct {
	Claim *Claim
	What  string            // "bound", "sharing" or "regularity"
	Want  string            // the paper's class
	Got   map[string]string // the class measured, by preset
	At    string            // the preset that is judged: the source's
	Part  bool              // only the beginning of that preset was measured
}

// Measured says whether the judged preset was measured, OK whether the application
// lands in the paper's class there.
func (v *Verdict) Measured() bool { return v.Got[v.At] != "" }
func (v *Verdict) OK() bool       { return v.Want == v.Got[v.At] }

// Judge lists a verdict for each claim, in the order of the file, from everything that was measured in any of the
// groups on the machine of the claim's source. Profiles with a sweep are left out, because their sizes were chosen for
// the sweep.
func Judge(groups [][]Profile, s *Seeds) (out []Verdict) {
	for i := range s.Claims {
		c := &s.Claims[i]
		at, machine := s.PresetOf(c), s.MachineOf(c)
		for _, x := range []struct {
			what, want string
			got        func(*Profile) string
		}{
			{"bound", c.Bound, (*Profile).bound},
			{"sharing", c.Sharing, (*Profile).sharing},
			{"regularity", density(c.Pattern), (*Profile).regularity},
		} {
			if x.want == "" {
				continue
			}
			v := Verdict{Claim: c, What: x.what, Want: x.want, Got: map[string]string{}, At: at}
			for _, g := range groups {
				for k := range g {
					if p := &g[k]; p.App == c.App && p.Machine == machine && len(p.SMs) == 0 {
						v.Got[p.Size] = x.got(p)
						v.Part = v.Part || p.Size == at && p.partial(x.what)
					}
				}
			}
			out = append(out, v)
		}
	}
	return out
}

// partial says whether the beginning only was measured of what a class is about.
func (p *Profile) partial(what string) bool {
	if what == "bound" {
		return p.Traffic != nil && p.Traffic.Stopped
	}
	return p.Skipped != ""
}

func (p *Profile) bound() string {
	if p.Traffic == nil || p.Traffic.ThreadInsts == 0 { // stopped before the first kernel
		return ""
	}
	return p.Traffic.Bound()
}

func (p *Profile) sharing() string {
	if p.Memory == nil {
		return ""
	}
	return p.Memory.Sharing()
}

func (p *Profile) regularity() string {
	if p.Memory == nil {
		return ""
	}
	return density(p.Memory.Pattern())
}

func density(pattern string) string {
	switch {
	case pattern == "":
		return ""
	case Dense(pattern):
		return Regular
	}
	return Irregular
}

// CheckReasons is an error where the claims' reasons do not fit the verdicts: a reason
// for a claim that holds at the preset that is judged, wholly measured.
func CheckReasons(verdicts []Verdict) error {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Claim.Why != "" && v.Measured() && v.OK() && !v.Part {
			return fmt.Errorf("characterise/seeds.yaml: %s is %s at %s as %s says, yet has a reason why not: remove it",
				v.Claim.App, v.Want, v.At, v.Claim.Seed)
		}
	}
	return nil
}
