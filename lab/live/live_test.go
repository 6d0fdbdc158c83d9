package live

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sim"
)

func job(label string) lab.Job {
	return lab.Job{Label: label, Spec: sim.Spec{Length: sim.Length{MaxCycles: 1000}}}
}

func TestStatusTellsOfItsRuns(t *testing.T) {
	store := t.TempDir()
	b, err := Open(store, "sweep", "s.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Plan([]lab.Job{job("a"), job("b"), job("c")}, 4)
	first := &lab.Task{Job: job("a"), Hash: "h"}
	watch, _ := b.Start(first)
	watch(sim.Progress{Cycle: 250, CyclesPerS: 5})
	second := &lab.Task{Job: job("b")}
	_, over := b.Start(second)
	second.Err = errors.New("broken")
	over()
	b.Where("somewhere")
	if err := b.write(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store, Dir, "x.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	all := Read(store)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	s := all[0]
	if s.Kind != "sweep" || s.Todo != 3 || s.Kept != 4 || s.Finished != 1 || s.Where != "somewhere" ||
		len(s.Running) != 1 || s.Running[0].Cycle != 250 || s.Running[0].MaxCycles != 1000 ||
		s.Running[0].SpecHash != "h" || len(s.Failed) != 1 || s.Failed[0].Message != "broken" ||
		len(s.Queue) != 1 || s.Queue[0] != "c" || s.Ended {
		t.Errorf("%+v", s)
	}
	if s.Lost(s.Updated.Add(time.Second)) || !s.Lost(s.Updated.Add(time.Minute)) {
		t.Error("a process is lost when its status is old, and only then")
	}
	if err := b.Close(true); err != nil {
		t.Fatal(err)
	}
	if s := Read(store)[0]; !s.Ended || s.Lost(s.Updated.Add(time.Hour)) {
		t.Errorf("%+v", s)
	}
	c, err := Open(store, Task, "task 3", nil)
	if err == nil {
		err = c.Close(false)
	}
	if err != nil || len(Read(store)) != 1 {
		t.Errorf("%v, %d statuses", err, len(Read(store)))
	}
}
