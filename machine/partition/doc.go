// Package partition divides the machine among its applications: which SMs and channel groups each of them has, where
// its CTAs go, and how SMs, channels and turns change hands. The partitions of a NUBA machine, SMs and memory that lie
// together, are not divided by it; packages interconnect and residency know them.
//
// A reader must know four types. Tenant is an application's share of the machine, Kernel a launch and its progress.
// Dispatcher hands CTAs to SMs. Partition joins the parts by which a Target is reached.
package partition
