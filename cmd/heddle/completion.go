package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/host/script"
	"github.com/heddle-sim/heddle/sheets"
	"github.com/heddle-sim/heddle/sim"
)

// completeFlag completes the values of a flag, which the command must have, from the arguments
// before it. After values that end in =, no space follows.
func completeFlag(cmd *cobra.Command, flag string, values func(args []string) []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, args []string, word string) ([]string,
		cobra.ShellCompDirective,
	) {
		directive := cobra.ShellCompDirectiveNoFileComp
		var out []string
		for _, v := range values(args) {
			if strings.HasPrefix(v, word) {
				out = append(out, v)
			}
			if strings.HasSuffix(v, "=") {
				directive |= cobra.ShellCompDirectiveNoSpace
			}
		}
		if flag == "machine" {
			directive = cobra.ShellCompDirectiveDefault // a sheet may be a file
		}
		return out, directive
	})
	if err != nil {
		panic(err) // the flag is there
	}
}

// completeRun completes the flags of heddle run.
func completeRun(cmd *cobra.Command) {
	completeMachine(cmd)
	completeFlag(cmd, "sharing", func([]string) []string { return sim.ModeNames() })
	completeFlag(cmd, "arg", appArguments)
}

// completeMachine completes the flags that describe a machine.
func completeMachine(cmd *cobra.Command) {
	completeFlag(cmd, "machine", func([]string) []string { return sheets.Names() })
	completeFlag(cmd, "set", func([]string) []string { return settable() })
}

// settable are the numbers of a machine, each with its =.
func settable() (out []string) {
	for _, p := range sheets.Paths() {
		out = append(out, p+"=")
	}
	return out
}

// appArguments are the parameters of the application that the command line names, each with
// its =, and with its default beside it.
func appArguments(args []string) (out []string) {
	for _, path := range args {
		prog, err := script.Load(path, script.Options{})
		if err != nil {
			continue // heddle run tells
		}
		for _, p := range prog.Params() {
			out = append(out, p.Name+"=")
			if p.Default != "" {
				out = append(out, p.Name+"="+strings.Trim(p.Default, `"`))
			}
		}
	}
	return out
}

// inspectNames are the names heddle inspect takes for a thing.
func inspectNames(what string) (out []string) {
	switch what {
	case "policies", "policy":
		for _, p := range policies() {
			out = append(out, p.Name)
		}
	case "counters", "counter":
		for _, t := range counterTables() {
			out = append(out, t.owner)
		}
	case "machine", "machines", "systems", "system":
		out = sheets.Names()
	}
	return out
}
