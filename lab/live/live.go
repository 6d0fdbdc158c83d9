// Package live shows running simulations. Every process that does runs writes a Status into the folder "live" of the
// result store, about once a second while it works; `heddle serve` and the client of a cluster show them. A Status
// decides nothing: the store alone says which runs are done, and a process that dies leaves a status that grows old.
// A reader must know two types: Status, one process; Board, which keeps the status of this one.
package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sim"
)

// Version is the version of the layout of a Status.
const Version = 1

// Dir is the folder of the statuses below a result store.
const Dir = "live"

// Task is the kind of status that a cluster's task writes. Its runs belong to another process.
const Task = "task"

// Status is what one process does. Times are read from its computer's clock.
type Status struct {
	Version  int       `json:"version"`
	ID       string    `json:"id"`    // name of the file
	Kind     string    `json:"kind"`  // run, sweep, reproduce, or task of a cluster
	Title    string    `json:"title"` // what it simulates: a file, or figures
	Host     string    `json:"host"`
	PID      int       `json:"pid"`
	Begun    time.Time `json:"begun"`
	Updated  time.Time `json:"updated"`
	Ended    bool      `json:"ended"`
	Todo     int       `json:"todo"`     // simulations to do
	Finished int       `json:"finished"` // number of simulations of Todo that are done, failures included
	Kept     int       `json:"kept"`     // results kept from earlier runs
	LeftS    float64   `json:"left_s"`   // seconds until the end at the speed of the latest minute; 0: not known
	Where    string    `json:"where,omitempty"`
	Running  []Run     `json:"running"`
	Failed   []Failure `json:"failed"`
	// Queue are the labels of simulations that have not begun, at most queueShown of them.
	Queue []string `json:"queue,omitempty"`
}

// Run is a simulation on its way.
type Run struct {
	Label     string    `json:"label"`
	SpecHash  string    `json:"spec_hash,omitempty"`
	Alone     bool      `json:"alone,omitempty"`
	Cycle     uint64    `json:"cycle"`
	MaxCycles uint64    `json:"max_cycles,omitempty"` // 0: to the end
	PerS      float64   `json:"cycles_per_s"`
	Begun     time.Time `json:"begun"`
}

// Failure is a simulation that ended with an error.
type Failure struct {
	Label    string `json:"label"`
	SpecHash string `json:"spec_hash,omitempty"`
	Message  string `json:"message"`
}

const (
	every       = time.Second      // between two writings
	lost        = 15 * time.Second // without an update a process is no more
	queueShown  = 200
	failedShown = 200
	forget      = 24 * time.Hour // statuses of ended processes go after that
)

// Lost says that the process seems to have died without writing its last status.
func (s *Status) Lost(now time.Time) bool { return !s.Ended && now.Sub(s.Updated) > lost }

// Board keeps the status of this process. All methods may be called from several goroutines.
type Board struct {
	file string
	pace *lab.Pace

	mu     sync.Mutex
	status Status
	runs   []*Run
	queue  []string
	over   chan struct{}
	ended  sync.WaitGroup
}

// Open begins a status in the store's folder dir and writes it until Close. pace estimates when the process will be
// done; it may be nil.
func Open(dir, kind, title string, pace *lab.Pace) (*Board, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	id := fmt.Sprintf("%s-%d-%d", host, os.Getpid(), now.UnixNano())
	b := &Board{
		file: filepath.Join(dir, id+".json"), pace: pace, over: make(chan struct{}),
		status: Status{Version: Version, ID: id, Kind: kind, Title: title, Host: host, PID: os.Getpid(), Begun: now},
	}
	if err := b.write(); err != nil {
		return nil, err
	}
	clean(dir, now)
	b.ended.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_ = b.write() // the store reports a full disk; a status is not worth a word more
			case <-b.over:
				return
			}
		}
	})
	return b, nil
}

// clean removes old statuses.
func clean(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > forget {
			os.Remove(filepath.Join(dir, e.Name())) // what stays does no harm
		}
	}
}

// Plan adds simulations to do (lab.Runner.Plan).
func (b *Board) Plan(todo []lab.Job, kept int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status.Todo += len(todo)
	b.status.Kept += kept
	for i := range todo {
		b.queue = append(b.queue, todo[i].Label)
	}
}

// Where says where the simulations are done and what they wait for.
func (b *Board) Where(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.status.Where = text
}

// Start follows a simulation (lab.Runner.Start).
func (b *Board) Start(t *lab.Task) (watch func(sim.Progress), done func()) {
	r := &Run{
		Label: t.Job.Label, SpecHash: t.Hash, Alone: t.Alone, Begun: time.Now().UTC(),
		MaxCycles: t.Job.Spec.Length.MaxCycles,
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runs = append(b.runs, r)
	for i, label := range b.queue {
		if label == r.Label {
			b.queue = append(b.queue[:i:i], b.queue[i+1:]...)
			break
		}
	}
	watch = func(p sim.Progress) {
		b.mu.Lock()
		defer b.mu.Unlock()
		r.Cycle, r.PerS = p.Cycle, p.CyclesPerS
		if p.MaxCycles > 0 {
			r.MaxCycles = p.MaxCycles
		}
	}
	return watch, func() { b.done(t, r) }
}

func (b *Board) done(t *lab.Task, r *Run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, x := range b.runs {
		if x == r {
			b.runs = append(b.runs[:i], b.runs[i+1:]...)
			break
		}
	}
	b.status.Finished++
	if t.Err != nil && len(b.status.Failed) < failedShown && !errors.Is(t.Err, sim.ErrStopped) {
		b.status.Failed = append(b.status.Failed, Failure{t.Job.Label, t.Hash, t.Err.Error()})
	}
}

// Failed says that a simulation ended with an error.
func (b *Board) Failed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.status.Failed) > 0
}

// Close writes the last status, or removes it if keep is false: other files describe its runs.
func (b *Board) Close(keep bool) error {
	close(b.over)
	b.ended.Wait()
	if !keep {
		return os.Remove(b.file)
	}
	b.mu.Lock()
	b.status.Ended = true
	b.mu.Unlock()
	return b.write()
}

// write puts the status into its file, whole or not at all.
func (b *Board) write() error {
	b.mu.Lock()
	s := b.status
	s.Updated = time.Now().UTC()
	s.Running = make([]Run, 0, len(b.runs))
	for _, r := range b.runs {
		s.Running = append(s.Running, *r)
	}
	s.Queue = append([]string(nil), b.queue[:min(len(b.queue), queueShown)]...)
	s.Failed = append([]Failure{}, s.Failed...)
	b.mu.Unlock()
	if b.pace != nil && !s.Ended {
		s.LeftS = b.pace.Left().Seconds()
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(b.file), ".writing-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // nothing to remove once renamed
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), b.file)
}

// Read returns the statuses in a result store, the youngest first. A status that cannot be read is left out, because
// it is rewritten every second.
func Read(store string) []Status {
	dir := filepath.Join(store, Dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []Status
	for _, e := range entries {
		if e.Type() != fs.FileMode(0) || !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		var s Status
		if err := json.Unmarshal(text, &s); err == nil && s.Version == Version {
			out = append(out, s)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Begun.After(out[j].Begun) })
	return out
}
