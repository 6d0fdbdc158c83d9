package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/sim"
)

// fake is a cluster that exists in the test alone: its queue is a list of entries, which a test
// changes as it likes.
type fake struct {
	t       *testing.T
	store   *lab.Store
	dir     string
	entries []entry
	jobs    int
	scripts []string
	args    [][]string
	refuse  error // of sbatch
	silent  error // of squeue
	most    int
	full    int // jobs the queue takes; 0: any number
	// look is called before each answer of squeue, with its number from 1.
	look  func(n int)
	looks int
}

func newFake(t *testing.T) *fake {
	f := &fake{t: t, dir: t.TempDir(), most: 1001}
	var err error
	if f.store, err = lab.OpenStore(f.dir, "code"); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fake) run(_ context.Context, stdin, name string, args ...string) (string, error) {
	switch name {
	case "squeue":
		f.looks++
		if f.look != nil {
			f.look(f.looks)
		}
		if f.silent != nil {
			return "", f.silent
		}
		var b strings.Builder
		b.WriteString("77|4294967294|RUNNING|n9|None|somebody else's|job\n")
		for _, e := range f.entries {
			fmt.Fprintf(&b, "%d|%d|%s|%s|%s|%s\n", e.job, e.index, e.state, e.node, e.reason,
				jobName(e.plan, e.offset))
		}
		return b.String(), nil
	case "scontrol":
		return fmt.Sprintf("Configuration\nMaxArraySize            = %d\n", f.most), nil
	case "sbatch":
		if f.refuse != nil {
			return "", f.refuse
		}
		if f.full > 0 && f.jobs >= f.full {
			return "", errors.New("sbatch: error: QOSMaxSubmitJobPerUserLimit")
		}
		f.jobs++
		f.scripts, f.args = append(f.scripts, stdin), append(f.args, args)
		e := entry{job: f.jobs, state: "PENDING", reason: "Priority"}
		n := 0
		for _, a := range args {
			if rest, ok := strings.CutPrefix(a, "--job-name="+namePrefix); ok {
				plan, offset, _ := strings.Cut(rest, "-")
				e.plan = plan
				e.offset, _ = strconv.Atoi(offset)
			}
			if rest, ok := strings.CutPrefix(a, "--array=0-"); ok {
				n, _ = strconv.Atoi(rest)
			}
		}
		for e.index = 0; e.index <= n; e.index++ {
			f.entries = append(f.entries, e)
		}
		return fmt.Sprintf("%d;cluster\n", f.jobs), nil
	}
	f.t.Errorf("unknown program %s", name)
	return "", errors.New(name)
}

