//go:build invariants

package invariants

// On says that checks too slow for every run are compiled in.
const On = true
