package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/lab/live"
	"github.com/heddle-sim/heddle/lab/slurm"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
	"github.com/heddle-sim/heddle/sim"
)

// clusterFlags say where simulations are done: the flags that sweep and reproduce share.
type clusterFlags struct {
	on, profile string
	wait, retry bool
	own         slurm.Options // the values of flags; they count more than the profile
}

// places are the values of --on.
func places() []string { return []string{"local", "slurm"} }

func (f *clusterFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.on, "on", "local", "where to simulate: local, or slurm (a cluster that shares the "+
		"folders of results and applications with this computer)")
	fl.BoolVar(&f.wait, "wait", false, "with --on slurm: wait until all simulations are done")
	fl.BoolVar(&f.retry, "retry", false, "with --on slurm: submit again what failed before")
	fl.StringVar(&f.profile, "profile", "", "with --on slurm: a YAML file of partition, time, memory, account, qos, "+
		"constraint, cpus, points, setup (lines of shell) and sbatch (further options)")
	fl.StringVar(&f.own.Partition, "partition", "", "with --on slurm: partition of the tasks")
	fl.StringVar(&f.own.Time, "time", "", "with --on slurm: time limit of a task, as in 1:30:00")
	fl.StringVar(&f.own.Memory, "memory", "", "with --on slurm: memory of a task, as in 4G")
	fl.StringVar(&f.own.Account, "account", "", "with --on slurm: account of the tasks")
	fl.IntVar(&f.own.CPUs, "cpus", 0,
		"with --on slurm: processors of a task, and simulations at once in it (default 1)")
	fl.IntVar(&f.own.Points, "points", 0, fmt.Sprintf("with --on slurm: simulations that a task does one after the "+
		"other "+
		"(default %d)", slurm.DefaultPoints))
}

// complete completes --on.
func (f *clusterFlags) complete(cmd *cobra.Command) {
	_ = cmd.RegisterFlagCompletionFunc("on", cobra.FixedCompletions(places(), cobra.ShellCompDirectiveNoFileComp))
}

// pool is the cluster; nil where simulations are done here.
func (f *clusterFlags) pool(fl *pflag.FlagSet) (*slurm.Pool, error) {
	switch f.on {
	case "slurm":
	case "local":
		for _, name := range []string{
			"wait", "retry", "profile", "partition", "time", "memory", "account", "cpus", "points",
		} {
			if fl.Changed(name) {
				return nil, fmt.Errorf("--%s is for clusters: give --on slurm, too", name)
			}
		}
		return nil, nil
	default:
		return nil, fmt.Errorf("--on %s: it can be %s%s", f.on, strings.Join(places(), " or "),
			yamldoc.DidYouMean(f.on, places()))
	}
	if fl.Changed("jobs") {
		return nil, errors.New("--jobs is for this computer: with --on slurm give --cpus, simulations at once in a " +
			"task")
	}
	var o slurm.Options
	if f.profile != "" {
		var err error
		if o, err = slurm.ReadOptions(f.profile); err != nil {
			return nil, err
		}
	}
	for _, s := range []struct{ to, from *string }{
		{&o.Partition, &f.own.Partition},
		{&o.Time, &f.own.Time},
		{&o.Memory, &f.own.Memory},
		{&o.Account, &f.own.Account},
	} {
		if *s.from != "" {
			*s.to = *s.from
		}
	}
	if fl.Changed("cpus") {
		o.CPUs = f.own.CPUs
	}
	if fl.Changed("points") {
		o.Points = f.own.Points
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	code, err := lab.Code()
	return &slurm.Pool{Options: o, Code: code, Wait: f.wait, Retry: f.retry}, err
}

// receipt prints the work that a cluster has been given and how to get the results. It returns false if there is
// nothing to fetch later.
func receipt(w io.Writer, p *slurm.Pool) (bool, error) {
	if p == nil {
		return false, nil
	}
	if err := p.Err(); err != nil {
		return false, &status{exitInput, err}
	}
	r := p.Receipt()
	if r.Open == 0 {
		return false, nil
	}
	text := "submitted none"
	if r.Points > 0 {
		var jobs []string
		for _, j := range r.Jobs {
			jobs = append(jobs, strconv.Itoa(j))
		}
		text = fmt.Sprintf("submitted %d in %d tasks (Slurm job %s)", r.Points, r.Tasks, strings.Join(jobs, ", "))
	}
	if r.Queued > 0 {
		text += fmt.Sprintf(", %d were queued before", r.Queued)
	}
	if r.Refused != nil {
		text += fmt.Sprintf("; Slurm refused the others: %v", r.Refused)
	}
	_, err := fmt.Fprintf(w, "%d simulations have no result yet: %s.\nGive the same command again later: it "+
		"collects finished results and submits lost simulations again. With --wait it waits until all are "+
		"done.\n", r.Open, text)
	return true, err
}

// slurmTaskCmd is what a node of a cluster runs.
func slurmTaskCmd() *cobra.Command {
	var cache string
	var jobs int
	cmd := &cobra.Command{
		Use:    "slurm-task PLAN TASK",
		Short:  "Do one task of a plan that --on slurm has submitted",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			task, err := strconv.Atoi(args[1])
			if err != nil {
				return fmt.Errorf("task %q: a number", args[1])
			}
			return slurmTask(cmd, args[0], task, cache, jobs)
		},
	}
	cmd.Flags().StringVar(&cache, "cache", "", "the result store")
	cmd.Flags().IntVar(&jobs, "jobs", 1, "simulations at once")
	return cmd
}

func slurmTask(cmd *cobra.Command, plan string, task int, cache string, jobs int) (err error) {
	out := cmd.OutOrStdout()
	code, err := lab.Code()
	if err != nil {
		return err
	}
	store, err := lab.OpenStore(cache, code)
	if err != nil {
		return err
	}
	board, err := live.Open(cache, live.Task, fmt.Sprintf("task %d of %s", task, filepath.Base(plan)), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, board.Close(false)) }()
	r := &lab.Runner{
		Run: sim.Run, Jobs: jobs, Store: store, Keep: true, Finish: lab.AddEnergy,
		Warn: func(format string, a ...any) { fmt.Fprintf(out, "warning: "+format+"\n", a...) },
		Start: func(t *lab.Task) (func(sim.Progress), func()) {
			begun := time.Now()
			watch, done := board.Start(t)
			return watch, func() {
				done()
				how := "done"
				if t.Err != nil {
					how = t.Err.Error()
				}
				fmt.Fprintf(out, "%s: %s after %v\n", t.Job.Label, how, time.Since(begun).Round(time.Millisecond))
			}
		},
	}
	if err := slurm.Work(cmd.Context(), r, code, plan, task); err != nil {
		return simStatus(err, false)
	}
	return nil
}
