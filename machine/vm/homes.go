package vm

import "slices"

// Homes is a policy of where pages are kept once they have been placed: it sees what an interval's
// access counters say and returns what the driver is to do with some of the pages, the most urgent
// first. It knows neither time nor frames, and keeps nothing from one interval to the next.
type Homes func(s *HomeSample) []HomeStep

// HomeSample is what the counters of an interval say, of all pages that were accessed in it.
type HomeSample struct {
	Partitions int
	Pages      []PageUse
	Room       int // frames that copies of pages may still take
	Most       int // pages the driver takes
}

// PageUse is how the partitions have used a page in an interval.
type PageUse struct {
	Home    int     // partition it lies in
	Counts  []uint8 // [partition] requests of its SMs that left their L1s; 255: so many or more
	Copied  []bool  // [partition] it has a copy; nil: the page has none. Requests to copies are in no count
	Written bool    // by anybody
}

// HomeStep is what is to become of a page: it gets another home, or copies.
type HomeStep struct {
	Page   int   // of HomeSample.Pages
	Home   int   // partition it goes to; -1: it stays
	Copies []int // partitions that get one, ascending
}

// HomesEntry is what there is to say of a policy.
type HomesEntry struct {
	Name, What, Source string
	Decide             Homes
}

// HomesEntries lists the policies of pages whose homes follow their accesses, as memory.pages names them.
func HomesEntries() []HomesEntry {
	const source = "NUBA, ASPLOS 2023, section 7.6; "
	return []HomesEntry{
		{
			"migrate", "a page goes to the partition that has accessed it most in an interval, when that are twice " +
				"as many as its home has", source + "Griffin, HPCA 2020", migrateByCount,
		},
		{
			"replicate", "a page that is only read gets copies in the partitions that read it; a write drops them",
			source + "Carrefour, ASPLOS 2013", replicatePages,
		},
	}
}

// HomesByName is the policy of that name; nil: there is none.
func HomesByName(name string) Homes {
	for _, e := range HomesEntries() {
		if e.Name == name {
			return e.Decide
		}
	}
	return nil
}

// ranked is a step and what speaks for it.
type ranked struct {
	step HomeStep
	gain int
}

// foremost are the steps with the most gain, of equal ones those of the pages that were accessed first.
func foremost(all []ranked, most int) (steps []HomeStep) {
	slices.SortStableFunc(all, func(a, b ranked) int { return b.gain - a.gain })
	for i := range min(most, len(all)) {
		steps = append(steps, all[i].step)
	}
	return steps
}
