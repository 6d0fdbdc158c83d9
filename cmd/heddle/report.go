package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/report"
	"github.com/heddle-sim/heddle/report/page"
	"github.com/heddle-sim/heddle/sim"
)

func reportCmd() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report DIR...",
		Short: "Make one HTML page of result directories",
		Long: `Make one HTML page of the result directories that heddle run --out has written:
the metrics, IPC and bandwidth over time, the owner of each SM and channel group over time,
what a policy decided and moved, and where warps waited. Several directories are
also compared. A directory that holds one result directory per sharing mode stands
for all of them. The page is one file and needs no network.`,
		Example: `  heddle run examples/two-tenants.yaml --out results/two
  heddle report results/two -o two.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			runs, err := readRuns(args)
			if err != nil {
				return err
			}
			if err := page.WriteFile(out, runs); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), out)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "report.html", "write the page to this file")
	return cmd
}

// readRuns reads the directories, or those right below one that holds no result.
func readRuns(dirs []string) ([]page.Run, error) {
	var paths []string
	for _, d := range dirs {
		if of := resultOf(d); of != "" {
			if !slices.Contains(paths, of) {
				paths = append(paths, of)
			}
			continue
		}
		if len(dirs) > 1 && writtenBeside(d) {
			continue // DIR/* names it, too
		}
		below, err := resultsBelow(d)
		if err != nil {
			return nil, err
		}
		if len(below) == 0 {
			below = []string{d} // Read has the error
		}
		paths = append(paths, below...)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no folder of a result is among them", strings.Join(dirs, ", "))
	}
	var runs []page.Run
	for _, p := range paths {
		r, err := report.Read(p)
		if err != nil {
			return nil, err
		}
		runs = append(runs, page.Run{Label: filepath.Base(filepath.Clean(p)), Result: r})
	}
	tellApart(runs, paths)
	return runs, nil
}

// writtenBeside says that a path is a file that heddle run or heddle sweep writes beside the folders of results.
func writtenBeside(path string) bool {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	switch filepath.Ext(path) {
	case ".csv", ".html", ".json", ".yaml":
		return true
	}
	return false
}

// resultOf is the result directory of one of its files; DIR/* names all of them.
func resultOf(path string) string {
	dir := filepath.Dir(path)
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || !sim.IsResultFile(filepath.Base(path)) {
		return ""
	}
	if _, err := os.Stat(filepath.Join(dir, sim.ResultFile)); err != nil {
		return ""
	}
	return dir
}

// resultsBelow lists the result directories in dir, if dir is none itself.
func resultsBelow(dir string) ([]string, error) {
	const file = sim.ResultFile
	if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, missing(dir, err)
	}
	var out []string
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(p, file)); err == nil {
			out = append(out, p)
		}
	}
	return out, nil
}

// tellApart labels runs of the same name by their paths.
func tellApart(runs []page.Run, paths []string) {
	seen := map[string]int{}
	for i := range runs {
		seen[runs[i].Label]++
	}
	for i := range runs {
		if seen[runs[i].Label] > 1 {
			runs[i].Label = paths[i]
		}
	}
}
