package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/lab/calib"
)

func calibrateCmd() *cobra.Command {
	var dir, only, commit string
	var performance, wide bool
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Compare the machine with the timing reference set",
		Long: `Runs the kernels of apps/calib on qv100 under the configurations of the timing
reference set and prints cycles, hit rates and DRAM reads beside the reference's.
With --performance it measures simulation speed instead and prints PERFORMANCE.md.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if performance {
				return calib.Performance(cmd.OutOrStdout(), dir, commit)
			}
			rows, err := calib.All(dir, func(name, config string) bool {
				return strings.Contains(name+"/"+config,
					only)
			})
			if err != nil {
				return err
			}
			if len(rows) == 0 {
				return fmt.Errorf("no kernel of %s matches %q", dir, only)
			}
			return calib.Print(cmd.OutOrStdout(), rows, wide)
		},
	}
	c.Flags().StringVar(&dir, "dir", "apps/calib", "folder of the reference set")
	c.Flags().StringVar(&only, "only", "", "rows whose kernel/configuration contains this (default: all)")
	c.Flags().StringVar(&commit, "commit", calib.Commit(), "revision named in PERFORMANCE.md")
	madeHere(c.Flags(), "commit", "the one checked out")
	c.Flags().BoolVar(&performance, "performance", false, "measure speed and print PERFORMANCE.md")
	c.Flags().BoolVar(&wide, "wide", false, "print every column of the table, not only what fits 100 columns")
	return c
}
