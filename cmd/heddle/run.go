package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
	"github.com/heddle-sim/heddle/trace/accelsim"
)

// runFlags are the flags of `heddle run`.
type runFlags struct {
	machine    string
	functional bool
	args, set  []string
	out        string
	json, wide bool
	seed       uint64
	maxCycles  uint64
	watchdog   uint64
	jobs       int
	sharing    []string
	cache      string
	noCache    bool
	memory     string
	record     string
}

func runCmd() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run PATH",
		Short: "Simulate an application folder, a recording, a run file or a result again",
		Long: `Simulate PATH: an application folder (with app.star) or a recording alone on the
machine, or a run file (.yaml) that says which applications share which machine, and
how. A run file with several sharing modes gives one run per mode, compared at the end.

With --record the application is also recorded: what every warp executed, and what
the host program asked of the device. The recording runs on any machine, alone or in a
run file, in less time, because no PTX is executed. Without data races it takes the cycles of
the application, also if it was recorded with --functional, which is faster. (v100, a100 and
h100 unroll loops, as their sm.ptxas says: a result warns if its recording is of the other
kind of machine.) A recording holds no data, so that a replay makes no checks.

A result.json is simulated again, on its machine, if its applications have not changed.

Slowdowns are relative to each application alone. Results of these alone-runs are kept in
a cache and used again.`,
		Example: `  heddle run apps/micro/triad --arg size=standard --machine ugpu
  heddle run apps/rodinia-like/bfs --functional
  heddle run apps/micro/spmv --functional --record spmv.heddle
  heddle run spmv.heddle --machine ugpu
  heddle run results/two/MPS/result.json
  heddle run examples/two-tenants.yaml --out results/two --set dram.channels=16`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return run(cmd, args[0], &f) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return appPaths(prefix), cobra.ShellCompDirectiveDefault
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.machine, "machine", "qv100", "machine sheet: a name or a YAML file; overrides the run file's")
	fl.BoolVar(&f.functional, "functional", false, "run the programs without timing")
	fl.StringArrayVar(&f.args, "arg", nil, "argument of the application's main, as in --arg n=4096 (repeatable)")
	fl.StringArrayVar(&f.set, "set", nil, "override a number of the machine, as in --set dram.channels=16 (repeatable)")
	fl.StringVarP(&f.out, "out", "o", "", "write a result directory (result.json, epochs, timeline, profile, counters)")
	fl.BoolVar(&f.json, "json", false, "print the result as JSON: an object, or an array for several sharing modes")
	fl.BoolVar(&f.wide, "wide", false, "print every column of the tables, not only what fits 100 columns")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of every random choice")
	fl.Uint64Var(&f.maxCycles, "max-cycles", 0, "stop at this core cycle (--functional: warp instruction); 0: never")
	fl.Uint64Var(&f.watchdog, "watchdog", 0, "core cycles without progress, or tens of warp instructions, that count "+
		"as a deadlock (0: 20 million); warp instructions when --functional (0: 500 million)")
	jobsVar(fl, &f.jobs, "cores to use: for simulations at once, then for the SMs of each")
	fl.StringSliceVar(&f.sharing, "sharing", nil, "only these sharing modes of the run file, by name or mode, or "+
		"other modes: "+
		strings.Join(sim.ModeNames(), ", ")+" (default: all that the run file lists)")
	fl.StringVar(&f.cache, "cache", "",
		"keep results of applications alone in DIR (default: the user's cache directory)")
	fl.BoolVar(&f.noCache, "no-cache", false, "neither use nor keep results of earlier runs")
	fl.StringVar(&f.memory, "memory-limit", "",
		"refuse arrays that need more, and stop with a partial result when more is used, as in --memory-limit 4GiB")
	fl.StringVar(&f.record, "record", "", "record the application in FILE; it appears when the run is complete")
	completeRun(cmd)
	return cmd
}

