// Package placement holds page placements: when a page needs a frame, a placement chooses one of the application's
// channel groups.
//
// A reader must know three types: Place makes the choice, View is what it sees, and Entry is its row in the
// table of names.
package placement

// View is what a placement sees when a page needs a frame: only the
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

// Machine is what the machine sheet gives a placement.
type Machine struct {
	Groups    int     // channel groups
	Modules   int     // of the package (noc.modules); 0 and 1: it is not one of modules
	Threshold float64 // vm.lab_threshold, from 0 to 1
}

// Entry describes a placement. Make says, if the sheet lacks something, what the placement needs.
type Entry struct {
	Name, What, Source string
	Make               func(m Machine) (Place, error)
	Again              Place // of a page that moves; nil: Least
}

// All lists the placements. To add one, write its file and put its entry here.
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

// Names are the names of all placements, as sheets give them.
func Names() (names []string) {
	for _, e := range All() {
		names = append(names, e.Name)
	}
	return names
}

// ByName finds a placement; false: there is none of this name.
func ByName(name string) (Entry, bool) {
	for _, e := range All() {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// always makes a placement that needs nothing of the machine.
func always(p Place) func(Machine) (Place, error) {
	return func(Machine) (Place, error) { return p, nil }
}