// points are those of a task in the queue.
func (f *fake) points(e *entry) (out []Point) {
	_, err := readPlan(filepath.Join(f.dir, "slurm", e.plan+".plan"), func(i int) bool { return i == e.task() },
		func(_ int, p []Point) bool { out = p; return false })
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

// end lets the tasks of a job end in a state with the first done of their points.
func (f *fake) end(job int, state string, done int) {
	for i := range f.entries {
		e := &f.entries[i]
		if e.job != job || ended(e.state) {
			continue
		}
		e.state, e.node = state, "n1"
		points := f.points(e)
		for _, p := range points[:min(done, len(points))] {
			r := &sim.Result{Version: sim.ResultVersion, SpecHash: p.Hash, Complete: true, Spec: p.Spec, Cycles: 7}
			if err := f.store.Put(r); err != nil {
				f.t.Fatal(err)
			}
		}
	}
}

// tasks makes n tasks of a runner.
func tasks(n int) (out []*lab.Task) {
	for i := range n {
		label := fmt.Sprint("point ", i)
		out = append(out, &lab.Task{
			Hash: fmt.Sprintf("%064d", i),
			Job: lab.Job{
				Label: label, Spec: sim.Spec{Machine: "qv100", Apps: []sim.App{{Name: label, Path: "apps/x"}}},
			},
		})
	}
	return out
}

// do runs a pool over tasks and returns its warnings.
func (f *fake) do(p *Pool, todo []*lab.Task) (said []string) {
	f.t.Helper()
	p.run, p.Code, p.Poll = f.run, "code", time.Millisecond
	ctx, cancel := context.WithTimeout(f.t.Context(), 20*time.Second)
	defer cancel()
	p.Do(ctx, &lab.Runner{Store: f.store, Keep: true, Warn: func(s string, a ...any) {
		said = append(said, fmt.Sprintf(s, a...))
	}}, todo)
	if ctx.Err() != nil {
		f.t.Fatalf("it does not end; said %q, queue %+v", said, f.entries)
	}
	return said
}

func allDone(t *testing.T, todo []*lab.Task) {
	t.Helper()
	for _, x := range todo {
		if x.Err != nil || x.Result == nil || x.Result.SpecHash != x.Hash {
			t.Errorf("%s: %v %v", x.Job.Label, x.Result, x.Err)
		}
	}
}

func TestWithoutWaiting(t *testing.T) {
	f := newFake(t)
	first := &Pool{Options: Options{Partition: "short", Time: "30:00", Points: 3, Sbatch: []string{"--nice=5"}}}
	todo := tasks(7)
	f.do(first, todo)
	if r := first.Receipt(); r.Points != 7 || r.Tasks != 3 || r.Open != 7 || len(r.Jobs) != 1 {
		t.Errorf("%+v", r)
	}
	for _, x := range todo {
		if !errors.Is(x.Err, lab.ErrLater) {
			t.Errorf("%s: %v", x.Job.Label, x.Err)
		}
	}
	for _, want := range []string{"--partition=short", "--time=30:00", "--array=0-2", "--requeue", "--nice=5"} {
		if !slices.Contains(f.args[0], want) {
			t.Errorf("%s is missing of %q", want, f.args[0])
		}
	}
	// while they are in the queue nothing is submitted, by whomever
	again := &Pool{Options: Options{Points: 2}}
	f.do(again, tasks(7))
	if r := again.Receipt(); f.jobs != 1 || r.Points != 0 || r.Open != 7 || r.Queued != 7 {
		t.Errorf("%d jobs, %+v", f.jobs, again.Receipt())
	}
	// of what a node's death left, the rest is submitted, and nothing else
	f.end(1, "NODE_FAIL", 2)
	todo = tasks(8) // and one more is wanted
	third := &Pool{Options: Options{Points: 2}}
	f.do(third, todo)
	if r := third.Receipt(); r.Points != 3 || r.Tasks != 2 { // 2 of 3, 2 of 3, 1 of 1 were done
		t.Errorf("%+v", r)
	}
	f.end(2, "COMPLETED", 2)
	todo = tasks(8)
	f.do(&Pool{}, todo)
	allDone(t, todo)
	if left, _ := filepath.Glob(filepath.Join(f.dir, "slurm", "*.plan")); len(left) != 0 || f.jobs != 2 {
		t.Errorf("%d jobs, plans left: %q", f.jobs, left)
	}
}

func TestWaitThroughLosses(t *testing.T) {
	f := newFake(t)
	f.look = func(n int) {
		switch n {
		case 2:
			f.silent = errors.New("slurm_load_jobs error: Unable to contact slurm controller")
		case 4:
			f.silent = nil
		case 5:
			f.end(1, "TIMEOUT", 1)
		case 9:
			f.end(2, "PREEMPTED", 0)
		case 14:
			f.end(3, "COMPLETED", 9)
		}
	}
	todo := tasks(6)
	where := ""
	p := &Pool{Options: Options{Points: 3}, Wait: true, Tell: func(s string) { where = s }}
	said := strings.Join(f.do(p, todo), "\n")
	allDone(t, todo)
	for _, want := range []string{"Unable to contact", "ended as TIMEOUT", "ended as PREEMPTED"} {
		if strings.Count(said, want) == 0 {
			t.Errorf("%q is not said: %s", want, said)
		}
	}
	// two tasks of three; as time was short, four of one each; of three and one again
	if r := p.Receipt(); r.Tasks != 2+4+2 || r.Points != 6+4+4 {
		t.Errorf("%+v", r)
	}
	if where != "slurm: tasks: 0 run, 0 wait" {
		t.Errorf("where: %s", where)
	}
}

func TestGivesUp(t *testing.T) {
	f := newFake(t)
	f.look = func(int) {
		for j := 1; j <= f.jobs; j++ {
			f.end(j, "OUT_OF_MEMORY", 0)
		}
	}
	todo := tasks(1)
	f.do(&Pool{Wait: true}, todo)
	if err := todo[0].Err; err == nil || !strings.Contains(err.Error(), "after 3 submissions") ||
		!strings.Contains(err.Error(), "OUT_OF_MEMORY") || f.jobs != maxTries {
		t.Errorf("%v after %d jobs", err, f.jobs)
	}
	// a task that gets on by a point each time is never given up
	f = newFake(t)
	f.look = func(int) {
		for j := 1; j <= f.jobs; j++ {
			f.end(j, "NODE_FAIL", 1)
		}
	}
	todo = tasks(6)
	f.do(&Pool{Options: Options{Points: 6}, Wait: true}, todo)
	allDone(t, todo)
	if f.jobs != 6 {
		t.Errorf("%d jobs for six points, one a job", f.jobs)
	}
	// what the user cancels is not submitted behind his back
	f = newFake(t)
	f.look = func(n int) {
		if n == 3 {
			f.end(1, "CANCELLED", 1)
		}
	}
	todo = tasks(2)
	f.do(&Pool{Wait: true}, todo)
	if todo[0].Err != nil || todo[1].Err == nil || !strings.Contains(todo[1].Err.Error(), "cancelled") || f.jobs != 1 {
		t.Errorf("%v, %v, %d jobs", todo[0].Err, todo[1].Err, f.jobs)
	}
}

func TestRefused(t *testing.T) {
	f := newFake(t)
	f.refuse = errors.New("sbatch: error: invalid partition specified: shrot")
	p := &Pool{Wait: true}
	f.do(p, tasks(3))
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "shrot") {
		t.Errorf("%v", err)
	}
	// what is taken in part is told so, and the rest follows later
	f = newFake(t)
	f.most, f.full = 3, 1
	p = &Pool{Options: Options{Points: 1}}
	f.do(p, tasks(5))
	if r := p.Receipt(); p.Err() != nil || r.Points != 2 || r.Open != 5 || r.Queued != 0 || r.Refused == nil {
		t.Errorf("%v %+v", p.Err(), r)
	}
	f.look = func(n int) {
		if n == 5 {
			f.full = 9
			f.end(1, "COMPLETED", 1)
		}
		if n > 7 {
			f.end(2, "COMPLETED", 1)
			f.end(3, "COMPLETED", 1)
		}
	}
	late := tasks(5)
	f.do(&Pool{Options: Options{Points: 1}, Wait: true}, late)
	allDone(t, late)
	// arrays that are larger than Slurm takes are several
	f = newFake(t)
	f.most = 3
	todo := tasks(7)
	p = &Pool{Options: Options{Points: 2}}
	f.do(p, todo)
	if r := p.Receipt(); r.Tasks != 4 || len(r.Jobs) != 2 ||
		!strings.Contains(f.scripts[1], "$((2 + SLURM_ARRAY_TASK_ID))") {
		t.Errorf("%+v\n%q", r, f.scripts)
	}
	f.end(1, "COMPLETED", 2)
	f.end(2, "COMPLETED", 2)
	todo = tasks(7)
	f.do(&Pool{}, todo)
	allDone(t, todo)
}