// pairs reads k=v flags.
func pairs(flag string, list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, kv := range list {
		k, v, ok := strings.Cut(kv, "=")
		if k = strings.TrimSpace(k); !ok || k == "" {
			return nil, fmt.Errorf("--%s %s: name=value is expected", flag, kv)
		}
		if _, twice := out[k]; twice {
			return nil, fmt.Errorf("--%s %s is given twice", flag, k)
		}
		out[k] = v
	}
	return out, nil
}

// overrides turns the flags into what runfile takes.
func (f *runFlags) overrides(cmd *cobra.Command) (o runfile.Overrides, err error) {
	if o.Args, err = pairs("arg", f.args); err != nil {
		return o, err
	}
	if o.Set, err = pairs("set", f.set); err != nil {
		return o, err
	}
	if cmd.Flags().Changed("machine") {
		o.Machine = f.machine
	}
	if cmd.Flags().Changed("seed") {
		o.Seed = &f.seed
	}
	if cmd.Flags().Changed("max-cycles") {
		o.MaxCycles = &f.maxCycles
	}
	if cmd.Flags().Changed("watchdog") {
		o.Watchdog = &f.watchdog
	}
	o.Sharing, o.Functional, o.Out = f.sharing, f.functional, f.out
	if f.jobs < 1 {
		return o, fmt.Errorf("--jobs %d: at least 1", f.jobs)
	}
	if f.noCache && f.cache != "" {
		return o, errors.New("--cache and --no-cache exclude each other")
	}
	return o, nil
}

// load resolves the file or result to run.
func (f *runFlags) load(cmd *cobra.Command, path string) (*runfile.File, error) {
	o, err := f.overrides(cmd)
	if err != nil {
		return nil, err
	}
	if b := filepath.Base(path); b == "app.star" || b == accelsim.ListName {
		path = filepath.Dir(path)
	}
	app, err := runfile.IsApp(path)
	if err != nil {
		return nil, missing(path, err)
	}
	var file *runfile.File
	if app {
		file, err = runfile.ForApp(path, o)
	} else {
		file, err = runfile.Load(path, o)
	}
	if err != nil {
		return nil, err
	}
	noted(cmd, file)
	if f.functional { // sharing has no meaning without time
		file.Specs = file.Specs[:1]
	}
	if f.record != "" {
		if len(file.Specs) > 1 {
			return nil, fmt.Errorf("--record: %d sharing modes would write %s; give one with --sharing",
				len(file.Specs), f.record)
		}
		file.Specs[0].Record = f.record
	}
	return file, nil
}

// noted prints the changes of the machine that a run makes without being asked.
func noted(cmd *cobra.Command, file *runfile.File) {
	for _, n := range file.Notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "heddle: note: %s\n", n)
	}
}

// resolve reads the file to run; again is nil if that is no result.
func (f *runFlags) resolve(cmd *cobra.Command, path string) (file *runfile.File, again *rerun, err error) {
	if report.IsResult(path) {
		return f.loadResult(cmd, path)
	}
	file, err = f.load(cmd, path)
	return file, nil, err
}

