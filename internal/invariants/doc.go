// Package invariants turns expensive checks on with the build tag `invariants`:
//
//	if invariants.On && m.GroupOf(ch) != owner { invariants.Fail("...") }
//
// costs nothing without the tag, since On is a constant. The checks are those a
// whole run must satisfy: no request in another tenant's slice, nothing lost in a
// queue, bytes in equal to bytes out. It has no types: On and Fail are all there is.
package invariants

import "fmt"

// Fail stops the program: a broken invariant is a bug of the simulator, not of
// its input.
func Fail(format string, args ...any) {
	panic("invariant broken: " + fmt.Sprintf(format, args...))
}
