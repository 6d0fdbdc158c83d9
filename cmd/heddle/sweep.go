package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/internal/scratch"
	"github.com/heddle-sim/heddle/internal/text"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/sim"
	"github.com/heddle-sim/heddle/sim/runfile"
)

// sweepFlags are the flags of `heddle sweep`.
type sweepFlags struct {
	out, cache string
	jobs       int
	set        []string
	cluster    clusterFlags
}

func sweepCmd() *cobra.Command {
	var f sweepFlags
	cmd := &cobra.Command{
		Use:   "sweep FILE",
		Short: "Run a run file once for every combination of values in a sweep file",
		Long: `Run a run file once for every combination of values and print a table; with --out
also as CSV, a row per run and application. The sweep file names the run file and what
varies, by path:

  run: two-tenants.yaml
  vary:
    - {machine.dram.channels: [16, 32], machine.map.groups: [16, 32]}
    - {apps.compute.args.n: [256, 512]}
    - {sharing: [mps, bp]}

Entries of vary give a cross product; paths in one entry advance together. A path is
any key of a run file. Name an entry of a list by its number or its name, a policy by its own
name, and a sharing entry without a name by its mode: sharing.bp.policies.ugpu.period.
Outputs of the run file are not written.

Each result is kept as soon as it is complete: an interrupted sweep continues where it
stopped. On a cluster (--on slurm) the same holds if the client, a task or a node dies.
Without --wait, give the same command again later to collect the results.`,
		Example: `  heddle sweep channels.yaml --jobs 4 --out channels.csv
  heddle sweep channels.yaml --on slurm --partition short --time 30:00 --wait --out channels.csv`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return sweep(cmd, args[0], &f) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "out", "o", "", "write the table as CSV to FILE")
	fl.StringVar(&f.cache, "cache", "", "keep results of runs in DIR (default: the user's cache directory)")
	jobsVar(fl, &f.jobs, "simulations at once")
	fl.StringArrayVar(&f.set, "set", nil,
		"override a number of the machine in every run, as in --set sm.count=40 (repeatable)")
	f.cluster.add(fl)
	f.cluster.complete(cmd)
	return cmd
}

func sweep(cmd *cobra.Command, file string, f *sweepFlags) error {
	if f.jobs < 1 {
		return fmt.Errorf("--jobs %d: at least 1", f.jobs)
	}
	set, err := pairs("set", f.set)
	if err != nil {
		return err
	}
	pool, err := f.cluster.pool(cmd.Flags())
	if err != nil {
		return err
	}
	s, err := lab.LoadSweep(cmd.Context(), file, runfile.Overrides{Set: set}, planning(cmd.ErrOrStderr()))
	if errors.Is(err, sim.ErrStopped) {
		return &status{exitInterrupted, errors.New("interrupted")}
	}
	if err != nil {
		return err
	}
	var jobs []lab.Job
	var values [][]string // of the point each job belongs to
	for _, p := range s.Points {
		for _, spec := range p.File.Specs {
			jobs = append(jobs,
				lab.Job{
					Label: strings.Join(append(append([]string(nil), p.Values...), spec.Sharing.Name), " "),
					Spec:  spec, Machine: p.File.Machine,
				})
			values = append(values, p.Values)
		}
	}
	runner, err := follow(cmd, f.cache, f.jobs, pool, "sweep", file)
	if err != nil {
		return err
	}
	outcomes := runner.All(cmd.Context(), jobs)
	runner.close()
	if later, err := receipt(cmd.OutOrStdout(), pool); (later && cmd.Context().Err() == nil) || err != nil {
		tellFailed(cmd.ErrOrStderr(), outcomes)
		return err
	}
	if cmd.Context().Err() == nil && f.out != "" {
		if err := writeSweep(f.out, s.Paths, values, outcomes); err != nil {
			return err
		}
	}
	if err := showSweep(cmd.OutOrStdout(), s.Paths, values, outcomes); err != nil {
		return err
	}
	return verdict(cmd.Context(), cmd.ErrOrStderr(), outcomes)
}

