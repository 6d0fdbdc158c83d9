package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/lab/live"
	"github.com/heddle-sim/heddle/lab/slurm"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
)

// followed is a runner that keeps every result and uses those kept, and whose progress can be
// followed: on standard error, and by `heddle serve` in the result store.
type followed struct {
	*lab.Runner
	pace  *lab.Pace
	board *live.Board // nil where the store takes none
	where atomic.Pointer[string]
	stop  func()
}

// follow makes such a runner, on a cluster where pool is one. kind and title say what it is about.
// Close ends it.
func follow(cmd *cobra.Command, cache string, jobs int, pool *slurm.Pool, kind, title string) (*followed, error) {
	stderr := cmd.ErrOrStderr()
	if cache == "" {
		var err error
		if cache, err = lab.DefaultDir(); err != nil {
			return nil, err
		}
	}
	code, err := lab.Code()
	if err != nil {
		return nil, err
	}
	store, err := lab.OpenStore(cache, code)
	if err != nil {
		return nil, err
	}
	f := &followed{pace: lab.NewPace()}
	warn := func(format string, a ...any) { fmt.Fprintf(stderr, "heddle: warning: "+format+"\n", a...) }
	if f.board, err = live.Open(cache, kind, title, f.pace); err != nil {
		warn("heddle serve cannot show the progress of this run: %v", err)
	}
	f.Runner = &lab.Runner{
		Run: sim.Run, Jobs: jobs, Store: store, Keep: true, Finish: lab.AddEnergy, Warn: warn,
		Plan: func(todo []lab.Job, kept int) {
			f.pace.Plan(todo, kept)
			if f.board != nil {
				f.board.Plan(todo, kept)
			}
			fmt.Fprintf(stderr, "%s to simulate, %d kept from before\n", report.Many(len(todo), "run"), kept)
		},
		Start: f.start,
	}
	if pool != nil {
		f.Pool = pool
		pool.Tell = func(s string) {
			f.where.Store(&s)
			if f.board != nil {
				f.board.Where(s)
			}
		}
	}
	f.stop = f.say(cmd.Context(), stderr)
	return f, nil
}

// announce lets `heddle serve` show a run while it runs, and afterwards if it failed. If that fails, the run
// continues without a message: it is about watching alone.
func (f *runFlags) announce(r *lab.Runner, path string) (end func()) {
	dir, pace, bars := f.cache, lab.NewPace(), r.Start
	if dir == "" {
		dir, _ = lab.DefaultDir()
	}
	if dir == "" || f.noCache {
		return func() {}
	}
	board, err := live.Open(dir, "run", path, pace)
	if err != nil {
		return func() {}
	}
	r.Plan = func(todo []lab.Job, kept int) { pace.Plan(todo, kept); board.Plan(todo, kept) }
	r.Start = func(t *lab.Task) (func(sim.Progress), func()) {
		watch, done := bars(t)
		pass, gone := pace.Start(t)
		show, over := board.Start(t)
		return func(p sim.Progress) { watch(p); pass(p); show(p) }, func() { done(); gone(); over() }
	}
	return func() { _ = board.Close(board.Failed()) }
}

// start follows a simulation on the terminal and in the store.
func (f *followed) start(t *lab.Task) (func(sim.Progress), func()) {
	watch, done := f.pace.Start(t)
	if f.board == nil {
		return watch, done
	}
	show, over := f.board.Start(t)
	return func(p sim.Progress) { watch(p); show(p) }, func() { done(); over() }
}

// close ends the progress that was begun; twice does no harm.
func (f *followed) close() {
	if f.stop == nil {
		return
	}
	f.stop()
	f.stop = nil
	if f.board != nil {
		if err := f.board.Close(true); err != nil {
			f.Say("%v", err)
		}
	}
}

// paceEvery is how often a run set tells how far it is.
const paceEvery = 15 * time.Second

// say prints the progress of a run set now and then, until stopped.
func (f *followed) say(ctx context.Context, w io.Writer) (stop func()) {
	over := make(chan struct{})
	var ended sync.WaitGroup
	ended.Go(func() {
		tick := time.NewTicker(paceEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				line := f.pace.Line()
				if at := f.where.Load(); at != nil {
					line += "; " + *at
				}
				fmt.Fprintln(w, line) // a broken standard error cannot be reported anywhere
			case <-ctx.Done():
				return
			case <-over:
				return
			}
		}
	})
	return func() { close(over); ended.Wait() }
}
