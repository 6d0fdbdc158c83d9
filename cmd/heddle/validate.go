package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/lab/silicon"
)

func validateCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "validate",
		Short: "Compare machine sheets with measurements of real boards",
	}
	c.AddCommand(validateSiliconCmd(), validateColocationCmd(), validateInstructionsCmd())
	return c
}

// collectAt is how much memory grows between collections while rows are measured, in percent of what is in use.
const collectAt = 20

// validateFlags are the flags of `heddle validate`.
type validateFlags struct {
	dir, machine, page, csv string
	groups, set             []string
	long, check             bool
	jobs                    int
}

func validateSiliconCmd() *cobra.Command {
	var f validateFlags
	c := &cobra.Command{
		Use:   "silicon",
		Short: "Run published measurements of V100, A100 and H100 boards and print the errors",
		Long: `Simulate the kernels behind published measurements of real boards (lab/silicon) on the
machine sheets, at the clocks of the measured board. Each row is printed with the figure of
silicon, Heddle's figure and the error; then the typical error of each group on each machine,
exp(mean |ln(Heddle/silicon)|) - 1, beside the error that is aimed at. If a sheet refuses a
kernel or a program fails, the row counts as failed and says why.
Groups: ` + strings.Join(silicon.Groups(), ", ") + `.`,
		Example: `  heddle validate silicon
  heddle validate silicon --machine a100 --group alu,sync --page silicon.html
  heddle validate silicon --check    # status 1 where a group is worse than wanted`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.register(c)
	fl := c.Flags()
	fl.StringSliceVar(&f.groups, "group", nil, "rows of these groups only (default: all)")
	fl.BoolVar(&f.long, "long", false, "also run rows that take long or repeat their neighbours")
	fl.Lookup("check").Usage = "exit 1 if a row fails or a typical error is above the one aimed at"
	return c
}

func validateColocationCmd() *cobra.Command {
	var f validateFlags
	c := &cobra.Command{
		Use:   "colocation",
		Short: "Run pairs of kernels measured beside each other on boards, print the errors",
		Long: `Simulates pairs of kernels (lab/silicon/colocation.csv) on the machine sheets as they were
measured on real boards: beside each other in two streams of one process, or in two
processes under MPS, and alone or one after the other. What is compared is the ratio of the
two times. The last line has the mean and the largest error.`,
		Example: `  heddle validate colocation
  heddle validate colocation --set l1d.repl=lru --page pairs.html
  heddle validate colocation --check    # status 1 where an error is larger than wanted`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.colocation(cmd) },
	}
	f.register(c)
	return c
}

