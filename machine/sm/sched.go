package sm

// picker chooses among the candidate warps of one scheduler (bit w = warp slot w,
// never empty). last is the slot the scheduler issued from before; older tells for
// each slot which slots' warps were launched before its own.
type picker func(cand uint64, last int, older *[64]uint64) int

var pickers = map[string]picker{"gto": gto, "lrr": lrr}
