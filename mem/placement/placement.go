// Package placement holds the policies by which a driver gives the pages of an application frames: each chooses one of
// its channel groups, where a group is what policies own of the memory.
//
// A reader must know three types: Place is a policy, View what it sees, and Entry how a machine sheet names it.
package placement

// View is what a placement policy sees when a page needs a frame: only the
// tenant's groups that have a free frame.
type View struct {
	Groups []int  // channel groups, ascending
	Pages  []int  // pages the tenant has in each of them
	Turn   int    // pages the tenant has placed so far
	Near   int    // group nearest to the SM that touched the page; -1: no SM did
	Draw   uint64 // pseudo-random, another one for each page
}

// Add adds a group in which the tenant has a number of pages.
func (v *View) Add(group, pages int) {
	v.Groups = append(v.Groups, group)
	v.Pages = append(v.Pages, pages)
}

// Place chooses a group: the result is an index into v.Groups, which is not empty.
type Place func(v *View) int

// Machine is what the machine sheet gives a policy.
type Machine struct {
	Groups    int     // channel groups
	Modules   int     // of the package (noc.modules); 0 and 1: it is not one of modules
	Threshold float64 // vm.lab_threshold, from 0 to 1
}

// Entry describes a policy. Make says, if the sheet lacks something, what the policy needs.
type Entry struct {
	Name, What, Source string
	Make               func(m Machine) (Place, error)
	Again              Place // of a page that moves; nil: Least
}

// All lists the policies. To add one, write its file and put its entry here.
func All() []Entry {
	return []Entry{
		roundRobinEntry(),
		leastEntry(),
		leastRandomEntry(),
		firstTouchEntry(),
		labEntry(),
		labLowestEntry(),
		moduleEntry(),
	}
}

// Names are the names of all policies, as sheets give them.
func Names() (names []string) {
	for _, e := range All() {
		names = append(names, e.Name)
	}
	return names
}

// ByName finds a policy; false: there is none of this name.
func ByName(name string) (Entry, bool) {
	for _, e := range All() {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// always makes a policy that needs nothing of the machine.
func always(p Place) func(Machine) (Place, error) {
	return func(Machine) (Place, error) { return p, nil }
}
