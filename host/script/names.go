package script

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

// elsewhere are names of C, CUDA, PTX and numpy, and what scripts call the same.
func elsewhere() map[string]string {
	return map[string]string{
		"s8": "i8", "b8": "u8", "char": "i8", "int8": "i8", "uint8": "u8", "byte": "u8", "bool_": "u8",
		"s16": "i16", "b16": "u16", "short": "i16", "int16": "i16", "uint16": "u16", "ushort": "u16",
		"s32": "i32", "b32": "u32", "int": "i32", "int32": "i32", "uint32": "u32", "uint": "u32", "unsigned": "u32",
		"s64": "i64", "b64": "u64", "long": "i64", "int64": "i64", "uint64": "u64", "size_t": "u64", "ulong": "u64",
		"half": "f16", "float16": "f16", "float": "f32", "float32": "f32", "double": "f64", "float64": "f64",
		"cudaMalloc": "malloc", "cudaMallocManaged": "malloc_managed", "cudaMallocHost": "host_array",
		"cudaHostAlloc": "host_array", "cudaHostRegister": "host_register", "cudaFree": "free",
		"cudaDeviceSynchronize": "device_synchronize", "synchronize": "device_synchronize",
		"sync": "device_synchronize", "cudaMemAdvise": "mem_advise", "cudaMemPrefetchAsync": "prefetch_async",
		"cudaStreamCreate": "stream", "cudaEventCreate": "event", "cudaEventElapsedTime": "elapsed",
		"cudaDeviceSetLimit": "device_limit", "cudaLaunchKernel": "launch", "cuLaunchKernel": "launch",
		"cuModuleLoad": "module", "cuMemAlloc": "malloc",
	}
}

// unknownName is the message for a name that a script did not define: the name that it has elsewhere first,
// then one that is a slip away. hint is the interpreter's, which knows the script's own names only.
func unknownName(name, hint string) string {
	if own := elsewhere()[name]; own != "" {
		return fmt.Sprintf("undefined: %s is called %s here", name, own)
	}
	if strings.HasPrefix(name, "bf16") || name == "bfloat16" || strings.HasPrefix(name, "f8") {
		return fmt.Sprintf("undefined: %s: arrays have no such type; make one of u16 or u8 and "+
			"convert in the kernel", name)
	}
	known := slices.Concat(slices.Collect(maps.Keys(builtins())), slices.Collect(maps.Keys(constants())),
		slices.Collect(maps.Keys(starlark.Universe)))
	if hint != "" {
		known = append(known, hint)
	}
	if near := yamldoc.Nearest(name, known); near != "" {
		return fmt.Sprintf("undefined: %s; did you mean %s?", name, near)
	}
	return "undefined: " + name
}

// inOwnWords is a message of the interpreter's resolver, about unknown names in our own words.
func inOwnWords(msg string) string {
	name, ok := strings.CutPrefix(msg, "undefined: ")
	if !ok {
		return msg
	}
	name, hint, _ := strings.Cut(name, " (did you mean ")
	return unknownName(name, strings.TrimSuffix(hint, "?)"))
}

// Unpack takes an element type that is an argument.
func (t *dtype) Unpack(v starlark.Value) error {
	switch v := v.(type) {
	case dtype:
		*t = v
		return nil
	case *starlark.Builtin:
		if own := elsewhere()[v.Name()]; own != "" {
			return fmt.Errorf("%s is a function of scripts; C's %s is called %s here", v.Name(), v.Name(), own)
		}
	}
	var all []string
	for t := range host.DType(host.NumDTypes) {
		if v == starlark.String(t.String()) {
			return fmt.Errorf("%s is a text; write the type without quotes", v)
		}
		all = append(all, t.String())
	}
	return errors.New("got " + v.Type() + ", want an element type: " + strings.Join(all, ", "))
}
