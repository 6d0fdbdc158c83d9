package stat

import (
	"fmt"
	"strings"
)

// Set is the counter tables of a machine, in the order in which they were made.
type Set []*Table

// Counter is one counter of one table: found once by name, then read without a search.
type Counter struct {
	table *Table
	index int
}

// Find finds a counter by "owner.name", as heddle inspect counters lists them. The error lists the owner's counters,
// or the owners.
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

// Kind says how the counter behaves over time and instances.
func (c Counter) Kind() Kind { return c.table.Desc[c.index].Kind }

// Of is the value of one tenant over all instances: their sum, or for a maximum the largest.
func (c Counter) Of(tenant int) uint64 {
	n := c.Instances()
	c.AddTo(n, tenant)
	return c.Fold(n)
}

// Instances makes room for a value of each instance, zeroed.
func (c Counter) Instances() []uint64 { return make([]uint64, c.table.Instances) }

// AddTo adds one tenant's counters to those of others, by instance.
func (c Counter) AddTo(sum []uint64, tenant int) {
	for i := range c.table.Instances {
		n := c.At(i, tenant)
		if c.Kind() == Maximum {
			sum[i] = max(sum[i], n)
		} else {
			sum[i] += n
		}
	}
}

// Fold combines the values of all instances into one.
func (c Counter) Fold(instances []uint64) (n uint64) {
	for _, x := range instances {
		if c.Kind() == Maximum {
			n = max(n, x)
		} else {
			n += x
		}
	}
	return n
}

// At is the counter of one instance for one tenant.
func (c Counter) At(instance, tenant int) uint64 { return c.table.Row(instance, tenant)[c.index] }
