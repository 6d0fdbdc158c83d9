package sim

import (
	"strings"
	"testing"
)

// A setting that did nothing, and a policy that changed nothing, are warnings of the result.
func TestNotes(t *testing.T) {
	for want, change := range map[string]func(s *Spec){
		"no program allocates with malloc_managed": func(s *Spec) {
			*s = unifiedSpec(Unified{Prefetch: "tbn"}, "micro/triad")
		},
		"before the driver had handled one fault": func(s *Spec) {
			*s = unifiedSpec(Unified{All: true}, "micro/triad")
			s.Length = Length{MaxCycles: 20_000, Budget: true}
		},
		"policy ugpu decides nothing: its period is 50000 cycles and the run ends at 20000": func(s *Spec) {
			*s = unifiedSpec(Unified{}, "micro/triad", "micro/vecadd")
			s.Machine, s.Sharing.Mode, s.Sharing.Epoch = "ugpu", "ugpu", 50_000
			s.Length = Length{MaxCycles: 20_000, Budget: true}
		},
		"sharing timeslice: a turn lasts 30000 cycles and the run ends at 20000": func(s *Spec) {
			*s = unifiedSpec(Unified{}, "micro/triad", "micro/triad")
			s.Sharing.Name, s.Sharing.Mode, s.Sharing.Quantum = "timeslice", "timeslice", 30_000
			s.Length = Length{MaxCycles: 20_000, Budget: true}
		},
		"memory.pages: page-move did nothing": func(s *Spec) {
			*s = unifiedSpec(Unified{}, "micro/triad", "micro/vecadd")
			s.Machine, s.Sharing.Mode, s.Sharing.Memory.Pages = "ugpu", "mps", "page-move"
			s.Length = Length{MaxCycles: 5_000, Budget: true}
		},
		"sharing ugpu ran on a hypothetical address map (map.kind: group): each page of 2097152 bytes lies in one of " +
			"8 groups": func(s *Spec) { onA100(s, "ugpu") },
		"sharing ugpu copied pages by reads and writes: a100 cannot move them": func(s *Spec) { onA100(s, "ugpu") },
		"policy ugpu: 1 decisions, 0 changes": func(s *Spec) {
			*s = unifiedSpec(Unified{}, "micro/triad", "micro/triad")
			s.Machine, s.Sharing.Mode, s.Sharing.Epoch = "ugpu", "ugpu", 15_000
			s.Length = Length{MaxCycles: 20_000, Budget: true}
		},
	} {
		var s Spec
		change(&s)
		r, err := Run(t.Context(), s, nil)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if all := strings.Join(r.Warnings, "\n"); !strings.Contains(all, want) {
			t.Errorf("want %q, got %q", want, all)
		}
	}
}

// onA100 is two short kernels under a way of sharing.
func onA100(s *Spec, mode string) {
	*s = unifiedSpec(Unified{}, "micro/triad", "micro/vecadd")
	s.Machine, s.Sharing.Name, s.Sharing.Mode, s.Sharing.Epoch = "a100", mode, mode, 5_000
	s.Length = Length{MaxCycles: 10_000, Budget: true}
}

// TestOwnMap: a way of sharing that lays every page out anew has the sheet's address map, and says nothing of another.
func TestOwnMap(t *testing.T) {
	var s Spec
	onA100(&s, "ugpu-ori")
	r, err := Run(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(r.Warnings, "\n"); strings.Contains(all, "hypothetical") {
		t.Error(all)
	}
}
