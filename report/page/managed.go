package page

import (
	"fmt"

	"github.com/heddle-sim/heddle/sim"
)

// managedOf describes the use of managed allocations under unified memory; nil without any.
func managedOf(r *sim.Result) *table {
	if len(r.Managed) == 0 {
		return nil
	}
	t := &table{Head: []string{
		"application", "MB", "reads a page", "writes a page", "on the host", "pages that came", "again", "left",
	}}
	for i := range r.Managed {
		m := &r.Managed[i]
		pages := float64(max(1, m.Bytes/4096))
		t.Rows = append(t.Rows, []string{
			m.Tenant, fmt.Sprintf("%.3g", float64(m.Bytes)/1e6), fmt.Sprintf("%.3g", float64(m.Reads)/pages),
			fmt.Sprintf("%.3g", float64(m.Writes)/pages), shareOf(m.Remote, m.Reads+m.Writes), whole(m.Migrated),
			whole(m.Again), whole(m.Left),
		})
	}
	return t
}
