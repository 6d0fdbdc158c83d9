package sim_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// Every key of a number in result.json and decisions.json ends in its unit, or counts
// things, or is one of the ratios that METRICS.md names. What the run file and policies
// say is theirs.
func TestKeysEndInTheirUnit(t *testing.T) {
	units := []string{"_cycle", "_cycles", "_bytes", "_j", "_s", "_per_s", "_insts", "_sectors", "_share", "_rate"}
	units = append(units, "ipc", "slowdown", "stp", "antt", "hs", "fairness", "active_lanes", "_mpki") // ratios
	counts := []string{
		"version", "line", "sms", "channels", "complete_executions", "executions", "faults", "stream", "ctas",
		"ctas_per_sm",
		"n", "turns",
		"decisions", "repartitions", "drained", "switched", "gated", "woken", "groups", "sm", "group", "cycle",
		"migration_commands", "pages_touched", "pages_background", "pages_gained", "pages_waiting",
		"cores", "pages_by_sms", "pages_by_home_and_partition",
		"reads", "writes", "remote_accesses", "migrated_pages", "thrashed_pages", "evicted_pages",
	}
	seen := 0
	var walk func(v reflect.Type)
	walk = func(v reflect.Type) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				f := v.Field(i)
				key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if key == "-" || key == "spec" || key == "sample" || key == "plan" {
					continue
				}
				in := f.Type
				for in.Kind() == reflect.Pointer || in.Kind() == reflect.Slice {
					in = in.Elem()
				}
				switch in.Kind() {
				case reflect.Int, reflect.Uint64, reflect.Float64:
					seen++
					unit := slices.ContainsFunc(units, func(u string) bool { return strings.HasSuffix(key, u) })
					if !unit && !slices.Contains(counts, key) {
						t.Errorf("%s.%s: the key %q ends in no unit and is no known count", v, f.Name, key)
					}
				default:
					walk(f.Type)
				}
			}
		}
	}
	walk(reflect.TypeFor[sim.Result]())
	walk(reflect.TypeFor[sim.Decision]())
	if seen < 80 {
		t.Errorf("only %d numbers seen", seen)
	}
}
