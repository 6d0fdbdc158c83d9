package stat

import (
	"fmt"
	"strings"
)

// Set is the tables of a machine, in the order in which they were made.
type Set []*Table

// Counter is one counter of one table, found once by name and then read as often as
// one likes.
type Counter struct {
	table *Table
	index int
}

// Find finds a counter by "owner.name", as heddle inspect counters lists them. The
// error says which the owner has, or which owners there are.
func (s Set) Find(name string) (Counter, error) {
	owner, short, _ := strings.Cut(name, ".")
	var known []string
	for _, t := range s {
		known = append(known, t.Owner)
		if t.Owner != owner {
			continue
		}
		var names []string
		for i := range t.Desc {
			if t.Desc[i].Name == short {
				return Counter{t, i}, nil
			}
			names = append(names, t.Desc[i].Name)
		}
		return Counter{}, fmt.Errorf("no counter %q: %s has %s", name, owner, strings.Join(names, ", "))
	}
	return Counter{}, fmt.Errorf("no counter %q: this machine counts %s", name, strings.Join(known, ", "))
}

// Of is the counter's sum over all instances for one tenant.
func (c Counter) Of(tenant int) uint64 { return c.table.Sum(tenant, c.index) }

// At is the counter of one instance for one tenant.
func (c Counter) At(instance, tenant int) uint64 { return c.table.Row(instance, tenant)[c.index] }
