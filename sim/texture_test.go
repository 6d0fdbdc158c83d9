package sim_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// TestTextureUnits: two applications that filter textures, and read and write a surface, get the same
// result however the simulator goes about it, under all ways to share; without texture units each row of
// texels is a load of its own.
func TestTextureUnits(t *testing.T) {
	a := sim.App{Name: "a", Path: filepath.Join("testdata", "texture"), Args: map[string]string{"n": "32"}}
	b := a
	b.Name = "b"
	of := func(s sim.Spec) (string, *sim.Result) {
		r, err := sim.Run(context.Background(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		return text(t, r), r
	}
	count := func(r *sim.Result, name string) (n uint64) {
		for _, c := range r.Tables {
			for _, v := range c.Values {
				if c.Owner == "sm" && v.Name == name {
					n += v.N
				}
			}
		}
		return n
	}
	sets := []map[string]string{
		{"sm.count": "4", "sm.texture_rate": "3", "sm.texture_queue": "0"},
		nil,
		{"sm.count": "4", "sm.texture_rate": "64", "sm.texture_latency": "0", "l1d.mshrs": "8"},
	}
	if testing.Short() {
		sets = sets[:1]
	}
	for _, set := range sets {
		for _, mode := range []string{"mps", "timeslice", "smk"} {
			s := sim.Spec{
				Machine: "ugpu", Seed: 1, Apps: []sim.App{a, b}, Set: set,
				Sharing: sim.Sharing{Mode: mode},
			}
			if mode == "timeslice" {
				s.Sharing.Quantum = 2000
			}
			what := fmt.Sprintf("%s %v", mode, set)
			want, r := of(s)
			// 32 warps of each application; in each of eight rounds three fetches, a surface load and a store
			if n := count(r, "texture_fetches"); n != 2*32*5*8 {
				t.Errorf("%s: %d fetches", what, n)
			}
			every, lockstep := s, s
			every.NoSkip, lockstep.Lockstep = true, true
			for _, other := range []sim.Spec{every, lockstep} {
				if got, _ := of(other); got != want {
					t.Errorf("%s: NoSkip %v, lockstep %v: another result", what, other.NoSkip, other.Lockstep)
				}
			}
		}
	}
	s := sim.Spec{Machine: "qv100", Seed: 1, Apps: []sim.App{a}}
	_, with := of(s)
	s.Set = map[string]string{"sm.texture_rate": "0", "sm.texture_latency": "0", "sm.texture_queue": "0"}
	_, without := of(s)
	if count(with, "loads") != 32*4*8 || count(without, "loads") != 32*(2+4+2+1)*8 || with.Cycles == without.Cycles {
		t.Errorf("%d loads in %d cycles with texture units, %d in %d without", count(with, "loads"), with.Cycles,
			count(without, "loads"), without.Cycles)
	}
}
