package emulate

import (
	"strconv"
	"strings"
)

// The ISA's rules for code for the first GPUs (.target sm_10 to sm_13) on newer ones: f32 arithmetic flushes
// subnormal numbers, and mad.f32 without a rounding mode is the fused fma.rn.ftz.f32.

// before reports whether the module names a version of the ISA before major.0.
func (m *Module) before(major int) bool {
	n, _, _ := strings.Cut(m.ast.Version, ".")
	v, err := strconv.Atoi(n)
	return err == nil && v < major
}

// threadwise reports whether the target's barriers count threads, as from sm_70 on; earlier ones count warps.
func (m *Module) threadwise() bool {
	digits := strings.TrimRight(strings.TrimPrefix(m.ast.Target, "sm_"), "af")
	n, err := strconv.Atoi(digits)
	return err == nil && n >= 70
}

// flushes reports whether f32 arithmetic flushes subnormals without saying so.
func (m *Module) flushes() bool {
	switch m.ast.Target {
	case "sm_10", "sm_11", "sm_12", "sm_13":
		return true
	}
	return false
}
