package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/host/exec"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/machine/stride"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// execFlags are the flags of `heddle exec`.
type execFlags struct {
	machine    string
	set        []string
	functional bool
	out        string
	json, wide bool
	table      bool
	maxCycles  uint64
	watchdog   uint64
	memory     string
	limit      time.Duration
	record     string
}

func execCmd() *cobra.Command {
	var f execFlags
	cmd := &cobra.Command{
		Use:   "exec [flags] -- PROGRAM [ARGUMENTS]",
		Short: "Run a compiled CUDA program, unmodified, on the simulated machine",
		Long: `Run a compiled CUDA program on the simulated machine: its host code runs as it is, its
kernels and copies are simulated. The program must come from heddle cc, or from nvcc with
-cudart shared and embedded PTX (-gencode arch=compute_70,code=compute_70).

Host code takes no simulated time. Time passes while the program waits for the GPU, and
its events show that time. What the program prints goes to standard output. The exit
status is the program's; it is 2 if the program cannot be run, and 3 if the simulation
fails or reaches a limit. A CUDA call that Heddle lacks returns CUDA's error code, and
one line on standard error names it.`,
		Example: `  heddle cc prog.cu -o prog && heddle exec -- ./prog
  heddle exec --machine ugpu --table -- ./prog 1024
  heddle exec --functional --record prog.heddle -- ./prog`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.machine, "machine", "qv100", "machine sheet: a name or a YAML file")
	fl.StringArrayVar(&f.set, "set", nil, "override a number of the machine, as in --set dram.channels=16 (repeatable)")
	fl.BoolVar(&f.functional, "functional", false, "run the kernels without timing")
	fl.StringVarP(&f.out, "out", "o", "", "write a result directory (result.json, epochs, timeline, profile, counters)")
	fl.BoolVar(&f.json, "json", false, "print the result as JSON on standard error when the program has ended")
	fl.BoolVar(&f.table, "table", false, "print the tables of the result on standard error when the program has ended")
	fl.BoolVar(&f.wide, "wide", false, "with --table: every column, not only what fits 100 columns")
	fl.Uint64Var(&f.maxCycles, "max-cycles", 0, "stop at this core cycle (--functional: warp instruction); 0: never")
	fl.Uint64Var(&f.watchdog, "watchdog", 0, "core cycles without progress that count as a deadlock (0: 20 million); "+
		"warp instructions when --functional (0: 500 million)")
	fl.StringVar(&f.memory, "memory-limit", "",
		"stop when Heddle and the program together use more memory, as in --memory-limit 4GiB")
	fl.DurationVar(&f.limit, "time-limit", 0,
		"stop after this much time of the computer, as in --time-limit 10m; 0: never (default 0)")
	fl.StringVar(&f.record, "record", "", "record the program in FILE; it appears when the run is complete")
	completeMachine(cmd)
	return cmd
}

// errTime is the cause of a run that was stopped because its time was up.
var errTime = errors.New("time limit exceeded")

// run executes one program.
func (f *execFlags) run(cmd *cobra.Command, args []string) error {
	if cmd.ArgsLenAtDash() != 0 {
		return fmt.Errorf("put -- before the program: heddle exec [flags] -- ./program [arguments]")
	}
	set, err := pairs("set", f.set)
	if err != nil {
		return err
	}
	o := runfile.Overrides{Machine: f.machine, Set: set, Functional: f.functional, Out: f.out}
	for _, c := range []struct {
		name string
		v    *uint64
		to   **uint64
	}{{"max-cycles", &f.maxCycles, &o.MaxCycles}, {"watchdog", &f.watchdog, &o.Watchdog}} {
		if cmd.Flags().Changed(c.name) {
			*c.to = c.v
		}
	}
	lib, err := driverLibrary(cmd.Context())
	if err != nil {
		return err
	}
	prog := &exec.Program{
		Args: args, Shim: lib, Stdin: os.Stdin, Stdout: report.Raw(cmd.OutOrStdout()), Stderr: cmd.ErrOrStderr(),
		Terminal: isTerminal(os.Stdin),
	}
	file, err := runfile.ForProgram(args, o)
	if err != nil {
		return err
	}
	noted(cmd, file)
	file.Specs[0].Record, file.Specs[0].Apps[0].Program = f.record, prog
	ctx, stop, err := f.limits(cmd, prog)
	if err != nil {
		return err
	}
	defer stop()
	return f.simulate(ctx, cmd, file, prog)
}

// limits bounds time and memory.
func (f *execFlags) limits(cmd *cobra.Command, prog *exec.Program) (context.Context, func(), error) {
	ctx, cancel := context.WithCancelCause(cmd.Context())
	stop := func() { cancel(nil) }
	if f.limit < 0 {
		return nil, nil, fmt.Errorf("--time-limit %v: a time limit is positive, as in 10m", f.limit)
	}
	if f.limit > 0 {
		t := time.AfterFunc(f.limit, func() {
			cancel(fmt.Errorf("%w: %v have passed (--time-limit)", errTime, f.limit))
		})
		stop = func() { t.Stop(); cancel(nil) }
	}
	if f.memory == "" {
		return ctx, stop, nil
	}
	limit, err := parseBytes(f.memory)
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("--memory-limit: %w", err)
	}
	inner, release := limitMemoryOf(ctx, limit, prog.Memory, func(err error) {
		fmt.Fprintf(cmd.ErrOrStderr(), "heddle: %v\n", err)
		os.Exit(exitInternal)
	})
	return inner, func() { release(); stop() }, nil
}

// simulate runs the program and shows the result.
func (f *execFlags) simulate(ctx context.Context, cmd *cobra.Command, file *runfile.File, prog *exec.Program) error {
	dirs, err := begin(file)
	if err != nil {
		return err
	}
	jobs := jobsOf(file, dirs)
	jobs[0].Spec.Cores = stride.NewCores(runtime.NumCPU() - 1)
	res, err := sim.Run(ctx, jobs[0].Spec, nil)
	outcomes := []lab.Outcome{{Job: jobs[0], Result: res, Err: err}}
	lost := dirs.commit(outcomes)
	if res != nil && f.table {
		lost = errors.Join(lost, report.Table(cmd.ErrOrStderr(), res, f.wide))
	}
	if res != nil && f.json {
		lost = errors.Join(lost, report.JSONList(cmd.ErrOrStderr(), []*sim.Result{res}, false))
	}
	if cause := context.Cause(ctx); err != nil && (errors.Is(cause, errMemory) || errors.Is(cause, errTime)) {
		return &status{exitInternal, errors.Join(cause, lost)}
	}
	if lost != nil {
		return &status{exitInternal, errors.Join(lost, err)}
	}
	if s := simStatus(err, res != nil); s != nil {
		if s.code == exitCheck {
			return &status{prog.Status(), errors.New("")}
		}
		return s
	}
	if n := prog.Status(); n != 0 {
		return &status{n, errors.New("")}
	}
	return nil
}
