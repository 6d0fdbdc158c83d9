package workload_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/heddle-sim/heddle/sim"
)

// simulate runs a shipped model on qv100, made small by its arguments.
func simulate(t *testing.T, change func(*sim.Spec), name string) *sim.Result {
	t.Helper()
	s := sim.Spec{Machine: "qv100", Seed: 1, Apps: []sim.App{{Name: "m", Path: "../apps/models/" + name + ".yaml"}}}
	change(&s)
	r, err := sim.Run(context.Background(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t *testing.T, r *sim.Result) string {
	t.Helper()
	c := *r
	c.Spec, c.Wall, c.SpecHash = sim.Spec{}, sim.Wall{}, ""
	b, err := json.Marshal(&c)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Results do not depend on idle skipping or strides; a recording of a model replays
// with the same timing; another seed gives another run where there is chance.
func TestOnMachine(t *testing.T) {
	plain := func(*sim.Spec) {}
	for _, name := range []string{"pointer-chase", "zipf"} {
		want := text(t, simulate(t, plain, name))
		for how, change := range map[string]func(*sim.Spec){
			"idle skipping": func(s *sim.Spec) { s.NoSkip = true },
			"lockstep":      func(s *sim.Spec) { s.Lockstep = true },
		} {
			if got := text(t, simulate(t, change, name)); got != want {
				t.Errorf("%s: %s changes the result", name, how)
			}
		}
		if got := text(t, simulate(t, func(s *sim.Spec) { s.Seed = 2 }, name)); got == want {
			t.Errorf("%s: the seed changes nothing", name)
		}
	}
	file := filepath.Join(t.TempDir(), "m.rec")
	a := simulate(t, func(s *sim.Spec) { s.Record = file }, "pointer-chase")
	b := simulate(t, func(s *sim.Spec) { s.Apps[0].Path = file }, "pointer-chase")
	if text(t, a) != text(t, b) {
		t.Error("the replay of a model differs from the model")
	}
}
