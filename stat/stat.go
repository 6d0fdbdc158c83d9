// Package stat keeps counters: flat, integer-indexed, registered once with name,
// unit and meaning, and attributed to the application (tenant) that caused them.
package stat

// Desc describes one counter.
type Desc struct {
	Name string `json:"name"` // snake_case, unique within its owner
	Unit string `json:"unit"` // cycles, instructions, bytes, requests ...
	Doc  string `json:"-"`
	Kind Kind   `json:"-"`
}

// Kind says how a counter behaves.
type Kind uint8

const (
	Sum     Kind = iota // counts up; a span of time has the difference
	Gauge               // a current value; instances add up
	Maximum             // the largest value so far, and of several instances the largest
)

// Table holds the counters of all instances of one kind of component.
type Table struct {
	Owner     string // "sm", "llc", "dram", "noc", "mmu"
	Desc      []Desc
	Instances int
	Tenants   int
	rows      int      // per instance: one of each tenant, and of traffic one more
	v         []uint64 // [instance][row][counter]
}

// NewTable allocates zeroed counters.
func NewTable(owner string, desc []Desc, instances, tenants int) *Table {
	return &Table{
		Owner: owner, Desc: desc, Instances: instances, Tenants: tenants, rows: tenants,
		v: make([]uint64, instances*tenants*len(desc)),
	}
}

// NewTraffic allocates the counters of components that requests pass through. Data that are moved for a tenant
// without its asking, contexts and pages, count in a row of their own, mem.Moving(tenant).
func NewTraffic(owner string, desc []Desc, instances, tenants int) *Table {
	t := NewTable(owner, desc, instances, 2*tenants)
	t.Tenants = tenants
	return t
}

// Rows is the number of rows of an instance: those of the tenants, and of traffic those of
// what is moved for them.
func (t *Table) Rows() int { return t.rows }

// Moved is the counts of data moved for a tenant, summed over instances; all 0 if they are not counted separately.
func (t *Table) Moved(tenant int) []uint64 {
	if t.rows == t.Tenants {
		return make([]uint64, len(t.Desc))
	}
	return t.Totals(t.Tenants+tenant, nil)
}

// Row is the counters of one instance in one row, that of a tenant; hot paths keep it.
func (t *Table) Row(instance, tenant int) []uint64 {
	n := len(t.Desc)
	i := (instance*t.rows + tenant) * n
	return t.v[i : i+n : i+n]
}

// Sum adds counter c over all instances for one tenant.
func (t *Table) Sum(tenant, c int) uint64 {
	var s uint64
	for i := range t.Instances {
		s += t.Row(i, tenant)[c]
	}
	return s
}

// Totals sums every counter over all instances for one tenant into dst, which is
// allocated when nil, and returns it.
func (t *Table) Totals(tenant int, dst []uint64) []uint64 {
	if dst == nil {
		dst = make([]uint64, len(t.Desc))
	}
	clear(dst)
	for i := range t.Instances {
		for c, x := range t.Row(i, tenant) {
			dst[c] += x
		}
	}
	return dst
}
