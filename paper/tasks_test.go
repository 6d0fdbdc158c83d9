package paper

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/heddle-sim/heddle/report/measures"
)

// A figure of tasks on a machine of its own says which that is, and what differs from its sheet
// makes a difference.
func TestTasksOnAnotherMachine(t *testing.T) {
	b := tiny(t)
	var figures []*Figure
	for _, name := range []string{"swaps", "light"} {
		f, err := b.Study.Select(name)
		if err != nil {
			t.Fatal(err)
		}
		figures = append(figures, f...)
	}
	done, err := b.Do(context.Background(), figures)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var batch []float64
	for i, set := range []map[string]string{{}, {"sm.ctx_share": "0.01"}} {
		r := done[i]
		if len(r.Problems) > 0 {
			t.Fatal(r.Problems)
		}
		if err := b.Write(dir, r); err != nil {
			t.Fatal(err)
		}
		says, err := measures.Read(filepath.Join(dir, r.Figure.Name+measures.Suffix))
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range b.Study.Set {
			set[k] = v
		}
		if says.Machine != "fermi" || !reflect.DeepEqual(says.Set, set) {
			t.Errorf("%s says it is of %s with %v, want fermi with %v", r.Figure.Name, says.Machine, says.Set, set)
		}
		batch = append(batch, r.Measures["batch MOVE mean"].Value)
	}
	if batch[1] == batch[0] {
		t.Errorf("the batch task has %g with whole contexts and with a hundredth", batch[0])
	}
}
