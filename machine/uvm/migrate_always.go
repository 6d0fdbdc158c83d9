package uvm

// migrateAlways is Always (5.3), Volta's access counters: a static threshold, whether or not
// memory is too small.
func migrateAlways(o *Occupancy) uint64 { return o.Ts }
