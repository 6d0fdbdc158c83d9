package uvm

// migrateOversub is Oversub (5.3): at first touch until memory has been too small, from then
// on by the static threshold.
func migrateOversub(o *Occupancy) uint64 {
	if !o.Over {
		return 0
	}
	return o.Ts
}
