// Package translation turns virtual addresses into physical ones. It connects page tables, TLBs, MMU and driver
// (package vm) with SMs and the interconnect. The engines that copy pages share the MMU's port. On a machine that
// does not translate it brings the pages of managed memory when an SM touches them. A reader must know three types.
// Translation is the whole. Source is another component that sends requests through the MMU's port. Homes are pages
// that follow the accesses to them.
package translation
