package emulate

import (
	"fmt"

	"github.com/heddle-sim/heddle/mem"
)

// 32-bit modules: ISA 1.x and 2.x code for hosts with 32-bit pointers. Device memory begins below 4 GiB, and Grid
// makes sure that it ends there for a program that launches them.

// Generic addresses of a 32-bit module: the windows of the other spaces take the last
// parts of its 4 GiB. Device memory lies below.
const (
	shortParam  = uint64(0xfd) << 24 // parameters of functions
	shortLocal  = uint64(0xfe) << 24
	shortShared = uint64(0xff) << 24
)

// short32 reports whether addresses may be held in 32-bit registers. The ISA takes a
// module without .address_size as a 32-bit one; those of compilers from before the
// directive are found with both, so that registers of either width are accepted there.
func (m *Module) short32() bool { return m.ast.AddressSize != 64 }

// Addresses is the size in bytes of the addresses that a kernel works with: 4 in 32-bit modules, else 8. Without an
// .address_size it is 4.
func (k *Kernel) Addresses() int {
	if k.module != nil && k.module.short32() {
		return 4
	}
	return 8
}

// unfold turns a 32-bit generic address into a 64-bit one.
func unfold(a uint32) uint64 {
	v := uint64(a)
	switch {
	case v < shortParam:
		return v
	case v < shortLocal:
		return paramWindow + argBase + v - shortParam
	case v < shortShared:
		return localWindow + v - shortLocal
	}
	return sharedWindow + v - shortShared
}

// fold is the 32-bit generic address of an address in a space whose window is base.
func fold(base, a uint64) uint32 {
	switch base {
	case sharedWindow:
		a += shortShared
	case localWindow:
		a += shortLocal
	case paramWindow:
		a += shortParam - argBase
	}
	return uint32(a)
}

// fitsShort checks that the memory of an application can be addressed in 32 bits.
func fitsShort(file string, sp *mem.Space) error {
	all := sp.Regions()
	if len(all) == 0 || all[len(all)-1].End() <= shortParam {
		return nil
	}
	return fmt.Errorf("%s is a 32-bit module, which reaches addresses up to 0x%x, and %s ends at 0x%x: allocate less, "+
		"or compile it with .address_size 64", file, shortParam, all[len(all)-1].Name, all[len(all)-1].End())
}