// tellFailed says how many of the runs have failed that are known so far, and why one of them.
func tellFailed(w io.Writer, outcomes []lab.Outcome) {
	failed, first := 0, ""
	for _, o := range outcomes {
		if o.Err != nil && !errors.Is(o.Err, lab.ErrLater) {
			if failed++; first == "" {
				first = fmt.Sprintf("%s: %v", o.Job.Label, o.Err)
			}
		}
	}
	if failed > 0 {
		fmt.Fprintf(w, "heddle: %d runs have failed so far, such as %s\n", failed, report.Plain(first))
	}
}

// planning says every few seconds how far the plan of a large sweep is.
func planning(w io.Writer) func(done, of int) {
	begun := time.Now()
	said := begun
	return func(done, of int) {
		now := time.Now()
		if now.Sub(said) < 5*time.Second {
			return
		}
		said = now
		left := time.Duration(float64(now.Sub(begun)) / float64(done) * float64(of-done)).Round(time.Second)
		fmt.Fprintf(w, "planning: %d of %d points, about %v left\n", done, of, left)
	}
}

// number writes what may be missing.
func number(known bool, x float64) string {
	if !known {
		return ""
	}
	return fmt.Sprintf("%.6g", x)
}

// rate writes a share of events; nothing where there were none.
func rate(x *float64) string {
	if x == nil {
		return ""
	}
	return number(true, *x)
}

// showSweep prints a row per run.
func showSweep(w io.Writer, paths []string, values [][]string, outcomes []lab.Outcome) error {
	rows := [][]string{append(append([]string(nil), paths...), "MODE", "CYCLES", "STP", "ANTT", "IPC")}
	for i, o := range outcomes {
		row := append(append([]string(nil), values[i]...), o.Job.Spec.Sharing.Name)
		if o.Result == nil {
			rows = append(rows, append(row, "failed"))
			continue
		}
		var ipc []string
		for _, t := range o.Result.Tenants {
			ipc = append(ipc, fmt.Sprintf("%s %.1f", t.Name, t.IPC))
		}
		m := o.Result.Metrics
		stp, antt := "-", "-"
		if m != nil {
			stp, antt = fmt.Sprintf("%.3f", m.STP), fmt.Sprintf("%.3f", m.ANTT)
		}
		rows = append(rows, append(row, fmt.Sprint(o.Result.Cycles), stp, antt, strings.Join(ipc, ", ")))
	}
	return text.Columns(w, rows)
}

// writeSweep writes a row per run and application; the file appears whole.
func writeSweep(file string, paths []string, values [][]string, outcomes []lab.Outcome) error {
	rows := [][]string{append(append([]string(nil), paths...), "mode", "complete", "run_cycles", "stp", "antt",
		"fairness", "energy_j",
		"app", "sms", "channels", "ipc", "slowdown", "dram_gb_per_s", "l1_hit_rate", "llc_hit_rate")}
	for i, o := range outcomes {
		r := o.Result
		if r == nil {
			continue
		}
		run := append(append([]string(nil), values[i]...), o.Job.Spec.Sharing.Name, fmt.Sprint(r.Complete),
			fmt.Sprint(r.Cycles))
		m, e := r.Metrics, r.Energy
		if m != nil {
			run = append(run, number(true, m.STP), number(true, m.ANTT), number(true, m.Fairness))
		} else {
			run = append(run, "", "", "")
		}
		if e != nil {
			run = append(run, number(true, e.Total))
		} else {
			run = append(run, "")
		}
		for _, t := range r.Tenants {
			rows = append(rows, append(append([]string(nil), run...), t.Name, fmt.Sprint(t.SMs), fmt.Sprint(t.Channels),
				number(true, t.IPC),
				number(m != nil, t.Slowdown), number(true, t.BandwidthGBs), rate(t.L1HitRate), rate(t.LLCHitRate)))
		}
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		return err
	}
	return scratch.WriteWhole(file, text.Bytes())
}
