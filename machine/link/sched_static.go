package link

import "github.com/heddle-sim/heddle/mem"

// Static is the static priority of Ganguly, 7.3.2: an application that offline profiling chose goes first,
// the others take turns when it has no transfer that may go.
type Static struct {
	high int
	rest RoundRobin
}

// Next implements Arbiter.
func (x *Static) Next(way int, waiting []Transfer, may func(t *Transfer) bool) int {
	if i := firstOf(mem.TenantID(x.high), waiting, may); i >= 0 {
		return i
	}
	return x.rest.Next(way, waiting, may)
}

// Begun implements Arbiter.
func (x *Static) Begun(way int, t *Transfer, now, cycles uint64) { x.rest.Begun(way, t, now, cycles) }

// High implements Arbiter.
func (x *Static) High() int { return x.high }
