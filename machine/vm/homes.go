package vm

import "slices"

// Homes is a home policy: where pages are kept after they have been placed. It gets the access counters of an
// interval and returns steps for some of the pages, the most urgent first. It knows neither time nor frames, and
// keeps no state between intervals but memory for its lists.
type Homes func(s *HomeSample) []HomeStep

// HomeSample is the counters of an interval, for all pages that were accessed in it.
type HomeSample struct {
	Partitions int
	Pages      []PageUse
	Room       int // frames that copies of pages may still take
	Most       int // pages that the driver takes at most
	Carried    int // pages that can leave a partition, or reach one, in an interval

	ranked   []ranked // of the last plan, whose memory is used again
	leaving  []int    // [partition] pages that leave it,
	arriving []int    // and that reach it
}

// PageUse is the use of a page by the partitions in an interval.
type PageUse struct {
	Home    int     // partition it lies in
	Counts  []uint8 // [partition] requests of its SMs that left their L1s; 255: this number or more
	Copied  []bool  // [partition] it has a copy; nil: the page has none. Requests to copies are in no count
	Written bool    // by any partition
}

// HomeStep is a decision about a page: it gets another home, or copies.
type HomeStep struct {
	Page   int   // of HomeSample.Pages
	Home   int   // partition it goes to; -1: it stays
	Copies []int // partitions that get one, ascending
}

// HomesEntry describes a home policy.
type HomesEntry struct {
	Name, What, Source string
	Decide             Homes
}

// HomesEntries lists the home policies, as memory.pages names them.
func HomesEntries() []HomesEntry {
	const source = "NUBA, ASPLOS 2023, section 7.6; "
	return []HomesEntry{
		{
			"migrate", "a page goes to the partition that accessed it most in an interval, if it did so twice " +
				"as often as the page's home", source + "Griffin, HPCA 2020", migrateByCount,
		},
		{
			"replicate", "a page that is only read gets copies in the partitions that read it; a write drops them",
			source + "Carrefour, ASPLOS 2013", replicatePages,
		},
	}
}

// HomesByName is the home policy with a name; nil: there is none.
func HomesByName(name string) Homes {
	for _, e := range HomesEntries() {
		if e.Name == name {
			return e.Decide
		}
	}
	return nil
}

// ranked is a step and its gain.
type ranked struct {
	step HomeStep
	gain int
}

// foremost are the steps with the most gain, of equal ones those of the pages that were accessed first: no more than
// the driver takes, and than the partitions that pages leave and reach can carry in an interval. A page whose step
// does not fit any more is skipped.
func (s *HomeSample) foremost(all []ranked) (steps []HomeStep) {
	s.ranked = all
	slices.SortStableFunc(all, func(a, b ranked) int { return b.gain - a.gain })
	if len(s.leaving) != s.Partitions {
		s.leaving, s.arriving = make([]int, s.Partitions), make([]int, s.Partitions)
	}
	clear(s.leaving)
	clear(s.arriving)
	for i := range all {
		if len(steps) == s.Most {
			break
		}
		step := all[i].step
		from := s.Pages[step.Page].Home
		if step.Home >= 0 {
			if !s.fits(from, step.Home) {
				continue
			}
		} else {
			kept := step.Copies[:0]
			for _, part := range step.Copies {
				if s.fits(from, part) {
					kept = append(kept, part)
				}
			}
			if step.Copies = kept; len(kept) == 0 {
				continue
			}
		}
		steps = append(steps, step)
	}
	return steps
}

// fits counts a page that goes from one partition to another, if both can carry it.
func (s *HomeSample) fits(from, to int) bool {
	if s.leaving[from] >= s.Carried || s.arriving[to] >= s.Carried {
		return false
	}
	s.leaving[from]++
	s.arriving[to]++
	return true
}
