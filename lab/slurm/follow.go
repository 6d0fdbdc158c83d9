package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/lab/live"
	"github.com/heddle-sim/heddle/sim"
)

// maxTries is how often a point is submitted that ends its task without a result, while no other
// point of that task gets on.
const maxTries = 3

// settle is how many looks a point must be out of the queue without a result before it counts as
// lost: file systems of clusters may show a file late.
const settle = 2

// point is a task of the runner on its way.
type point struct {
	Point
	task  *lab.Task
	tries int  // submissions by this client
	seen  bool // by this client, in the queue
	gone  int  // looks since it was last in the queue
	last  entry
	// looked for it in the store, at least once
	looked bool
	watch  func(sim.Progress)
	done   func()
}

func (pt *point) open() bool { return pt.task.Result == nil && pt.task.Err == nil }

// follower decides what is submitted for the tasks of one call of Pool.Do.
type follower struct {
	p      *Pool
	r      *lab.Runner
	store  string // the store's directory
	dir    string // plans, logs and programs in it
	order  []*point
	points map[string]*point // by hash
	plans  map[string][][]string
	said   map[string]bool // warnings
	lock   *fileLock
	alive  map[string]bool // the queue at the last look
}

func (f *follower) close() { f.lock.close() }

// left counts the points that have neither result nor error.
func (f *follower) left() (n int) {
	for _, pt := range f.order {
		if pt.open() {
			n++
		}
	}
	return n
}

// once warns of a thing the first time it happens.
func (f *follower) once(format string, a ...any) {
	if s := fmt.Sprintf(format, a...); !f.said[s] {
		f.said[s] = true
		f.r.Say("%s", s)
	}
}

// round looks into the queue, then into the store, and submits what is in neither. In this order:
// a task that ends in between has put its results into the store. No other client submits
// meanwhile.
func (f *follower) round(ctx context.Context) error {
	held, err := f.lock.take()
	if err != nil {
		f.once("%v; two clients that start at once may submit the same points", err)
	}
	if held {
		defer f.lock.release()
	}
	entries, err := queue(ctx, f.p.run)
	if err != nil {
		if f.p.receipt.Points == 0 && !f.anySeen() { // nothing of ours is there: say so at once
			return err
		}
		f.once("%v; going on when it answers", err)
		f.collect(nil)
		return nil
	}
	alive := f.place(entries)
	f.collect(alive)
	f.progress()
	var lost, late []*point
	for _, pt := range f.order {
		if !pt.open() || alive[pt.Hash] {
			continue
		}
		switch f.judge(pt) {
		case again:
			lost = append(lost, pt)
		case againAlone:
			late = append(late, pt)
		}
	}
	before := f.p.receipt.Points
	err = f.hand(ctx, lost, late)
	if f.p.Tell != nil {
		f.p.Tell(where(entries, f.ours))
	}
	f.alive, f.p.receipt.Refused = alive, err
	if err != nil && (len(alive) > 0 || f.p.receipt.Points > before) { // such as a limit of the queue
		if f.p.Wait {
			f.once("%v; trying again later", err)
		}
		return nil
	}
	return err
}

func (f *follower) anySeen() bool {
	for _, pt := range f.order {
		if pt.seen {
			return true
		}
	}
	return false
}

// ours says that a task of the queue has a point that is followed.
func (f *follower) ours(e *entry) bool {
	for _, h := range f.hashes(e) {
		if f.points[h] != nil {
			return true
		}
	}
	return false
}

// hashes are the points of a task of the queue; none when its plan is of another store.
func (f *follower) hashes(e *entry) []string {
	if tasks := f.tasks(e.plan); e.task() < len(tasks) {
		return tasks[e.task()]
	}
	return nil
}

// tasks are the hashes of the points of each task of a plan; none when there is no such plan.
func (f *follower) tasks(plan string) [][]string {
	if tasks, known := f.plans[plan]; known {
		return tasks
	}
	var tasks [][]string
	_, err := readPlan(f.planFile(plan), func(int) bool { return true }, func(_ int, points []Point) bool {
		var h []string
		for i := range points {
			h = append(h, points[i].Hash)
		}
		tasks = append(tasks, h)
		return true
	})
	if err != nil {
		tasks = nil
		if !errors.Is(err, os.ErrNotExist) {
			f.once("%v", err)
		}
	}
	f.plans[plan] = tasks
	return tasks
}

