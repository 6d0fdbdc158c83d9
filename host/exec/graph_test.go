//go:build linux && amd64

package exec

import (
	"strings"
	"testing"
)

func TestGraphs(t *testing.T) {
	prints(t, "while capturing: wait 900, 7 nodes, 6 edges, 2 roots, bad 0, host function 4\n"+
		"unjoined 904, nodes bad 0, changed bad 0, circle 1\n"+
		"registered bad 0, again 712, kept 0, twice 713\n", "graphs.cu")
}

// TestDriverNames: each name of the driver API is there, and cuGetProcAddress gives the version that the caller knows.
func TestDriverNames(t *testing.T) {
	program, lib := built(t, "calls.c")
	o := execute(t, t.Context(), lib, program)
	const want = `cuMemAlloc of 12000: cuMemAlloc_v2, 0, 0
cuMemAlloc of 3010: nothing, 500, 2
cuGraphAddKernelNode of 11080: cuGraphAddKernelNode, 0, 0
cuGraphAddKernelNode of 12010: cuGraphAddKernelNode_v2, 0, 0
cuLaunchKernelEx of 11050: nothing, 500, 2
cuLaunchKernelEx of 11060: cuLaunchKernelEx, 0, 0
cuCtxCreate of 11030: cuCtxCreate_v2, 0, 0
cuCtxSynchronize of 13000: cuCtxSynchronize, 0, 0
cuNoSuchCall of 12000: nothing, 500, 1
array 801, again 801
by its first name 0
`
	if o.err != nil || o.out != want {
		t.Errorf("%v, status %d, got\n%swant\n%s%s", o.err, o.status, o.out, want, o.log)
	}
	if n := strings.Count(o.log, "cuMipmappedArrayCreate"); n != 1 {
		t.Errorf("the missing call is named %d times, want once:\n%s", n, o.log)
	}
}
