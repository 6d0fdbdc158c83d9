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

// Kind is how a counter behaves.
type Kind uint8

const (
	Sum     Kind = iota // counts up; a span of time has the difference
	Gauge               // stands for something now; instances add up
	Maximum             // the largest so far; so is that of several instances
)

// Table holds the counters of all instances of one kind of component.
type Table struct {
	Owner     string // "sm", "llc", "dram", "noc", "mmu"
	Desc      []Desc
	Instances int
	Tenants   int
	v         []uint64 // [instance][tenant][counter]
}

// NewTable allocates zeroed counters.
func NewTable(owner string, desc []Desc, instances, tenants int) *Table {
	return &Table{Owner: owner, Desc: desc, Instances: instances, Tenants: tenants, v: make([]uint64, instances*tenants*len(desc))}
}

// Row is the counters of one instance for one tenant; hot paths keep it.
func (t *Table) Row(instance, tenant int) []uint64 {
	n := len(t.Desc)
	i := (instance*t.Tenants + tenant) * n
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
