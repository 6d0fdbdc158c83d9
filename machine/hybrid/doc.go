// Package hybrid holds what decides who has what of a memory of two tiers, fast and slow,
// that CPU cores and a GPU share. Li and Gao, "Hydrogen: Contention-Aware Hybrid Memory for
// Heterogeneous CPU-GPU Architectures", SC 2024, sections IV-A, IV-B and IV-D, Figure 3.
//
// A reader must know three types. Shape says in which superchannel a way of a set lies.
// Mapping says which ways of a set are the GPU's: decoupled partitioning, by consistent
// hashing. Tokens counts the migrations that misses of the GPU may still cause. All of it
// is pure: there is no memory behind it yet. heddle probe remap and tokens run it alone
// (package probe).
package hybrid
