package placement

import "errors"

// module is placement in a package of modules with a number of channel groups each: a page goes to the module of
// the SM that touches it first, and there to the next group in turn. MCM-GPU (Arunkumar et al., ISCA 2017) as NUBA's
// section 7.6 takes it for its UBA: first touch between modules, round-robin inside. A page that no SM has touched
// yet, or whose module is full, goes round-robin over all groups.
func module(groups int) Place {
	return func(v *View) int {
		if v.Near < 0 {
			return roundRobin(v)
		}
		first, n, placed := -1, 0, 0 // the module's groups stand together
		for i, g := range v.Groups {
			if g/groups != v.Near/groups {
				continue
			}
			if first < 0 {
				first = i
			}
			n++
			placed += v.Pages[i]
		}
		if n == 0 {
			return roundRobin(v)
		}
		return first + placed%n
	}
}

func moduleEntry() Entry {
	return Entry{
		Name: "module", What: "first-touch between the modules of a package, round-robin inside them",
		Source: "NUBA, ASPLOS 2023, section 7.6; MCM-GPU, ISCA 2017",
		Make: func(m Machine) (Place, error) {
			if m.Modules < 2 {
				return nil, errors.New("noc.modules, the modules to place in")
			}
			return module(max(1, m.Groups/m.Modules)), nil
		},
	}
}
