//go:build !linux

package mem

import "unsafe"

// LargePages does nothing: other systems choose the size of pages themselves.
func LargePages(unsafe.Pointer, uintptr) {}
