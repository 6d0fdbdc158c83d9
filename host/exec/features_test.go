//go:build linux && amd64

package exec

import "testing"

// TestTextures: arrays, textures and surfaces of the runtime API.
func TestTextures(t *testing.T) {
	prints(t, "bad 0, 4 x 5 x 6 of 32 bits\nbeyond 1, large 1, twice 400, freed 0\n", "textures.cu")
}

func TestDriverTextures(t *testing.T) {
	prints(t, "bad 0, beyond 1, border 801, no format 1\n", "images.c")
}

// TestReferences: texture and surface references of CUDA 11 and older.
func TestReferences(t *testing.T) {
	program, lib := built(t, "references.cu")
	o := execute(t, t.Context(), lib, program)
	if want := "bad 0, error 0, unbound 700\n"; o.out != want {
		t.Errorf("got %swant %s%v\n%s", o.out, want, o.err, o.log)
	}
}

// TestPipelines: cuda::barrier, cuda::pipeline and cuda::atomic, whose copies are cp.async from sm_80 on.
func TestPipelines(t *testing.T) {
	const want = "around 0\npipeline 0\npipeline 0\n" +
		"total 133, big 10000000003, real 65, most 60, host 42, no error\n"
	prints(t, want, "pipelines.cu")
	prints(t, want, "-arch=sm_80", "pipelines.cu")
}

// TestBlocks: CUB's reductions and scans.
func TestBlocks(t *testing.T) { prints(t, "0 0 0 0 no error\n", "blocks.cu") }

// TestLinker: two PTX texts become one module.
func TestLinker(t *testing.T) { prints(t, "bad 0, alone 218\n", "linker.c") }

// TestHeapOfARuntime: the window is the machine's before a runtime lays its heap at random.
func TestHeapOfARuntime(t *testing.T) { prints(t, "error 0, heap elsewhere\n", "heap.c") }
