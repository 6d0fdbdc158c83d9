package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/heddle-sim/heddle/cuda"
	"github.com/heddle-sim/heddle/cuda/shim"
)

// ccCmd is `heddle cc`, which takes nvcc's command line.
func ccCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "cc FILE.cu... [-o PROGRAM] [nvcc's options]",
		Short: "Compile CUDA programs, or kernels to PTX, without the CUDA toolkit",
		Long: `Compile CUDA sources with the system's clang (17 or newer), without the CUDA toolkit.

The command line is nvcc's. Sources (.cu, .cpp, .c) and objects become a program for
heddle exec; with -c each source becomes an object file, with --ptx the kernels alone
become PTX, for an application folder.

The options are -o, -c, -I, -D, -U, -l, -L, -O, -g, -std, -arch, -gencode, -Xcompiler,
-use_fast_math, -fmad, -ftz and so on; options without effect are named. Of several
architectures the highest counts; without one it is sm_70. The environment variable
CLANG names another clang, CC another C compiler.

--toolkit prints a folder with bin/nvcc, include and lib64, for build files that ask for
the CUDA toolkit.`,
		Example: `  heddle cc prog.cu -o prog && heddle exec -- ./prog
  heddle cc --ptx kernel.cu
  make CUDA_DIR=$(heddle cc --toolkit)`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, a := range args {
				switch a {
				case "-h", "--help":
					return cmd.Help()
				case "-V", "--version":
					fmt.Fprintf(cmd.OutOrStdout(), "heddle cc, in place of nvcc\n%s\n", cuda.Release)
					return nil
				case "--toolkit":
					return toolkit(cmd)
				}
			}
			o, err := cuda.Parse(args)
			if err != nil {
				return err
			}
			c, err := cuda.Find(os.Getenv("CLANG"))
			if err != nil {
				return err
			}
			for _, n := range o.Notes {
				fmt.Fprintln(cmd.ErrOrStderr(), "heddle: note:", n)
			}
			return compile(cmd, c, o)
		},
	}
}

// toolkit prints the folder of the toolkit.
func toolkit(cmd *cobra.Command) error {
	lib, err := driverLibrary(cmd.Context())
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	to, err := cuda.Toolkit(lib, self)
	if err == nil {
		fmt.Fprintln(cmd.OutOrStdout(), to)
	}
	return err
}

// compile does what an nvcc command line asks for.
func compile(cmd *cobra.Command, c *cuda.Compiler, o *cuda.Options) error {
	log := cmd.ErrOrStderr()
	switch {
	case o.PTX:
		for _, s := range o.Sources {
			if err := c.PTX(cmd.Context(), o, s, o.Target(s), log); err != nil {
				return err
			}
		}
		return nil
	case o.Object:
		return c.Objects(cmd.Context(), o, log)
	case o.Device:
		return c.Link(cmd.Context(), o, log)
	}
	lib, err := driverLibrary(cmd.Context())
	if err != nil {
		return err
	}
	return c.Program(cmd.Context(), o, lib, log)
}

// driverLibrary is the folder with the library that CUDA programs call, built on first use.
func driverLibrary(ctx context.Context) (string, error) {
	headers, err := cuda.Headers()
	if err != nil {
		return "", err
	}
	return shim.Build(ctx, headers, "")
}
