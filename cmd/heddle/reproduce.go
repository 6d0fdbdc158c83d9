package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/internal/text"
	"github.com/heddle-sim/heddle/lab"
	"github.com/heddle-sim/heddle/paper"
)

// reproduceFlags are the flags of `heddle reproduce`.
type reproduceFlags struct {
	scale, out, cache, apps string
	logs                    string
	jobs                    int
	set                     []string
	report, kept, judge     bool
	cluster                 clusterFlags
}

func reproduceCmd() *cobra.Command {
	var f reproduceFlags
	cmd := &cobra.Command{
		Use:   "reproduce [STUDY[/FIGURE]]...",
		Short: "Repeat a paper's experiments: figures, and a verdict on every claim",
		Long: `Simulate what a figure of a paper needs, draw the figure, and judge the paper's claims by
the results. Without arguments the figures are listed.

Each result is kept as soon as it is complete, and figures share runs: an interrupted
reproduction continues where it stopped and repeats at most the runs in flight. A change
of the simulator invalidates kept results; a change of reports does not.

Figures about targets (study smqos) write a row for each finished run to runs.csv, beside the
figures; it can be committed at any time. A reproduction that finds the file simulates only
the runs that it lacks, and --kept draws the figures from the finished runs.

A study may also be a folder with study.yaml and claims.yaml, written as ./DIR.`,
		Example: `  heddle reproduce
  heddle reproduce ugpu/fig4
  heddle reproduce ugpu/fig10 ugpu/fig11 --scale standard --jobs 8
  heddle reproduce ugpu --scale quick --report
  heddle reproduce ugpu/fig10 --set vm.page=2097152 --out results/2mb
  heddle reproduce ugpu --scale paper --on slurm --partition long --time 12:00:00 --wait`,
		RunE: func(cmd *cobra.Command, args []string) error { return reproduce(cmd, args, &f) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return figureNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.scale, "scale", "quick",
		"how long the runs are: quick (minutes a figure), standard (one to two hours for all figures on two "+
			"cores) or paper (a cluster)")
	jobsVar(fl, &f.jobs, "simulations at once")
	fl.StringVarP(&f.out, "out", "o", "", "folder of the figures (default: paper/STUDY/results/SCALE)")
	fl.StringVar(&f.cache, "cache", "", "keep results of runs in DIR (default: the user's cache directory)")
	fl.StringVar(&f.apps, "apps", "apps", "folder of the applications")
	fl.StringVar(&f.logs, "logs", "", "compare runs with another simulator's logs in FILE, a table like "+
		"paper/uvm/logs.tsv, instead of the study's logs; for uvm/logs")
	fl.StringArrayVar(&f.set, "set", nil,
		"override a number of the machine, as in --set sm.count=40; needs --out (repeatable)")
	fl.BoolVar(&f.report, "report", false, "write REPRODUCTION.md beside the study; for a whole study only")
	fl.BoolVar(&f.kept, "kept", false, "simulate nothing: draw and judge the runs that runs.csv has so far")
	fl.BoolVar(&f.judge, "rejudge", false,
		"simulate and draw nothing: judge the claims by the numbers in the folder of the figures")
	completeFlag(cmd, "scale", func([]string) []string { return scaleNames() })
	f.cluster.add(fl)
	f.cluster.complete(cmd)
	return cmd
}

// scaleNames lists the scales of all studies, in the order in which they stand there.
func scaleNames() []string {
	var out []string
	for _, n := range paper.Names() {
		s, err := paper.Outline(n)
		if err != nil {
			continue // heddle reproduce tells
		}
		for _, c := range s.Scales {
			if !slices.Contains(out, c.Name) {
				out = append(out, c.Name)
			}
		}
	}
	return out
}

// figureNames lists every figure as study/figure.
func figureNames() []string {
	var out []string
	for _, n := range paper.Names() {
		s, err := paper.Outline(n)
		if err != nil {
			continue // `heddle reproduce` tells
		}
		for _, f := range s.Figures {
			out = append(out, n+"/"+f.Name)
		}
	}
	return out
}

func listStudies(w io.Writer) error {
	for _, n := range paper.Names() {
		s, err := paper.Outline(n)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n\nscales\n", s.Title)
		for _, c := range s.Scales {
			fmt.Fprintf(w, "  %s\n", text.Folded(c.Name+": "+c.Runs()+"; "+c.About, 4, wide-2))
		}
		rows := [][]string{{"FIGURE", "CLAIMS", "WHAT"}}
		for _, f := range s.Figures {
			rows = append(rows, []string{n + "/" + f.Name, fmt.Sprint(len(s.Claims(f.Name))), f.Title})
		}
		fmt.Fprintln(w)
		if err := text.Columns(w, rows); err != nil {
			return err
		}
	}
	return nil
}

// chosen is one study with the figures asked for.
type chosen struct {
	study   *paper.Study
	name    string
	figures []*paper.Figure
	whole   bool
}

// choose resolves arguments; several figures of one study are computed together.
func choose(args []string) ([]*chosen, error) {
	var out []*chosen
	for _, a := range args {
		name, figure, _ := strings.Cut(a, "/")
		if strings.HasPrefix(a, ".") || filepath.IsAbs(a) { // a folder
			name, figure = a, ""
			if _, err := os.Stat(filepath.Join(filepath.Dir(a), "study.yaml")); err == nil {
				name, figure = filepath.Dir(a), filepath.Base(a)
			}
			name = filepath.Clean(name) + string(filepath.Separator)
		}
		var c *chosen
		for _, o := range out {
			if o.name == name {
				c = o
			}
		}
		if c == nil {
			s, err := paper.Load(name)
			if err != nil {
				return nil, err
			}
			c = &chosen{study: s, name: name}
			out = append(out, c)
		}
		figures, err := c.study.Select(figure)
		if err != nil {
			return nil, err
		}
		c.whole = c.whole || figure == ""
		for _, f := range figures {
			c.add(f)
		}
	}
	return out, nil
}

// title names the figures.
func (c *chosen) title() string {
	if c.whole {
		return c.study.Name
	}
	var names []string
	for _, f := range c.figures {
		names = append(names, c.study.Name+"/"+f.Name)
	}
	return strings.Join(names, " ")
}

// other is a chosen figure of another kind; nil where all are of this one.
func (c *chosen) other(kind string) *paper.Figure {
	for _, f := range c.figures {
		if f.Kind != kind {
			return f
		}
	}
	return nil
}

func (c *chosen) add(f *paper.Figure) {
	for _, have := range c.figures {
		if have == f {
			return
		}
	}
	c.figures = append(c.figures, f)
}

func reproduce(cmd *cobra.Command, args []string, f *reproduceFlags) error {
	if len(args) == 0 {
		return listStudies(cmd.OutOrStdout())
	}
	if f.jobs < 1 {
		return fmt.Errorf("--jobs %d: at least 1", f.jobs)
	}
	set, err := pairs("set", f.set)
	if err != nil {
		return err
	}
	list, err := choose(args)
	if err != nil {
		return err
	}
	if len(set) > 0 && (f.out == "" || f.report) {
		return fmt.Errorf("--set changes the study's machine: give --out a folder of its own, and leave --report out")
	}
	if f.judge && (f.kept || len(set) > 0) {
		return fmt.Errorf("--rejudge takes the numbers as they are: leave --set and --kept out")
	}
	if f.logs != "" && (f.out == "" || f.report) {
		return fmt.Errorf("--logs %s: these logs are not the study's; give --out a folder of its own, and no --report",
			f.logs)
	}
	if len(list) > 1 && f.out != "" {
		return fmt.Errorf("--out %s: %d studies would write there; give one at a time", f.out, len(list))
	}
	for _, c := range list {
		if f.report && !c.whole {
			return fmt.Errorf("--report covers all figures: give the study alone, as in `heddle reproduce %s "+
				"--report`", c.study.Name)
		}
		if err := f.study(cmd, c, set); err != nil {
			return err
		}
	}
	return nil
}

// study does one study's figures.
func (f *reproduceFlags) study(cmd *cobra.Command, c *chosen, set map[string]string) error {
	scale, err := c.study.Scale(f.scale)
	if err != nil {
		return err
	}
	if _, err := os.Stat(f.apps); err != nil {
		return fmt.Errorf("the applications: %w; run heddle in the checkout or give --apps DIR", err)
	}
	if f.logs != "" {
		if other := c.other("logs"); other != nil {
			return fmt.Errorf("--logs %s: figure %s/%s compares nothing with logs; name the figure that does, as in "+
				"`heddle reproduce uvm/logs --logs %[1]s --out DIR`", f.logs, c.study.Name, other.Name)
		}
		if err := c.study.ReadLogs(f.logs); err != nil {
			return err
		}
	}
	if f.judge {
		return f.rejudge(cmd.OutOrStdout(), c, scale)
	}
	pool, err := f.cluster.pool(cmd.Flags())
	if err != nil {
		return err
	}
	runner, err := follow(cmd, f.cache, f.jobs, pool, "reproduce", c.title()+" at "+f.scale)
	if err != nil {
		return err
	}
	defer runner.close()
	book, err := paper.NewBook(c.study, scale, set, f.apps, runner.Runner)
	if err != nil {
		return err
	}
	if book.Code, err = lab.Code(); err != nil {
		return err
	}
	figures, elsewhere := c.study.At(scale, c.figures)
	if len(elsewhere) > 0 && !c.whole {
		return fmt.Errorf("figure %s of %s exists at scale %s only: give --scale "+
			"%[3]s", elsewhere[0].Name, c.study.Name,
			elsewhere[0].Scale)
	}
	if err := f.keep(cmd.ErrOrStderr(), book, c, figures); err != nil {
		return err
	}
	fmt.Fprint(cmd.OutOrStdout(), book.Conditions())
	done, err := book.Do(cmd.Context(), figures)
	runner.close()
	if errors.Is(err, lab.ErrLater) {
		_, err := receipt(cmd.OutOrStdout(), pool)
		return err
	}
	if err != nil {
		return simStatus(err, true)
	}
	return f.write(cmd.OutOrStdout(), c, book, done)
}

// keep gives the book the file of finished runs, where figures have one.
func (f *reproduceFlags) keep(w io.Writer, book *paper.Book, c *chosen, figures []*paper.Figure) (err error) {
	keeps := 0
	for _, x := range figures {
		if x.KeepsRuns() {
			keeps++
		} else if f.kept {
			return fmt.Errorf("--kept: figure %s/%s keeps no rows of runs; name figures that do, such as those of "+
				"smqos", c.study.Name, x.Name)
		}
	}
	if keeps == 0 {
		return nil
	}
	_, out := f.folders(c, book.Scale)
	file := filepath.Join(out, "runs.csv")
	if book.Runs, err = paper.OpenRuns(file); err != nil {
		return err
	}
	book.Kept = f.kept
	fmt.Fprintf(w, "%s has %d finished runs\n", filepath.ToSlash(file), book.Runs.Has())
	return nil
}

// folders are the study's, and that of its figures.
func (f *reproduceFlags) folders(c *chosen, scale *paper.Scale) (home, out string) {
	home = filepath.Join("paper", c.study.Name)
	if strings.ContainsRune(c.name, filepath.Separator) {
		home = filepath.Clean(c.name)
	}
	if f.out != "" {
		return home, f.out
	}
	return home, filepath.Join(home, "results", scale.Name)
}

// write leaves figures, data and verdicts.
func (f *reproduceFlags) write(w io.Writer, c *chosen, book *paper.Book, done []*paper.Reproduced) error {
	home, out := f.folders(c, book.Scale)
	failed := 0
	for _, r := range done {
		if err := book.Write(out, r); err != nil {
			return err
		}
		if err := book.Show(w, r); err != nil {
			return err
		}
		failed += len(r.Problems)
	}
	fmt.Fprintf(w, "\nfigures and data: %s\n", out)
	if f.report {
		if err := book.WriteReport(filepath.Join(home, "REPRODUCTION.md"), out, done); err != nil {
			return err
		}
	}
	if failed > 0 {
		return &status{exitInternal, fmt.Errorf("%d runs failed; the figures show the others", failed)}
	}
	return nil
}
