package report

import (
	"fmt"
	"strings"

	"github.com/heddle-sim/heddle/sim"
)

// SharingClasses are the classes of NUBA's Figure 3 for pages on a machine with a number of SMs, each with the most
// SMs that touch a page of it; impossible classes are left out.
func SharingClasses(sms int) (names []string, most []int) {
	from := 1
	for _, to := range []int{1, 10, 25, sms} {
		if to = min(to, sms); from > to {
			break
		}
		name := fmt.Sprintf("%d to %d SMs", from, to)
		switch {
		case to == 1:
			name = "1 SM"
		case from == to:
			name = fmt.Sprintf("%d SMs", to)
		}
		names, most = append(names, name), append(most, to)
		from = to + 1
	}
	return names, most
}

// BySharing counts the pages of each class; byPages[n-1] are the pages that n SMs touch.
func BySharing(byPages []uint64) (pages []uint64, all uint64) {
	_, most := SharingClasses(len(byPages))
	pages = make([]uint64, len(most))
	k := 0
	for i, n := range byPages {
		if i+1 > most[k] {
			k++
		}
		pages[k] += n
		all += n
	}
	return pages, all
}

// Touches says in a line how many SMs touched how many pages; "" if the run did not count that.
func Touches(r *sim.Result) []string {
	if r.Touches == nil {
		return nil
	}
	names, _ := SharingClasses(len(r.Touches.BySMs))
	pages, all := BySharing(r.Touches.BySMs)
	line := fmt.Sprintf("pages touched: %d", all)
	var parts []string
	for k, n := range pages {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("by %s %.1f %%", names[k], 100*float64(n)/float64(all)))
		}
	}
	if line += ": " + strings.Join(parts, ", "); all == 0 {
		return []string{"pages touched: none"}
	}
	home, sum := uint64(0), uint64(0)
	for h, row := range r.Touches.Homes {
		home += row[h]
		for _, n := range row {
			sum += n
		}
	}
	if sum > 0 {
		line += fmt.Sprintf("; %.1f %% of the pages that a partition touches are its "+
			"own", 100*float64(home)/float64(sum))
	}
	return []string{line}
}
