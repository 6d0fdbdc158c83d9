// Package sharing divides the machine among its applications: which SMs and channel groups each of them has, where
// its CTAs go, and how SMs, channels and turns change hands. A partition is not such a share, but a part of the chip:
// SMs, LLC slices and channels that lie together (NUBA).
//
// A reader must know four types. Tenant is an application's share of the machine, Kernel a launch and its progress.
// Dispatcher hands CTAs to SMs. Sharing joins the parts by which a Target is reached.
package sharing
