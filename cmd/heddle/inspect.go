package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/internal/text"
	"github.com/heddle-sim/heddle/lab/silicon"
	"github.com/heddle-sim/heddle/lab/systems"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sheets/yamldoc"
)

func inspectCmd() *cobra.Command {
	var asJSON, peaks bool
	var set []string
	cmd := &cobra.Command{
		Use:   "inspect machine|policies|apps|counters|systems [NAME]",
		Short: "List what exists, with units and sources",
		Long: `List machines, policies, applications, counters, or which machine can host which system of
sharing; with a NAME, show all of that one.

  inspect machine qv100         every number of the machine with unit and source
  inspect machine qv100 dram    one section of it
  inspect machine a100 --peaks  its limits: as modelled, as kernels reach them, as published
  inspect systems a100          what a machine can host, and why not the rest
  inspect apps [DIR]            applications below DIR (default: the nearest folder apps)`,
		Args: cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			w := cmd.OutOrStdout()
			if args[0] != "machine" && len(args) > 2 {
				return fmt.Errorf("inspect %s takes at most one NAME", args[0])
			}
			rest := append(append([]string(nil), args[1:]...), "", "")
			if peaks {
				if args[0] != "machine" || len(args) != 2 {
					return errors.New("--peaks needs a machine: heddle inspect machine a100 --peaks")
				}
				return inspectPeaks(cmd, args[1], set, asJSON)
			}
			switch args[0] {
			case "machine", "machines":
				return inspectMachine(w, rest[0], rest[1], set, asJSON)
			case "policies", "policy":
				return inspectPolicies(w, rest[0], asJSON)
			case "apps", "app":
				return inspectApps(w, rest[0], asJSON)
			case "counters", "counter":
				return inspectCounters(w, rest[0], asJSON)
			case "systems", "system":
				return inspectSystems(w, rest[0], asJSON)
			}
			return fmt.Errorf("nothing called %q to inspect%s", args[0], yamldoc.DidYouMean(args[0], inspectable()))
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) == 0:
				return inspectable(), cobra.ShellCompDirectiveNoFileComp
			case len(args) == 1 && args[0] == "apps":
				return nil, cobra.ShellCompDirectiveFilterDirs
			case len(args) == 1 && args[0] == "machine":
				return sheets.Names(), cobra.ShellCompDirectiveDefault
			case len(args) == 1:
				return inspectNames(args[0]), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&peaks, "peaks", false, "the limits of a machine; runs kernels for some seconds")
	cmd.Flags().StringArrayVar(&set, "set", nil, "override a number of the machine first (repeatable)")
	return cmd
}

func inspectable() []string { return []string{"machine", "policies", "apps", "counters", "systems"} }

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func inspectMachine(w io.Writer, name, section string, set []string, asJSON bool) error {
	if name == "" {
		return listMachines(w, asJSON)
	}
	over, err := pairs("set", set)
	if err != nil {
		return err
	}
	m, prov, err := sheets.Resolve(name, over)
	if err != nil {
		return err
	}
	entries := prov.List(m)
	if section != "" {
		var some []sheets.Entry
		for _, e := range entries {
			if e.Path == section || strings.HasPrefix(e.Path, section+".") {
				some = append(some, e)
			}
		}
		if len(some) == 0 {
			return fmt.Errorf("machine %s has no section %q%s", name, section,
				yamldoc.DidYouMean(section, sections(entries)))
		}
		entries = some
	}
	if asJSON {
		return printJSON(w, struct {
			Name        string         `json:"name"`
			Description string         `json:"description"`
			Numbers     []sheets.Entry `json:"numbers"`
		}{m.Name, m.Description, entries})
	}
	fmt.Fprintf(w, "%s\n\n", text.Folded(m.Name+": "+m.Description, 2, wide))
	rows := [][]string{{"PATH", "VALUE", "UNIT", "SOURCE", "MEANING"}}
	var keys []string
	refs := map[string]string{}
	for _, e := range entries {
		rows = append(rows, []string{e.Path, e.Value, e.Unit, e.Source, e.Doc})
		if _, ok := refs[e.Source]; !ok {
			keys = append(keys, e.Source)
			ref, _, _ := strings.Cut(e.Reference, " [") // the source differs for each number
			refs[e.Source] = ref
		}
	}
	if err := text.Columns(w, rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nSources (inspect machine %s --json has them per number)\n", name)
	for _, k := range keys {
		fmt.Fprintf(w, "  %s\n", text.Folded(k+": "+refs[k], 6, wide-2))
	}
	return nil
}

// inspectSystems prints which machine can host which system: of one machine, or of all.
func inspectSystems(w io.Writer, machine string, asJSON bool) error {
	names := sheets.Names()
	if machine != "" {
		names = []string{machine}
	}
	table, err := systems.Table(names)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(w, systems.JSON(table))
	}
	return systems.Text(w, table, func(s string, indent int) string {
		return text.Folded(s, indent, wide-2)
	})
}

