package mem

import (
	"syscall"
	"unsafe"
)

// largePage is the bytes of a large page of the computer (amd64, and arm64 with small ones of 4 KB).
const largePage = 2 << 20

// LargePages asks the operating system to keep what it can of n bytes from p on in large pages. It
// may refuse, which costs time and nothing else.
func LargePages(p unsafe.Pointer, n uintptr) {
	skip := -uintptr(p) & (largePage - 1)
	if n < skip+largePage {
		return
	}
	whole := unsafe.Slice((*byte)(unsafe.Add(p, skip)), (n-skip)&^(largePage-1))
	_ = syscall.Madvise(whole, syscall.MADV_HUGEPAGE)
}