// place finds out which points are in the queue, and how the others left it.
func (f *follower) place(entries []entry) (alive map[string]bool) {
	alive = map[string]bool{}
	for i := range entries {
		e := &entries[i]
		for _, h := range f.hashes(e) {
			pt := f.points[h]
			switch {
			case pt == nil:
			case !ended(e.state):
				alive[h] = true
				pt.seen, pt.gone, pt.last = true, 0, *e
			case !alive[h] && e.job >= pt.last.job:
				pt.last = *e
			}
		}
	}
	return alive
}

// collect takes results and failures out of the store. Points whose tasks have not begun are looked
// for once: there may be many, on a file system that is slow to say no.
func (f *follower) collect(alive map[string]bool) {
	for _, pt := range f.order {
		if pt.open() && !(pt.looked && alive[pt.Hash] && pt.last.state == "PENDING") {
			pt.looked = true
			f.take(pt)
		}
	}
}

func (f *follower) take(pt *point) {
	res, err := f.r.Store.Get(pt.Hash)
	if err != nil {
		f.once("%v; %s is simulated again", err, pt.Label)
	}
	if res != nil {
		pt.task.Result = res
		f.finish(pt)
		return
	}
	failed, part, err := f.r.Store.GetFailed(pt.Hash)
	if err != nil {
		f.once("%v", err)
	}
	if failed != nil {
		pt.task.Result, pt.task.Err = part, failed.Err()
		f.finish(pt)
	}
}

// finish reports to the progress display that a point is done.
func (f *follower) finish(pt *point) {
	for _, h := range f.hashes(&pt.last) { // its task makes progress: this point does not block the task's other points
		if other := f.points[h]; other != nil && other.last.job == pt.last.job {
			other.tries = min(other.tries, 1)
		}
	}
	f.begin(pt)
	pt.done()
}

// begin reports to the progress display that a point is on its way.
func (f *follower) begin(pt *point) {
	if pt.done != nil {
		return
	}
	pt.watch, pt.done = func(sim.Progress) {}, func() {}
	if f.r.Start != nil {
		pt.watch, pt.done = f.r.Start(pt.task)
	}
}

// progress passes on the progress that tasks report on their nodes.
func (f *follower) progress() {
	if !f.p.Wait || f.r.Start == nil {
		return
	}
	for _, s := range live.Read(f.store) {
		for i := range s.Running {
			x := &s.Running[i]
			if pt := f.points[x.SpecHash]; pt != nil && pt.open() && s.Kind == live.Task {
				f.begin(pt)
				pt.watch(sim.Progress{Cycle: x.Cycle, MaxCycles: x.MaxCycles, CyclesPerS: x.PerS})
			}
		}
	}
}

// judgement says what happens to a point that is neither in the queue nor in the store.
type judgement int

const (
	wait judgement = iota
	again
	againAlone // as the only point of its task: the time of several was not enough
	given
)

func (f *follower) judge(pt *point) judgement {
	if !pt.seen { // not since this client began
		return again
	}
	if pt.gone++; pt.gone < settle && f.p.Wait {
		return wait
	}
	f.r.Store.Look(pt.Hash)
	if f.take(pt); !pt.open() {
		return wait
	}
	how := pt.last.state
	if how == "" {
		how = "unknown to Slurm"
	}
	switch {
	case pt.last.state == "CANCELLED":
		pt.task.Err = fmt.Errorf("its task %s was cancelled; the same command submits it again", pt.last.name())
	case pt.tries >= maxTries:
		pt.task.Err = fmt.Errorf("no result after %d submissions; its last task, %s on %s, is %s%s", pt.tries,
			pt.last.name(), pt.last.node, how, f.tail(&pt.last))
	default:
		f.once("task %s on %s ended as %s before all its points were done: the others are submitted again",
			pt.last.name(), pt.last.node, how)
		if pt.last.state == "TIMEOUT" {
			return againAlone
		}
		return again
	}
	f.begin(pt)
	pt.done()
	return given
}

// tail is the end of a task's log, for an error.
func (f *follower) tail(e *entry) string {
	file := filepath.Join(f.dir, "log", fmt.Sprintf("%s-%s.txt", e.plan, e.name()))
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "; its log " + file + " ends\n  " + strings.Join(lines[max(0, len(lines)-5):], "\n  ")
}

// hand makes tasks of points and submits them.
func (f *follower) hand(ctx context.Context, several, single []*point) error {
	var chunks [][]*point
	n := f.p.Options.Points * f.p.Options.CPUs
	for len(several) > 0 {
		k := min(n, len(several))
		chunks = append(chunks, several[:k])
		several = several[k:]
	}
	for _, pt := range single {
		chunks = append(chunks, []*point{pt})
	}
	if len(chunks) == 0 {
		return nil
	}
	return f.submit(ctx, chunks)
}
