package uvm

import (
	"fmt"
	"strings"
)

// Occupancy is the input of a rule of migration.
type Occupancy struct {
	Ts, P     uint64 // static threshold, penalty
	Allocated uint64 // pages that have frames or soon will
	Total     uint64 // pages of device memory
	Trips     uint64 // evictions of the block so far
	Over      bool   // memory has been too small
}

// threshold says how many accesses of its 64 KB block, the present one included, bring an absent
// page to the device: 0 for any, which is migration at first touch. Where it is not 0, a write
// brings the page at once, as only one side may have it then (2.2.4).
type threshold func(o *Occupancy) uint64

type migration struct {
	name string
	rule threshold
	what string
}

func migrations() []migration {
	return []migration{
		{"first-touch", migrateFirstTouch, "every access"},
		{"always", migrateAlways, "a static threshold from the start"},
		{"oversub", migrateOversub, "a static threshold once memory has been too small"},
		{"adaptive", migrateAdaptive, "a threshold that depends on occupancy, then on round trips (equation 1)"},
	}
}

// MigrationNames are the names of the rules of migration.
func MigrationNames() (names []string) {
	for _, m := range migrations() {
		names = append(names, m.name)
	}
	return names
}

func migrationByName(name string) (m migration, err error) {
	for _, m := range migrations() {
		if m.name == name {
			return m, nil
		}
	}
	return m, fmt.Errorf("migration %q: use %s", name, strings.Join(MigrationNames(), ", "))
}
