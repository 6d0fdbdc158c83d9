package lab

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/isa"
	"github.com/heddle-sim/heddle/sim"
)

// TestFailuresKeepTheirKind: what decides an exit status survives the store.
func TestFailuresKeepTheirKind(t *testing.T) {
	s, err := OpenStore(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range []error{
		fmt.Errorf("%w: index out of range", ErrPanic),
		&sim.Unfinished{Cycles: 7},
		&host.Error{Pos: "app.star:3", Err: &host.Deadlock{Msg: "nobody moves"}},
		&host.CheckError{Failed: 1, Total: 2},
		&host.Error{Pos: "app.star:3", Err: errors.New("no such name")},
		&isa.Fault{},
		errors.New("disk full"),
	} {
		task := &Task{Hash: fmt.Sprint(i), Job: Job{Label: "x"}, Err: err}
		if i%2 == 0 {
			task.Result = &sim.Result{Version: sim.ResultVersion, Cycles: 99, Decisions: []sim.Decision{{}}}
		}
		if err := s.PutFailed(task); err != nil {
			t.Fatal(err)
		}
		f, r, err2 := s.GetFailed(task.Hash)
		if err2 != nil || f == nil {
			t.Fatalf("%v: %v", err, err2)
		}
		got := f.Err()
		var want, have *sim.Unfinished
		if got.Error() != err.Error() || host.Classify(got) != host.Classify(err) ||
			errors.Is(got, ErrPanic) != errors.Is(err, ErrPanic) || errors.As(got, &have) != errors.As(err, &want) {
			t.Errorf("%#v came back as %#v", err, got)
		}
		if (r != nil) != (task.Result != nil) || r != nil && (r.Cycles != 99 || len(r.Decisions) != 1) {
			t.Errorf("%v: the partial result came back as %+v", err, r)
		}
	}
	if n, err := s.Entries(); n != 0 || err != nil {
		t.Errorf("%d failures count as results (%v)", n, err)
	}
	if err := errors.Join(s.DropFailed("0"), s.DropFailed("never")); err != nil {
		t.Fatal(err)
	}
	if f, _, err := s.GetFailed("0"); f != nil || err != nil {
		t.Errorf("%+v %v", f, err)
	}
	if err := os.WriteFile(s.failedFile("1"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.GetFailed("1"); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
	for _, task := range []*Task{{Hash: "a"}, {Err: errors.New("x")}, {Hash: "a", Err: sim.ErrStopped}} {
		if s.PutFailed(task) == nil {
			t.Errorf("%+v is kept", task)
		}
	}
}
