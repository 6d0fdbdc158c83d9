package runfile

import (
	"fmt"
	"maps"
	"strings"

	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// asksUnified says that a sharing mode of the run has unified memory.
func (r *resolver) asksUnified() bool {
	asks := r.doc.Memory.Unified != Unified{}
	for _, d := range r.doc.Sharing {
		asks = asks || d.Memory.Unified != Unified{}
	}
	for k := range r.o.Set {
		asks = asks || strings.HasPrefix(k, unifiedPath)
	}
	return asks
}

// translating is the machine with the settings that unified memory needs, and a note of that. A number that the user
// has set stays, and is refused if unified memory does not work with it.
func (r *resolver) translating(spec *sim.Spec, shelf *sheets.Shelf, m *sheets.Machine, from *sheets.Provenance) (
	*sheets.Machine, *sheets.Provenance,
) {
	needs := sim.UnifiedNeeds(m)
	if len(needs) == 0 || !r.asksUnified() {
		return m, from
	}
	set := map[string]string{}
	maps.Copy(set, spec.Set)
	for _, x := range needs {
		path, value, _ := strings.Cut(x, "=")
		if _, own := set[path]; own {
			return m, from
		}
		set[path] = value
	}
	with, withFrom, err := shelf.Resolve(spec.Machine, set)
	if err != nil {
		return m, from
	}
	spec.Set = set
	t := &with.VM
	reach := float64(t.L2Entries) * float64(t.Page) / 1e6
	r.notes = append(r.notes, fmt.Sprintf("memory.unified sets %s on machine %s, because managed memory moves in "+
		"pages of %d bytes; the %d entries of its L2 TLB reach %.3g MB of such pages", strings.Join(needs, " and "),
		m.Name, t.Page, t.L2Entries, reach))
	return with, withFrom
}
