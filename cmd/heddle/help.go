package main

import (
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heddle-sim/heddle/internal/text"
)

// wide is the greatest number of columns of a line of help, of a list or of a run's tables.
const wide = text.Width

// telling makes the help of a command and of its sub-commands fit `wide` columns, and adds the default of each flag
// with a value, or that it is required. cobra prints a default only if it is not zero.
func telling(cmd *cobra.Command) {
	usage := strings.ReplaceAll(cmd.UsageTemplate(), ".FlagUsages ", ".FlagUsagesWrapped 100 ")
	const head = "\nFlags (those without a value are off unless given):\n"
	cmd.SetUsageTemplate(strings.Replace(usage, "\nFlags:\n", head, 1))
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if none := zero(f); f.Annotations[cobra.BashCompOneRequiredFlag] != nil {
				f.Usage += " (required)"
			} else if none != "" && !strings.Contains(f.Usage, "(default") {
				f.Usage += " (default " + none + ")"
			}
		})
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(cmd)
}

// zero is the word for a default that cobra does not print: that of a number is 0, of a text or a list none. It is
// empty where cobra prints the default, and for flags without a value.
func zero(f *pflag.Flag) string {
	switch f.DefValue {
	case "0":
		return "0"
	case "", "[]":
		return "none"
	}
	return ""
}

// flagText is what a flag means, with its default.
func flagText(f *pflag.Flag) string {
	_, what := pflag.UnquoteUsage(f)
	if zero(f) == "" && f.Value.Type() != "bool" {
		what += " (default " + f.DefValue + ")"
	}
	return what
}

// madeHere replaces the default that help shows by words, where it is this computer's or this moment's.
func madeHere(fl *pflag.FlagSet, name, words string) {
	f := fl.Lookup(name)
	f.Usage += " (default: " + words + ")"
	f.DefValue = "" // cobra prints no default that is zero
	if f.Value.Type() == "int" {
		f.DefValue = "0"
	}
}

// jobsVar adds --jobs.
func jobsVar(fl *pflag.FlagSet, jobs *int, usage string) {
	fl.IntVar(jobs, "jobs", runtime.NumCPU(), usage)
	madeHere(fl, "jobs", "one per processor")
}
