package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"heddle/lab/characterise"
	"heddle/report"
)

// characteriseFlags are the flags of `heddle characterise`.
type characteriseFlags struct {
	apps, machine  string
	sizes          []string
	sweep          bool
	json, markdown bool
	jobs           int
	limit          uint64
}

func characteriseCmd() *cobra.Command {
	var f characteriseFlags
	c := &cobra.Command{
		Use:   "characterise [APP...]",
		Short: "Measure what kind of application an application is, beside what the papers say",
		Long: `Measures, for each application folder APP (all of apps/ when none is given): LLC
misses and accesses per 1000 thread instructions, arithmetic intensity, share of
writes, read-only shared bytes, the number of SMs that share a page, the regularity
of accesses, and with --sweep IPC against the number of SMs and of channels. What the
papers say of the application stands beside it, and claims that do not hold are
listed; they are no errors. --markdown prints apps/CHARACTERISATION.md.`,
		Example: `  heddle characterise apps/polybench/atax --size standard
  heddle characterise --size tiny,standard --limit 3000000 --markdown > apps/CHARACTERISATION.md`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.apps, "apps", "apps", "folder of the applications, for when none is named")
	fl.StringVar(&f.machine, "machine", "ugpu", "machine sheet: a name or a YAML file")
	fl.StringSliceVar(&f.sizes, "size", []string{"tiny"}, "preset(s) of the applications: tiny, standard, paper")
	fl.BoolVar(&f.sweep, "sweep", false, "also IPC by SMs and by channels")
	fl.BoolVar(&f.json, "json", false, "print the profiles as a JSON array")
	fl.BoolVar(&f.markdown, "markdown", false, "print the document with the tables")
	fl.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "simulations at once")
	fl.Uint64Var(&f.limit, "limit", 0, "leave out applications of more warp instructions than this; 0: none")
	c.MarkFlagsMutuallyExclusive("json", "markdown")
	return c
}

func (f *characteriseFlags) run(cmd *cobra.Command, paths []string) error {
	if f.jobs < 1 {
		return fmt.Errorf("--jobs %d: at least 1", f.jobs)
	}
	if len(paths) == 0 {
		scripts, err := filepath.Glob(filepath.Join(f.apps, "*", "*", "app.star"))
		if err != nil {
			return err
		}
		for _, s := range scripts {
			paths = append(paths, filepath.Dir(s))
		}
		if len(paths) == 0 {
			return fmt.Errorf("no application under %s: name some, or the folder with --apps", f.apps)
		}
	}
	seeds, err := characterise.LoadSeeds()
	if err != nil {
		return err
	}
	progress := report.NewProgress(cmd.ErrOrStderr(), isTerminal(cmd.ErrOrStderr()))
	var groups [][]characterise.Profile
	for _, size := range f.sizes {
		g, err := characterise.Run(cmd.Context(), paths, characterise.Options{Machine: f.machine, Size: size, Jobs: f.jobs, Limit: f.limit, Sweep: f.sweep, Start: progress.Start})
		if err != nil {
			progress.Close()
			return err
		}
		groups = append(groups, g)
	}
	progress.Close()
	if err := f.print(cmd.OutOrStdout(), groups, seeds); err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return &status{exitInterrupted, errors.New("interrupted; what is printed is not complete")}
	}
	return failures(groups)
}

func (f *characteriseFlags) print(w io.Writer, groups [][]characterise.Profile, seeds *characterise.Seeds) error {
	if f.json {
		var all []characterise.Profile
		for _, g := range groups {
			all = append(all, g...)
		}
		return printJSON(w, all)
	}
	if f.markdown {
		return characterise.Markdown(w, groups, seeds)
	}
	for _, g := range groups {
		fmt.Fprintf(w, "preset %s, machine %s\n\n", g[0].Size, g[0].Machine)
		if err := characterise.Text(w, g, seeds); err != nil {
			return err
		}
	}
	return nil
}

// failures is an error when an application could not be measured.
func failures(groups [][]characterise.Profile) error {
	n, text := 0, ""
	for _, g := range groups {
		for _, p := range g {
			if p.Err != "" {
				n++
				text = fmt.Sprintf("%s at %s: %s", p.App, p.Size, p.Err)
			}
		}
	}
	switch n {
	case 0:
		return nil
	case 1:
		return &status{exitCheck, errors.New(text)}
	}
	return &status{exitCheck, fmt.Errorf("%d applications could not be measured; the last: %s", n, text)}
}