func validateInstructionsCmd() *cobra.Command {
	var f validateFlags
	c := &cobra.Command{
		Use:   "instructions",
		Short: "Count the instructions of applications beside those that boards executed",
		Long: `Executes applications without timing and compares the warp instructions of each kernel with
those that a real board counted in it (lab/silicon/measured/instructions). The board's
compiler joins, drops and expands PTX instructions; Heddle executes them as they stand. So
an error of translation can be distinguished from an error of the machine's timing.`,
		Example: `  heddle validate instructions
  heddle validate instructions --csv counts.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.instructions(cmd) },
	}
	f.register(c)
	return c
}

func (f *validateFlags) instructions(cmd *cobra.Command) error {
	o, err := f.options(cmd)
	if err != nil {
		return err
	}
	set, err := silicon.OpenCounts(f.dir)
	if err != nil {
		return err
	}
	results, err := measured(cmd, func() ([]silicon.Result, error) { return set.Count(cmd.Context(), o) })
	if err != nil {
		return err
	}
	scores := silicon.Scores(results)
	if err := silicon.Text(cmd.OutOrStdout(), results, scores); err != nil {
		return err
	}
	return f.write(results, scores, silicon.LastLine(scores), silicon.Missed(scores))
}

// register adds the flags that all of `heddle validate` has.
func (f *validateFlags) register(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.dir, "dir", "", "folder of rows, boards and kernels (default: the nearest lab/silicon)")
	fl.StringVar(&f.machine, "machine", "", "rows of this machine only (default: all)")
	fl.StringArrayVar(&f.set, "set", nil, "override a number of every board's sheet (repeatable)")
	fl.BoolVar(&f.check, "check", false, "exit 1 where a row fails or an error is larger than wanted")
	fl.StringVar(&f.page, "page", "", "also write an HTML page with the error of each row to this file")
	fl.StringVar(&f.csv, "csv", "", "also write the rows to this file")
	jobsVar(fl, &f.jobs, "simulations at once")
}

// options checks the flags and finds the folder.
func (f *validateFlags) options(cmd *cobra.Command) (o silicon.Options, err error) {
	if f.jobs < 1 {
		return o, fmt.Errorf("--jobs %d: at least 1", f.jobs)
	}
	o = silicon.Options{Jobs: f.jobs, Done: runsDone(cmd.ErrOrStderr())}
	if o.Set, err = pairs("set", f.set); err == nil && f.dir == "" {
		f.dir, err = nearest(filepath.Join("lab", "silicon"),
			"run heddle in its repository, or name the folder: --dir DIR")
	}
	return o, err
}

func (f *validateFlags) run(cmd *cobra.Command) error {
	o, err := f.options(cmd)
	if err != nil {
		return err
	}
	set, err := silicon.Open(f.dir)
	if err != nil {
		return err
	}
	rows, err := set.Select(f.machine, f.groups, f.long)
	if err != nil {
		return err
	}
	results, err := measured(cmd, func() ([]silicon.Result, error) { return set.Measure(cmd.Context(), rows, o) })
	if err != nil {
		return err
	}
	scores := silicon.Scores(results)
	if err := silicon.Text(cmd.OutOrStdout(), results, scores); err != nil {
		return err
	}
	return f.write(results, scores, silicon.LastLine(scores), silicon.Missed(scores))
}

func (f *validateFlags) colocation(cmd *cobra.Command) error {
	o, err := f.options(cmd)
	if err != nil {
		return err
	}
	set, err := silicon.OpenPairs(f.dir)
	if err != nil {
		return err
	}
	two, err := set.SelectPairs(f.machine)
	if err != nil {
		return err
	}
	results, err := measured(cmd, func() ([]silicon.Result, error) { return set.MeasurePairs(cmd.Context(), two, o) })
	if err != nil {
		return err
	}
	if err := silicon.PairsText(cmd.OutOrStdout(), results); err != nil {
		return err
	}
	return f.write(results, nil, silicon.PairsLine(results), silicon.PairsMissed(results))
}

// measured runs simulations. Most of the memory is machines and arrays of simulations that have ended: collecting them
// early takes little time, and keeps several simulations at once in a small computer.
func measured(cmd *cobra.Command, measure func() ([]silicon.Result, error)) ([]silicon.Result, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	results, err := measure()
	if err != nil && cmd.Context().Err() != nil {
		return nil, &status{exitInterrupted, errors.New("interrupted before the last row: nothing is printed")}
	}
	return results, err
}

// write writes the files that the flags name and says with --check what is worse than wanted.
func (f *validateFlags) write(results []silicon.Result, scores []silicon.Score, last string, missed []string) error {
	page := func(w io.Writer) error { return silicon.Page(w, last, results, scores) }
	if err := writeTo(f.page, page); err != nil {
		return err
	}
	if err := writeTo(f.csv, func(w io.Writer) error { return silicon.CSV(w, results) }); err != nil {
		return err
	}
	if f.check && len(missed) > 0 {
		return &status{exitCheck, errors.New("worse than wanted:\n  " + strings.Join(missed, "\n  "))}
	}
	return nil
}

// runsDone says now and then how many simulations are done.
func runsDone(w io.Writer) func(done, all int) {
	begun := time.Now()
	said := begun
	tty := isTerminal(w)
	every := 10 * time.Second
	if tty {
		every = 200 * time.Millisecond
	}
	return func(done, all int) {
		now := time.Now()
		if now.Sub(said) < every && done < all || now.Sub(begun) < time.Second {
			return
		}
		said = now
		line := fmt.Sprintf("%d of %d simulations, %.0f s", done, all, now.Sub(begun).Seconds())
		switch {
		case !tty:
			fmt.Fprintln(w, line)
		case done == all:
			fmt.Fprint(w, "\r\x1b[K")
		default:
			fmt.Fprint(w, "\r"+line+"\x1b[K")
		}
	}
}

// writeTo writes a file whole or not at all; "": none is wanted.
func writeTo(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	return scratch.WriteWhole(name, b.Bytes())
}
