// Package slurm does simulations on a cluster under Slurm: a lab.Pool that submits arrays of tasks and finds their
// results in the result store, which client and nodes share.
//
// The store is the only state. It holds everything that is done or failed. squeue lists everything on its way: a
// job's name says which plan file it does, and a plan lists its points. So a client may be killed at any time, and
// the next one submits exactly what is neither in the store nor in the queue. A task looks into the store before each
// point; results get their place by renaming; so a point that was done is neither lost nor there twice.
//
// A reader must know Pool, the client; Options, what a user asks for; Work, what a node does; and follower, which
// decides what is submitted (again).
package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sim"
)

// Pool does the simulations of a runner that keeps results in a store. Its methods are for one
// goroutine.
type Pool struct {
	Options Options
	Code    string // identity of the simulator (lab.Code)
	// Wait makes Do return only when every task has its result or error. Without it, tasks that are not done get
	// lab.ErrLater.
	Wait bool
	// Retry submits what failed before again, once.
	Retry bool
	// Tell, if not nil, gets the state of the simulations: the number of running tasks, and the reason why others
	// wait.
	Tell func(string)
	// Poll is the longest time between two looks at queue and store; 0: five seconds. The first looks follow each
	// other sooner.
	Poll time.Duration

	run     command // nil: the programs of this computer
	retried map[string]bool
	receipt Receipt
	err     error
	program string // the copy of this one
}

// Receipt says what a client has submitted and what is still open.
type Receipt struct {
	Jobs   []int // arrays submitted
	Tasks  int   // tasks in these arrays
	Points int   // points in these tasks
	Open   int   // points that have neither result nor error yet
	Queued int   // of Open, points that other clients have put into the queue
	// Refused is the reason for which Slurm did not accept the others, such as a limit of its queue.
	Refused error
}

// Receipt counts everything since the pool began.
func (p *Pool) Receipt() Receipt { return p.receipt }

// Err is why nothing could be submitted, nil if there is no such reason. The tasks concerned have
// lab.ErrLater.
func (p *Pool) Err() error { return p.err }

// Do implements lab.Pool.
func (p *Pool) Do(ctx context.Context, r *lab.Runner, todo []*lab.Task) {
	if len(todo) == 0 {
		return
	}
	f, err := p.follow(r, todo)
	if err != nil {
		p.fail(todo, err)
		return
	}
	defer f.close()
	for pause := min(p.Poll, time.Second); ; pause = min(p.Poll, pause*3/2) {
		if err := f.round(ctx); err != nil && ctx.Err() == nil {
			p.fail(todo, err)
			return
		}
		if f.left() == 0 {
			f.tidy(ctx)
			return
		}
		if !p.Wait {
			f.note()
			leave(todo, lab.ErrLater)
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			f.note()
			leave(todo, sim.ErrStopped)
			return
		}
	}
}

// note counts the open points for the receipt.
func (f *follower) note() {
	for _, pt := range f.order {
		if !pt.open() {
			continue
		}
		f.p.receipt.Open++
		if pt.tries == 0 && f.alive[pt.Hash] {
			f.p.receipt.Queued++
		}
	}
}

// fail ends a round of simulations that cannot be submitted.
func (p *Pool) fail(todo []*lab.Task, err error) {
	p.err = errors.Join(p.err, err)
	leave(todo, lab.ErrLater)
}

// leave gives err to every task that has neither result nor error.
func leave(todo []*lab.Task, err error) {
	for _, t := range todo {
		if t.Result == nil && t.Err == nil {
			t.Err = err
		}
	}
}

