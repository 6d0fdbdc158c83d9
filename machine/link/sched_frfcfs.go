package link

// FirstReady is FR-FCFS (Ganguly, 2.3.2): the oldest transfer that may begin, of any application.
type FirstReady struct{}

// Next implements Arbiter.
func (FirstReady) Next(_ int, waiting []Transfer, may func(t *Transfer) bool) int {
	for i := range waiting {
		if may(&waiting[i]) {
			return i
		}
	}
	return -1
}

// Oldest is the order of the dissertation's public simulator: the oldest transfer goes; while it may not begin, none
// does.
type Oldest struct{ FirstReady }

// Next implements Arbiter.
func (Oldest) Next(_ int, waiting []Transfer, may func(t *Transfer) bool) int {
	if may(&waiting[0]) {
		return 0
	}
	return -1
}

// Begun implements Arbiter.
func (FirstReady) Begun(int, *Transfer, uint64, uint64) {}

// High implements Arbiter.
func (FirstReady) High() int { return -1 }