func run(cmd *cobra.Command, path string, f *runFlags) (err error) {
	file, again, err := f.resolve(cmd, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, again.clean()) }()
	progress := report.NewProgress(cmd.ErrOrStderr(), isTerminal(cmd.ErrOrStderr()))
	runner := &lab.Runner{
		Run: sim.Run, Jobs: f.jobs, Finish: lab.AddEnergy,
		Start: func(t *lab.Task) (func(sim.Progress), func()) { return progress.Start(t.Job.Label, t.Alone) },
		Warn:  func(format string, a ...any) { progress.Log("heddle: warning: "+format, a...) },
	}
	if err := f.store(runner, file); err != nil {
		return err
	}
	early := f.early(file, isTerminal(cmd.OutOrStdout()) && isTerminal(cmd.ErrOrStderr()))
	for _, w := range early {
		runner.Warn("%s", w)
	}
	defer f.announce(runner, path)()
	dirs, err := begin(file)
	if err != nil {
		return err
	}
	jobs := jobsOf(file, dirs)
	ctx := cmd.Context()
	if f.memory != "" {
		limit, err := parseBytes(f.memory)
		if err != nil {
			return errors.Join(fmt.Errorf("--memory-limit: %w", err), dirs.abort())
		}
		for i := range jobs {
			jobs[i].Spec.Holds = limit
		}
		var stop func()
		ctx, stop = limitMemory(ctx, limit, func(err error) {
			fmt.Fprintf(cmd.ErrOrStderr(), "heddle: %v\n", errors.Join(err, dirs.abort()))
			os.Exit(exitInternal)
		})
		defer stop()
	}
	outcomes := runner.All(ctx, jobs)
	progress.Close()
	again.restore(outcomes)
	lost := errors.Join(dirs.commit(outcomes), compare(file.Out, outcomes))
	shown := without(outcomes, early)
	if err := show(cmd.OutOrStdout(), shown, f.json, f.wide); err != nil { // a finished run is shown, kept or not
		return errors.Join(err, lost)
	}
	if cause := context.Cause(ctx); errors.Is(cause, errMemory) {
		lost = errors.Join(cause, lost)
	} else {
		err = verdict(cmd.Context(), cmd.ErrOrStderr(), outcomes)
	}
	if lost != nil {
		return &status{exitInternal, errors.Join(lost, err)}
	}
	return err
}

// jobsOf is a job per sharing mode.
func jobsOf(file *runfile.File, dirs outDirs) (jobs []lab.Job) {
	for i, s := range file.Specs {
		name := s.Sharing.Name
		if len(s.Apps) == 1 {
			name = s.Apps[0].Name
		}
		if len(dirs.of) > 0 {
			s.OutDir = dirs.of[i].Path()
		}
		jobs = append(jobs, lab.Job{Label: name, Spec: s, Machine: file.Machine})
	}
	return jobs
}

// store opens the cache of alone-runs where one will be needed. Without a place
// for it the runs are done all the same.
func (f *runFlags) store(r *lab.Runner, file *runfile.File) error {
	shared := slices.ContainsFunc(file.Specs, func(s sim.Spec) bool { return len(s.Apps) > 1 && !s.Functional })
	if f.noCache || !shared {
		return nil
	}
	dir := f.cache
	if dir == "" {
		var err error
		if dir, err = lab.DefaultDir(); err != nil {
			r.Warn("%v", err)
			return nil
		}
	}
	code, err := lab.Code()
	if err == nil {
		r.Store, err = lab.OpenStore(dir, code)
	}
	if err != nil && f.cache != "" {
		return err // the user asked for this one
	}
	if err != nil {
		r.Store = nil
		r.Warn("%v; going on without", err)
	}
	return nil
}

// early are the warnings about policies and turns that have no time to act. They are printed before a run only on a
// terminal, where a user can give the run another length. All others find them in the result.
func (f *runFlags) early(file *runfile.File, watched bool) (out []string) {
	if !watched || f.json {
		return nil
	}
	for i := range file.Specs {
		s := &file.Specs[i]
		if end := s.Length.MaxCycles; end > 0 && !s.Functional {
			out = append(out, s.Sharing.NoTime(file.Machine, end)...)
		}
	}
	return out
}

// without is the outcomes without warnings that their reader has seen.
func without(outcomes []lab.Outcome, seen []string) []lab.Outcome {
	if len(seen) == 0 {
		return outcomes
	}
	outcomes = slices.Clone(outcomes)
	for i := range outcomes {
		if r := outcomes[i].Result; r != nil {
			shown := *r
			shown.Warnings = slices.DeleteFunc(slices.Clone(r.Warnings), func(w string) bool {
				return slices.Contains(seen, w)
			})
			outcomes[i].Result = &shown
		}
	}
	return outcomes
}

