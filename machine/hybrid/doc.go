// Package hybrid is a memory of two tiers, fast and slow, that CPU cores and a GPU share. Li
// and Gao, "Hydrogen: Contention-Aware Hybrid Memory for Heterogeneous CPU-GPU
// Architectures", SC 2024.
//
// A reader must know four types. Config is the organisation: both tiers are divided into the same number of sets, and
// a block lies in a way of its set in the fast tier or in the slow one. Controller stands between the last-level
// cache and the channels of the tiers: it looks blocks up in a remap table, and moves them. The table lies in the
// fast memory, and the controller has a cache of it. Policy decides what moves: the files place_*.go, one paper's
// idea each. Mapping is Hydrogen's: the ways of a set that are the GPU's.
//
// The way of a request: banks (controller.go) look it up (remap.go, serve.go); it reads or writes a place (layout.go,
// table.go) through the queue of a channel, or waits for a transfer (transfer.go). Data are not simulated, but their
// places are.
//
// heddle probe remap and tokens run Mapping and Tokens alone (package probe).
package hybrid
