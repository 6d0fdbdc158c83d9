package runfile

import "strings"

// ModeInfo describes a sharing mode for people.
type ModeInfo struct {
	Name, What, Source string
}

// ModeInfos lists the sharing modes. sim.Shares says what each gives.
func ModeInfos() []ModeInfo {
	const ugpu = "UGPU paper, section 6"
	return []ModeInfo{
		{"alone", "one application on the whole machine", ""},
		{"mps", "SMs divided (sms, or evenly), caches and memory shared", "NVIDIA MPS; " + ugpu},
		{"slices", "isolated slices: sms and channel groups per application", ugpu},
		{"bp", "balanced partition: equal isolated slices", ugpu},
		{"bp-bs", "a big slice (3/4) for the first application, a small one (1/4) for the second", ugpu},
		{"bp-sb", "a small slice for the first application, a big one for the second", ugpu},
		{"mig", "isolated slices by MIG profile, on machines that have them", "NVIDIA MIG profiles of the A100-40GB"},
	}
}

// ModeNames lists the names of the sharing modes.
func ModeNames() []string {
	var out []string
	for _, m := range ModeInfos() {
		out = append(out, m.Name)
	}
	return out
}

func listModes() string { return "; modes: " + strings.Join(ModeNames(), ", ") }
