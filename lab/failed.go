package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/heddle-sim/heddle/host"
	"github.com/heddle-sim/heddle/sim"
)

// Failed is the store's record of a simulation that ended with an error in another process. Clients that ask for it
// get the error, and it is not tried again.
type Failed struct {
	SpecHash string    `json:"spec_hash"`
	Label    string    `json:"label"`
	Kind     string    `json:"kind"` // one of failureKinds
	Message  string    `json:"message"`
	Host     string    `json:"host"` // the computer on which it failed
	When     time.Time `json:"when"`
	// Result is the partial one, if there is one.
	Result json.RawMessage `json:"result,omitempty"`
}

// failedDir is the directory of the store that holds failures.
const failedDir = "failed"

// failureKinds are the errors whose kind decides an exit status; any other error is "internal".
func failureKinds() []struct {
	name string
	is   func(error) bool
	like error
} {
	class := func(c host.Class) func(error) bool { return func(err error) bool { return host.Classify(err) == c } }
	return []struct {
		name string
		is   func(error) bool
		like error
	}{
		{"panic", func(err error) bool { return errors.Is(err, ErrPanic) }, ErrPanic},
		{"unfinished", func(err error) bool { var u *sim.Unfinished; return errors.As(err, &u) }, &sim.Unfinished{}},
		{"deadlock", class(host.Stuck), &host.Deadlock{}},
		{"check", class(host.CheckFailed), &host.CheckError{}},
		{"input", class(host.BadInput), &host.Error{}},
	}
}

// recalled is an error of another process: its text, and an error of its kind.
type recalled struct {
	text string
	like error
}

func (r *recalled) Error() string { return r.text }
func (r *recalled) Unwrap() error { return r.like }

// PutFailed keeps the failure of a task whose hash is known. An interruption is no failure.
func (s *Store) PutFailed(t *Task) error {
	if t.Err == nil || t.Hash == "" || host.Classify(t.Err) == host.Stopped {
		return fmt.Errorf("result store: %s: no failure to keep", t.Job.Label)
	}
	f := Failed{SpecHash: t.Hash, Label: t.Job.Label, Kind: "internal", Message: t.Err.Error(), When: time.Now().UTC()}
	for _, k := range failureKinds() {
		if k.is(t.Err) {
			f.Kind = k.name
			break
		}
	}
	var err error
	if f.Host, err = os.Hostname(); err != nil {
		f.Host = "?"
	}
	if t.Result != nil {
		if f.Result, err = json.Marshal(kept{Result: t.Result, Decisions: t.Result.Decisions}); err != nil {
			return fmt.Errorf("result store: %w", err)
		}
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("result store: %w", err)
	}
	file := s.failedFile(t.Hash)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("result store: %w", err)
	}
	return writeAtomic(file, text)
}

// GetFailed returns the failure kept for a spec hash, nil if there is none, and its partial
// result, if there is one. The error of a damaged file wraps ErrDamaged.
func (s *Store) GetFailed(spec string) (*Failed, *sim.Result, error) {
	file := s.failedFile(spec)
	text, err := readPlain(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	var f Failed
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err == nil && f.SpecHash != spec {
		err = errors.New("it belongs to another simulation")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", ErrDamaged, file, err)
	}
	if len(f.Result) == 0 {
		return &f, nil, nil
	}
	k := kept{Result: &sim.Result{}}
	if err := json.Unmarshal(f.Result, &k); err != nil {
		return nil, nil, fmt.Errorf("%w: %s: %w", ErrDamaged, file, err)
	}
	k.Result.Decisions = k.Decisions
	return &f, k.Result, nil
}

// Err is the error with which the simulation ended: its text, and its kind for exit statuses.
func (f *Failed) Err() error {
	for _, k := range failureKinds() {
		if k.name == f.Kind {
			return &recalled{f.Message, k.like}
		}
	}
	return errors.New(f.Message)
}

// DropFailed forgets the failure kept for a spec hash, if there is one.
func (s *Store) DropFailed(spec string) error {
	if err := os.Remove(s.failedFile(spec)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("result store: %w", err)
	}
	return nil
}

func (s *Store) failedFile(spec string) string {
	key, _ := s.path(spec)
	return filepath.Join(s.dir, failedDir, key+".json")
}