// compare writes comparison.csv beside the directories of several sharing modes.
func compare(out string, outcomes []lab.Outcome) error {
	results := finished(outcomes)
	if out == "" || len(outcomes) < 2 || len(results) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := report.ComparisonCSV(&b, results); err != nil {
		return err
	}
	return scratch.WriteWhole(filepath.Join(out, "comparison.csv"), b.Bytes())
}

// finished are the results there are.
func finished(outcomes []lab.Outcome) []*sim.Result {
	var results []*sim.Result
	for i := range outcomes {
		if tells(&outcomes[i]) {
			results = append(results, outcomes[i].Result)
		}
	}
	return results
}

// tells says that a run has a result worth showing: not that of one whose input is wrong, or whose
// programs failed before they had printed or launched anything.
func tells(o *lab.Outcome) bool {
	if o.Result == nil || o.Err == nil {
		return o.Result != nil
	}
	if unfit := (*sim.Unfit)(nil); errors.As(o.Err, &unfit) {
		return false
	}
	return o.Result.Cycles > 0 ||
		slices.ContainsFunc(o.Result.Tenants, func(t sim.Tenant) bool { return t.WarpInsts > 0 || len(t.Log) > 0 })
}

// show prints the results.
func show(w io.Writer, outcomes []lab.Outcome, asJSON, wide bool) error {
	results := finished(outcomes)
	if asJSON {
		return report.JSONList(w, results, len(outcomes) > 1)
	}
	for i, r := range results {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := report.Table(w, r, wide); err != nil {
			return err
		}
	}
	if len(outcomes) > 1 && len(results) > 0 {
		fmt.Fprintln(w)
		return report.Comparison(w, results, wide)
	}
	return nil
}

// verdict is the error, and so the exit status, of all outcomes together: the gravest counts, the others are printed.
func verdict(ctx context.Context, stderr io.Writer, outcomes []lab.Outcome) error {
	var worst *status
	told := map[string]bool{}
	tell := func(s *status) {
		if worst != nil && !told[s.Error()] && s.Error() != worst.Error() {
			told[s.Error()] = true
			fmt.Fprintf(stderr, "heddle: %s\n", report.Plain(s.Error()))
		}
	}
	for _, o := range outcomes {
		s := outcomeStatus(&o)
		switch {
		case s == nil:
		case worst == nil || s.code > worst.code:
			if worst != nil {
				s, worst = worst, s
				tell(s)
			} else {
				worst = s
			}
		default:
			tell(s)
		}
	}
	if worst == nil {
		return nil
	}
	if ctx.Err() != nil {
		worst = &status{exitInterrupted, errors.New("interrupted")}
	}
	return worst
}

// outcomeStatus is what one run has to say; nil when all is well.
func outcomeStatus(o *lab.Outcome) *status {
	if o.Err != nil {
		s := simStatus(o.Err, o.Result != nil)
		if o.Job.Label != "" && s != nil {
			s.err = fmt.Errorf("%s: %w", o.Job.Label, s.err)
		}
		return s
	}
	if o.Result == nil {
		return &status{exitInternal, errors.New("internal error: a run without result or error")}
	}
	failed := 0
	for _, c := range o.Result.Checks {
		if !c.OK {
			failed++
		}
	}
	if failed > 0 {
		return &status{exitCheck, fmt.Errorf("%s: %d of %d checks failed", o.Job.Label, failed, len(o.Result.Checks))}
	}
	var nothing *lab.Nothing // of which a warning tells
	if o.AloneErr != nil && !errors.As(o.AloneErr, &nothing) {
		return simStatus(fmt.Errorf("%s: no slowdowns and metrics: %w", o.Job.Label, o.AloneErr), true)
	}
	return nil
}

// isTerminal tells whether bars may be drawn on w.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}
