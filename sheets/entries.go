package sheets

import (
	"fmt"
	"strings"
)

// FromEntries rebuilds a machine from its name and the entries of Provenance.List, so that a result contains the
// whole machine on which it was simulated.
func FromEntries(name string, entries []Entry) (*Machine, *Provenance, error) {
	m, prov := &Machine{Name: name}, newProvenance()
	prov.Sheet = name
	for _, e := range entries {
		if e.Source == "default" { // not stated there: not stated here
			continue
		}
		var err error
		if strings.HasPrefix(e.Path, profilesPath+"[") {
			err = profileEntry(m, e)
			prov.at[profilesPath] = Entry{Path: profilesPath}
		} else {
			err = Apply(m, e.Path, e.Value)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("machine %s: %w", name, err)
		}
		prov.at[e.Path] = e
	}
	return m, prov, Validate(m)
}

// profileEntry sets a number of a MIG profile, "mig.profiles[NAME].FIELD".
func profileEntry(m *Machine, e Entry) error {
	name, field, ok := strings.Cut(strings.TrimPrefix(e.Path, profilesPath+"["), "].")
	n := len(m.MIG.Profiles)
	if n == 0 || m.MIG.Profiles[n-1].Name != name {
		m.MIG.Profiles = append(m.MIG.Profiles, Profile{Name: name, Source: e.Source})
		n++
	}
	for _, f := range profileSchema() {
		if ok && f.path == field {
			return setText(f.profileValue(&m.MIG.Profiles[n-1]), e.Value)
		}
	}
	return fmt.Errorf("no number %q in a machine", e.Path)
}
