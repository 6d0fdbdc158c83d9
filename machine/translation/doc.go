// Package translation turns virtual addresses into physical ones. It joins page tables, TLBs, MMU and driver
// (package vm) to SMs and to the interconnect, whose MMU port it shares with what copies pages. On a machine
// that does not translate it brings the pages of managed memory when an SM touches them.
//
// A reader must know three types. Translation is all of it. Source is something else that sends requests
// through the MMU's port. Homes are pages that follow the accesses to them.
package translation
