package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/cuda"
)

// ccCmd is `heddle cc`, which takes nvcc's command line.
func ccCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "cc --ptx FILE.cu... [-o FILE.ptx] [nvcc's options]",
		Short: "Compile the kernels of CUDA sources to PTX, without the CUDA toolkit",
		Long: `Compile the kernels of CUDA sources to PTX with the system's clang (17 or newer), without
the CUDA toolkit.

The options are nvcc's: -o, -I, -D, -U, -std, -arch, -gencode, -use_fast_math, -fmad, -ftz
and so on; what has no effect is named. Of several architectures the highest counts;
without one it is sm_70. The environment variable CLANG names another clang. Host code
beside the kernels is read and not run: what a program's host does is written in app.star.`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, a := range args {
				if a == "-h" || a == "--help" {
					return cmd.Help()
				}
			}
			o, err := cuda.Parse(args)
			if err != nil {
				return err
			}
			if !o.PTX {
				return fmt.Errorf("heddle cc makes PTX of kernels and cannot build programs yet: add --ptx")
			}
			c, err := cuda.Find(os.Getenv("CLANG"))
			if err != nil {
				return err
			}
			for _, n := range o.Notes {
				fmt.Fprintln(cmd.ErrOrStderr(), "heddle: note:", n)
			}
			for _, s := range o.Sources {
				if err := c.PTX(cmd.Context(), o, s, o.Target(s), cmd.ErrOrStderr()); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
