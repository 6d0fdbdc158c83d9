package runfile

import "strings"

// ModeInfo describes a sharing mode for people.
type ModeInfo struct {
	Name, What, Source string
	Policy             string // of package control; "" for static modes
}

// ModeInfos lists the sharing modes. sim.Shares says what each gives.
func ModeInfos() []ModeInfo {
	const ugpu = "UGPU paper, section 6"
	return []ModeInfo{
		{"alone", "one application on the whole machine", "", ""},
		{"mps", "SMs divided (sms, or evenly), caches and memory shared", "NVIDIA MPS; " + ugpu, ""},
		{"slices", "isolated slices: sms and channel groups per application", ugpu, ""},
		{"bp", "balanced partition: equal isolated slices", ugpu, ""},
		{"bp-bs", "a big slice (3/4) for the first application, a small one (1/4) for the second", ugpu, ""},
		{"bp-sb", "a small slice for the first application, a big one for the second", ugpu, ""},
		{"ugpu", "slices that change: at each epoch's end SMs go to compute-bound, channels to memory-bound applications; pages follow inside the HBM stack (PageMove)", ugpu, "ugpu"},
		{"ugpu-soft", "ugpu, pages moved by reads and writes through the memory system", ugpu + ".2", "ugpu"},
		{"ugpu-ori", "ugpu-soft on a conventional address map: every page is laid out anew", ugpu + ".2", "ugpu"},
		{"ugpu-qos", "ugpu that keeps applications with a qos target at it; the first begins with the big slice", ugpu + ".7", "ugpu-qos"},
		{"bp-cd", "equal slices between which CD-Search moves SMs; channels stay", ugpu + ".4", "cd-search"},
		{"timeslice", "turns on the whole machine (quantum): contexts are switched at a turn's end, memory is shared", "NVIDIA time slicing", ""},
		{"smk", "CTAs of all applications on every SM, by dominant resource fairness; memory shared", "simultaneous multikernel, HPCA 2016 (SMK-P)", ""},
		{"mig", "isolated slices by MIG profile, on machines that have them", "NVIDIA MIG profiles of A100-40GB and H100-80GB", ""},
	}
}

// ModesOf lists the sharing modes that a policy governs.
func ModesOf(policy string) (out []string) {
	for _, m := range ModeInfos() {
		if m.Policy == policy {
			out = append(out, m.Name)
		}
	}
	return out
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
