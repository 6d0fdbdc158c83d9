package script

import (
	"errors"

	"go.starlark.net/starlark"
)

// deviceLimit is device_limit(printf = bytes, heap = bytes): CUDA's cudaDeviceSetLimit.
func deviceLimit(e *env, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) > 0 {
		return nil, errors.New("device_limit: name the limits: device_limit(printf = bytes, heap = bytes)")
	}
	var printf, heap int64
	if err := starlark.UnpackArgs(b.Name(), nil, kwargs, "printf?", &printf, "heap?", &heap); err != nil {
		return nil, err
	}
	if printf != 0 {
		if err := e.c.SetPrintfBuffer(printf); err != nil {
			return nil, err
		}
	}
	if heap != 0 {
		if err := e.c.SetHeap(heap); err != nil {
			return nil, err
		}
	}
	return starlark.None, nil
}
