package vm

// Page migration by access counts. Zhao et al., "NUBA: Non-Uniform Bandwidth GPUs", ASPLOS 2023,
// section 7.6: "page migration based on page access counts over a predefined interval", after
// Griffin (Baruah et al., HPCA 2020). Cost: a counter of 8 bits for each page and partition, 32
// bytes for each page of 4 KB.
//
// Readings: neither section 7.6 nor what is recalled of Griffin gives all numbers. A page goes to the
// partition with the most requests, the lowest of equal ones, when these are at least 32 and at
// least twice its home's: Griffin calls a page dedicated whose first user has more than twice the
// requests of the second, and moves no page that is shared more evenly. Those with the greatest
// difference go first.
const (
	migrateLeast = 32
	migrateRatio = 2
)

func migrateByCount(s *HomeSample) []HomeStep {
	all := s.ranked[:0]
	for i := range s.Pages {
		p := &s.Pages[i]
		best := 0
		for k, n := range p.Counts {
			if n > p.Counts[best] {
				best = k
			}
		}
		top, home := int(p.Counts[best]), int(p.Counts[p.Home])
		if best != p.Home && top >= migrateLeast && top >= migrateRatio*home {
			all = append(all, ranked{HomeStep{Page: i, Home: best}, top - home})
		}
	}
	return s.foremost(all)
}
