package stat

import (
	"fmt"
	"strings"
)

// Sums is a copy of one tenant's counters at one time, summed over instances: a row per table of a Set, in its order.
// The difference of two copies is the count between them.
type Sums [][]uint64

// Sums copies the counters of a tenant. Gauges are 0 in it, because a span of time has no difference of a gauge.
func (s Set) Sums(tenant int) Sums { return s.copied((*Table).Totals, tenant) }

// Moved copies the counts of data moved for a tenant without its asking (NewTraffic).
func (s Set) Moved(tenant int) Sums {
	return s.copied(func(t *Table, tenant int, _ []uint64) []uint64 { return t.Moved(tenant) }, tenant)
}

func (s Set) copied(totals func(t *Table, tenant int, dst []uint64) []uint64, tenant int) Sums {
	out := make(Sums, len(s))
	for i, t := range s {
		out[i] = totals(t, tenant, nil)
		for c := range t.Desc {
			if t.Desc[c].Kind == Gauge {
				out[i][c] = 0
			}
		}
	}
	return out
}

// Any says whether anything was counted.
func (s Sums) Any() bool {
	for _, row := range s {
		for _, n := range row {
			if n > 0 {
				return true
			}
		}
	}
	return false
}

// Zero is a copy from before any counting.
func (s Set) Zero() Sums {
	out := make(Sums, len(s))
	for i, t := range s {
		out[i] = make([]uint64, len(t.Desc))
	}
	return out
}

// Minus is the count since an earlier copy.
func (s Sums) Minus(earlier Sums) Sums {
	out := make(Sums, len(s))
	for i, row := range s {
		out[i] = make([]uint64, len(row))
		for c, n := range row {
			out[i][c] = n - earlier[i][c]
		}
	}
	return out
}

// Add adds another copy to this one.
func (s Sums) Add(more Sums) {
	for i, row := range more {
		for c, n := range row {
			s[i][c] += n
		}
	}
}

// OfKind says whether an owner of counters belongs to a kind: "noc_request" and "noc_reply" are
// networks ("noc"), "dram" and "dram_far" memory tiers ("dram").
func OfKind(owner, kind string) bool {
	rest, ok := strings.CutPrefix(owner, kind)
	return ok && (rest == "" || rest[0] == '_')
}

// Parts are the counters that make up one number: those of each table of a kind, in the order of the tables.
type Parts []part

type part struct{ table, index int }

// Parts finds the counters named "kind.counter" in every table of the kind. A number that no table counts has no
// parts, and is 0; a counter that only some tables of a kind have is an error.
func (s Set) Parts(names ...string) (Parts, error) {
	var out Parts
	for _, name := range names {
		kind, short, _ := strings.Cut(name, ".")
		for i, t := range s {
			if !OfKind(t.Owner, kind) {
				continue
			}
			c := t.index(short)
			if c < 0 {
				return nil, fmt.Errorf("%s counts no %s", t.Owner, short)
			}
			out = append(out, part{i, c})
		}
	}
	return out, nil
}

func (t *Table) index(name string) int {
	for i := range t.Desc {
		if t.Desc[i].Name == name {
			return i
		}
	}
	return -1
}

// Of adds up the parts in a copy.
func (p Parts) Of(s Sums) (n uint64) {
	for _, x := range p {
		n += s[x.table][x.index]
	}
	return n
}
