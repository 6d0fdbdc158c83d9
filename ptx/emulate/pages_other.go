//go:build !linux

package emulate

import "unsafe"

// largePages does nothing: other systems choose the size of pages themselves.
func largePages(unsafe.Pointer, uintptr) {}
