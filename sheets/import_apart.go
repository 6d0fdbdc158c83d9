package sheets

import (
	"fmt"
	"strconv"
	"strings"
)

// Places of the groups of options that Heddle describes another way, in Imported.Apart.
const (
	apartManaged = iota
	apartChiplets
	apartTranslation
)

func groupsApart() []Group {
	return []Group{
		apartManaged: {Title: "keys of a run file, under memory: {unified: {...}}"},
		apartChiplets: {Title: "chiplets, which a sheet of machine nuba-mcm's kind describes (noc.topology nuba, " +
			"noc.modules)"},
		apartTranslation: {Title: "address translation, which the numbers below vm describe (heddle inspect " +
			"machine ugpu vm)"},
	}
}

// apart puts an option into the group it belongs to, if there is one.
func (im *importer) apart(o Option) bool {
	var group int
	name := strings.ToLower(o.Name)
	switch {
	case unifiedKey(o) != "":
		group, o.Why = apartManaged, unifiedKey(o)
	case strings.Contains(name, "chiplet") || strings.Contains(name, "mcm") || strings.Contains(name, "inter_gpm"):
		group, o.Why = apartChiplets, "not read"
	case strings.Contains(name, "tlb") || strings.Contains(name, "page_walk") || strings.Contains(name, "pwc"),
		strings.HasPrefix(name, "-pw_cache"), strings.HasPrefix(name, "-page_coalesce"),
		name == "-enable_page_coalescing", name == "-page_size_list", name == "-va_mask":
		group, o.Why = apartTranslation, "not read"
	default:
		return false
	}
	im.out.Apart[group].Options = append(im.out.Apart[group].Options, o)
	return true
}

// unifiedKey is the key of memory.unified that an option of UVMSmart is, as a run file has it; "" if it is none.
// The numbers of its policies are those of its published source (gpu-sim.cc).
func unifiedKey(o Option) string {
	choice := func(key string, of ...string) string {
		if n, err := strconv.Atoi(o.Value); err == nil && n >= 0 && n < len(of) {
			return key + ": " + of[n]
		}
		return fmt.Sprintf("%s: its value must be 0 to %d", key, len(of)-1)
	}
	prefetchers := []string{"none", "tbn", "sl", "random"}
	switch o.Name {
	case "-gddr_size":
		bytes, err := sizeOf(o.Value)
		if err != nil {
			return "capacity: " + err.Error()
		}
		return fmt.Sprintf("capacity: %d", bytes)
	case "-eviction_policy":
		return choice("evict", "lru2m", "tbn", "sl", "random4k", "lfu", "lru4k")
	case "-hardware_prefetch":
		return choice("prefetch", prefetchers...)
	case "-hwprefetch_oversub":
		return choice("prefetch_over", prefetchers...)
	case "-enable_dma":
		return choice("migrate", "first-touch", "adaptive", "always", "oversub")
	case "-migrate_threshold":
		return "ts: " + o.Value
	case "-multiply_dma_penalty":
		return "p: " + o.Value
	case "-reserve_accessed_page_percent":
		return "reserve: " + o.Value
	case "-invalidate_clean":
		return choice("write_back", "always", "dirty")
	case "-enable_smart_runtime":
		return choice("smart", "false", "true")
	}
	return ""
}

// sizeOf reads a size such as 1GB or 500MB.
func sizeOf(s string) (int64, error) {
	for unit, bytes := range map[string]float64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30} {
		if n, ok := strings.CutSuffix(strings.ToUpper(s), unit); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
			if err != nil || v <= 0 || v > 1<<20 {
				break
			}
			return int64(v * bytes), nil
		}
	}
	return 0, fmt.Errorf("%q is not a size such as 500MB or 1GB", s)
}
