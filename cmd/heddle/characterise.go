package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/lab/characterise"
	"github.com/heddle-sim/heddle/report"
)

// characteriseFlags are the flags of `heddle characterise`.
type characteriseFlags struct {
	apps, machine  string
	sizes          []string
	args, set      []string
	sweep          bool
	functional     bool
	json, markdown bool
	jobs           int
	limit, cycles  uint64
	from           []string
	figures        string
}

func characteriseCmd() *cobra.Command {
	var f characteriseFlags
	c := &cobra.Command{
		Use:   "characterise [APP...]",
		Short: "Measure how applications behave, and compare them with what the papers say",
		Long: `Measures, for each application folder APP (all of apps/ when none is given): LLC
misses and accesses per 1000 thread instructions, arithmetic intensity, share of
writes, read-only shared bytes, the number of SMs that share a page, the regularity
of accesses, and with --sweep IPC against the number of SMs and of channels. A second
run, with the machine's address translation, measures the conditions under which studies
run the application, and warns about them: waves of thread blocks per kernel, balance of
channels, page walks, and sweeps of the footprint. The papers' statements about the
application are printed beside it. Claims that do not hold are listed; they do not change the exit
status. --markdown prints apps/CHARACTERISATION.md.`,
		Example: `  heddle characterise apps/polybench/atax --size standard
  heddle characterise --size tiny,standard --sweep --cycles 2000000 --json > profiles.json
  heddle characterise --from profiles.json --figures figures --markdown > CHARACTERISATION.md`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	fl := c.Flags()
	fl.StringVar(&f.apps, "apps", "apps", "folder of applications, used when no APP is given")
	fl.StringVar(&f.machine, "machine", "ugpu", "machine sheet: a name or a YAML file")
	fl.StringSliceVar(&f.sizes, "size", []string{"tiny"}, "preset(s) of the applications: tiny, standard, paper")
	fl.StringArrayVar(&f.args, "arg", nil,
		"further argument of every application's main, as in --arg steps=1 (repeatable)")
	fl.StringArrayVar(&f.set, "set", nil, "parameter of the machine, as in --set vm.walk_cache=128 (repeatable)")
	fl.BoolVar(&f.functional, "functional", false, "no timed run: sharing and regularity only, for large presets")
	fl.BoolVar(&f.sweep, "sweep", false,
		"also IPC by SMs with half of the channels, and by channels with half of the SMs")
	fl.BoolVar(&f.json, "json", false, "print the profiles as a JSON array")
	fl.BoolVar(&f.markdown, "markdown", false, "print the document with the tables")
	jobsVar(fl, &f.jobs, "simulations at once")
	fl.Uint64Var(&f.limit, "limit", 0,
		"observe at most this many warp instructions of an application; longer ones are timed only with --cycles; "+
			"0: no limit")
	fl.Uint64Var(&f.cycles, "cycles", 0,
		"end the timed run of each application after this many core cycles; 0: run it to its end")
	fl.StringSliceVar(&f.from, "from", nil, "measure nothing: read profiles that --json printed from FILE(s)")
	fl.StringVar(&f.figures, "figures", "",
		"draw page sharing (at --size paper) and IPC by SMs and channels (with --sweep) as SVG into this folder")
	c.MarkFlagsMutuallyExclusive("json", "markdown")
	c.MarkFlagsMutuallyExclusive("functional", "sweep")
	return c
}

func (f *characteriseFlags) run(cmd *cobra.Command, paths []string) error {
	if f.jobs < 1 {
		return fmt.Errorf("--jobs %d: at least 1", f.jobs)
	}
	if len(f.from) > 0 {
		if len(paths) > 0 {
			return errors.New("--from reads measured profiles: name no applications with it")
		}
		groups, err := characterise.Read(f.from)
		if err != nil {
			return err
		}
		seeds, err := characterise.LoadSeeds()
		if err != nil {
			return err
		}
		return f.print(cmd.OutOrStdout(), groups, seeds)
	}
	paths, err := f.folders(paths)
	if err != nil {
		return err
	}
	args, err := pairs("arg", f.args)
	if err != nil {
		return err
	}
	set, err := pairs("set", f.set)
	if err != nil {
		return err
	}
	seeds, err := characterise.LoadSeeds()
	if err != nil {
		return err
	}
	progress := report.NewProgress(cmd.ErrOrStderr(), isTerminal(cmd.ErrOrStderr()))
	var groups [][]characterise.Profile
	for _, size := range f.sizes {
		g, err := characterise.Run(cmd.Context(), paths, characterise.Options{
			Machine: f.machine, Size: size, Jobs: f.jobs, Limit: f.limit, Cycles: f.cycles, Functional: f.functional,
			Args: args, Set: set, Sweep: f.sweep, Start: progress.Start,
		})
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
		return &status{exitInterrupted, errors.New("interrupted: what is printed is not complete")}
	}
	return failures(groups)
}

// folders are the applications named, or all of them.
func (f *characteriseFlags) folders(paths []string) ([]string, error) {
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(filepath.Join(p, "app.star")); err != nil && st.IsDir() {
			return nil, fmt.Errorf("%s is not an application: give a folder with app.star", p)
		}
	}
	if len(paths) > 0 {
		return paths, nil
	}
	scripts, err := filepath.Glob(filepath.Join(f.apps, "*", "*", "app.star"))
	if err != nil {
		return nil, err
	}
	for _, s := range scripts {
		paths = append(paths, filepath.Dir(s))
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no application under %s: name some, or the folder with --apps", f.apps)
	}
	return paths, nil
}

func (f *characteriseFlags) print(w io.Writer, groups [][]characterise.Profile, seeds *characterise.Seeds) error {
	if f.figures != "" {
		if err := drawProfiles(f.figures, groups, seeds); err != nil {
			return err
		}
	}
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
