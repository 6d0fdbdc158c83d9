package uvm

// migrateAdaptive is Adaptive (5.2.1, equation 1): while memory has not been too small,
// t_d = t_s * allocated / total + 1, rounded down; from then on t_d = t_s * (r+1) * p, with the
// round trips r of the block. Cost: the access register of 32 bits for each 64 KB.
func migrateAdaptive(o *Occupancy) uint64 {
	if o.Over {
		return o.Ts * (o.Trips + 1) * o.P
	}
	return o.Ts*o.Allocated/o.Total + 1
}
