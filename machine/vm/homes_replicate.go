package vm

// Page replication. Zhao et al., "NUBA: Non-Uniform Bandwidth GPUs", ASPLOS 2023, section 7.6: "page replication if
// there is sufficient free memory, trading off memory capacity versus memory bandwidth", after Carrefour (Dashti et
// al., ASPLOS 2013). Cost: the counters of migration, and a frame for each copy; which frames are free is the
// driver's to know.
//
// Readings. A page that was not written in the interval, and to which at least two partitions have sent 8 requests
// each, gets a copy in each of these partitions that has none. Pages with the most requests go first. Free memory is
// sufficient while copies and all that has been allocated leave a tenth of it. A page that has copies is counted
// where it has none; so much is enough to get another.
const (
	copyLeast   = 8
	copyReaders = 2
)

func replicatePages(s *HomeSample) []HomeStep {
	all := s.ranked[:0]
	for i := range s.Pages {
		p := &s.Pages[i]
		if p.Written {
			continue
		}
		readers, requests := 0, 0
		var to []int
		for k, n := range p.Counts {
			has := k == p.Home || p.Copied != nil && p.Copied[k]
			requests += int(n)
			if n >= copyLeast || has && k != p.Home {
				readers++
			}
			if n >= copyLeast && !has {
				to = append(to, k)
			}
		}
		if readers >= copyReaders && len(to) > 0 {
			all = append(all, ranked{HomeStep{Page: i, Home: -1, Copies: to}, requests})
		}
	}
	steps, room := s.foremost(all), s.Room
	for i := range steps {
		if room -= len(steps[i].Copies); room < 0 {
			return steps[:i]
		}
	}
	return steps
}
