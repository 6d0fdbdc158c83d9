//go:build !windows

package gpu

import "github.com/ebitengine/purego"

// open opens the driver's library and says where its functions are.
func open() (func(name string) (uintptr, error), error) {
	h, err := purego.Dlopen("libcuda.so.1", purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, err
	}
	return func(name string) (uintptr, error) { return purego.Dlsym(h, name) }, nil
}
