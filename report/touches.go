package report

import "fmt"

// SharingClasses are the classes of NUBA's Figure 3 for pages on a machine of so many SMs, with the
// most SMs that touch a page of each; classes no page can be in are left out.
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
