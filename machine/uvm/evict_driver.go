package uvm

// byArrival is the order in which a driver of today evicts its chunks of 2 MB (NVIDIA
// open-gpu-kernel-modules 595.45.04, nvidia-uvm, described in words): a chunk goes to the end of
// the list when something migrates into it, never because it is used: least recently migrated.
func byArrival(a, b *chunk) int { return compare(a.arrived, b.arrived) }