// inspectPeaks prints the limits of a machine. Kernels and published figures lie in the repository.
func inspectPeaks(cmd *cobra.Command, name string, set []string, asJSON bool) error {
	over, err := pairs("set", set)
	if err != nil {
		return err
	}
	m, _, err := sheets.Resolve(name, over)
	if err != nil {
		return err
	}
	dir, err := nearest(filepath.Join("lab", "silicon"), "run heddle inside its repository, which has the kernels")
	if err != nil {
		return err
	}
	s, err := silicon.OpenPeaks(dir)
	if err != nil {
		return err
	}
	peaks, err := s.Peaks(cmd.Context(), m, silicon.Options{
		Jobs: runtime.GOMAXPROCS(0), Set: over, Done: runsDone(cmd.ErrOrStderr()),
	})
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), peaksJSON(peaks))
	}
	return silicon.PeaksText(cmd.OutOrStdout(), peaks)
}

// peakJSON is a limit as --json prints it. A limit without a kernel or a published figure lacks those fields.
type peakJSON struct {
	Name      string  `json:"name"`
	Unit      string  `json:"unit"`
	Modelled  float64 `json:"modelled"`
	Reached   float64 `json:"reached,omitempty"`
	Published float64 `json:"published,omitempty"`
	Source    string  `json:"source,omitempty"`
	Error     string  `json:"error,omitempty"`
}

func peaksJSON(peaks []silicon.Peak) []peakJSON {
	out := make([]peakJSON, len(peaks))
	for i, p := range peaks {
		out[i] = peakJSON{Name: p.Name, Unit: p.Unit, Modelled: p.Value}
		if r := p.Result; r != nil {
			out[i].Reached, out[i].Published, out[i].Source, out[i].Error = r.Heddle, r.Silicon, r.Source, r.Err
		}
	}
	return out
}

func sections(entries []sheets.Entry) []string {
	var out []string
	for _, e := range entries {
		s, _, _ := strings.Cut(e.Path, ".")
		if len(out) == 0 || out[len(out)-1] != s {
			out = append(out, s)
		}
	}
	return out
}

func listMachines(w io.Writer, asJSON bool) error {
	type line struct {
		Name        string `json:"name"`
		SMs         int    `json:"sms"`
		Channels    int    `json:"channels"`
		Description string `json:"description"`
	}
	var list []line
	rows := [][]string{{"MACHINE", "SMS", "CHANNELS", "DESCRIPTION"}}
	for _, n := range sheets.Names() {
		m, _, err := sheets.Load(n)
		if err != nil {
			return err
		}
		list = append(list, line{m.Name, m.SM.Count, m.DRAM.Channels, m.Description})
		rows = append(rows, []string{m.Name, fmt.Sprint(m.SM.Count), fmt.Sprint(m.DRAM.Channels), m.Description})
	}
	if asJSON {
		return printJSON(w, list)
	}
	return text.Columns(w, rows)
}