// follow prepares to follow tasks.
func (p *Pool) follow(r *lab.Runner, todo []*lab.Task) (*follower, error) {
	if r.Store == nil || !r.Keep {
		return nil, errors.New("results of a cluster come through a result store: leave out --no-cache, or give " +
			"--cache DIR")
	}
	if err := p.Options.Check(); err != nil {
		return nil, err
	}
	if p.run == nil {
		p.run = system
	}
	if p.Poll == 0 {
		p.Poll = 5 * time.Second
	}
	dir, err := filepath.Abs(r.Store.Dir())
	if err != nil {
		return nil, err
	}
	f := &follower{
		p: p, r: r, store: dir, dir: filepath.Join(dir, "slurm"), points: map[string]*point{},
		plans: map[string][][]string{}, said: map[string]bool{},
	}
	for _, t := range todo {
		pt := &point{task: t}
		if pt.Point, err = pointOf(t); err != nil {
			return nil, err
		}
		f.points[t.Hash] = pt
		f.order = append(f.order, pt)
		if p.Retry && !p.retried[t.Hash] {
			if p.retried == nil {
				p.retried = map[string]bool{}
			}
			p.retried[t.Hash] = true
			if err := r.Store.DropFailed(t.Hash); err != nil {
				return nil, err
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(f.dir, "log"), 0o755); err != nil {
		return nil, err
	}
	f.lock, err = openLock(filepath.Join(f.dir, "lock"))
	return f, err
}

// submit hands the points of the chunks to Slurm, in arrays of the size that it takes at once.
func (f *follower) submit(ctx context.Context, chunks [][]*point) error {
	p := f.p
	var tasks [][]Point
	var hashes [][]string
	for _, c := range chunks {
		var t []Point
		var h []string
		for _, pt := range c {
			t, h = append(t, pt.Point), append(h, pt.Hash)
		}
		tasks, hashes = append(tasks, t), append(hashes, h)
	}
	name, text, err := encodePlan(p.Code, tasks)
	if err != nil {
		return err
	}
	file := f.planFile(name)
	if err := writeOnce(file, text, 0o644); err != nil {
		return err
	}
	if p.program == "" {
		if p.program, err = keepProgram(f.dir); err != nil {
			return err
		}
	}
	f.plans[name] = hashes
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	most := maxArray(ctx, p.run)
	log := strings.ReplaceAll(filepath.Join(f.dir, "log", name), "%", "%%") + "-%A_%a.txt"
	for offset := 0; offset < len(tasks); offset += most {
		n := min(most, len(tasks)-offset)
		job, err := submit(ctx, p.run, script(&p.Options, p.program, file, f.store, offset),
			p.Options.arguments(jobName(name, offset), log, here, n))
		if err != nil {
			return err
		}
		p.receipt.Jobs = append(p.receipt.Jobs, job)
		p.receipt.Tasks += n
		for _, c := range chunks[offset : offset+n] {
			p.receipt.Points += len(c)
			for _, pt := range c {
				pt.seen, pt.gone, pt.tries = true, 0, pt.tries+1
			}
		}
	}
	return nil
}

// planFile is the path of the plan with a name.
func (f *follower) planFile(name string) string { return filepath.Join(f.dir, name+".plan") }

// tidy removes files that are not needed any more: plans whose points are all in the store, their logs, and
// copies of other programs when no plan is left.
func (f *follower) tidy(ctx context.Context) {
	held, err := f.lock.take()
	if err != nil || !held {
		return
	}
	defer f.lock.release()
	entries, err := queue(ctx, f.p.run)
	if err != nil {
		return
	}
	plans, err := filepath.Glob(filepath.Join(f.dir, "*.plan"))
	if err != nil {
		return // only of a malformed pattern, and below as well
	}
	left := false
	for _, file := range plans {
		name := strings.TrimSuffix(filepath.Base(file), ".plan")
		if f.needed(name, entries) {
			left = true
			continue
		}
		logs, _ := filepath.Glob(filepath.Join(f.dir, "log", name+"-*.txt"))
		for _, file := range append(logs, file) {
			os.Remove(file) // what stays does no harm
		}
	}
	if left {
		return
	}
	programs, _ := filepath.Glob(filepath.Join(f.dir, "bin", "*"))
	for _, dir := range programs {
		if dir != filepath.Dir(f.p.program) {
			os.RemoveAll(dir)
		}
	}
}

// needed says that a plan is in the queue or has points without a result.
func (f *follower) needed(name string, entries []entry) bool {
	if slices.ContainsFunc(entries, func(e entry) bool { return e.plan == name && !ended(e.state) }) {
		return true
	}
	for _, hashes := range f.tasks(name) {
		if slices.ContainsFunc(hashes, func(h string) bool { return !f.r.Store.Has(h) }) {
			return true
		}
	}
	return false
}

// where describes the queue in a few words.
func where(entries []entry, own func(*entry) bool) string {
	run, wait := 0, 0
	var reasons []string
	for i := range entries {
		e := &entries[i]
		switch {
		case !own(e) || ended(e.state):
		case e.state == "PENDING":
			wait++
			if !slices.Contains(reasons, e.reason) {
				reasons = append(reasons, e.reason)
			}
		default:
			run++
		}
	}
	s := fmt.Sprintf("slurm: tasks: %d run, %d wait", run, wait)
	if wait > 0 {
		slices.Sort(reasons)
		s += " (" + strings.Join(reasons, ", ") + ")"
	}
	return s
}