func TestFailuresAreTold(t *testing.T) {
	f := newFake(t)
	todo := tasks(2)
	f.do(&Pool{}, todo)
	f.end(1, "COMPLETED", 1)
	bad := tasks(2)[1]
	bad.Err = &sim.Unfinished{Cycles: 9}
	if err := f.store.PutFailed(bad); err != nil {
		t.Fatal(err)
	}
	todo = tasks(2)
	f.do(&Pool{Wait: true}, todo)
	var u *sim.Unfinished
	if err := todo[1].Err; todo[0].Err != nil || !errors.As(err, &u) || err.Error() != bad.Err.Error() || f.jobs != 1 {
		t.Errorf("%v, %v, %d jobs", todo[0].Err, todo[1].Err, f.jobs)
	}
	todo = tasks(2)
	p := &Pool{Retry: true}
	f.do(p, todo)
	if p.Receipt().Points != 1 || !errors.Is(todo[1].Err, lab.ErrLater) {
		t.Errorf("%+v %v", p.Receipt(), todo[1].Err)
	}
}

func TestProfile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.yaml")
	write := func(s string) {
		if err := os.WriteFile(file, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("partition: long\ntime: 1:30:00\nmemory: 4G\ncpus: 2\nsetup: [module load go]\nsbatch: [--exclude=n3]\n")
	o, err := ReadOptions(file)
	if err != nil || o.Partition != "long" || o.Time != "1:30:00" || o.CPUs != 2 || o.Setup[0] != "module load go" {
		t.Errorf("%+v %v", o, err)
	}
	if err := o.Check(); err != nil || o.Points != DefaultPoints {
		t.Errorf("%+v %v", o, err)
	}
	want := "#!/bin/sh\nmodule load go\nexec '/a b/heddle' slurm-task " +
		`'/p'\''q' $((5 + SLURM_ARRAY_TASK_ID)) --cache '/s' --jobs 2` + "\n"
	if s := script(&o, "/a b/heddle", "/p'q", "/s", 5); s != want {
		t.Errorf("%s", s)
	}
	write("partition: long\npartitoin: x\n")
	if _, err := ReadOptions(file); err == nil || !strings.Contains(err.Error(), "p.yaml:2") {
		t.Errorf("%v", err)
	}
	for _, o := range []Options{{CPUs: -1}, {Points: -2}, {Sbatch: []string{"x"}}, {Sbatch: []string{"--array=0-3"}}} {
		if err := o.Check(); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestPlanText(t *testing.T) {
	points := [][]Point{{{Hash: "a", Label: "x"}}, {{Hash: "b"}, {Hash: "c", Alone: true}}}
	name, text, err := encodePlan("code", points)
	if err != nil || !isPlan(name) {
		t.Fatal(name, err)
	}
	file := filepath.Join(t.TempDir(), name+".plan")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	var got [][]Point
	head, err := readPlan(file, func(i int) bool { return i == 1 }, func(_ int, p []Point) bool {
		got = append(got, p)
		return true
	})
	if err != nil || head.Tasks != 2 || head.Code != "code" || len(got) != 1 || len(got[0]) != 2 || !got[0][1].Alone {
		t.Errorf("%+v %+v %v", head, got, err)
	}
	if err := os.WriteFile(file, text[:len(text)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	all := func(int) bool { return true }
	if _, err := readPlan(file, all, func(int, []Point) bool { return true }); err == nil {
		t.Error("a plan without its end is accepted")
	}
}

func FuzzQueue(f *testing.F) {
	f.Add("3|0|RUNNING|n1|None|heddle-0123456789abcdef-0\n3|4294967294|PENDING||Priority|heddle-x|y\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range parseQueue(text) {
			if e.index < 0 || e.offset < 0 || !isPlan(e.plan) || filepath.Base(e.plan) != e.plan {
				t.Errorf("%+v of %q", e, text)
			}
		}
	})
}
