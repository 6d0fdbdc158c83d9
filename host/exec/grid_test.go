//go:build linux && amd64

package exec

import (
	"strings"
	"testing"
)

// A grid that waits as a whole, and halves on the host.
func TestGridSync(t *testing.T) {
	program, lib := built(t, "grid.cu")
	o := execute(t, t.Context(), lib, program)
	const want = "6 6 6 0; 2e66 1 2048\n168 of 168, 0; 720\n"
	trapped := strings.Contains(o.log, "kernel rounds") && strings.Contains(o.log, "trap")
	if !strings.HasPrefix(o.out, want) || !trapped {
		t.Errorf("%v, status %d, %q\n%s", o.err, o.status, o.out, o.log)
	}
}
