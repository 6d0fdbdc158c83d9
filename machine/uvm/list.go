package uvm

// pageList is all valid pages in order of recency, touched or not (4.1.3): a page that comes or
// is used goes to the end. Pages of one transfer enter in ascending order, so that of equally
// recent ones the lowest is first.
type pageList struct {
	next, prev []int32 // [page+1]; entry 0 is both ends
}

func (l *pageList) init() { l.next, l.prev = []int32{0}, []int32{0} }

// grow makes room for n pages.
func (l *pageList) grow(n int) {
	for len(l.next) < n+1 {
		l.next, l.prev = append(l.next, -1), append(l.prev, -1)
	}
}

// push puts a page at the recent end, from wherever it is.
func (l *pageList) push(p page) {
	i := int32(p) + 1
	l.remove(p)
	last := l.prev[0]
	l.next[last], l.prev[i], l.next[i], l.prev[0] = i, last, 0, i
}

// remove takes a page out, if it is in.
func (l *pageList) remove(p page) {
	i := int32(p) + 1
	if l.next[i] < 0 {
		return
	}
	l.next[l.prev[i]], l.prev[l.next[i]] = l.next[i], l.prev[i]
	l.next[i], l.prev[i] = -1, -1
}

// after is the page behind p, or the first for p = -1; -1 at the end.
func (l *pageList) after(p page) page { return page(l.next[p+1] - 1) }
